"""Interval method for calibration of parallel robots: vision-based experiments [DACP06]."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.closure import ChainFinding, Finding
from gough.core.arrays import Array
from gough.core.progress import Phase
from gough.core.tables import Table
from gough.core.text import listed, signed
from gough.geometry import HeldOut
from gough.geometry.gauges import CentroidGauge, Gauge, Procrustes, regauged
from gough.papers.calibration_demonstration import COVERAGE
from gough.papers.gough_platform import figures
from gough.papers.gough_platform.contraction import BISECTED, BOXES, KRAWCZYK, LIFTED, Contractions
from gough.papers.gough_platform.printed import (
    EPSILON,
    EPSILON_CERTIFIED,
    LEAST_SQUARES,
    POSE_SIGMA,
    READING_SIGMA,
    ROBOT,
    TABLE_1,
    TABLE_4,
    TABLE_5,
    VALIDATION,
    WEIGHTED,
    ValidationErrors,
    apart,
    epsilon_of,
    moved_by,
)
from gough.papers.gough_platform.rebuilt import WIDE, Measure, RebuiltPlatform, never_solved, rebuilt_platform
from gough.papers.reproduction import Reproduction, columns, side_by_side
from gough.region import ConfidenceEllipsoid
from gough.report import Drawing
from gough.simulate import CalibrationCampaign, Faults

PLAY = Faults(backlash=5e-4)
"""The fault that the paper suspects; its size is our choice."""
_MM = 1e3
_DRAWS = 20
"""Sets of measurements drawn from the intervals."""


def reproduce(
    seed: int = 1,
    on_step: Callable[[Phase], object] = lambda _: None,
    *,
    measure: Measure = CalibrationCampaign.run,
    runs: int = 11,
    images: int = 10,
) -> Reproduction:
    """Tables 1 to 7 and Figures 3 to 6 of the paper beside those of a simulated campaign.

    `measure` makes the poses of the campaign: from numbers here, or from images.
    """
    on_step(Phase(1, 5, "measuring and calibrating a sound robot"))
    sound = rebuilt_platform(seed, Faults(), measure, runs=runs, images=images)
    on_step(Phase(2, 5, f"the same with {PLAY.words}"))
    loose = rebuilt_platform(seed, PLAY, measure, runs=runs, images=images)
    on_step(Phase(3, 5, "contracting boxes by several methods"))
    contractions = Contractions.of(sound.first_leg, sound.plain.value[:7])
    on_step(Phase(4, 5, "comparing solutions"))
    numbers = _numbers(sound, loose, contractions, np.random.default_rng([seed, 3]))
    tables = (
        _readings(sound),
        _poses(sound),
        _geometry(sound),
        _validation(sound, loose),
        _certified(sound, loose),
        _epsilon(sound, loose),
        contractions.table(),
    )
    on_step(Phase(5, 5, "drawing"))
    return Reproduction(
        paper="DACP06",
        title="Interval method for calibration of parallel robots: vision-based experiments (2006)",
        about=_about(sound),
        tables=tables,
        inconsistencies=_inconsistencies(numbers),
        differences=_differences(sound, numbers),
        drawings=drawings(sound, loose),
        numbers=numbers,
    )


def drawings(sound: RebuiltPlatform, loose: RebuiltPlatform) -> tuple[Drawing, ...]:
    """Figures 3 to 6."""
    return (
        figures.reading_errors(sound),
        figures.pose_errors(sound),
        figures.improvements(sound, loose),
        figures.solution_set(sound),
    )


def _numbers(
    sound: RebuiltPlatform, loose: RebuiltPlatform, contractions: Contractions, rng: np.random.Generator
) -> dict[str, Any]:
    """Unrounded values of tables and sentences, in SI units."""
    drawn, best = never_solved(sound, rng, draws=_DRAWS)
    play = {"play": PLAY.backlash, **_case(loose), "legs_together_refuted": loose.together.finding is Finding.REFUTED}
    play["legs_refuted"]["each_run"] = _refuted(loose.each_run)
    least = min(map(float, EPSILON_CERTIFIED)) / _MM
    far = moved_by(least)
    return {
        "sound": _case(sound),
        "with_play": play,
        "noise_over_printed": {
            "poses": (sound.sigma / _printed_sigma()).tolist(),
            "readings": (_reading_sigma(sound) * _MM / np.array(READING_SIGMA, dtype=np.float64)).tolist(),
        },
        "printed_tables_4_and_5_apart": apart(LEAST_SQUARES, WEIGHTED)._asdict(),
        "table_7_against_table_6": {
            "least_epsilon": least,
            "moves_position_by": far.position,
            "moves_orientation_by": far.orientation,
            "epsilon_that_moves_by_the_error_of_x_c": epsilon_of(float(VALIDATION["x_c"][0]) / _MM),
        },
        "legs_fitted_to_drawn_measurements": {"legs": drawn, "smallest_largest_error": best},
        "a_z_half_width": {
            "gauge_of_the_paper": _height(sound, CentroidGauge()),
            "heights_of_joints_1_3_5_equal": _height(sound, HeightGauge()),
            "procrustes": _height(sound, Procrustes()),
            "distance_of_joints_2_and_3": float(np.linalg.norm(ROBOT.base[1] - ROBOT.base[2])),
        },
        "contractions": contractions.to_dict(),
    }


def _case(case: RebuiltPlatform) -> dict[str, Any]:
    solutions = _solutions(case)
    checks = {name: _errors(check, "after") for name, (_, check) in solutions.items()}
    before = _errors(case.check, "before")
    return {
        "truth": dict(zip(ROBOT.names, case.measured.truth.tolist(), strict=True)),
        **{name: dict(zip(ROBOT.names, values.tolist(), strict=True)) for name, (values, _) in solutions.items()},
        "chi_squared": case.weighted.estimate.stats.chi_squared,  # type: ignore[attr-defined]
        "validation_mm_and_degrees": {
            "before": None if before is None else before._asdict(),
            **{name: None if check is None else check._asdict() for name, check in checks.items()},
        },
        "apart_from_least_squares_mm": {
            name: apart(case.plain.value, values)._asdict()
            for name, (values, _) in solutions.items()
            if name != "least_squares"
        },
        "legs_refuted": {"wide": _refuted(case.legs), "of_means": _refuted(case.tight)},
        "epsilon": {
            what: [[e if np.isfinite(e) else None for e in (v.epsilon.lower, v.epsilon.upper)] for v in verdicts]
            for what, verdicts in (("wide", case.legs), ("of_means", case.tight))
        },
        "boxes_that_hold_the_true_leg": {
            what: sum(v.box is not None and x in v.box for x, v in zip(_legs(case), verdicts, strict=True))
            for what, verdicts in (("wide", case.legs), ("of_means", case.tight))
        },
    }


def _solutions(case: RebuiltPlatform) -> dict[str, tuple[Array, HeldOut]]:
    """x_c, and x_cσ by its weights: each with its predictions."""
    return {
        "least_squares": (case.plain.value, case.plain_check),
        "weighted_jointly": (case.weighted.parameters, case.check),
        "weighted_leg_by_leg": (case.by_leg["right"], case.by_leg_check["right"]),
        "printed_weights_leg_by_leg": (case.by_leg["printed"], case.by_leg_check["printed"]),
    }


_WORDS = {
    "least_squares": "x_c",
    "weighted_jointly": "x_cσ, legs jointly",
    "weighted_leg_by_leg": "x_cσ, leg by leg",
    "printed_weights_leg_by_leg": "x_cσ, leg by leg, printed weights",
}
"""Names of the solutions in tables."""


def _printed_sigma() -> Array:
    """[DACP06, Table 3] in the order of `RebuiltPlatform.sigma`: m, rad."""
    printed = {name: float(value) for name, value in POSE_SIGMA}
    return np.array([*(printed[n] for n in "xyz"), *(np.radians(printed[n]) for n in "αβγ")])


def _reading_sigma(case: RebuiltPlatform) -> Array:
    between = case.repeatability.between
    assert between is not None
    return np.asarray(between[6:])


@dataclass(frozen=True)
class HeightGauge:
    """As the paper's gauge, with joints 1, 3 and 5 at one height in the place of joints 1, 2 and 3."""

    def conditions(self, reference: Array) -> tuple[Array, Array]:
        """Six conditions on the coordinates of the joints."""
        C, d = CentroidGauge().conditions(reference)
        C[4:] = 0.0
        C[4, [2, 8]], C[5, [8, 14]] = (1.0, -1.0), (1.0, -1.0)
        return C, d


