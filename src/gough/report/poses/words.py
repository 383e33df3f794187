"""A selection in words, tables and plain data."""

from fractions import Fraction
from typing import Any

import numpy as np

from gough.core import outward
from gough.core.text import number, table
from gough.designs.poses.how_many import Curve
from gough.designs.poses.selection import Rival, Selection
from gough.geometry.results import shown_unit

_UNSEEN = 1e-6
INDEX_NAMES = ("O1", "O2", "O3", "O4", "O5")


def sentences(selection: Selection) -> tuple[str, ...]:
    """What is chosen, how good it can be at best, and what it leaves open."""
    of, told = selection.problem, selection.problem.information
    count = len(selection.rows)
    corners = int(of.candidates.is_extremal[list(selection.rows)].sum())
    first = (
        f"{count} configurations of the {of.model.name} are chosen by {of.criterion.name}, the {of.criterion.meaning}; "
        f"{corners} of them are extremal. {of.candidates}"
    )
    said = [first, f"At least {of.needed} poses are needed to identify {told.n_parameters} unknowns."]
    if selection.is_stopped:
        said.append("The search was stopped: this is the best set so far.")
    if selection.excess is not None:
        said.append(
            f"No {count} of these candidates have standard deviations smaller by more than "
            f"{excess_percent(selection.excess)} % (bound of the relaxed problem)."
        )
    return (*said, *unidentified(selection))


def excess_percent(excess: float) -> str:
    """How much better the best set can be, rounded up; a tenth of a percent at least, which rounding may cost.

    Examples:
        >>> excess_percent(0.0234), excess_percent(0.0)
        ('2.4', '0.1')
    """
    return outward.at_most(max(Fraction(excess), Fraction(1, 1000)), times=100, digits=2)


def unidentified(selection: Selection) -> tuple[str, ...]:
    """What no candidate tells apart, in sentences; empty where all is identified."""
    told, unseen = selection.problem.information.identifiability, selection.problem.workspace.unseen
    said = []
    if not told.is_full_rank:
        combined = [b.name for b in told.base if np.count_nonzero(b.coefficients) > 1]
        said.append(
            f"Within these limits {told.rank} of {len(told.names)} unknowns can be told apart, whatever poses are "
            f"measured; without a value of their own: {', '.join(told.not_identifiable)}."
            + (f" Seen in combination: {'; '.join(combined)}." if combined else "")
            + " Fix some of them at the blueprint's values, or widen the limits."
        )
    if unseen > _UNSEEN:
        said.append(
            "Predicted poses depend on what no candidate tells apart: their accuracy below holds only if that is known "
            "otherwise."
        )
    return tuple(said)


def how_many_words(curve: Curve) -> str:
    """The smallest number of poses for the target, and how much smaller it could be; empty where none was asked for."""
    if curve.target is None:
        return ""
    target = f"{number(1e3 * curve.target, digits=3)} mm"
    at_least = f" No fewer than {curve.at_least} can, however they are chosen." if curve.at_least else ""
    if curve.selection is None and curve.is_stopped:
        return (
            f"The search was stopped at {curve.points[-1].count} poses, before it met the target of {target}.{at_least}"
        )
    if curve.selection is None:
        best = curve.points[-1]
        return (
            f"{best.count} poses reach {number(1e3 * best.accuracy.position, digits=3)} mm, not the target of {target}."
            f"{at_least} Allow more poses (most), or measure more precisely."
        )
    return f"{len(curve.selection.rows)} poses meet the target of {target}.{at_least}"


def comparison(selection: Selection, others: tuple[Rival, ...]) -> list[list[str]]:
    """The chosen set and its rivals, row by row: heads first."""
    own = Rival("chosen", len(selection.rows), selection.accuracy, selection.indices)
    turns = any(freedom > 2 for freedom in selection.problem.model.freedoms)
    heads = ["set", "poses", "σ position, mm", "worst"]
    heads += ["σ orientation, °", "worst"] if turns else []
    rows = [[*heads, *INDEX_NAMES]]
    for each in (own, *others):
        a = each.accuracy
        values = [1e3 * a.position, 1e3 * a.position_worst]
        values += [float(np.degrees(v)) for v in (a.orientation, a.orientation_worst)] if turns else []
        values += [getattr(each.indices, name) for name in INDEX_NAMES]
        rows.append([each.name, str(each.count), *(number(v, digits=3) for v in values)])
    return rows


def parameter_rows(selection: Selection) -> list[list[str]]:
    """σ of each identified parameter, row by row: heads first."""
    told, shape = selection.problem.information, selection.shape_sigma
    heads = ["parameter", "unit", "σ", *(["σ of the shape"] if shape is not None else [])]
    rows = [heads]
    for i, (name, unit) in enumerate(zip(told.names, told.units, strict=True)):
        shown, factor = shown_unit(unit)
        row = [name, shown, number(factor * selection.sigma[i], digits=2)]
        rows.append(row if shape is None else [*row, number(factor * shape[i], digits=2)])
    return rows


def account(selection: Selection, others: tuple[Rival, ...] = (), curve: Curve | None = None) -> str:
    """The whole of it, for a terminal."""
    compared, parameters = comparison(selection, others), parameter_rows(selection)
    parts = [*sentences(selection)]
    if curve is not None:
        parts.append(how_many_words(curve))
    parts += ["", table(compared[0], compared[1:], "l" + "r" * (len(compared[0]) - 1))]
    parts += ["", table(parameters[0], parameters[1:], "ll" + "r" * (len(parameters[0]) - 2))]
    return "\n".join(parts)


def summary(selection: Selection, others: tuple[Rival, ...] = (), curve: Curve | None = None) -> dict[str, Any]:
    """Plain data for JSON, in SI units."""
    of, told = selection.problem, selection.problem.information
    sets = {"chosen": Rival("chosen", len(selection.rows), selection.accuracy, selection.indices)}
    sets |= {each.name: each for each in others}
    return {
        **selection.to_dict(),
        "needed": of.needed,
        "excess": selection.excess,
        "candidates": {
            "kept": len(of.candidates),
            "tried": of.candidates.tried,
            "rejected": dict(of.candidates.rejected),
        },
        "notes": list(sentences(selection)),
        "not_identifiable": list(told.identifiability.not_identifiable),
        "is_extremal": of.candidates.is_extremal[list(selection.rows)].tolist(),
        "shape_sigma": None
        if selection.shape_sigma is None
        else dict(zip(told.names, selection.shape_sigma.tolist(), strict=True)),
        "sets": {
            name: {"poses": each.count, **each.accuracy.__dict__, **_indices(each)} for name, each in sets.items()
        },
        "how_many": None if curve is None else _curve(curve),
    }


def _indices(rival: Rival) -> dict[str, float | None]:
    names = (*INDEX_NAMES, "log_det", "A", "E")
    values = {name: float(getattr(rival.indices, name)) for name in names}
    return {name: value if np.isfinite(value) else None for name, value in values.items()}


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "target": curve.target,
        "count": None if curve.selection is None else len(curve.selection.rows),
        "at_least": curve.at_least,
        "is_stopped": curve.is_stopped,
        "points": [{"poses": p.count, "sigma": p.sigma, **p.accuracy.__dict__} for p in curve.points],
    }
