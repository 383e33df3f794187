"""Controllers on complete robots: tracking errors as ratios to PD alone, and time per simulated second.

The robots are 10 % heavier than their blueprint. "Identified" are parameters with errors of 1 %, as an identification
leaves them.
"""

from time import perf_counter

import numpy as np

from gough.control import ControlStudy, control, desired_motion, enclose_feedforward
from gough.control.study import rms
from gough.estimates import Claim, Estimate, Status
from gough.export import IdentifiedDynamics, MotionRange, RobotModel
from gough.region import Box
from gough.robots import H4, Delta, Par4
from gough.simulate import LAWS, Loop
from gough.simulate.multibody import plant
from gough.unknowns import Unknowns

MOTIONS = (("H4", "random"), ("H4", "h4-fast"), ("Delta", "random"), ("Delta", "adept"), ("Par4", "adept"))
ROBOTS = {"H4": H4, "Delta": Delta, "Par4": Par4}
LOOP = Loop(resolution=2 * np.pi / 100_000)


def study_of(name: str) -> ControlStudy:
    """A robot that was identified with errors of 1 %."""
    robot = ROBOTS[name]()
    truth = 1.1 * robot.nominal
    found = truth * (1 + 0.01 * np.random.default_rng(1).uniform(-1, 1, len(truth)))
    region = Box(truth - 0.02 * np.abs(truth), truth + 0.02 * np.abs(truth))
    own = Estimate(Box(found, found), Claim.VALUE, Status.OK, Unknowns(robot.names), "identified", None)
    hull = Estimate(region, Claim.PROOF, Status.OK, Unknowns(robot.names), "hull", None)
    q = robot.inverse(robot.home)
    spans = (np.full(len(q), 0.35), np.full(len(q), 6.0), np.full(len(q), 120.0))
    seen = MotionRange(*(np.stack([-each, each]) for each in spans))
    seen = MotionRange(seen.q + q, seen.dq, seen.ddq)
    dynamics = IdentifiedDynamics(robot, tuple(robot.names), {"identified": own, "hull": hull}, "identified", {}, seen)
    return ControlStudy.of(RobotModel(dynamics), truth=truth)


def main() -> None:
    """Print ratios and times."""
    print("Controllers on complete robots (MuJoCo): rms error of the actuators over that of PD alone")
    print(f"{'robot, motion':18}{'PD, mrad':>9}" + "".join(f"{law:>17}" for law in LAWS if law != "pd"))
    for name, motion in MOTIONS:
        study = study_of(name)
        found = control(study, motion=motion, loop=LOOP)
        alone = rms(found.outcome("pd").tracked.error)
        ratios = [rms(found.outcome(law, "identified").tracked.error) / alone for law in LAWS if law != "pd"]
        print(f"{f'{name}, {motion}':18}{1e3 * alone:9.2f}" + "".join(f"{ratio:17.4f}" for ratio in ratios))
    print("\nTime of the robot alone per simulated second, s")
    for name, kind in ROBOTS.items():
        study = study_of(name)
        q = kind().inverse(kind().home)
        times = {}
        for engine, steps in (("mujoco", 1000), ("pinocchio", 50)):
            moving = plant(study.mechanism, q, np.zeros_like(q), engine)
            moving.advance(np.zeros_like(q), 1e-3)
            start = perf_counter()
            for _ in range(steps):
                moving.advance(np.zeros_like(q), 2.5e-4)
            times[engine] = (perf_counter() - start) / (steps * 2.5e-4)
        motion = desired_motion(study.dynamics, "adept", rate=1000.0, rng=np.random.default_rng(1))
        start = perf_counter()
        enclose_feedforward(study.dynamics, motion)
        bounds = (perf_counter() - start) / len(motion) * 1e6
        spent = f"MuJoCo {times['mujoco']:6.2f}  Pinocchio {times['pinocchio']:6.1f}"
        print(f"{name:6} {spent}; bounds of the feedforward {bounds:.0f} µs an instant")


if __name__ == "__main__":
    main()
