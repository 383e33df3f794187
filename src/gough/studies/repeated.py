"""Studies with a table [repeats]: one periodic motion recorded again and again, and benchmark motions like it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.dynamics import IdentifiedRepeats, RepeatedMotion, Step, identify_repeated, periods, runs
from gough.dynamics.periodic.path import stated_covariance
from gough.studies.quantities import deviations, quantity
from gough.studies.schema import MethodsTable, NoiseTable, PreparationTable, RepeatsTable, SourceTable
from gough.studies.study import Study

UNNAMED = "the validation motion"
"""What recordings that are repeats of each other are called where the study gives no name."""


def identify_repeats(study: Study, on_step: Callable[[Step], object] = lambda _: None) -> IdentifiedRepeats:
    """Read the repeats, identify by every estimator, and try the model on the validation motions."""
    asked, robot = _asked(study), study.robot
    _refuse_what_has_no_effect(study)
    with study.at("repeats", "slower_than"):
        slow = quantity(asked.slower_than, study.speed_units[0])
    covariances = {
        f"{what}_covariance": _covariance(study, f"sigma_{what}", units, channels)
        for what, units, channels in (
            ("positions", robot.coordinate_units, robot.coordinates),
            ("efforts", robot.effort_units, robot.actuators),
        )
    }
    motion, validation = repeated_motion(study), validation_motions(study)
    with study.at("repeats"):
        return identify_repeated(
            robot,
            motion,
            orders=asked.orders,
            independent=asked.independent,
            slower_than=slow,
            prior=study.prior() if study.table.unknowns else None,
            validation=validation,
            on_step=on_step,
            **covariances,
        )


def repeated_motion(study: Study) -> RepeatedMotion:
    """The repeats to identify from.

    Raises:
        InputError: a file cannot be read, or the repeats differ in length; the message names files and lengths.
    """
    return _of_sources(study, "recordings", list(enumerate(study.table.data.recordings)))


def validation_motions(study: Study) -> dict[str, RepeatedMotion]:
    """Repeats of other motions, by name."""
    asked, groups = _asked(study), dict[str, list[tuple[int, SourceTable]]]()
    for i, source in enumerate(study.table.data.validation):
        is_cut = (source.period or asked.period) is not None
        name = source.motion or (Path(source.file).stem if is_cut else UNNAMED)
        groups.setdefault(name, []).append((i, source))
    return {name: _of_sources(study, "validation", sources) for name, sources in groups.items()}


def _asked(study: Study) -> RepeatsTable:
    assert study.table.repeats is not None
    return study.table.repeats


def _of_sources(study: Study, which: str, sources: Sequence[tuple[int, SourceTable]]) -> RepeatedMotion:
    """Repeats from files: those with a period are cut into periods, of the others each is a repeat."""
    asked = _asked(study)
    q, efforts = study.channels
    given: dict[str, Any] = {"amplifier": study.amplifier, "actuators": study.robot.actuators}
    parts = []
    for i, source in sources:
        recording = study.recording(source, ("data", which, i))
        period = source.period or asked.period
        with study.at("data", which, i):
            if period is None:
                parts.append(runs([recording], q, efforts, **given))
            else:
                parts.append(periods(recording, q, efforts, period=period, skip=asked.skip, **given))
    with study.at("data", which):
        return RepeatedMotion.concatenate(*parts)


def _covariance(study: Study, key: str, units: Sequence[str], channels: Sequence[str]) -> Array | None:
    """What the study states of the errors of one reading, as a covariance; None where it states nothing."""
    value = getattr(_asked(study), key)
    if value is None:
        return None
    with study.at("repeats", key):
        given = np.asarray(deviations(value, units), dtype=float)
        return stated_covariance(given if given.ndim == 2 else given**2, key.removeprefix("sigma_"), channels)


def _refuse_what_has_no_effect(study: Study) -> None:
    """Tables that belong to recordings of one motion each."""
    table = study.table
    for key, given, default, why in (
        ("preparation", table.preparation, PreparationTable(), "repeats are neither filtered nor thinned"),
        ("methods", table.methods, MethodsTable(), "repeats are identified by every estimator that knows of them"),
        ("noise", table.noise, NoiseTable(), "repeats show their noise; state sigma_efforts in [repeats] instead"),
    ):
        with study.at(key):
            if given != default:
                raise InputError(f"with a table [repeats] this has no effect: {why}. Leave one of the two out")
    with study.at("repeats", "orders"):
        orders = _asked(study).orders or [1]
        require(sorted(set(orders)) == orders, "orders must rise")
