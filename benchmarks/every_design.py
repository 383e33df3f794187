"""A design for every robot and mechanism of the library: one start, two harmonics.

Prints for each the unknowns, limits and parameters, the criterion at the random start and at the end, the largest
violation at 20 000 random instants, instructions of the kernels, processor time (that of compiling is not counted), and
the tracking error that the motion tolerates.

    python -m benchmarks.every_design [names]
"""

import sys
from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np

from benchmarks.optimal_design import violation
from gough.core.errors import InputError
from gough.core.threads import one_blas_thread
from gough.designs.excitation import DesignProblem, MotionLimits, optimize
from gough.robots import CLOSED_FORMS, ROBOTS
from gough.robots.mechanism import MechanismModel

LARGE = ("palida", "6-ups", "6-ucu", "delta", "h4", "par4")
"""Mechanisms whose equations take seconds to trace: tests leave them to this benchmark."""
HOMES = {"five-bar": [2.05, 1.09]}
"""Of robots that state none."""
_TYPICAL = {"m": (1.0, 200.0), "rad": (8.0, 30.0)}
"""Speeds and efforts where a description states none, by the unit of the actuators."""


def limits_of(robot: Any) -> MotionLimits:
    """What the robot's description states, and typical speeds and efforts where it states none."""
    stated = MotionLimits.stated(robot)
    typical = dict(zip(("speeds", "efforts"), _TYPICAL[robot.coordinate_units[0]], strict=True))
    missing = {name: value for name, value in typical.items() if not _is_finite(getattr(stated, name))}
    return MotionLimits.stated(robot, **missing)


def _is_finite(limit: Any) -> bool:
    return limit is not None and bool(np.isfinite(limit).all())


def main(names: Sequence[str] = ()) -> None:
    """Print a line for each robot."""
    robots: dict[str, Any] = {f"robot {name}": ROBOTS[name] for name in CLOSED_FORMS}
    robots |= {f"mechanism {name}": lambda make=make: MechanismModel(make().mechanism) for name, make in ROBOTS.items()}
    for name, make in robots.items():
        if names and name.split(" ", 1)[1] not in names:
            continue
        robot = make()
        home = HOMES.get(name.removeprefix("robot "))
        problem = DesignProblem(robot, limits_of(robot), n_harmonics=2, home=home, frequency=(0.2, 0.5))
        problem.lagrangian(np.append(np.full(problem.space.n - 1, 0.01), 1.0), lambda h: (0.0, np.zeros_like(h)))
        begin = process_time()
        try:
            with one_blas_thread():
                found = optimize(problem, starts=1, seed=1)
        except InputError as error:
            print(f"{name:20} {error}", flush=True)
            continue
        took = process_time() - begin
        shape = f"{problem.n_variables:3} unknowns {len(problem.channels):3} limits {len(problem.names):3} parameters"
        size = f"{len(problem.equations.forward.tape.steps)} + {len(problem.equations.adjoint.tape.steps)} instructions"
        gain = f"{found.attempts[0].first:8.1f} -> {found.value:8.1f}"
        print(
            f"{name:20} {shape} {gain}, violation {violation(problem, found, 20_000):8.1e}, {size}, {took:.1f} s. "
            f"{found.tracking.tolerated()}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
