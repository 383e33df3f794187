"""Sentences of the page on [AHG], made of the numbers in its JSON and of nothing else."""

from collections.abc import Mapping
from math import exp, sqrt
from typing import Any

from gough.core.text import listed
from gough.papers.palida.benchmark import MOTIONS, WITH, WITHOUT
from gough.papers.palida.control import on_control
from gough.papers.palida.printed import COGGING, PRINTED_CIRCLE, PRINTED_MIRRORED
from gough.papers.palida.robot import (
    DESIGNS,
    DETERMINISTIC,
    EXACT_FORCES,
    EXACT_LENGTHS,
    FAIR,
    GM,
    GM_TOP,
    GM_WIDE,
    LS,
    LS_TOP,
    LS_WIDE,
    ML,
    ON_PATH,
    STATISTICAL,
)
from gough.papers.palida.tables import PAPER, percent
from gough.simulate.spread import binomial_interval

Numbers = Mapping[str, Any]


def about(n: Numbers) -> tuple[str, ...]:
    """How the experiment was rebuilt."""
    low, high = n["force_sd"]
    cut_off = n["cut_off"]
    hertz = listed([f"{cut_off['advised'][name]:.3g} Hz for {name}" for name in DESIGNS])
    return (
        (
            "A simulated PaLiDA of 19 bodies. Its true rigid-body parameters are the paper's a-priori values, its "
            "friction is the paper's estimate by maximum likelihood. Forces have the variances that the paper prints "
            f"(σ from {low:.0f} to {high:.0f} N); strut lengths have σ of about {1e3 * n['length_sd']:g} mm, which is "
            "our choice. Both noises are white and correlated between the struts."
        ),
        (
            f"A repetition records {n['periods']} periods of {n['readings']} readings. There are {n['repetitions']} "
            f"repetitions of each experiment (the paper: {n['paper_repetitions']}). LS is least squares, GM "
            "Gauss–Markov, ML maximum likelihood. LS and GM filter strut lengths and differentiate them. The cut-off "
            f"is {cut_off['clearance']} times the highest harmonic of the trajectory, as gough advises: {hertz}. ML "
            f"and GM on the fitted path use a Fourier series instead. {n['order_reason']}"
        ),
    )


def differences(n: Numbers) -> tuple[str, ...]:
    """Differences from the paper, and the measured reasons."""
    loop = n.get("closed_loop")
    control = () if loop is None else on_control(loop)
    return (*_on_designs(n), *_on_cut_off(n), *_on_estimators(n), *_on_circles(n), *control)


def _on_designs(n: Numbers) -> tuple[str, ...]:
    lines = []
    for rival in (DETERMINISTIC, FAIR):
        comparison = n["designs_compared"][rival]
        words = {LS: "by LS", LS_WIDE: f"by LS with a cut-off of {n['cut_off']['wide']:g} Hz", ML: "by ML"}
        counts = [
            f"for {_count(comparison[label])} {text} ({_ratio(comparison[label])})" for label, text in words.items()
        ]
        printed = f" Table II of the paper, by LS: {_count(comparison[PAPER])}." if PAPER in comparison else ""
        lines.append(
            f"Standard deviations are smaller with the D-optimal trajectory than with that of least {rival} "
            f"{listed(counts)}. In brackets: the geometric mean of the ratios, and for how many parameters the ratio "
            f"is within two of its standard deviations of 1.{printed}"
        )
    criteria = n["criteria"]
    own = criteria[STATISTICAL]
    shorter = {name: exp((criteria[name]["D"] - own["D"]) / (2 * len(n["truth"]))) for name in (DETERMINISTIC, FAIR)}
    lines += [
        (
            "The condition number of W depends on the units of the parameters: for the D-optimal trajectory it is "
            f"{exp(own['condition']):.4g} in SI units and {exp(own['scaled condition']):.4g} with columns of unit "
            "length. The second does not depend on them."
        ),
        (
            "By −ln det F the axes of the confidence ellipsoid are shorter with the D-optimal trajectory, in the "
            f"geometric mean by {shorter[DETERMINISTIC]:.2f} times against least {DETERMINISTIC} and by "
            f"{shorter[FAIR]:.2f} times against least {FAIR}."
        ),
        (
            "The paper prints neither the geometry nor the length of its recordings. Here a repetition lasts "
            f"{n['seconds']:.3g} s. If σ falls with the square root of the length, the printed σ_s would take "
            f"{n['seconds_for_printed_sd']:.0f} s by LS, in the median over the parameters."
        ),
    ]
    return tuple(lines)


