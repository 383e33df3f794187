"""Residuals of each instrument before and after a calibration."""

import numpy as np

from gough.core.arrays import Array, Mask
from gough.geometry.instruments.equations import Equations, Linearized, Rows
from gough.geometry.instruments.measurements import Instrument, Numbers
from gough.geometry.instruments.results import InstrumentFit


def instrument_fits(equations: Equations, before: Linearized, after: Linearized) -> tuple[InstrumentFit, ...]:
    """What is left of the readings, then of each instrument."""
    data, model = equations.measurements, equations.model
    there = np.isfinite(data.readings)
    chains = (before.readings, after.readings)
    first, second = (rms((rows.residual * data.reading_deviations)[there]) for rows in chains)
    worst, pose, chain = _worst(after.readings, there, np.arange(len(data)))
    fits = [
        InstrumentFit(
            name="readings",
            kind="readings",
            count=int(there.sum()),
            groups=((model.reading_unit, first, second),),
            rms=rms(after.readings.residual[there]),
            worst=worst,
            worst_pose=pose,
            worst_channel=model.chains[chain],
        )
    ]
    for i, one in enumerate(data.instruments):
        seen = one.is_measured[equations.measured_rows[i]]
        rows = after.instruments[i]
        worst, pose, channel = _worst(rows, seen, equations.first_poses[i])
        fits.append(
            InstrumentFit(
                name=one.name,
                kind=one.kind,
                count=int(seen.sum()),
                groups=_by_unit(one, equations.measured_rows[i], before.instruments[i], rows),
                rms=rms(rows.residual[seen]),
                worst=worst,
                worst_pose=pose,
                worst_channel=one.channels[channel],
            )
        )
    return tuple(fits)


def _by_unit(one: Instrument, measured: Numbers, before: Rows, after: Rows) -> tuple[tuple[str, float, float], ...]:
    """Residuals of an instrument in the units of its channels: those of each unit together."""
    L, seen = np.linalg.cholesky(one.covariances(measured)), one.is_measured[measured]
    errors = [(L @ rows.residual[..., None])[..., 0] for rows in (before, after)]
    units, groups = one.units, []
    for unit in dict.fromkeys(units):
        channels = [k for k, own in enumerate(units) if own == unit]
        first, second = (rms(each[:, channels][seen[:, channels]]) for each in errors)
        groups.append((unit, first, second))
    return tuple(groups)


def _worst(rows: Rows, there: Mask, poses: Numbers) -> tuple[float, int, int]:
    """The largest residual in standard deviations, its pose and its channel."""
    sizes = np.where(there, abs(rows.residual), 0.0)
    if not sizes.size:
        return 0.0, 0, 0
    row, channel = divmod(int(sizes.argmax()), sizes.shape[1])
    return float(sizes[row, channel]), int(poses[row]), channel


def rms(values: Array) -> float:
    """Root mean square; 0 of nothing."""
    return float(np.sqrt((values**2).mean())) if values.size else 0.0
