"""A new calibration study in a folder of its own, with simulated measurements if wanted."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gough.core.files import new_file
from gough.core.rotations import exp
from gough.core.text import visible
from gough.data import Poses, write_poses
from gough.report import empty_folder
from gough.robots import BY_INSTRUMENTS, KinematicModel
from gough.studies.calibration_scaffold import (
    POSES,
    VALIDATION,
    calibration_model,
    calibration_readme_text,
    calibration_study_text,
)
from gough.studies.instrument_scaffold import (
    MEASUREMENTS,
    instrument_readme_text,
    instrument_study_text,
    simulated_measurements,
)

WORKSPACE = {
    "gough": ((-0.05, -0.05, 0.30), (0.05, 0.05, 0.40), 0.2),
    "linear-delta": ((-0.08, -0.08, 0.0), (0.08, 0.08, 0.1), 0.0),
    "rotary-delta": ((-0.1, -0.1, -0.75), (0.1, 0.1, -0.6), 0.0),
    "h4": ((-0.08, -0.08, -0.45), (0.08, 0.08, -0.35), 0.5),
    "par4": ((-0.1, -0.1, -0.85), (0.1, 0.1, -0.75), 0.5),
    "3-rrr": ((-0.04, -0.04, 0.0), (0.04, 0.04, 0.0), 0.3),
}
"""Corners of the positions of example poses in m, and the largest turn in rad."""
_ERROR = {"m": 5e-4, "rad": 2e-3}
"""Standard deviation of the differences between the simulated robot and its blueprint."""
_POSITION, _ORIENTATION = 5e-5, 2e-4
_READING = {"m": 1e-5, "rad": 5e-5}
_COUNTS = {POSES: 50, VALIDATION: 20}


def write_new_calibration(folder: Path, family: str, *, seed: int | None = None) -> list[Path]:
    """Write a commented study.toml and a README.md into a new or empty folder.

    Args:
        folder: The folder.
        family: Family of the robot.
        seed: Also simulate poses with this random seed, so that the study can be run.

    Returns:
        The files written.

    Raises:
        InputError: there is no such family, or the folder is not empty.
    """
    title = visible(folder.resolve().name)
    if family in BY_INSTRUMENTS:
        texts = {
            "study.toml": instrument_study_text(family).encode(),
            "README.md": instrument_readme_text(family, title).encode(),
        }
        made = {} if seed is None else {MEASUREMENTS: simulated_measurements(family, np.random.default_rng(seed))}
        return _written(folder, texts, made)
    model = calibration_model(family)
    noise = None
    if seed is not None:
        noise = {
            "position": f"{1e3 * _POSITION:g} mm",
            "readings": f"{_READING[model.reading_unit]:g} {model.reading_unit}",
        }
        if model.has_orientation:
            noise["orientation"] = f"{_ORIENTATION:g} rad"
    texts = {
        "study.toml": calibration_study_text(family, noise).encode(),
        "README.md": calibration_readme_text(family, title).encode(),
    }
    made = {} if seed is None else _simulated(model, family, np.random.default_rng(seed))
    return _written(folder, texts, made)


def _written(folder: Path, texts: dict[str, bytes], made: dict[str, bytes]) -> list[Path]:
    """The files in a new or empty folder."""
    with empty_folder(folder):
        for name, content in reversed({**texts, **made}.items()):  # study.toml is the last: the rest is complete
            with new_file(folder / name) as target:
                target.write(content)
    return [folder / name for name in (*texts, *made)]


def _simulated(model: KinematicModel, family: str, rng: np.random.Generator) -> dict[str, bytes]:
    """Files of poses that a robot near its blueprint was measured in, with noise."""
    truth = model.nominal + rng.normal(0, [_ERROR.get(unit, 0.0) for unit in model.units])
    lower, upper, turn = WORKSPACE[family]
    files = {}
    for name, count in _COUNTS.items():
        p = rng.uniform(lower, upper, (count, 3))
        axes = np.array([float(freedom in model.freedoms) for freedom in (3, 4, 5)])
        R = exp(turn * rng.uniform(-1, 1, (count, 3)) * axes)
        readings = model.inverse(truth, p, R) + rng.normal(0, _READING[model.reading_unit], (count, len(model.chains)))
        flat = np.array([1.0, 1.0, float(2 in model.freedoms)])
        seen = p + rng.normal(0, _POSITION, p.shape) * flat
        rotation = exp(rng.normal(0, _ORIENTATION, p.shape) * axes) @ R if model.has_orientation else None
        with TemporaryDirectory() as place:
            write_poses(Path(place) / name, Poses(seen, rotation, readings))
            files[name] = (Path(place) / name).read_bytes()
    return files
