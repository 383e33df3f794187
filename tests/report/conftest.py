"""Small identifications to report on."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

import gough
from gough.data import MeasuredMotion
from gough.data.motion import StepReport
from gough.dynamics import Adequacy, Finding, Identified, VariantFit, identify
from gough.dynamics.validation import validated
from gough.report import Report

HOSTILE = "</script><script>alert('x')</script><img src=x onerror=alert(1)> & \"co\" \u2028 ]]> {{7*7}}"
SHOWN = HOSTILE.replace("\u2028", "\\u2028")
"""How a page shows it: line separators and control characters as visible escapes."""
METHODS = ("least squares", "Gauss–Markov", "hull")


@dataclass(frozen=True)
class Crane:
    """Two motors move a platform up and along; three parameters, and a body to be drawn."""

    name: str = "crane"

    def __getattr__(self, wanted):
        fixed = {
            "actuators": ("motor 1", f"motor {self.name}"),
            "effort_units": ("N·m", "N·m"),
            "coordinates": ("q1", f"q {self.name}"),
            "coordinate_units": ("rad", "rad"),
            "names": (self.name, "I_1", "fv"),
            "units": ("kg", f"kg·m² {self.name}", ""),
            "nominal": np.array([1.1, 2.2, 1e-4]),
            "segments": ("base", "arm", "rod", "platform"),
            "pose_names": ("x", "z"),
            "pose_units": ("m", "m"),
        }
        try:
            return fixed[wanted]
        except KeyError:
            raise AttributeError(wanted) from None

    def regressor(self, q, dq, ddq):
        q, dq, ddq = map(np.asarray, (q, dq, ddq))
        return np.stack([np.cos(q), ddq, dq], axis=-1)

    def forward(self, q, guess=None):
        return np.stack([np.cos(q[:, 0]), -1 - 0.3 * np.sin(q[:, 1])], axis=-1)

    def skeleton(self, x):
        zero, one = np.zeros(len(x)), np.ones(len(x))
        at = {
            "origin": (zero, zero, zero),
            "top": (one, zero, zero),
            "elbow": (x[:, 0], 0.4 * one, -0.5 * one),
            "left": (x[:, 0] - 0.1, zero, x[:, 1]),
            "right": (x[:, 0] + 0.1, zero, x[:, 1]),
        }
        ends = (("origin", "top"), ("top", "elbow"), ("elbow", "left"), ("left", "right"))
        return np.stack([np.stack([np.stack(at[e], -1) for e in pair], 1) for pair in ends], 1)


TRUTH = np.array([1.0, 2.0, 1e-4])


def motion_of(robot, seed: int, n: int = 600, rate: float = 100.0, spike: int | None = None) -> MeasuredMotion:
    rng = np.random.default_rng(seed)
    t = np.arange(n)[:, None] / rate
    w = 2 * np.pi * np.array([0.7, 0.9])
    q, dq, ddq = np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)
    efforts = robot.regressor(q, dq, ddq) @ TRUTH + rng.uniform(-0.2, 0.2, (n, 2))
    kept = abs(dq) > 0.4
    if spike is not None:
        efforts[spike, 0] += 300.0
        kept[spike] = False
    account = (
        StepReport(f"{robot.name}.csv", "read", n, 2 * n),
        StepReport("MaskReversals(0.4)", f"masked near reversals {robot.name}", n, int(kept.sum())),
    )
    names = {k: getattr(robot, k) for k in ("coordinates", "coordinate_units", "actuators", "effort_units")}
    return MeasuredMotion(rate, q, dq, ddq, efforts, kept, account=account, **names)


def variant(name: str, adds: str, overall: float, gain: float) -> VariantFit:
    each = np.array([overall, 1.1 * overall])
    return VariantFit(name, adds, 3, 3, each, each, 3 * each, 2 * each, overall, gain, 0.01)


def adequacy(name: str, actuators: tuple[str, ...]) -> Adequacy:
    fits = (variant("simple", "", 0.4, 0.0), variant(f"rods {name}", f"the rods {name}", 0.1, 0.9))
    return Adequacy(
        fits, "simple", f"rods {name}", Finding.INADEQUATE, "ten blocks of time", 0.3, -2.0, 0.5, "N·m", actuators,
        {name: (0.12, -7.0), "fv": (-0.01, np.nan)},
    )  # fmt: skip


@cache
def identified(name: str = "mass", spike: int | None = None) -> Identified:
    robot = Crane(name)
    motion, other = motion_of(robot, 5, spike=spike), motion_of(robot, 6)
    found = identify(robot, motion, methods=METHODS, compare=False)
    shape = np.diag((found["hull"].region.width / 2) ** 2) * 2
    disc = replace(found["hull"], region=gough.Ellipsoid(found["hull"].value, shape), claim=gough.Claim.ENCLOSURE)
    found = replace(found, estimates={**found.estimates, "ellipsoid": disc})
    found = replace(found, validation=validated(found, other))
    open_sided = gough.Box([-np.inf, 0.0, -1.0], [np.inf, np.inf, 1.0])
    unbounded = replace(found["hull"], region=open_sided, status=gough.Status.UNBOUNDED)
    failed = replace(found["hull"], region=gough.Box.empty(3), status=gough.Status.INCONSISTENT, notes=(f"No: {name}",))
    estimates = {**found.estimates, f"plain {name}": found["least squares"], "open": unbounded, "failed": failed}
    motion = replace(found.motion, effort_units=("N·m", f"N·m {name}"))
    return replace(
        found,
        motion=motion,
        estimates=estimates,
        refused={f"other {name}": f"needs a covariance {name}"},
        adequacy=adequacy(name, robot.actuators),
        notes=(f"A note on {name}.",),
    )


def make_report(name: str = "mass", **changes) -> Report:
    return Report(f"Report on {name}", (f"About {name}.",), identified(name), TRUTH, **changes)


@pytest.fixture
def report() -> Report:
    return make_report()