def _height(case: RebuiltPlatform, gauge: Gauge) -> float:
    """m: the largest 95 % half-width of a joint's height on the base."""
    return float(half_widths(case, gauge)[2::7].max()) / _MM


def _about(sound: RebuiltPlatform) -> tuple[str, ...]:
    campaign = sound.campaign
    images = len(sound.measured.poses)
    return (
        (
            "A simulated DeltaLab platform whose true geometry is the paper's Table 4, in its 64 extremal "
            f"configurations, {campaign.runs} runs of {campaign.images} images: {images} images, and "
            f"{len(sound.measured.validation)} of 64 other configurations. (The paper counts the mean of ten images as "
            "an eleventh.) A camera in an unknown place sees a target in an unknown place, with the standard "
            "deviations of Tables 2 and 3, half of the variance from image to image and half from run to run; the "
            "paper's Euler angles are taken for components of a rotation vector."
        ),
        _TWICE,
    )


_TWICE = (
    f"The experiment is done twice: with a sound robot, and with one that has {PLAY.words} in each leg, taken up on "
    "one side or the other by the load. The paper's own poses are not published. x_c is least squares of the squared "
    "equations, leg by leg. x_cσ is weighted least squares: the paper weighs the equations of each leg by themselves; "
    "beside that are given all legs jointly, whose equations share the errors of a pose, and the weights as printed."
)


