"""geometry.toml: a calibrated robot as a file, read back exactly."""

from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.rotations import from_quaternion
from gough.geometry.frames import Frames, Placement
from gough.geometry.machine import MachineGeometry
from gough.robots import KinematicModel
from gough.robots.kinematics import PlatformPoses
from gough.studies.calibration_schema import FramesTable, KinematicRobotTable
from gough.studies.robots import kinematic_model
from gough.studies.toml import Table, TomlFile

Numbers = list[float]


class CovarianceTable(Table):
    """[calibrated.covariance]: covariance of these parameters, rows from the diagonal on."""

    names: list[str]
    rows: list[Numbers]


class HomeTable(Table):
    """[calibrated.home]: a measured pose in the middle of the data."""

    readings: Numbers
    position: Annotated[Numbers, Field(min_length=3, max_length=3)]
    quaternion: Annotated[Numbers, Field(min_length=4, max_length=4)]


class CalibratedTable(Table):
    """[calibrated]: what a calibration knows of the robot."""

    poses: Annotated[int, Field(ge=0)] = 0
    spare: Annotated[int, Field(ge=0)] = 0
    scale: Annotated[float, Field(gt=0)] = 1.0
    closure: list[Annotated[float, Field(ge=0)]] | None = None
    independent: Annotated[float, Field(gt=0, le=1)] = 1.0
    readings: list[Numbers] | None = None
    home: HomeTable | None = None
    frames: FramesTable | None = None
    covariance: CovarianceTable | None = None


class GeometryFileTable(Table):
    """The whole file."""

    robot: KinematicRobotTable
    calibrated: CalibratedTable = CalibratedTable()


def read_geometry(path: str | Path) -> MachineGeometry:
    """The calibrated robot of a geometry.toml, or of a file with a table [robot] alone.

    Raises:
        InputError: there is no such file, it is no such file, or a value is not allowed; with the line.
    """
    file = TomlFile.read(path)
    table = file.validated(GeometryFileTable)
    with file.at("robot"):
        require(table.robot.file is None, "a geometry file states the robot itself, not another file")
        model = kinematic_model(table.robot)
    known = table.calibrated
    with file.at("calibrated"):
        chains = len(model.chains)
        closure = None if known.closure is None else _shaped(known.closure, (chains,), "closure")
    with file.at("calibrated", "closure"):
        errs = closure is None or bool((closure > 0).all())
        require(
            errs, "a chain without closure errors would contradict every other day: state what it left, or no closure"
        )
    with file.at("calibrated"):
        readings = None if known.readings is None else _shaped(known.readings, (2, chains), "readings")
        own = None if known.home is None else _shaped(known.home.readings, (chains,), "home.readings")
    home = None
    if known.home is not None:
        with file.at("calibrated", "home"):
            place = Placement(np.array(known.home.position), np.array(known.home.quaternion))
            home = PlatformPoses(place.position[None], from_quaternion(place.quaternion)[None])
    with file.at("calibrated", "covariance"):
        covariance = None if known.covariance is None else _covariance(known.covariance, model)
    with file.at("calibrated", "frames"):
        frames = None if known.frames is None else _frames(known.frames)
    return MachineGeometry(
        model,
        covariance,
        frames,
        closure,
        known.spare,
        known.scale,
        known.poses,
        readings,
        own,
        home,
        independent=known.independent,
    )


def _shaped(values: object, shape: tuple[int, ...], what: str) -> Array:
    try:
        result = np.array(values, dtype=np.float64)
    except ValueError as error:
        raise InputError(f"{what}: rows have different lengths") from error
    good = result.shape == shape and bool(np.isfinite(result).all())
    require(good, f"{what} must be {' × '.join(map(str, shape))} finite numbers")
    return result


def _covariance(table: CovarianceTable, model: KinematicModel) -> Array:
    """(p, p) with zeros for the parameters that are not named."""
    unknown = [name for name in table.names if name not in model.names]
    require(not unknown, f"no parameter of the {model.name} is called '{unknown[0] if unknown else ''}'")
    n = len(table.names)
    lengths = [len(row) for row in table.rows]
    require(lengths == list(range(n, 0, -1)), f"rows of the covariance of {n} parameters have {n} to 1 numbers")
    C = np.zeros((n, n))
    for i, row in enumerate(table.rows):
        C[i, i:] = C[i:, i] = row
    require(bool(np.isfinite(C).all() and (C.diagonal() > 0).all()), "variances must be finite and positive")
    root = np.sqrt(C.diagonal())
    least = float(np.linalg.eigvalsh(C / np.outer(root, root))[0]) if n else 0.0
    require(least > -1e-6, f"the covariance has a negative eigenvalue ({least:.2g} as a correlation)")
    whole = np.zeros((len(model.names),) * 2)
    places = [model.names.index(name) for name in table.names]
    whole[np.ix_(places, places)] = C
    return whole


def _frames(table: FramesTable) -> Frames:
    parts = [Placement(np.array(each.position), np.array(each.quaternion)) for each in (table.base,)]
    platform = (
        Placement()
        if table.platform is None
        else Placement(np.array(table.platform.position), np.array(table.platform.quaternion))
    )
    return Frames(parts[0].motion, platform.motion)
