"""Models for tests of exports: robots with parameters near their nominal ones, and sets around them."""

import ctypes
from functools import cache

import numpy as np

import gough
from gough.estimates import Claim, Estimate, Status
from gough.export import CalibratedGeometry, IdentifiedDynamics, MotionRange, RobotModel
from gough.export.c_source import c_files
from gough.export.compiling import built
from gough.export.effects import effect_columns
from gough.region import Box, ConfidenceEllipsoid, Ellipsoid, Intersection
from gough.robots import ROBOTS

SPANS = {"rad": 0.35, "m": 0.06}


def region_of(kind, center):
    radius = 0.05 * np.abs(center) + 1e-3
    skew = np.random.default_rng(2).normal(size=(len(center), len(center))) / len(center)
    shape = np.diag(radius) @ (np.eye(len(center)) + skew @ skew.T) @ np.diag(radius)
    return {
        "confidence": ConfidenceEllipsoid(center, shape, 0.95, 200.0),
        "box": Box(center - radius, center + 2 * radius),
        "ellipsoid": Ellipsoid(center, shape),
        "both": Intersection(Box(center - radius, center + radius), Ellipsoid(center, 0.8 * shape)),
        "value": Box(center, center),
    }[kind]


def dynamic_model(robot, kind="confidence", fixed=(), effects=(), values=None) -> RobotModel:
    """A robot as if it had been identified from a motion around home, with effects whose parameters have values."""
    values = values or {}
    equations = robot.controller_equations()
    q = equations.home[list(equations.actuated)]
    columns = (*(name for name in robot.names if name not in fixed), *values)
    theta = {**dict(zip(robot.names, 1.1 * robot.nominal, strict=True)), **values}
    center = np.array([theta[name] for name in columns])
    claim = {"confidence": Claim.CONFIDENCE, "value": Claim.VALUE}.get(kind, Claim.PROOF)
    unknowns = gough.Unknowns(columns)
    estimate = Estimate(region_of(kind, center), claim, Status.OK, unknowns, "test", None)
    span = np.array([SPANS[unit] for unit in robot.coordinate_units])
    turns = np.array([unit == "rad" for unit in robot.coordinate_units])
    speed, acceleration = np.where(turns, 3.0, 0.5), np.where(turns, 60.0, 8.0)
    seen = MotionRange(*(np.stack([-each, each]) for each in (span, speed, acceleration)))
    seen = MotionRange(seen.q + q, seen.dq, seen.ddq)
    known = {name: float(theta[name]) for name in fixed}
    reference = dict(zip(robot.names, (1.05 * robot.nominal).tolist(), strict=True)) if effects else {}
    of = IdentifiedDynamics(
        robot, columns, {"test": estimate}, "test", known, seen, tuple(effects), dict.fromkeys(values, "1"), reference
    )
    return RobotModel(of)


def named_model(key, **options) -> RobotModel:
    return dynamic_model(ROBOTS[key](), **options)


@cache
def _named_files(key, name):
    return c_files(named_model(key), name)


def named_files(key, name):
    """The exported files of a named model, and their sections, made once for all tests."""
    files, sections = _named_files(key, name)
    return dict(files), sections


def geometric_model(model, readings) -> RobotModel:
    """A robot as if it had been calibrated, a little off its blueprint."""
    rng = np.random.default_rng(3)
    theta = model.nominal + 1e-3 * rng.uniform(-1, 1, len(model.names))
    estimate = Estimate(
        ConfidenceEllipsoid(theta, 1e-8 * np.eye(len(theta))), Claim.CONFIDENCE, Status.OK,
        gough.Unknowns(model.names), "test", None,
    )  # fmt: skip
    middle = readings.mean(axis=0)
    home = model.forward(theta, middle[None])
    return RobotModel(geometry=CalibratedGeometry(model, theta, estimate, readings, middle, home))


def with_values(effects, robot, seed=5):
    """Values of all parameters of some effects that a controller computes, for `dynamic_model`."""
    empty = dynamic_model(robot, effects=effects).dynamics
    equations = robot.controller_equations()
    n = len(equations.actuated)
    q = np.tile(equations.home[list(equations.actuated)], (2, 1))
    names = effect_columns(empty, (q, np.ones((2, n)), np.ones((2, n))), np.ones((2, n)))
    rng = np.random.default_rng(seed)
    return {name: float(rng.uniform(0.05, 0.3)) for name in names}


class Compiled:
    """Exported C as a library: functions take and return arrays of doubles."""

    def __init__(self, files, name, folder, more="", options=()):
        for file, text in files.items():
            (folder / file).write_text(text)
        (folder / "library.c").write_text(f'#include "{name}.c"\n{more}')
        library = built(folder, ["library.c"], f"lib{name}.so", ["-shared", "-fPIC", *options])
        self.library, self.name = ctypes.CDLL(str(library)), name

    def __call__(self, function, *arguments):
        made = [ctypes.c_int(a) if isinstance(a, int) else a.ctypes.data_as(ctypes.c_void_p) for a in arguments]
        call = getattr(self.library, f"{self.name}_{function}")
        call.restype = ctypes.c_int if function != "start" else None
        return call(*made)

    def identified(self, size):
        """A copy of the table, as doubles."""
        return np.array((ctypes.c_double * size).in_dll(self.library, f"{self.name}_identified"))
