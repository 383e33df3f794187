"""The full mechanisms of H4, Par4 and Delta: simplified against full torques, one engine against the other, speed.

Masses add up to the published parameters. Errors are over all motors and samples, in percent: the rms error over the
peak torque, and over the rms torque; [NCPP, §IV.C] does not say which of them its 2 % is.
"""

from functools import partial

import numpy as np

from benchmarks._timing import seconds
from gough.robots import H4, Delta, Par4
from gough.robots.delta_family.model import DeltaFamily
from gough.simulate.multibody import Multibody, compare
from gough.simulate.trajectories import FourierSeries, PickAndPlace

N_SAMPLES = 20_000
AMPLITUDES = {"H4": (0.12, 0.12, 0.06, 0.7), "Par4": (0.2, 0.2, 0.1, 0.7), "Delta": (0.15, 0.15, 0.1)}
CYCLES = {"H4": 0.4, "Par4": 0.25, "Delta": 0.25}


def random_motion(robot: DeltaFamily, rate: float = 500.0):
    path = FourierSeries.random(
        np.random.default_rng(3), offset=robot.home, amplitude=AMPLITUDES[robot.name], frequency=0.5
    )
    return path.sample(rate)[1:]


def adept(robot: DeltaFamily):
    return PickAndPlace(robot.home, cycle=CYCLES[robot.name]).sample(2000.0)


def rms_over_peak(robot: DeltaFamily, motion) -> float:
    """Of the most complete simplified model."""
    found = compare(robot, *motion)
    return found.ratios(found.models[-1])[0]


def agreement(robot: DeltaFamily, motion) -> None:
    """Engines against each other, closures, energy, forward against inverse dynamics."""
    mechanism = Multibody(robot)
    x, dx, ddx = motion
    torques = mechanism.efforts(x, dx, ddx)
    by_mujoco = mechanism.efforts(x, dx, ddx, engine="mujoco")
    power = (torques * robot.joint_motion(x, dx, ddx).dq).sum(axis=1)
    pulsation = 2j * np.pi * 0.5 * np.arange(len(x) // 2 + 1)
    growth = np.fft.irfft(np.fft.rfft(mechanism.energy(x, dx)) * pulsation, len(x))  # exact for one smooth period
    back = mechanism.accelerations(x, dx, torques)
    print(f"Pinocchio against MuJoCo        {np.abs(torques - by_mujoco).max():.1e} N·m of {np.abs(torques).max():.1f}")
    print(f"widest gap of a closure         {mechanism.closure_error(x).max():.1e} m")
    print(f"power less growth of energy     {np.abs(power - growth).max():.1e} W of {np.abs(power).max():.1f}")
    print(f"forward after inverse dynamics  {np.abs(back - ddx).max():.1e} of {np.abs(ddx).max():.1f} m/s², rad/s²")


def assumptions(robot: DeltaFamily, motion) -> None:
    """What makes the rod column exact, and what real rods leave of the torque."""
    for radius in (1e-6, 0.003, robot.parts.rod_radius, 0.012):
        left = rms_over_peak(robot.with_parts(rod_radius=radius), motion)
        print(f"rods of radius {1e3 * radius:6.3f} mm: rms/peak {left:.1e}")
    if isinstance(robot, Par4):
        uniform = robot.parts.bar_mass * robot.geometry.h**2 / 12
        left = rms_over_peak(robot.with_parts(bar_inertia=uniform), motion)
        print(f"bars of the platform uniform, not with their mass at their ends: rms/peak {left:.1e}")


def speed(robot: DeltaFamily) -> None:
    """Time per sample, as a ratio to the compiled regressor of the simplified model."""
    motion, mechanism = random_motion(robot, rate=N_SAMPLES / 2), Multibody(robot)
    regressor = robot.regressor_kernel()
    works = {
        "simplified: compiled regressor": lambda: regressor(*motion),
        "full: motion of all joints": lambda: mechanism.motion(*motion),
        "full: efforts by Pinocchio": lambda: mechanism.efforts(*motion),
        "full: efforts by MuJoCo": partial(mechanism.efforts, *motion, engine="mujoco"),
    }
    times = {name: seconds(work, 3) for name, work in works.items()}
    least = next(iter(times.values()))
    for name, time in times.items():
        print(f"{name:32} {1e6 * time / N_SAMPLES:7.2f} µs/sample {time / least:7.1f} x simplified")


def main() -> None:
    """Print all comparisons for each robot."""
    for robot in (H4(), Par4(), Delta()):
        motion = random_motion(robot)
        for name, moved in (("random motion", motion), ("Adept cycle", adept(robot))):
            print(f"{name} of the {robot.name}, {len(moved[0])} samples")
            print(compare(robot, *moved))
        agreement(robot, motion)
        assumptions(robot, motion)
        speed(robot)
        print()


if __name__ == "__main__":
    main()
