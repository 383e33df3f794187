"""Tables of a calibration: joints leg by leg, uncertainty of predicted poses, what is proven of each leg."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gough.closure import ChainFinding, Finding
from gough.core import outward
from gough.core.arrays import Array
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import number, plus_minus, shown_unit
from gough.geometry import Calibrated
from gough.geometry.gauges import Regauged, regauged
from gough.region import ConfidenceEllipsoid
from gough.robots import GoughPlatform
from gough.robots.kinematics import PlatformPoses

_95 = 1.959963984540054
_FAR = 3.5
"""Standard deviations from the truth beyond which one of many parameters is marked."""


def certified_table(legs: Sequence[ChainFinding]) -> Table:
    """Verdict, widths of the box and ε of each leg; boxes and brackets are rounded outward."""
    rows: list[list[str | Cell]] = []
    for leg in legs:
        widths = "—"
        if leg.box is not None:
            sides = zip(leg.box.lower.tolist(), leg.box.upper.tolist(), strict=True)
            sizes = [Fraction(high) - Fraction(low) for low, high in sides]
            widths = " … ".join(outward.at_most(end, times=1000, digits=2) for end in (min(sizes), max(sizes)))
        verdict = Cell(leg.finding.value, mark="bad" if leg.finding is Finding.REFUTED else "good")
        fits = "—" if leg.fitted is None else f"{leg.fitted} of {len(leg.needs)} poses"
        heaviest = str(leg.blame[0]) if leg.blame else "—"
        rows.append([f"leg {leg.chain}", verdict, widths, leg.epsilon.words, fits, heaviest])
    lengths = [Column("widths of a, b, l", unit="mm"), Column("ε", unit="mm")]
    weight = Column("heaviest pose", is_detail=True)
    heads: list[str | Column] = ["leg", "verdict", *lengths, "calibrated leg fits", weight]
    return table(heads, rows, "llrrrr", "What is proven of each leg")


class _Gauged(NamedTuple):
    values: Array
    sigma: Array | None
    before: Array
    truth: Array | None


def _gauged(calibrated: Calibrated, truth: Array | None) -> _Gauged:
    """Parameters of a Gough platform with its joints as near to the blueprint's as they can be."""
    model = calibrated.model
    assert isinstance(model, GoughPlatform)
    names = [name for name in calibrated.estimate.unknowns.names if name in model.names]
    C = None
    if len(names) == len(model.names) and isinstance(calibrated.estimate.region, ConfidenceEllipsoid):
        C = calibrated.estimate.marginal(*names).region.covariance  # type: ignore[union-attr]
    now: Regauged = regauged(model, calibrated.parameters, C)
    sigma = None if now.covariance is None else np.sqrt(np.maximum(now.covariance.diagonal(), 0.0))
    known = None if truth is None else regauged(model, truth).parameters
    return _Gauged(now.parameters, sigma, model.nominal, known)


def joint_changes(calibrated: Calibrated) -> tuple[Array, Array, Array | None]:
    """Joints (2, legs, 3) of a Gough platform in the blueprint's frames, their changes, and 95 % half-widths."""
    gauged, width = _gauged(calibrated, None), len(calibrated.model.names) // len(calibrated.model.chains)

    def joints(values: Array) -> Array:
        rows = values.reshape(-1, width)
        return np.stack([rows[:, :3], rows[:, 3:6]])

    half = None if gauged.sigma is None else _95 * joints(gauged.sigma)
    return joints(gauged.before), joints(gauged.values) - joints(gauged.before), half


def leg_table(calibrated: Calibrated, truth: Array | None = None) -> Table:
    """A Gough platform leg by leg: joints in the blueprint's frames, with their changes; against the truth in σ."""
    model = calibrated.model
    gauged = _gauged(calibrated, truth)
    width = len(model.names) // len(model.chains)
    rows: list[list[str | Cell]] = []
    for leg, chain in enumerate(model.chains):
        row: list[str | Cell] = [chain]
        for j in range(leg * width, (leg + 1) * width):
            factor = shown_unit(model.units[j])[1]
            value, change = factor * gauged.values[j], factor * (gauged.values[j] - gauged.before[j])
            half = np.nan if gauged.sigma is None else _95 * factor * gauged.sigma[j]
            note, is_far = f"Δ {change:+.3g}", False
            if gauged.truth is not None and gauged.sigma is not None and gauged.sigma[j] > 0:
                error = (gauged.values[j] - gauged.truth[j]) / gauged.sigma[j]
                note, is_far = f"{note}; {error:+.1f} σ", bool(abs(error) > _FAR)
            text = " ± ".join(plus_minus(value, half)) if half > 0 else f"{value:.3f}"
            row.append(Cell(text, note, "bad" if is_far else ""))
        rows.append(row)
    first = zip(model.names[:width], model.units[:width], strict=True)
    heads: list[str | Column] = ["leg", *(Column(_stem(name), unit=shown_unit(unit)[0]) for name, unit in first)]
    return table(heads, rows, "l" + "r" * width, "Joints and lengths, leg by leg")


def _stem(name: str) -> str:
    """The name without the leg's number."""
    return f"{name[0]}_{name[2:]}" if len(name) > 2 else name[0]


def uncertainty_table(calibrated: Calibrated) -> Table:
    """Uncertainty of the measured poses if predicted from exact readings, by the covariance of the parameters."""
    poses = calibrated.poses
    rotation = np.repeat(np.eye(3)[None], len(poses), axis=0) if poses.rotation is None else poses.rotation
    far, turned = calibrated.predicted_sigma(PlatformPoses(poses.position * calibrated.scale, rotation))
    parts = [("position, mm", 2e3 * far)]
    if calibrated.model.has_orientation:
        parts.append(("orientation, °", np.degrees(2 * turned)))
    rows = [
        [what, *(number(float(v), digits=2) for v in (x.min(), np.median(x), x.max())), poses.label(int(x.argmax()))]
        for what, x in parts
    ]
    heads = ["2 σ at the measured poses", "best", "median", "worst", "worst at pose"]
    return table(heads, rows, "lrrrr", "Uncertainty of predicted poses")
