"""Parameters that were held at values that the robot does not have."""

from collections.abc import Iterator, Sequence

from gough.core.arrays import Array
from gough.core.text import listed, plus_minus, shown_unit
from gough.geometry.mistake import Alternative, Fitted, Mistake

_NAMED = 5
_SIGNIFICANT = 3.0


class FixedValues(Mistake):
    """A value in `fixed` is that of a drawing or of another day, and not the robot's. Zeros alone are `Zeros`."""

    name = "fixed values"
    title = "parameters held at values that the robot does not have"
    advice = "Take these parameters out of fixed, or correct their values."

    def columns(self, fitted: Fitted) -> Iterator[Alternative]:
        """All parameters that are fixed together, and each by itself."""
        names, by = fitted.fixed, fitted.by_fixed
        units = dict(zip(fitted.model.names, fitted.model.units, strict=True))
        if set(names) <= set(fitted.model.zeros):
            return
        yield Alternative(by, _Words(names, [units[name] for name in names]))
        if len(names) > 1:
            for k, name in enumerate(names):
                yield Alternative(by[..., [k]], _Words([name], [units[name]]))


class _Words:
    """By how much the parameters are off, the most significant first."""

    def __init__(self, names: Sequence[str], units: Sequence[str]) -> None:
        self.names, self.units = names, units

    def __call__(self, values: Array, sigma: Array) -> str:
        order = sorted(range(len(self.names)), key=lambda k: -float(abs(values[k])) / max(float(sigma[k]), 1e-300))
        off = [k for k in order if abs(values[k]) > _SIGNIFICANT * sigma[k]] or order[:1]
        parts = []
        for k in off[:_NAMED]:
            unit, factor = shown_unit(self.units[k])
            value, half = plus_minus(values[k] * factor, 2 * sigma[k] * factor)
            parts.append(f"{self.names[k]} by {value} ± {half} {unit}".rstrip())
        if len(off) > _NAMED:
            parts.append(f"{len(off) - _NAMED} more")
        return f"Values in fixed are wrong: estimated with the other parameters, they change, {listed(parts)}"


MISTAKE = FixedValues()