def _readings(sound: RebuiltPlatform) -> Table:
    rows = tuple(
        (f"leg {i + 1}", printed, f"{_MM * ours:.4f}")
        for i, (printed, ours) in enumerate(zip(READING_SIGMA, _reading_sigma(sound), strict=True))
    )
    return side_by_side("Table 2. Standard deviation of the readings, mm", ("leg", "paper", "ours"), rows)


def _poses(sound: RebuiltPlatform) -> Table:
    ours = np.concatenate([np.degrees(sound.sigma[3:]), sound.sigma[:3]])
    rows = tuple(
        (f"{name} [{'°' if name in 'αβγ' else 'm'}]", printed, f"{value:.2e}")
        for (name, printed), value in zip(POSE_SIGMA, ours, strict=True)
    )
    return side_by_side("Table 3. Standard deviation of the poses of single images", ("", "paper", "ours"), rows)


def in_gauge(case: RebuiltPlatform, values: Array, gauge: Gauge) -> Array:
    """Parameters in another gauge, mm."""
    return _MM * regauged(case.campaign.robot, values, gauge=gauge).parameters


def half_widths(case: RebuiltPlatform, gauge: Gauge) -> Array:
    """95 % of the weighted solution's parameters in a gauge, mm."""
    region = case.weighted.estimate.region
    assert isinstance(region, ConfidenceEllipsoid)
    carried = regauged(case.campaign.robot, case.weighted.parameters, region.covariance, gauge)
    assert carried.covariance is not None
    return np.asarray(1.96 * _MM * np.sqrt(np.maximum(carried.covariance.diagonal(), 0.0)))


def _geometry(sound: RebuiltPlatform) -> Table:
    gauge = CentroidGauge()
    parts: dict[str, dict[str, str]] = {}
    for head, column in (
        ("Table 1", TABLE_1),
        ("paper x_c", TABLE_4),
        ("ours x_c", sound.plain.value),
        ("paper x_cσ", TABLE_5),
        ("ours x_cσ, leg by leg", sound.by_leg["right"]),
        ("ours x_cσ, jointly", sound.weighted.parameters),
        ("truth", sound.measured.truth),
    ):
        if isinstance(column, tuple):  # as printed
            texts = [signed(text) for row in column for text in row]
        else:
            texts = [_four(value) for value in in_gauge(sound, column, gauge)]
        parts[head] = dict(zip(ROBOT.names, texts, strict=True))
    for head, g in (("± (95 %), jointly", gauge), ("±, Procrustes gauge", Procrustes())):
        parts[head] = dict(zip(ROBOT.names, (f"{w:.3f}" for w in half_widths(sound, g)), strict=True))
    caption = "Tables 1, 4 and 5. Geometry by least squares (x_c) and weighted (x_cσ), mm, in the paper's gauge"
    return side_by_side(caption, ("parameter", *parts), columns(ROBOT.names, parts))


