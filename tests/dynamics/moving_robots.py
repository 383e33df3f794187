"""Robots along smooth motions, whose efforts err as those of recordings do. Tests and benchmarks share them."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.signal import lfilter

from gough.data import MeasuredMotion
from gough.data.filters import low_passed
from gough.dynamics.regressors import measured_regressor
from gough.robots import H4, Delta, FiveBar, Palida
from gough.simulate.trajectories import FourierSeries
from gough.studies.mechanism_file import MechanismFile

RATE, CUT_OFF = 200.0, 20.0
"""Samples a second, and the low-pass of the efforts, in Hz."""
_LINKS = [(3.5, 0.12), (3.5, 0.12), (3.0, 0.10), (2.7, 0.10), (1.7, 0.08), (1.6, 0.06), (0.5, 0.04)]
"""Mass in kg and size in m of the links of the arm, from the base."""


def _urdf() -> str:
    """Seven revolute joints whose axes are at right angles to the axes before them."""
    text, parent = "<link name='world'/>", "world"
    for i, (mass, size) in enumerate(_LINKS, 1):
        moment = 0.4 * mass * size**2
        turn = f"{(-1) ** i * np.pi / 2:.16g} 0 0" if i > 1 else "0 0 0"
        text += f"""
        <link name='link{i}'><inertial><origin xyz='{0.1 * size:.4g} {0.4 * size:.4g} {0.5 * size:.4g}'/>
          <mass value='{mass}'/>
          <inertia ixx='{moment:.5g}' iyy='{1.1 * moment:.5g}' izz='{0.8 * moment:.5g}'
                   ixy='{0.05 * moment:.5g}' ixz='{-0.04 * moment:.5g}' iyz='{0.03 * moment:.5g}'/>
        </inertial></link>
        <joint name='q{i}' type='revolute'><parent link='{parent}'/><child link='link{i}'/>
          <origin xyz='0 0 {0.2 if i % 2 else 0.0}' rpy='{turn}'/><axis xyz='0 0 1'/>
          <limit lower='-3' upper='3' effort='100' velocity='3'/>
          <dynamics damping='{0.8 / i:.4g}' friction='{1.5 / i:.4g}'/></joint>"""
        parent = f"link{i}"
    return f"<robot name='arm'>{text}</robot>"


@cache
def seven_axis_arm():
    """An open chain of seven revolute joints, read from a URDF file."""
    joints = [f"q{i + 1}" for i in range(7)]
    with TemporaryDirectory() as folder:
        (Path(folder) / "arm.urdf").write_text(_urdf())
        file = Path(folder) / "arm.toml"
        file.write_text(f"""
[mechanism]
name = "arm"
urdf = "arm.urdf"
actuated = {joints}
gravity = [0, 0, -9.81]
[platform]
body = "link7"
pose = {joints}
home = [0, 0.5, 0, -1, 0, 0.8, 0]
""")
        return MechanismFile.read(file).robot


_ROBOTS = {
    "five-bar": (FiveBar.demo, 0.25, 0.5),
    "delta": (Delta, 0.06, 0.5),
    "H4": (H4, [0.1, 0.1, 0.06, 0.5], 0.5),
    "hexapod": (Palida, [0.06, 0.06, 0.06, 0.1, 0.1, 0.1], 0.3),
    "arm": (seven_axis_arm, 0.8, 0.1),
}
ROBOTS = tuple(_ROBOTS)


@cache
def moving(name, seconds=10.0, seed=1):
    """A robot and its exact motion along a random Fourier series, with the regressor of every effort.

    Returns the robot, the motion with the efforts of the nominal parameters, and W (samples, actuators, parameters).
    """
    make, amplitude, frequency = _ROBOTS[name]
    robot = make()
    rng = np.random.default_rng(seed)
    offset = np.asarray(robot.home if hasattr(robot, "joint_motion") else [2.0, 1.0], dtype=float)
    amplitude = np.broadcast_to(amplitude, offset.shape)
    series = FourierSeries.random(rng, offset=offset, amplitude=amplitude, frequency=frequency)
    _, x, dx, ddx = series.at(np.arange(round(seconds * RATE)) / RATE)
    q, dq, ddq = robot.joint_motion(x, dx, ddx) if hasattr(robot, "joint_motion") else (x, dx, ddx)
    motion = MeasuredMotion(
        RATE, q, dq, ddq, np.zeros(q.shape), np.ones(q.shape, dtype=bool),
        coordinates=robot.coordinates, coordinate_units=robot.coordinate_units,
        actuators=robot.actuators, effort_units=robot.effort_units,
    )  # fmt: skip
    return robot, motion, measured_regressor(robot, motion)


def white(rng, n_samples, n):
    return rng.normal(size=(n_samples, n))


def filtered(rng, n_samples, n):
    """White noise behind the low-pass of the preparation; the standard deviation before it is 1."""
    return low_passed(rng.normal(size=(n_samples + 400, n)), CUT_OFF, 4, RATE)[200:-200]


def drifting(time_constant):
    """Filtered noise and, of half its variance, a disturbance of the efforts that forgets with a time constant in s."""

    def noise(rng, n_samples, n):
        a = np.exp(-1 / (time_constant * RATE))
        warm = round(8 * time_constant * RATE)
        slow = lfilter([np.sqrt(1 - a**2)], [1, -a], rng.normal(size=(n_samples + warm, n)), axis=0)[warm:]
        noise = filtered(rng, n_samples, n)
        size = np.sqrt(CUT_OFF / (RATE / 2))  # about that of the filtered noise
        return noise + np.sqrt(0.5) * size * slow

    return noise


def walking(size):
    """Filtered noise and a random walk from 0; its variance at the end is size² times that of a drift (`drifting`)."""

    def noise(rng, n_samples, n):
        own = filtered(rng, n_samples, n)
        walk = np.cumsum(rng.normal(size=(n_samples, n)), axis=0) / np.sqrt(n_samples)
        return own + size * np.sqrt(CUT_OFF / (RATE / 2) / 2) * walk

    return noise