def _on_cut_off(n: Numbers) -> tuple[str, ...]:
    share, cut_off = n["cut_off"]["acceleration_noise"], n["cut_off"]
    advised, wide, highest = cut_off["advised"][STATISTICAL], cut_off["wide"], n["highest"][STATISTICAL]

    def largest(*labels: str, design: str = STATISTICAL, unit: str = "largest_in_sd") -> str:
        return " and ".join(f"{_bias(n, label, design)[unit]:.2f}" for label in labels)

    lines = [
        (
            f"Cut-off: with the advised {advised:.3g} Hz the largest biases of LS and GM are {largest(LS, GM)} of "
            f"their own standard deviations; with {wide:g} Hz, {wide / highest:.3g} times the highest harmonic, they "
            f"are {largest(LS_WIDE, GM_WIDE)}; with {highest:.3g} Hz, {largest(LS_TOP, GM_TOP)}. Chance alone stays "
            f"below {_bias(n, ML)['chance']:.2f} with a probability of at least 99 %."
        ),
        (
            f"The noise of the platform's accelerations is {percent(share[LS_WIDE])} of their rms at {wide:g} Hz, "
            f"{percent(share[LS])} at {advised:.3g} Hz and {percent(share[LS_TOP])} at {highest:.3g} Hz."
        ),
        (
            "With exact strut lengths and the same filters the largest biases are "
            f"{largest(LS, GM, design=EXACT_LENGTHS)} at {advised:.3g} Hz and "
            f"{largest(LS_WIDE, GM_WIDE, design=EXACT_LENGTHS)} at {wide:g} Hz. With exact forces and noisy strut "
            f"lengths that of LS at {wide:g} Hz is {largest(LS_WIDE, design=EXACT_FORCES, unit='largest_in_bound')} "
            "standard deviations of the Cramér–Rao bound; with both noises, "
            f"{largest(LS_WIDE, unit='largest_in_bound')}.{_cause(n)}"
        ),
    ]
    return tuple(lines)


def _cause(n: Numbers) -> str:
    """The cause of the bias, where the runs without one of the noises show it."""
    usual, wide = (LS, GM), (LS_WIDE, GM_WIDE)
    if not all(_bias(n, label, EXACT_LENGTHS)["is_unbiased"] for label in usual + wide):
        return ""
    biased = [label for label in usual + wide if not _bias(n, label)["is_unbiased"]]
    if not biased:
        return ""
    return (
        " Without noise in the strut lengths no bias beyond chance is left: the bias of "
        f"{listed([_named(n, label) for label in biased])} comes from the noise of the strut lengths that the filter "
        "lets pass."
    )


def _on_estimators(n: Numbers) -> tuple[str, ...]:
    ml, path = _bias(n, ML), _bias(n, ON_PATH)
    inside = "within" if ml["is_unbiased"] else "beyond"
    held = [_spread(n, ML, design) for design in DESIGNS]
    hits, runs = sum(round(s["joint_coverage"] * s["n"]) for s in held), sum(s["n"] for s in held)
    low, high = binomial_interval(hits, runs, 0.95)
    own = _spread(n, ML)
    ratios = [own["sd"][name] / n["cramer_rao_sd"][name] for name in n["truth"]]
    usual = (LS_TOP, LS, LS_WIDE, GM_TOP, GM, GM_WIDE)
    over = listed([f"{_bias(n, label)['sd_over_bound']:.2f} for {_named(n, label)}" for label in (ML, *usual)])
    p_1 = n["p_1"]
    return (
        (
            f"Maximum likelihood has no cut-off. Its largest bias is {ml['largest_in_sd']:.2f} of its standard "
            f"deviations over {own['n']} repetitions, {inside} what chance gives ({ml['chance']:.2f})."
        ),
        (
            f"Standard deviations of ML are {min(ratios):.2f} to {max(ratios):.2f} times the Cramér–Rao bound; an "
            f"estimate of a standard deviation from {own['n']} repetitions itself scatters by "
            f"{100 / sqrt(2 * (own['n'] - 1)):.0f} %. In the geometric mean over the parameters the ratio is {over}."
        ),
        (
            f"The 95 % regions of ML for all {len(n['truth'])} parameters hold the truth in {hits} of {runs} "
            f"repetitions of the three designs: their probability lies between {percent(low)} and {percent(high)} "
            "(95 %)."
        ),
        (
            "Gauss–Markov on the Fourier series through the strut lengths needs no iteration. Its largest bias is "
            f"{path['largest_in_sd']:.2f} of its standard deviations, which are {path['sd_over_bound']:.2f} times the "
            "bound in the geometric mean."
        ),
        (
            f"p_1 is badly known: the Cramér–Rao bound of its σ is {p_1['bound_sd']:.2g} kg·m², its value "
            f"{p_1['truth']:g}. Its estimate and that of p_2 have a correlation of "
            f"{_signed(p_1['correlation_with_p_2'])}; β stays between {p_1['least_beta']:.0f}° and "
            f"{p_1['greatest_beta']:.0f}° on the D-optimal trajectory."
        ),
        "Table III of the paper prints one estimate each; ours are means over the repetitions.",
    )


