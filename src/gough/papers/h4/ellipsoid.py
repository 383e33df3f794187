"""Ellipsoidal estimation of parallel robot dynamic parameters [PRV03e]."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Any, Literal

import numpy as np

from gough.control import Comparison
from gough.core import outward
from gough.core.arrays import Array
from gough.core.progress import Phase
from gough.core.tables import Table
from gough.core.text import listed, signed
from gough.dynamics import Identified, Prediction, identify
from gough.estimates import Method
from gough.methods import BoundingEllipsoid, EllipsoidStream, LinearHull, TightEllipsoid
from gough.papers.closed_loop import can_be_controlled, comparison_table, distance_figure
from gough.papers.closed_loop import numbers as closed_loop_numbers
from gough.papers.h4 import figures
from gough.papers.h4.control import LOOP, follow_fast_phase
from gough.papers.printed import (
    PRV03E,
    PRV03E_BOUNDS,
    PRV03E_DETERMINANT,
    PRV03E_OUTLIERS,
    PRV03I_START,
    ellipsoid_volume,
)
from gough.papers.rebuilt import Rebuilt, Rows, cross_validation_figure, rebuild, start_box, values
from gough.papers.reproduction import Reproduction, columns, side_by_side
from gough.problem import LinearProblem
from gough.region import Ellipsoid
from gough.report import Drawing
from gough.unknowns import Unknowns

_RECURSIVE, _TIGHT = "recursive ellipsoid", "tight ellipsoid"
_TRIALS = 300
"""Random problems, and random parts of the recording, on which equation (30) is tried as printed."""
_PART = 200
"""Rows of such a part."""
_ORDERS = 20
"""Random orders of the rows for the recursion."""
_POINTS = 60
"""Points of the curves over the rows."""
_PAIRS = (("M_nac", "I_mot1"), ("F_v1", "F_c1"))
"""Parameters whose plane is drawn; the paper draws none."""


def reproduce(seed: int = 1, on_step: Callable[[Phase], object] = lambda _: None) -> Reproduction:
    """Table I and the cross-validation of the paper beside those of the virtual experiment."""
    rebuilt = rebuild("h4", seed=seed, on_step=on_step, of=8)
    on_step(Phase(3, 8, "identifying with the paper's model"))
    identified = _identified(rebuilt, "paper", PRV03E_BOUNDS[1])
    on_step(Phase(4, 8, "identifying with the complete model"))
    complete = _identified(rebuilt, "rods", None)
    on_step(Phase(5, 8, "the recursion as printed, and in other orders"))
    rng = np.random.default_rng([seed, 1])
    rows = Rows.of(rebuilt, "paper")
    printed = _printed_recursion(rows, rng)
    path = _path(rows)
    numbers = {**_numbers(rebuilt, identified, complete, rows, rng), "equation_30": printed}
    on_step(Phase(6, 8, "the bound that an ellipsoid as small as the printed one needs"))
    numbers["bound_for_the_printed_determinant"] = _needed_bound(rows, identified)
    on_step(Phase(7, 8, "model-based control of the fast trajectory"))
    followed = _followed(rebuilt, identified, complete) if can_be_controlled() else None
    on_step(Phase(8, 8, "drawing"))
    if followed is not None:
        numbers["closed_loop"] = closed_loop_numbers(followed)
    return Reproduction(
        paper="PRV03e",
        title="Ellipsoidal estimation of parallel robot dynamic parameters (IROS 2003)",
        about=_about(rebuilt),
        tables=(
            _table_1(rebuilt, identified, complete),
            _sizes(identified, complete),
            _torques(identified, complete),
            _trials(printed),
            *(() if followed is None else (_control_table(numbers["closed_loop"]),)),
        ),
        inconsistencies=_inconsistencies(numbers),
        differences=_differences(numbers),
        drawings=(
            figures.sizes(path.rows, path.log_determinants, path.semi_axes, _log_determinant(identified, _TIGHT)),
            figures.projections(
                rows.names,
                _PAIRS,
                {"recursive": _region(identified, _RECURSIVE), "tight": _region(identified, _TIGHT)},
                LinearHull().contract(rows.problem(PRV03E_BOUNDS[1]), rows.start),
                rows.truth,
            ),
            _figure_4(identified),
            *(() if followed is None else (_control_figure(followed),)),
        ),
        numbers=numbers,
    )


def _about(rebuilt: Rebuilt) -> tuple[str, ...]:
    return (
        (
            "A simulated H4 whose true parameters are those of weighted least squares in the companion paper, with "
            "arms that have weight and rods that have inertia, under joint PI control at 1 kHz; "
            f"{rebuilt.motion.n_rows} rows after filtering and masking. The paper prints no dimensions; those of the "
            "simulated robot are assumed."
        ),
        (
            f"Error bound {PRV03E_BOUNDS[1]:g} N·m (15 % of ±15 N·m), as in the paper; its model of 14 parameters. "
            f"The paper does not say where it starts: here at the box [{PRV03I_START[0]:g}, {PRV03I_START[1]:g}]. For "
            "16 parameters the bound is 1.5 ε*, where ε* is the smallest bound that explains every row."
        ),
    )


def _identified(rebuilt: Rebuilt, variant: str, bound: float | None) -> Identified:
    robot = rebuilt.variant(variant)
    return identify(
        robot,
        rebuilt.motion,
        methods=[_RECURSIVE, _TIGHT],
        validation=rebuilt.other,
        prior=start_box(len(robot.names)),
        bound=bound,
        compare=False,
    )


def _region(identified: Identified, method: str) -> Ellipsoid:
    region = identified[method].region
    assert isinstance(region, Ellipsoid)
    return region


def _log_determinant(identified: Identified, method: str) -> float:
    """log₁₀ det M⁻¹."""
    return _log10_det(_region(identified, method))


def _log10_det(region: Ellipsoid) -> float:
    return float(np.linalg.slogdet(region.shape)[1] / log(10))


Outcome = Literal["holds the truth", "loses the truth", "not positive definite"]


def printed_recursion(
    W: Array, y: Array, bound: float, start: Ellipsoid, truth: Array, *, corrected: bool = False
) -> Outcome:
    """[PRV03e, eq. (30)] row by row, with δ as printed, θ̂_{k−1}ᵀ N θ̂_k, or corrected, θ̂_kᵀ N θ̂_k: how it ends.

    α is the explicit optimum of the determinant. The recursion ends at the first row after which M is not positive
    definite (1 − δ ≤ 0), or after which the ellipsoid does not hold the true parameters.

    Examples:
        >>> ball = Ellipsoid([0.0, 0.0], [[8.0, 0.0], [0.0, 8.0]])
        >>> W, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.5, 1.5])
        >>> for corrected in (False, True):
        ...     print(printed_recursion(W, y, 0.1, ball, np.array([1.5, 1.5]), corrected=corrected))
        not positive definite
        holds the truth
    """
    center, M, p = start.center.copy(), np.linalg.inv(start.shape), len(start.center)
    for row, value in zip(W / bound, y / bound, strict=True):
        g, e = float(row @ np.linalg.solve(M, row)), float(value - row @ center)
        b, c = 2 * p - 1 - g + e * e, p * (1 - e * e) - g
        if c >= 0:
            continue  # no smaller ellipsoid in the family
        root = np.sqrt(max(b * b - 4 * (p - 1) * c, 0.0))
        rho = (-2 * c / (b + root) if b > 0 else (root - b) / (2 * (p - 1))) / g
        alpha = 1 / (1 + rho)
        N = alpha * M + (1 - alpha) * np.outer(row, row)
        after = np.linalg.solve(N, alpha * M @ center + (1 - alpha) * row * value)
        left = after if corrected else center
        delta = alpha * center @ M @ center + (1 - alpha) * value**2 - left @ N @ after
        if delta >= 1:
            return "not positive definite"
        center, M = after, N / (1 - delta)
        if (truth - center) @ M @ (truth - center) > 1 + _ROUNDING:
            return "loses the truth"
    return "holds the truth"


_ROUNDING = 1e-9
"""Rounding error of the quadratic form of a point of the ellipsoid."""


def _printed_recursion(rows: Rows, rng: np.random.Generator) -> dict[str, dict[str, int]]:
    """How often each end is met: on random problems, and on the recording and random parts of it."""
    counts: dict[str, Counter[str]] = {}
    p, n, reach = 4, 40, 10.0
    ball = Ellipsoid(np.zeros(p), p * reach**2 * np.eye(p))
    trials = []
    for _ in range(_TRIALS):
        truth, W = rng.uniform(-reach, reach, p), rng.standard_normal((n, p))
        trials.append((W, W @ truth + rng.uniform(-1, 1, n), truth))
    for corrected in (False, True):
        ends = Counter(str(printed_recursion(W, y, 1.0, ball, t, corrected=corrected)) for W, y, t in trials)
        counts[f"random problems, δ {'corrected' if corrected else 'as printed'}"] = ends
    box, bound = rows.start, PRV03E_BOUNDS[1]
    around = Ellipsoid(box.center, len(box) * np.diag((box.width / 2) ** 2))
    for corrected in (False, True):
        what = "corrected" if corrected else "as printed"
        one = printed_recursion(rows.W, rows.y, bound, around, rows.truth, corrected=corrected)
        counts[f"the whole recording, δ {what}"] = Counter([str(one)])
    orders = [rng.permutation(len(rows.y))[:_PART] for _ in range(_TRIALS)]
    for corrected in (False, True):
        ends = Counter(
            str(printed_recursion(rows.W[o], rows.y[o], bound, around, rows.truth, corrected=corrected)) for o in orders
        )
        counts[f"{_PART} random rows of the recording, δ {'corrected' if corrected else 'as printed'}"] = ends
    return {name: dict(ends) for name, ends in counts.items()}


_ENDS: tuple[Outcome, ...] = ("not positive definite", "loses the truth", "holds the truth")


def _trials(counts: Mapping[str, Mapping[str, int]]) -> Table:
    rows = tuple(
        (what, str(sum(ends.values())), *(str(ends.get(e, 0)) for e in _ENDS)) for what, ends in counts.items()
    )
    heads = ("equation (30) on …", "trials", "M loses definiteness", "truth is lost", "truth is held throughout")
    return side_by_side("Equation (30) as printed and corrected", heads, rows)


@dataclass(frozen=True, eq=False)
class _Path:
    """The recursive ellipsoid after so many rows."""

    rows: tuple[int, ...]
    log_determinants: Array
    semi_axes: Array
    """(points, parameters)."""


def _path(rows: Rows) -> _Path:
    stream = EllipsoidStream(Unknowns(rows.names, prior=rows.start), cut=False)
    edges = np.unique(np.linspace(1, len(rows.y), _POINTS).astype(int))
    points = []
    for first, last in zip([0, *edges[:-1]], edges, strict=True):
        stream.update_many(rows.W[first:last], rows.y[first:last], PRV03E_BOUNDS[1])
        points.append(stream.estimate().region)
    shapes = [region.shape for region in points if isinstance(region, Ellipsoid)]
    axes = np.array([np.sqrt(np.linalg.eigvalsh(shape)) for shape in shapes])
    return _Path(tuple(edges.tolist()), np.array([2 * np.log10(a).sum() for a in axes]), axes)


def _numbers(
    rebuilt: Rebuilt, paper_bounds: Identified, complete: Identified, rows: Rows, rng: np.random.Generator
) -> dict[str, Any]:
    orders = [rng.permutation(len(rows.y)) for _ in range(_ORDERS)]
    method: Method[LinearProblem] = BoundingEllipsoid(cut=False, rounds=0)
    regions = [method.estimate(rows.problem(PRV03E_BOUNDS[1], order)).region for order in orders]
    sizes = [_log10_det(region) for region in regions if isinstance(region, Ellipsoid)]
    unmasked = {n: Rows.of(rebuilt, variant, masked=False) for n, variant in (("14", "paper"), ("16", "rods"))}
    return {
        "rows": rebuilt.motion.n_rows,
        "truth": rebuilt.truth,
        "centers": {
            label: values(identified[method]) for label, identified, method in _answers(paper_bounds, complete)
        },
        "log10_determinant": {
            "paper": float(np.log10(float(PRV03E_DETERMINANT))),
            **{
                label: _log_determinant(identified, method)
                for label, identified, method in _answers(paper_bounds, complete)
            },
        },
        "log10_determinant_recursive_in_random_orders": sizes,
        "smallest_bound": {
            "14": rows.smallest_bound,
            "16": Rows.of(rebuilt, "rods").smallest_bound,
            "14_with_reversals": unmasked["14"].smallest_bound,
            "16_with_reversals": unmasked["16"].smallest_bound,
        },
        "rows_with_reversals": len(unmasked["14"].y),
        "rows_beyond_first_bound_at_the_truth": {
            "14": rows.beyond(PRV03E_BOUNDS[0]),
            "14_with_reversals": unmasked["14"].beyond(PRV03E_BOUNDS[0]),
            "16_with_reversals": unmasked["16"].beyond(PRV03E_BOUNDS[0]),
        },
    }


def _needed_bound(rows: Rows, identified: Identified) -> dict[str, float]:
    """The error bound with which the tight ellipsoid of these rows is as small as the printed one.

    log det M⁻¹ is nearly linear in the logarithm of the bound: two steps of the secant method.
    """
    p, wanted = len(rows.names), float(np.log10(float(PRV03E_DETERMINANT)))
    known = {PRV03E_BOUNDS[1]: _log_determinant(identified, _TIGHT)}
    bound = PRV03E_BOUNDS[1] * 10 ** ((wanted - known[PRV03E_BOUNDS[1]]) / (2 * p))
    for _ in range(2):
        region = TightEllipsoid().estimate(rows.problem(bound)).region
        assert isinstance(region, Ellipsoid)
        known[bound] = _log10_det(region)
        (one, at_one), (other, at_other) = sorted(known.items(), key=lambda pair: abs(pair[1] - wanted))[:2]
        slope = (at_one - at_other) / (log(one) - log(other))
        bound = one * exp((wanted - at_one) / slope)
    return {"bound": bound, "growth_exponent": slope * log(10)}


def _table_1(rebuilt: Rebuilt, paper_bounds: Identified, complete: Identified) -> Table:
    parts = {
        "paper's center": {name: row.value for name, row in PRV03E.items()},
        **{label: _centers(identified, method) for label, identified, method in _answers(paper_bounds, complete)},
        "paper, a priori": {name: row.prior for name, row in PRV03E.items() if row.prior is not None},
        "truth": {name: f"{value:.4f}" for name, value in rebuilt.truth.items()},
    }
    caption = "Table I. Centers of the ellipsoids (SI units)"
    return side_by_side(caption, ("parameter", *parts), columns(rebuilt.robot.names, parts))


def _centers(identified: Identified, method: str) -> dict[str, str]:
    return {name: f"{value:.4f}" for name, value in values(identified[method]).items()}


def _sizes(paper_bounds: Identified, complete: Identified) -> Table:
    """The determinant of M⁻¹, and the volume that it stands for."""
    volume = ellipsoid_volume(float(PRV03E_DETERMINANT), len(PRV03E))
    rows = [("paper", PRV03E_DETERMINANT, f"{volume:.3g}", str(len(PRV03E)))]
    for label, identified, method in _answers(paper_bounds, complete):
        n, determinant = len(identified[method].value), 10 ** _log_determinant(identified, method)
        rows.append((label, f"{determinant:.3g}", f"{ellipsoid_volume(determinant, n):.3g}", str(n)))
    return side_by_side("Uncertainty", ("ellipsoid", "det M⁻¹", "volume", "parameters"), tuple(rows))


def _torques(paper_bounds: Identified, complete: Identified) -> Table:
    """Torque bounds on another trajectory [PRV03e, eq. (37)]."""
    rows = []
    for label, identified, method in _answers(paper_bounds, complete):
        assert identified.validation is not None
        prediction: Prediction = identified.validation.predictions[method]
        assert prediction.upper is not None
        assert prediction.lower is not None
        assert prediction.covered is not None
        width = outward.at_most(float(np.mean(prediction.upper - prediction.lower) / 2), digits=3)
        rows.append((label, f"±{width}", f"{prediction.rms.max():.3g}", f"{100 * prediction.covered.min():.4g} %"))
    heads = ("ellipsoid", "mean half-width, N·m", "rms error of its center, N·m", "torques within ± bound")
    return side_by_side("Cross-validation on another trajectory (the paper shows a figure)", heads, tuple(rows))


def _answers(identified: Identified, complete: Identified) -> tuple[tuple[str, Identified, str], ...]:
    return (
        ("ours, recursive", identified, _RECURSIVE),
        ("ours, tight", identified, _TIGHT),
        ("tight, 16 param., 1.5 ε*", complete, _TIGHT),
    )


def _figure_4(identified: Identified) -> Drawing:
    """Figure 4: measured torques of the other trajectory, and the bounds that the ellipsoids put on them."""
    caption = (
        "Figure 4. Cross-validation: torques of another trajectory as measured, and bounds by equation (37) of the "
        "recursive and of the tight ellipsoid; below each, measured minus predicted on a scale of its own."
    )
    return cross_validation_figure("figure-4-cross-validation", identified, _RECURSIVE, caption)


_LAWS = ("pd", "computed-torque", "predictive")
_IN_CONTROL = ("recursive, 14", "tight, 14", "tight, 16", "true")
"""Models of the controllers: the center of an ellipsoid, and the number of its parameters."""


def _followed(rebuilt: Rebuilt, identified: Identified, complete: Identified) -> Comparison:
    """The complete H4 under control with the centers of the ellipsoids."""
    answers = (identified[_RECURSIVE], identified[_TIGHT], complete[_TIGHT])
    models = {name: values(answer) for name, answer in zip(_IN_CONTROL, answers, strict=False)}  # the last is the truth
    return follow_fast_phase(rebuilt, complete, models, _LAWS)


def _control_table(runs: Mapping[str, Mapping[str, Any]]) -> Table:
    caption = (
        'Model-based control (the paper: "the quality of estimation have been checked through model based control '
        'scheme", without a number)'
    )
    return comparison_table(runs, caption, "N·m")


def _control_figure(followed: Comparison) -> Drawing:
    recursive, tight, best, true = (f"computed-torque, {name}" for name in _IN_CONTROL)
    panels = {"no model": ["pd"], "models of 14 parameters": [recursive, tight], "16 parameters": [best, true]}
    caption = (
        "Model-based control on a fast phase that the identification has not seen, with every part of the robot a "
        "body: PD control of the joints, and below computed torque with the center of each ellipsoid and with the true "
        f"parameters. All controllers are tuned to {LOOP.bandwidth:g} Hz. The paper has no such figure."
    )
    return distance_figure("model-based-control", followed, panels, caption)


def _inconsistencies(numbers: Mapping[str, Any]) -> tuple[str, ...]:
    """Contradictions in the paper's own numbers and equations."""
    volume = ellipsoid_volume(float(PRV03E_DETERMINANT), len(PRV03E))
    trials = numbers["equation_30"]
    printed, corrected = (trials[f"random problems, δ {what}"] for what in ("as printed", "corrected"))
    part = trials[f"{_PART} random rows of the recording, δ as printed"]
    whole = trials["the whole recording, δ as printed"]
    (end,) = whole
    return (
        (
            f'The "uncertainty volume" {PRV03E_DETERMINANT} is det M⁻¹: the volume of such an ellipsoid in '
            f"{len(PRV03E)} dimensions is {volume:.2g}."
        ),
        (
            "Equation (30) has θ̂ of the step before in the last term of δ; it must be θ̂ of this step. As printed, M "
            f"loses its definiteness in {printed.get(_ENDS[0], 0)} of {_TRIALS} random problems of 4 parameters and 40 "
            f"rows, and the ellipsoid loses the true parameters in {printed.get(_ENDS[1], 0)}; corrected, it holds "
            f"them in {corrected.get(_ENDS[2], 0)}. On the rows of this recording, in their order, the printed "
            f"equation {end}; on {_PART} of them in random order M loses its definiteness in "
            f"{part.get(_ENDS[0], 0)} of {_TRIALS} trials and the truth is lost in {part.get(_ENDS[1], 0)}."
        ),
    )