def _four(value: float) -> str:
    return signed(f"{value + 0.0:.4f}")


def _errors(check: HeldOut, when: str) -> ValidationErrors | None:
    far, turned = getattr(check, f"position_{when}"), getattr(check, f"orientation_{when}")
    if far is None:
        return None
    degrees = np.degrees(turned)
    return ValidationErrors(_MM * far.mean(), _MM * far.std(), float(degrees.mean()), float(degrees.std()))


def _validation(sound: RebuiltPlatform, loose: RebuiltPlatform) -> Table:
    rows: list[tuple[str, ...]] = [(f"paper, {what}", *errors) for what, errors in VALIDATION.items()]
    for label, case in (("ours", sound), ("with play", loose)):
        by_stage = {"before": _errors(case.check, "before")}
        by_stage |= {_WORDS[name]: _errors(check, "after") for name, (_, check) in _solutions(case).items()}
        for what, errors in by_stage.items():
            if errors is not None:
                rows.append((f"{label}, {what}", *(f"{value:.3g}" for value in errors)))
    heads = ("", "mean position, mm", "std dev. position, mm", "mean orientation, °", "std dev. orientation, °")
    return side_by_side("Table 6. Errors of 64 validation poses", heads, tuple(rows))


def _certified(sound: RebuiltPlatform, loose: RebuiltPlatform) -> Table:
    """Section 5.1.2: does x_c solve the equations for some measurements, and does anything near it?"""
    rows = []
    cases = ((sound.legs, sound.tight), (loose.legs, loose.tight))
    for leg in range(6):
        cells = [f"{v[leg].fitted} of {len(v[leg].needs)}; {_exists(v[leg])}" for pair in cases for v in pair]
        rows.append((f"leg {leg + 1}", "0; none exists", *cells))
    wide, tight = f"± {WIDE:g} σ", f"± {COVERAGE:g} σ of a mean"
    heads = ("leg", "paper", f"ours, {wide}", f"ours, {tight}", f"with play, {wide}", f"with play, {tight}")
    caption = "Section 5.1.2. Poses whose equation x_c solves for exhibited measurements; legs in x_c ± 100 mm (proven)"
    return side_by_side(caption, heads, tuple(rows))


def _exists(leg: ChainFinding) -> str:
    return {Finding.REFUTED: "none exists", Finding.FITS: "one exists", Finding.OPEN: "not refuted"}[leg.finding]


def _epsilon(sound: RebuiltPlatform, loose: RebuiltPlatform) -> Table:
    cases = (sound.legs, sound.tight, loose.legs, loose.each_run, loose.tight)
    rows = []
    for i, (least, most) in enumerate(zip(EPSILON_CERTIFIED, EPSILON, strict=True)):
        brackets = [v[i].epsilon.words for v in cases]
        rows.append((f"leg {i + 1}", f"{least} … {most}", *brackets))
    together = [case.together.epsilon.words for case in (sound, loose)]
    rows.append(("all together", "—", together[0], "—", together[1], "—", "—"))
    wide, tight = f"± {WIDE:g} σ", f"± {COVERAGE:g} σ of a mean"
    runs = f"with play, {wide}, {len(loose.each_run[0].needs)} runs"
    heads = ("leg", "paper", f"ours, {wide}", f"ours, {tight}", f"with play, {wide}", runs, f"with play, {tight}")
    return side_by_side("Table 7. Bracket [ε_cert, ε] of the smallest extra uncertainty, mm", heads, tuple(rows))


