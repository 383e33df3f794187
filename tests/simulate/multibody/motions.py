"""Full mechanisms and motions on which they are tested."""

import numpy as np

from gough.robots import H4, Delta, Par4
from gough.simulate.multibody import Multibody
from gough.simulate.trajectories import FourierSeries

NEEDS = "needs the extra multibody: pip install 'gough[multibody]'"
AMPLITUDES = {"H4": (0.12, 0.12, 0.06, 0.7), "Par4": (0.2, 0.2, 0.1, 0.7), "Delta": (0.15, 0.15, 0.1)}


def mechanisms():
    return [Multibody(H4()), Multibody(Par4()), Multibody(Delta())]


def named(mechanism):
    return mechanism.robot.name


def changed(mechanism, **parts):
    """The same robot with other parts."""
    return Multibody(mechanism.robot.with_parts(**parts))


def swing(mechanism, seed=1, rate=500.0):
    """One period, 2 s, of a random motion of the platform: x, dx, ddx. It is smooth: its spectrum is exact."""
    robot = getattr(mechanism, "robot", mechanism)
    path = FourierSeries.random(
        np.random.default_rng(seed), offset=robot.home, amplitude=AMPLITUDES[robot.name], frequency=0.5
    )
    return path.sample(rate)[1:]


def slope(values, seconds):
    """The time derivative of one period of a smooth periodic signal (N,), by its spectrum."""
    n = len(values)
    pulsation = 2j * np.pi * np.arange(n // 2 + 1) / seconds
    return np.fft.irfft(np.fft.rfft(values) * pulsation, n)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))