def _differences(numbers: Mapping[str, Any]) -> tuple[str, ...]:
    bounds = {n: outward.at_most(bound, digits=3) for n, bound in numbers["smallest_bound"].items()}
    beyond = numbers["rows_beyond_first_bound_at_the_truth"]
    sizes, orders = numbers["log10_determinant"], numbers["log10_determinant_recursive_in_random_orders"]
    tight, recursive = sizes["ours, tight"], sizes["ours, recursive"]
    needed = numbers["bound_for_the_printed_determinant"]
    n = len(PRV03E)
    least = 10 ** ((min(orders) - tight) / (2 * n))
    runs = numbers.get("closed_loop")
    return (
        (
            f"The paper raised its bound from {PRV03E_BOUNDS[0]:g} to {PRV03E_BOUNDS[1]:g} N·m to keep outliers below "
            f"{PRV03E_OUTLIERS}, and explains the increase by dry friction of about 1 N·m. Here rows near velocity "
            "reversals, where the sign of dry friction is uncertain, are left out. With them, the true parameters miss "
            f"{beyond['16_with_reversals']} of {numbers['rows_with_reversals']} rows by more than "
            f"{PRV03E_BOUNDS[0]:g} N·m with 16 parameters and {beyond['14_with_reversals']} with 14, and errors of "
            f"{bounds['16_with_reversals']} and {bounds['14_with_reversals']} N·m suffice to explain all rows. Without "
            f"them {bounds['16']} and {bounds['14']} N·m suffice, and the number of rows that the true parameters miss "
            f"by more than {PRV03E_BOUNDS[0]:g} N·m is {beyond['14']}."
        ),
        (
            f"One pass of the recursion gives log₁₀ det M⁻¹ = {recursive:.1f} in the order of the recording, and "
            f"{min(orders):.1f} to {max(orders):.1f} in {len(orders)} random orders. The tight ellipsoid, optimized "
            f"over all rows at once, has {signed(f'{tight:.1f}')}; the geometric mean of the semi-axes is "
            f"{least:.2f} times larger for the best of these orders."
        ),
        (
            f"A tight ellipsoid of these data with the printed det M⁻¹ = {PRV03E_DETERMINANT} needs a bound of about "
            f"{needed['bound']:.2f} N·m, not {PRV03E_BOUNDS[1]:g}; det M⁻¹ grows there with the bound to the power "
            f"{needed['growth_exponent']:.0f}."
        ),
        *(() if runs is None else (_on_control(runs),)),
    )


def _on_control(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """What the models are worth in a controller."""
    pd = 1e3 * runs["pd"]["rms_distance"]
    computed = {name: 1e3 * runs[f"computed-torque, {name}"]["rms_distance"] for name in _IN_CONTROL}
    predicted = {name: 1e3 * runs[f"predictive, {name}"]["rms_distance"] for name in _IN_CONTROL}
    named = [f"{computed[name]:.2g} and {predicted[name]:.2g} mm ({name})" for name in _IN_CONTROL]
    return (
        "The paper checks its estimate by a model-based controller, a predictive one, and prints no number of it. Here "
        f"PD control of the joints leaves {pd:.2g} mm rms between the platform and its desired position on a fast "
        "phase that the identification has not seen. Computed torque and predictive control with the centers of the "
        f"ellipsoids leave {listed(named)}. The robot is simulated with all its bodies; controllers run at "
        f"{LOOP.rate:g} Hz without noise, all with a bandwidth of {LOOP.bandwidth:g} Hz, which is our choice."
    )