def _inconsistencies(numbers: Mapping[str, Any]) -> tuple[str, ...]:
    """Contradictions in the paper's own numbers and equations."""
    between, seven = numbers["printed_tables_4_and_5_apart"], numbers["table_7_against_table_6"]
    drawn = numbers["legs_fitted_to_drawn_measurements"]
    x_c, x_cs = VALIDATION["x_c"][0], VALIDATION["x_cσ"][0]
    return (
        (
            f"Tables 4 and 5 are two answers from the same poses, and differ by up to {between['largest']:.1f} mm "
            f"({between['parameter']}, in a gauge that treats all joints alike; {between['rms']:.1f} mm rms). Here "
            f"x_cσ differs from x_c by at most {_apart(numbers['sound'])} mm on the sound robot, and by "
            f"{_apart(numbers['with_play'])} mm with play (leg by leg, jointly, with printed weights)."
        ),
        (
            f"Table 7 does not fit Table 6. Leg errors spread evenly over ± {_MM * seven['least_epsilon']:.2f} mm "
            f"would move the blueprint's platform by {_MM * seven['moves_position_by']:.0f} mm and "
            f"{np.degrees(seven['moves_orientation_by']):.1f}° on average; the calibrated robot is off by {x_c} mm. "
            f"Such errors move it by {x_c} mm if they stay within "
            f"± {_MM * seven['epsilon_that_moves_by_the_error_of_x_c']:.1f} mm."
        ),
        (
            "The printed weights Σ_F⁻¹ = (∂F/∂M) Σ_M⁻¹ are not square, and not the inverse of a covariance; that of F "
            "is (J_M Σ_M J_Mᵀ)⁻¹. Read as FᵀAAᵀF with A = (∂F/∂M) Σ_M⁻¹, they give most weight to the equations that "
            f"errors change most. In print x_cσ predicts positions {float(x_cs) / float(x_c):.2f} times as badly as "
            f"x_c ({x_cs} against {x_c} mm). Here the ratio is {_worse(numbers['sound'])} on the sound robot and "
            f"{_worse(numbers['with_play'])} with play (leg by leg, jointly, with printed weights)"
            f"{_explained(numbers)}."
        ),
        "In Table 6 the units of the rows 'std dev. position' and 'mean orientation' are swapped.",
        (
            "Strict inclusion of an interval Newton step does not prove a solution for every measurement in the "
            "intervals (§4.3.1) where there are more equations than unknowns. Of "
            f"{drawn['legs']} legs, fitted to measurements drawn evenly from the intervals, none solves its equations: "
            f"each misses some leg length by {_MM * drawn['smallest_largest_error']:.2f} mm or more."
        ),
    )


_KINDS = ("weighted_leg_by_leg", "weighted_jointly", "printed_weights_leg_by_leg")
"""Kinds of x_cσ, in the order of sentences."""


def _apart(case: Mapping[str, Any]) -> str:
    return listed([f"{case['apart_from_least_squares_mm'][kind]['largest']:.2f}" for kind in _KINDS])


def _ratios(case: Mapping[str, Any]) -> list[float]:
    """Errors of predicted positions by each kind of x_cσ, over those by x_c."""
    errors = case["validation_mm_and_degrees"]
    return [errors[kind]["position"] / errors["least_squares"]["position"] for kind in _KINDS]


def _worse(case: Mapping[str, Any]) -> str:
    return listed([f"{ratio:.2f}" for ratio in _ratios(case)])


def _explained(numbers: Mapping[str, Any]) -> str:
    """Do the printed weights make as much of a difference as in print?"""
    printed = float(VALIDATION["x_cσ"][0]) / float(VALIDATION["x_c"][0])
    ours = max(_ratios(numbers[case])[-1] for case in ("sound", "with_play"))
    if ours < (1 + printed) / 2:
        return ": neither these weights nor this play explain the printed ratio"
    return ""


