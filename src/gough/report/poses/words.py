"""A selection of poses in sentences, tables and plain data."""

from fractions import Fraction
from typing import Any

import numpy as np

from gough.core import outward
from gough.core.tables import Column, Table, table
from gough.core.text import number, shown_unit
from gough.designs.poses.how_many import Curve
from gough.designs.poses.selection import Rival, Selection

_UNSEEN = 1e-6
INDEX_NAMES = ("O1", "O2", "O3", "O4", "O5")


def sentences(selection: Selection) -> tuple[str, ...]:
    """The selection, how far from optimal it can be, and what it does not determine."""
    of, information = selection.problem, selection.problem.information
    count = len(selection.rows)
    corners = int(of.candidates.is_extremal[list(selection.rows)].sum())
    first = (
        f"{count} configurations of the {of.model.name} are chosen by {of.criterion.name}, the {of.criterion.meaning}; "
        f"{corners} of them are extremal. {of.candidates}"
    )
    texts = [first, f"At least {of.needed} poses are needed to identify {information.n_parameters} unknowns."]
    if selection.is_stopped:
        texts.append("The search was stopped: this is the best set so far.")
    if selection.excess is not None:
        texts.append(
            f"No {count} of these candidates have standard deviations smaller by more than "
            f"{excess_percent(selection.excess)} % (bound of the relaxed problem)."
        )
    return (*texts, *unidentified(selection))


def excess_percent(excess: float) -> str:
    """How much better the best set can be, rounded up; a tenth of a percent at least, which rounding may cost.

    Examples:
        >>> excess_percent(0.0234), excess_percent(0.0)
        ('2.4', '0.1')
    """
    return outward.at_most(max(Fraction(excess), Fraction(1, 1000)), times=100, digits=2)


def unidentified(selection: Selection) -> tuple[str, ...]:
    """Unknowns that no candidate separates, in sentences; empty where all are identified."""
    known, unseen = selection.problem.information.identifiability, selection.problem.workspace.unseen
    texts = []
    if not known.is_full_rank:
        combined = [b.name for b in known.base if np.count_nonzero(b.coefficients) > 1]
        texts.append(
            f"Within these limits the poses determine {known.rank} of {len(known.names)} unknowns, whichever are "
            f"measured; not determined by themselves: {', '.join(known.not_identifiable)}."
            + (f" Determined in combination: {'; '.join(combined)}." if combined else "")
            + " Fix some of them at the blueprint's values, or widen the limits."
        )
    if unseen > _UNSEEN:
        texts.append(
            "Predicted poses depend on unknowns that no candidate determines: the accuracy below holds only if these "
            "are known otherwise."
        )
    return tuple(texts)


def how_many_words(curve: Curve) -> str:
    """The smallest number of poses for the target, and how much smaller it could be; empty without a target."""
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


def comparison_table(selection: Selection, others: tuple[Rival, ...]) -> Table:
    """The chosen set and its rivals: predicted accuracy and observability indices."""
    own = Rival("chosen", len(selection.rows), selection.accuracy, selection.indices)
    turns = any(freedom > 2 for freedom in selection.problem.model.freedoms)
    heads: list[str | Column] = ["set", "poses", Column("σ position", unit="mm"), Column("worst", unit="mm")]
    heads += [Column("σ orientation", unit="°"), Column("worst", unit="°")] if turns else []
    heads += INDEX_NAMES
    rows = []
    for each in (own, *others):
        a = each.accuracy
        values = [1e3 * a.position, 1e3 * a.position_worst]
        values += [float(np.degrees(v)) for v in (a.orientation, a.orientation_worst)] if turns else []
        values += [getattr(each.indices, name) for name in INDEX_NAMES]
        rows.append([each.name, str(each.count), *(number(v, digits=3) for v in values)])
    return table(heads, rows, "l" + "r" * (len(heads) - 1), "Sets of poses")


def sigma_table(selection: Selection) -> Table:
    """Predicted σ of each identified parameter."""
    information, shape = selection.problem.information, selection.shape_sigma
    heads = ["parameter", "unit", "σ", *(["σ of the shape"] if shape is not None else [])]
    rows = []
    for i, (name, unit) in enumerate(zip(information.names, information.units, strict=True)):
        written_unit, factor = shown_unit(unit)
        row = [name, written_unit, number(factor * selection.sigma[i], digits=2)]
        rows.append(row if shape is None else [*row, number(factor * shape[i], digits=2)])
    return table(heads, rows, "lu" + "r" * (len(heads) - 2), "Parameters")


def account(selection: Selection, others: tuple[Rival, ...] = (), curve: Curve | None = None) -> str:
    """Sentences and tables for a terminal."""
    parts = [*sentences(selection)]
    if curve is not None:
        parts.append(how_many_words(curve))
    parts += ["", str(comparison_table(selection, others)), "", str(sigma_table(selection))]
    return "\n".join(parts)


def summary(selection: Selection, others: tuple[Rival, ...] = (), curve: Curve | None = None) -> dict[str, Any]:
    """Plain data for JSON, in SI units."""
    of, information = selection.problem, selection.problem.information
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
        "not_identifiable": list(information.identifiability.not_identifiable),
        "is_extremal": of.candidates.is_extremal[list(selection.rows)].tolist(),
        "shape_sigma": None
        if selection.shape_sigma is None
        else dict(zip(information.names, selection.shape_sigma.tolist(), strict=True)),
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