def _on_circles(n: Numbers) -> tuple[str, ...]:
    benchmark = n["benchmark"]

    def biased(model: str, motion: str) -> list[str]:
        return [f"drive {k}" for k, word in enumerate(benchmark[f"{model}, {motion}"]["bias"], 1) if word == "large"]

    circle, mirrored = (benchmark[f"{WITHOUT}, {motion}"] for motion in MOTIONS)
    words = [line for line, bias in zip(circle["verdicts"], circle["bias"], strict=True) if bias == "large"]
    left = [f"{name} ({motion})" for motion in MOTIONS for name in biased(WITH, motion)]
    drives = listed([str(k) for k in COGGING])
    one, other = (n["strokes_in_pitches"][motion] for motion in MOTIONS)
    strokes = [f"{one[k - 1]:.1f} and {other[k - 1]:.1f} for drive {k}" for k in COGGING]
    falls = [f"{PRINTED_CIRCLE[k - 1]} to {PRINTED_MIRRORED[k - 1]} N² for drive {k}" for k in COGGING]
    ours = [
        f"{circle['model_variance'][k - 1]:.0f} to {mirrored['model_variance'][k - 1]:.0f} N² for drive {k}"
        for k in COGGING
    ]
    return (
        (
            f"Drives {drives} of the simulated robot have cogging; the amplitude is chosen so that the mean square "
            "over a long stroke is the model error that the paper prints for the circle. On the circle the model "
            f"without cogging is biased for {listed(biased(WITHOUT, MOTIONS[0])) or 'no drive'}."
            + "".join(f" {line[0].upper()}{line[1:]}" for line in words)
        ),
        (
            f"On the mirrored circle it is biased for {listed(biased(WITHOUT, MOTIONS[1])) or 'no drive'}; in the "
            "paper, for none. From the circle to its mirror image the variance of the model's error changes from "
            f"{listed(ours)} here, from {listed(falls)} in the paper. The simulation does not explain the difference. "
            f"Its strokes on the two circles are, in pitches of the magnets, {listed(strokes)}."
        ),
        (
            f"χ²/dof of the identification is {n['chi_squared'][WITHOUT]:.2f} without cogging in the model and "
            f"{n['chi_squared'][WITH]:.3f} with it. The model with cogging is biased for {listed(left) or 'no drive'} "
            "on either circle."
        ),
    )


def _count(comparison: Mapping[str, Any]) -> str:
    return f"{comparison['smaller']} of {comparison['of']}"


def _ratio(comparison: Mapping[str, Any]) -> str:
    return f"{comparison['geometric_mean']:.2f} times; {comparison['undecided']} undecided"


def _spread(n: Numbers, label: str, design: str = STATISTICAL) -> Mapping[str, Any]:
    spread: Mapping[str, Any] = n["spreads"][f"{design}, {label}"]
    return spread


def _bias(n: Numbers, label: str, design: str = STATISTICAL) -> Mapping[str, Any]:
    bias: Mapping[str, Any] = _spread(n, label, design)["bias"]
    return bias


def _named(n: Numbers, label: str) -> str:
    """An estimator with its cut-off on the D-optimal trajectory."""
    cut_off = _spread(n, label)["cut_off"]
    return label if cut_off is None else f"{label.split(',', maxsplit=1)[0]} at {cut_off:.3g} Hz"


def _signed(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")