def _differences(sound: RebuiltPlatform, numbers: Mapping[str, Any]) -> tuple[str, ...]:
    good, play = numbers["sound"], numbers["with_play"]
    checks = {name: case["validation_mm_and_degrees"] for name, case in (("good", good), ("play", play))}
    printed = float(VALIDATION["x_c"][0])
    after = checks["play"]["least_squares"]["position"]
    before = checks["good"]["before"]
    held, heights, contracted = good["boxes_that_hold_the_true_leg"], numbers["a_z_half_width"], numbers["contractions"]
    poses, readings = (_range(numbers["noise_over_printed"][what]) for what in ("poses", "readings"))
    needs = _MM * PLAY.backlash * printed / after
    lines = [
        (
            f"The measured noise has {poses} times the standard deviations of Table 3 and {readings} times those of "
            "Table 2. With it, a robot that obeys equation (1) is predicted to "
            f"{checks['good']['least_squares']['position']:.2g} mm after calibration, against "
            f"{VALIDATION['x_c'][0]} mm in print. χ² per degree of freedom is {good['chi_squared']:.2f}."
        ),
        (
            f"A play of {_MM * PLAY.backlash:g} mm in the legs leaves {after:.2f} mm. If the error is proportional to "
            f"the play, the paper's {VALIDATION['x_c'][0]} mm correspond to {needs:.1f} mm. χ² per degree of freedom "
            f"is {play['chi_squared']:.0f} with play: it refutes the model without any interval."
        ),
        (
            f"Intervals of {WIDE:g} σ of a single image around the means of "
            f"{sound.campaign.runs * sound.campaign.images} images, as in the paper, refute the play in "
            f"{play['legs_refuted']['wide']} of 6 legs, and in {play['legs_refuted']['each_run']} of 6 from every run "
            f"by itself; intervals of {COVERAGE:g} σ of the means refute it in {play['legs_refuted']['of_means']} of "
            f"6. {_shared(play)} Boxes of the sound robot hold the true leg in {held['wide']} and "
            f"{held['of_means']} of 6, at zero tolerance."
        ),
        (
            "The paper's gauge puts joints 1, 2 and 3 at one height; joints 2 and 3 are "
            f"{_MM * heights['distance_of_joints_2_and_3']:.0f} mm apart. There the heights a_z are known to "
            f"± {_MM * heights['gauge_of_the_paper']:.2f} mm; with joints 1, 3 and 5 at one height to "
            f"± {_MM * heights['heights_of_joints_1_3_5_equal']:.2f} mm, and in a gauge that treats all joints alike "
            f"to ± {_MM * heights['procrustes']:.2f} mm."
        ),
        _on_contraction(contracted),
    ]
    if before is not None:
        lines.insert(
            2,
            f"Before calibration the blueprint predicts the robot of Table 4 to {before['position']:.2f} mm "
            f"(paper: {VALIDATION['before'][0]} mm).",
        )
    return tuple(lines)


def _on_contraction(numbers: Mapping[str, Any]) -> str:
    largest = numbers["largest_box_contracted"]
    alone, often, lifted = (_MM * largest[name] for name in (KRAWCZYK, BISECTED, LIFTED))
    return (
        f"Of the boxes tried around leg 1, the linear programs (12) contract those up to ± {alone:g} mm; with the "
        f"bisection that the paper names, and {BOXES} boxes, those up to ± {often:g} mm. The lifted relaxation "
        f"contracts up to ± {lifted:g} mm, and from all boxes that (12) alone does not contract it ends at the same "
        f"widths, to {_percent(numbers['lifted_widths_differ_by'])}."
    )


def _percent(part: float) -> str:
    return "less than 0.1 %" if part < 1e-3 else f"{100 * part:.1f} %"


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"


def _legs(case: RebuiltPlatform) -> Array:
    return case.measured.truth.reshape(6, 7)


def _refuted(legs: tuple[ChainFinding, ...]) -> int:
    return sum(leg.finding is Finding.REFUTED for leg in legs)


def _shared(case: Mapping[str, Any]) -> str:
    """The verdict about all legs together, which share the errors of the poses."""
    if case["legs_together_refuted"]:
        return "All legs together, which share the errors of the poses, are refuted with the paper's intervals."
    return "All legs together are not refuted with the paper's intervals either."
