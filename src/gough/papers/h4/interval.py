"""Robust estimation of parallel robot dynamic parameters with interval analysis [PRV03i]."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.control import Comparison, enclose_feedforward
from gough.core import outward
from gough.core.arrays import Array
from gough.core.progress import Phase
from gough.core.tables import Table
from gough.core.text import listed
from gough.dynamics import Identified, identify
from gough.export import RobotModel
from gough.methods import GaussSeidel, LinearHull
from gough.papers.closed_loop import can_be_controlled, comparison_table, distance_figure
from gough.papers.closed_loop import numbers as closed_loop_numbers
from gough.papers.h4 import figures
from gough.papers.h4.control import LOOP, follow_fast_phase
from gough.papers.printed import (
    PRV03I,
    PRV03I_BOUND,
    PRV03I_START,
    implied_bound,
    outside_their_boxes,
)
from gough.papers.rebuilt import Rebuilt, Rows, boxes, percents, rebuild, start_box, values
from gough.papers.reproduction import Reproduction, columns, set_text, side_by_side, with_percent
from gough.region import Box
from gough.report import Drawing
from gough.robots import H4

_GAUSS_SEIDEL, _HULL, _WEIGHTED = "Gauss–Seidel", "hull", "weighted"
_FEWEST = 80
"""Rows of the smallest part of the data for which boxes are computed; the next parts have twice as many each."""
_SINGULAR = 15
"""Power of ten of a condition number beyond which a matrix of doubles counts as singular."""
_OFF = 5.0
"""Standard deviations beyond which an estimate is said not to be explained by its σ."""


def reproduce(seed: int = 1, on_step: Callable[[Phase], object] = lambda _: None) -> Reproduction:
    """Tables 1 and 2 of the paper beside those of the virtual experiment."""
    rebuilt = rebuild("h4", seed=seed, on_step=on_step, of=7)
    on_step(Phase(3, 7, "identifying with the paper's model"))
    printed = _identified(rebuilt, "paper")
    on_step(Phase(4, 7, "identifying with the complete model"))
    complete = identify(rebuilt.robot, rebuilt.motion, methods=[_WEIGHTED], compare=False)
    on_step(Phase(5, 7, "boxes from parts of the data"))
    rows = Rows.of(rebuilt, "paper")
    growth = _growth(rows, np.random.default_rng([seed, 1]))
    on_step(Phase(6, 7, "model-based control of the fast trajectory"))
    followed = _followed(rebuilt, printed, complete) if can_be_controlled() else None
    on_step(Phase(7, 7, "drawing"))
    numbers = _numbers(rebuilt, printed, complete, rows, growth)
    if followed is not None:
        numbers["closed_loop"] = closed_loop_numbers(followed)
        numbers["drives"] = _drives(printed, followed)
    return Reproduction(
        paper="PRV03i",
        title="Robust estimation of parallel robot dynamic parameters with interval analysis (CDC 2003)",
        about=_about(rebuilt),
        tables=(
            _table_1(rebuilt, printed),
            _table_2(rebuilt, printed, complete),
            _table_of_widths(growth),
            *(() if followed is None else (_control_table(numbers["closed_loop"]),)),
        ),
        inconsistencies=inconsistencies(),
        differences=_differences(numbers),
        drawings=(
            figures.boxes(
                {name: row.sides for name, row in PRV03I.items() if row.sides is not None},
                {"Gauss–Seidel": boxes(printed[_GAUSS_SEIDEL]), "exact hull": boxes(printed[_HULL])},
                rebuilt.truth,
            ),
            figures.widths(growth.rows, growth.gauss_seidel, growth.hull),
            *(() if followed is None else (_control_figure(followed),)),
        ),
        numbers=numbers,
    )


def _identified(rebuilt: Rebuilt, variant: str) -> Identified:
    robot = rebuilt.variant(variant)
    methods = [_GAUSS_SEIDEL, _HULL, _WEIGHTED]
    start = start_box(len(robot.names))
    return identify(robot, rebuilt.motion, methods=methods, prior=start, bound=PRV03I_BOUND, compare=False)


@dataclass(frozen=True, eq=False)
class Growth:
    """Boxes from more and more of the rows, taken in random order, each part contained in the next."""

    rows: tuple[int, ...]
    gauss_seidel: Array
    """(parts, parameters): widths."""
    hull: Array
    second_step: float
    """Largest change of a side by a second Gauss–Seidel step on all rows."""
    augmented: float
    """Largest difference of W⁺, relative to its largest entry, from the block of the inverse of (29): fewest rows."""


def _growth(rows: Rows, rng: np.random.Generator) -> Growth:
    order = rng.permutation(len(rows.y))
    counts = [_FEWEST * 2**k for k in range(20) if _FEWEST * 2**k < len(rows.y)] + [len(rows.y)]
    step, hull = GaussSeidel(), LinearHull()
    parts = [rows.problem(PRV03I_BOUND, order[:n]) for n in counts]
    first = [step.contract(part, rows.start) for part in parts]
    again = step.contract(parts[-1], first[-1])
    change = max(abs(again.lower - first[-1].lower).max(), abs(again.upper - first[-1].upper).max())
    return Growth(
        tuple(counts),
        np.array([box.width for box in first]),
        np.array([hull.contract(part, rows.start).width for part in parts]),
        float(change),
        _augmented(rows.W[order[: counts[0]]]),
    )


def _augmented(W: Array) -> float:
    """How far W⁺ is from what the inverse of the matrix (29) makes of Y, relative to its largest entry.

    Preconditioned by that inverse, a Gauss–Seidel step is [X] = A⁻¹ [b]: A' is the identity.

    Examples:
        >>> _augmented(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])) < 1e-12
        True
    """
    n, p = W.shape
    A = np.block([[W, -np.eye(n)], [np.zeros((p, p)), W.T]])
    inverse = np.linalg.pinv(W)
    return float(abs(np.linalg.inv(A)[:p, :n] - inverse).max() / abs(inverse).max())


def _numbers(
    rebuilt: Rebuilt, identified: Identified, complete: Identified, rows: Rows, growth: Growth
) -> dict[str, Any]:
    gauss_seidel, hull = identified[_GAUSS_SEIDEL].region.hull(), identified[_HULL].region.hull()
    truth = np.array([rebuilt.truth[name] for name in identified.problem.unknowns.names])
    smallest = {"14": rows.smallest_bound, "16": Rows.of(rebuilt, "rods").smallest_bound}
    printed, corrected = conditions_at_home()
    return {
        "rows": len(rows.y),
        "truth": rebuilt.truth,
        "gauss_seidel": {name: list(box) for name, box in boxes(identified[_GAUSS_SEIDEL]).items()},
        "hull": {name: list(box) for name, box in boxes(identified[_HULL]).items()},
        "median_width_ratio": float(np.median(gauss_seidel.width / hull.width)),
        "truths_held": {"gauss_seidel": _held(gauss_seidel, truth), "hull": _held(hull, truth), "of": len(truth)},
        "smallest_bound": smallest,
        "bound_over_smallest": {n: PRV03I_BOUND / bound for n, bound in smallest.items()},
        "weighted": {"14": values(identified[_WEIGHTED]), "16": values(complete[_WEIGHTED])},
        "errors_in_sigma": {
            "14": _errors_in_sigma(rebuilt, identified),
            "16": _errors_in_sigma(rebuilt, complete),
        },
        "growth": {
            "rows": list(growth.rows),
            "median_width": {
                "gauss_seidel": np.median(growth.gauss_seidel, axis=1).tolist(),
                "hull": np.median(growth.hull, axis=1).tolist(),
            },
            "width_with_all_rows_over_width_with_fewest": {
                "gauss_seidel": float(np.median(growth.gauss_seidel[-1] / growth.gauss_seidel[0])),
                "hull": float(np.median(growth.hull[-1] / growth.hull[0])),
            },
        },
        "inverse_of_29_against_pseudoinverse": growth.augmented,
        "second_gauss_seidel_step": growth.second_step,
        "row_sums_of_dry_friction": {
            name: float(total)
            for name, total in zip(rows.names, abs(np.linalg.pinv(rows.W)).sum(axis=1), strict=True)
            if name.startswith("F_c")
        },
        "condition_of_J_x_at_home": {"as_printed": printed, "C1_C2_C2_C1": corrected},
    }


def _errors_in_sigma(rebuilt: Rebuilt, identified: Identified) -> dict[str, float]:
    sigma = percents(identified[_WEIGHTED])
    return {
        name: (value - rebuilt.truth[name]) / (sigma[name] * abs(value) / 100)
        for name, value in values(identified[_WEIGHTED]).items()
    }


def _about(rebuilt: Rebuilt) -> tuple[str, ...]:
    motion = rebuilt.motion
    return (
        (
            "A simulated H4 whose true parameters are the paper's weighted least squares, with arms that have weight "
            f"and rods that have inertia, under joint PI control at 1 kHz; {motion.n_rows} rows after filtering and "
            "masking. The paper prints no dimensions; those of the simulated robot are assumed."
        ),
        (
            f"Error bound {PRV03I_BOUND:g} N·m (10 % of ±15 N·m) and initial boxes [{PRV03I_START[0]:g}, "
            f"{PRV03I_START[1]:g}], as in the paper; its model of 14 parameters. Our boxes are rounded outward."
        ),
    )


def _table_1(rebuilt: Rebuilt, identified: Identified) -> Table:
    names = rebuilt.variant("paper").names
    parts = {
        "paper's box": {name: row.box_text for name, row in PRV03I.items()},
        "ours, Gauss–Seidel": {name: set_text(*box) for name, box in boxes(identified[_GAUSS_SEIDEL]).items()},
        "ours, exact hull": {name: set_text(*box) for name, box in boxes(identified[_HULL]).items()},
        "paper, a priori": {name: row.prior for name, row in PRV03I.items() if row.prior is not None},
        "truth": {name: f"{value:.4f}" for name, value in rebuilt.truth.items()},
    }
    caption = "Table 1. Estimated parameter boxes (SI units)"
    return side_by_side(caption, ("parameter", *parts), columns(names, parts))


def _table_2(rebuilt: Rebuilt, paper_model: Identified, complete: Identified) -> Table:
    parts = {"paper (σ)": {name: row.text for name, row in PRV03I.items()}}
    for head, identified in (("ours, 14 parameters", paper_model), ("ours, 16 parameters", complete)):
        sigma = percents(identified[_WEIGHTED])
        parts[head] = {name: with_percent(value, sigma[name]) for name, value in values(identified[_WEIGHTED]).items()}
    parts["truth"] = {name: f"{value:.4f}" for name, value in rebuilt.truth.items()}
    caption = "Table 2. Weighted least squares, with relative standard deviation"
    return side_by_side(caption, ("parameter", *parts), columns(rebuilt.robot.names, parts))


def _table_of_widths(growth: Growth) -> Table:
    rows = tuple(
        (str(n), f"{np.median(one):.3g}", f"{np.median(other):.3g}", f"{np.median(one / other):.3g}")
        for n, one, other in zip(growth.rows, growth.gauss_seidel, growth.hull, strict=True)
    )
    heads = ("rows", "Gauss–Seidel", "exact hull", "median of the 14 ratios")
    return side_by_side("Widths of boxes from parts of the rows: medians of 14 parameters (SI units)", heads, rows)


_LAWS = ("pd", "feedforward")
_BOX, _CENTER, _SIMPLE, _BEST = "box center, 14", "hull center, 14", "weighted, 14", "weighted, 16"
"""Models of the controllers: the estimate, and the number of its parameters."""


def _followed(rebuilt: Rebuilt, printed: Identified, complete: Identified) -> Comparison:
    """The complete H4 under control with models of both tables."""
    models = {
        _BOX: values(printed[_GAUSS_SEIDEL]),
        _CENTER: values(printed[_HULL]),
        _SIMPLE: values(printed[_WEIGHTED]),
        _BEST: values(complete[_WEIGHTED]),
    }
    return follow_fast_phase(rebuilt, complete, models, _LAWS)


def _drives(printed: Identified, followed: Comparison) -> dict[str, Any]:
    """Torques of the motion over all models of 14 parameters in the boxes, and the statement about ± 15 N·m."""
    dynamics = RobotModel.of(printed).dynamics
    assert dynamics is not None
    found = enclose_feedforward(dynamics, followed.motion)
    assert found is not None
    return {
        "claim": found.claim.name,
        "peak": float(found.peak.max()),
        "worst_error": float(found.worst_error.max()),
        "statement": found.statement(followed.limits),
    }


def _control_table(runs: Mapping[str, Mapping[str, Any]]) -> Table:
    caption = (
        'Model-based control, for which the paper identifies (it prints no result: parameters "are often necessary for '
        'computing robust model based control algorithms")'
    )
    return comparison_table(runs, caption, "N·m")


def _control_figure(followed: Comparison) -> Drawing:
    panels = {
        "no model": ["pd"],
        "models of 14 parameters": [f"feedforward, {name}" for name in (_BOX, _CENTER, _SIMPLE)],
        "16 parameters": [f"feedforward, {name}" for name in (_BEST, "true")],
    }
    caption = (
        "Model-based control on a fast phase that the identification has not seen, with every part of the robot a "
        "body: PD control of the joints, and below the same with the torques of each model as feedforward. The "
        f"controllers have a bandwidth of {LOOP.bandwidth:g} Hz. The paper has no such figure."
    )
    return distance_figure("model-based-control", followed, panels, caption)


def conditions_at_home() -> tuple[float, float]:
    """The condition number of J_x [PRV03i, eq. (12)] at home, with the arms attached as printed and as corrected.

    Examples:
        >>> printed, corrected = conditions_at_home()
        >>> printed > 1e15, 10 < corrected < 100
        (True, True)
    """
    robot = H4()
    of, (*position, theta) = robot.geometry, robot.home
    q, alpha, end = robot.inverse(robot.home), np.array(of.alpha), np.array([1.0, -1.0, -1.0, 1.0])
    c1 = of.h * np.array([np.cos(theta), np.sin(theta), 0.0])
    side = of.d * np.outer([1.0, 1.0, -1.0, -1.0], [0.0, 1.0, 0.0])
    A = position + np.outer(end, c1) + side  # (2) to (4)
    radial = np.column_stack([np.cos(alpha), np.sin(alpha), np.zeros(4)])
    P = of.h * np.outer(end, [1.0, 0.0, 0.0]) + side + of.base * radial  # (7), (8)
    B = P + of.arm * (np.cos(q)[:, None] * radial - np.outer(np.sin(q), [0.0, 0.0, 1.0]))  # (5), (6)
    AB = B - A
    conditions = []
    for attached in ([1.0, 1.0, -1.0, -1.0], end):
        J_x = np.column_stack([AB, np.cross(np.outer(attached, c1), AB)[:, 2]])
        conditions.append(float(np.linalg.cond(J_x)))
    return conditions[0], conditions[1]


def inconsistencies() -> tuple[str, ...]:
    """Contradictions in the paper's own numbers.

    Examples:
        >>> "F_v2" in inconsistencies()[0]
        True
    """
    sentences = []
    for name in outside_their_boxes(PRV03I):
        row = PRV03I[name]
        sentences.append(
            f"The paper says that the boxes contain the weighted least-squares solution; {name} = {row.value} is "
            f"outside its box {row.box_text}."
        )
    name, bound = implied_bound()
    sentences.append(
        f"The half-width {bound:.5f} of {name} does not go with the error bound of {PRV03I_BOUND:g} N·m. Of an exact "
        "W, the Gauss–Seidel step of the system (29), (30) makes W⁺Y ± |W⁺|e, cut to the initial box. Since W⁺W = I, a "
        "row of |W⁺| sums to 1/c or more, where c is the largest entry of its column of W, and the answer is at least "
        f"e/c wide on either side. The column of {name} is sign(q̇): c = 1, and the bound is {bound:.5f} N·m at most. "
        f"If that column is filtered, c may be larger; {PRV03I_BOUND:g} N·m would need c ≥ {PRV03I_BOUND / bound:.2f}."
    )
    printed, corrected = conditions_at_home()
    size = f"above 1e{_SINGULAR}: it is singular" if printed > 10.0**_SINGULAR else f"{printed:.0f}"
    sentences.append(
        "Equation (12) as printed attaches the arms to (C1, C1, C2, C2). With the dimensions assumed here the "
        f"condition number of J_x at home is then {size}. With (C1, C2, C2, C1), as equations (3) and (4) have it, it "
        f"is {corrected:.0f}."
    )
    return tuple(sentences)


def _differences(numbers: Mapping[str, Any]) -> tuple[str, ...]:
    growth, held, ratio = numbers["growth"], numbers["truths_held"], numbers["bound_over_smallest"]
    change = growth["width_with_all_rows_over_width_with_fewest"]
    rows = growth["rows"]
    off = {
        n: {name: error for name, error in errors.items() if abs(error) > _OFF}
        for n, errors in numbers["errors_in_sigma"].items()
    }
    least = {n: outward.at_most(bound, digits=3) for n, bound in numbers["smallest_bound"].items()}
    largest = max(abs(error) for error in numbers["errors_in_sigma"]["16"].values())
    lines = [
        (
            "The Gauss–Seidel box of the same data is "
            f"{numbers['median_width_ratio']:.2g} times as wide as the exact hull (median of 14 parameters). A second "
            f"Gauss–Seidel step moves its sides by at most {numbers['second_gauss_seidel_step']:.1g}. From {rows[0]} "
            f"to {rows[-1]} rows the width of each parameter changes by a factor whose median is "
            f"{change['gauss_seidel']:.2f}, and in the hull {change['hull']:.2f}. The median width, which the table "
            f"gives, changes by {_ends(growth['median_width']['gauss_seidel'])} and "
            f"{_ends(growth['median_width']['hull'])}."
        ),
        (
            f"On these simulated data errors of {least['14']} N·m suffice to explain every row with 14 parameters, and "
            f"of {least['16']} N·m with 16: the paper's bound of {PRV03I_BOUND:g} N·m is "
            f"{ratio['14']:.1f} and {ratio['16']:.1f} times as large."
        ),
        (
            f"Of {held['of']} true parameters the Gauss–Seidel box holds {held['gauss_seidel']}, the hull "
            f"{held['hull']}."
        ),
    ]
    if off["14"]:
        named = [f"{name} by {abs(error):.1f} σ" for name, error in off["14"].items()]
        also = "" if off["16"] else f" With the model of 16 parameters no estimate is off by more than {largest:.1f} σ."
        lines.append(
            f"Weighted least squares with 14 parameters is off the truth by more than {_OFF:g} of its own σ for "
            f"{len(named)} of {len(numbers['errors_in_sigma']['14'])} parameters: {listed(named)}.{also}"
        )
    if "closed_loop" in numbers:
        lines.append(_on_control(numbers["closed_loop"], numbers["drives"]))
    return tuple(lines)


def _on_control(runs: Mapping[str, Mapping[str, Any]], drives: Mapping[str, Any]) -> str:
    """What the models are worth in a controller, and what the boxes imply for the drives."""
    pd, center, weighted, best, true = (
        1e3 * runs[label]["rms_distance"]
        for label in ("pd", *(f"feedforward, {name}" for name in (_CENTER, _SIMPLE, _BEST, "true")))
    )
    return (
        "In closed loop on a fast phase that the identification has not seen, PD control of the joints leaves "
        f"{pd:.2g} mm rms between the platform and its desired position. With torques of a model as feedforward, the "
        f"center of the hull leaves {center:.2g} mm, weighted least squares with 14 parameters {weighted:.2g} mm, with "
        f"16 parameters {best:.2g} mm, and the true parameters {true:.2g} mm. The robot is simulated with all its "
        f"bodies; the controllers run at {LOOP.rate:g} Hz without noise, with a bandwidth of {LOOP.bandwidth:g} Hz, "
        "which is our choice. Over all models of 14 parameters in the boxes the torques of this motion reach at most "
        f"{outward.at_most(drives['peak'], digits=3)} N·m. {drives['statement']}"
    )


def _ends(series: Sequence[float]) -> str:
    """The last over the first."""
    return f"{series[-1] / series[0]:.2f}"


def _held(box: Box, truth: Array) -> int:
    return int(((box.lower <= truth) & (truth <= box.upper)).sum())
