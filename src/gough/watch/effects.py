"""The effects that statistical tests look for: their efforts, and what is said when one has changed."""

from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.text import number
from gough.watch import events as kinds
from gough.watch.changes import Change
from gough.watch.model import WatchedModel
from gough.watch.rows import Rows

_UNEXPLAINED = 0.3
"""Share of the excess squares below which an effect is not named."""
_TURNED = -1.0
"""Change of a gain below which the effort has the opposite sign."""


def effect_names(model: WatchedModel) -> tuple[tuple[str, str], ...]:
    """Kind and subject of each effect that is tested."""
    actuators = model.robot.actuators
    return (
        (kinds.PAYLOAD, ""),
        *((kinds.FRICTION, name) for name in actuators),
        *((kinds.GAIN, name) for name in actuators),
        (kinds.CLOCK, ""),
    )


def effect_groups(n: int) -> list[int]:
    """How many tests share the false-alarm rate of each effect's kind."""
    return [1, *(n for _ in range(2 * n)), 1]


def payload_effects(model: WatchedModel) -> tuple[int, ...]:
    """Numbers of the effects that are the payload's: its mass, and its first moments, which stand behind the others."""
    first = 2 + 2 * model.n
    return (0, *range(first, first + len(model.payload) - 1)) if len(model.payload) else ()


def effect_columns(rows: Rows, predicted: Array, friction: Array, model: WatchedModel) -> Array:
    """Efforts (M, n, C) of each tested effect per unit, then of the payload's first moments, then of the unknowns."""
    m, n = predicted.shape
    tested = np.zeros((m, n, 2 + 2 * n))
    if len(model.payload):
        tested[:, :, 0] = rows.W[:, :, model.payload[0]]
    for j in range(n):
        tested[:, j, 1 + j] = friction[:, j]
        tested[:, j, 1 + n + j] = predicted[:, j]
    tested[:, :, 1 + 2 * n] = -np.gradient(predicted, rows.times, axis=0)
    return np.concatenate([tested, rows.W[:, :, model.payload[1:]], rows.W[:, :, model.unknown]], axis=2)


def described(
    change: Change, effects: tuple[tuple[str, str], ...], adopted: Array
) -> tuple[str, str, str, dict[str, Any]]:
    """Kind, subject, message and evidence of the event of a change.

    Args:
        change: What the tests found.
        effects: Kind and subject of each effect.
        adopted: Sizes of effects that count as the state of the robot already.
    """
    evidence: dict[str, Any] = {"began": change.began, "explained": change.explained}
    if change.effect < 0 or change.explained < _UNEXPLAINED:
        text = f"residuals changed at about {change.began:.2f} s, and no effect of the list explains them"
        if change.effect < 0:
            text += f": their mean square is {change.size:.3g} times the usual one"
        return kinds.CHANGED, "", text, evidence
    kind, subject = effects[change.effect]
    size, error = change.size, change.error
    evidence |= {"change": size, "error": error, "slope": change.slope, "slope_error": change.slope_error}
    evidence["others"] = [" ".join(filter(None, effects[k])) for k, _ in change.others]
    if kind == kinds.PAYLOAD:
        evidence["total"] = float(adopted[change.effect]) + size
        text = f"the mass on the platform changed by {_signed(size, error)} kg (95 %) at about {change.began:.2f} s"
    elif kind == kinds.FRICTION:
        text = f"the friction of {subject} changed by {_signed(100 * size, 100 * error)} % (95 %)"
        if abs(change.slope) > change.slope_error:
            text += f" and drifts by {_signed(100 * change.slope, 100 * change.slope_error)} % per second"
    elif kind == kinds.CLOCK:
        text = f"efforts lag {_signed(1e3 * size, 1e3 * error)} ms (95 %) more behind positions than before"
    elif size < _TURNED:
        kind, text = kinds.SIGN, f"the effort of {subject} has the opposite sign"
    else:
        text = f"the effort of {subject} is scaled by {number(1 + size, digits=4)} ± {number(error, digits=2)} (95 %)"
    return kind, subject, text, evidence


def _signed(value: float, error: float) -> str:
    return f"{'+' if value > 0 else ''}{number(value, digits=3)} ± {number(error, digits=2)}"
