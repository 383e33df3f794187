"""How far the simplified models are from the full mechanism: the comparison with Adams of [NCPP, §IV.C]."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.tables import table
from gough.robots.delta_family.model import DeltaFamily
from gough.simulate.multibody.engines import Engine
from gough.simulate.multibody.model import Multibody

WEIGHT = ("S_arm", "gS_arm")
RODS = ("m_rod",)


@dataclass(frozen=True)
class Simplification:
    """A simplified model, and its torque errors against the full mechanism over all motors and samples."""

    model: str
    """What it takes into account, in words."""
    rms: float
    """Root of the mean square of the errors, in N·m."""
    largest: float
    """In N·m."""


@dataclass(frozen=True)
class Comparison:
    """Simplified models of one robot against its full mechanism, along one motion. It prints as a table.

    Examples:
        >>> from gough.robots import H4
        >>> robot = H4()
        >>> comparison = compare(robot, [robot.home], dx=[[1.0, 0.0, 0.0, 0.0]], ddx=[[20.0, 0.0, 0.0, 0.0]])
        >>> for model in comparison.models:
        ...     print(f"{100 * comparison.ratios(model)[0]:.1f} %  {model.model}")
        8.3 %  rods ignored
        3.5 %  rods halved
        1.8 %  + weight of arms and rods
        0.0 %  + inertia of rods
    """

    robot: str
    peak: float
    """Greatest torque of the full mechanism, in N·m."""
    rms: float
    """Root of the mean square of its torques, in N·m."""
    models: tuple[Simplification, ...]
    """Simplest first."""

    def __str__(self) -> str:
        rows = [
            [
                model.model,
                *(f"{100 * ratio:.2g}" for ratio in self.ratios(model)),
                f"{100 * model.largest / self.peak:.2g}",
            ]
            for model in self.models
        ]
        heads = [f"{self.robot}, error in %", "rms/peak", "rms/rms", "largest/peak"]
        return str(table(heads, rows, "lrrr"))

    def ratios(self, model: Simplification) -> tuple[float, float]:
        """The rms error over the peak torque, and over the rms torque; [NCPP, §IV.C] does not say which its 2 % is."""
        return model.rms / self.peak, model.rms / self.rms


def compare(robot: DeltaFamily, x: Any, dx: Any, ddx: Any, engine: Engine = "pinocchio") -> Comparison:
    """The torques of four simplified models against those of the full mechanism, friction left out of both.

    Each model adds an effect to the one before: rods without mass, and arms without weight; rods as halves at their
    ends; the weight of arms and rods; the inertia of rods as rods. Parameters are summed up from the masses, not
    fitted.
    """
    full = Multibody(robot).efforts(x, dx, ddx, engine)
    (complete,) = (variant for variant in robot.variants if variant.variant == "rods")
    regressor, names = complete.regressor_kernel()(x, dx, ddx), complete.names
    light = complete.with_parts(rod_mass=0.0, rod_inertia=0.0).parameters_of_parts()
    halved = complete.parameters_of_parts()
    models = {
        "rods ignored": _without(WEIGHT + RODS, names, light),
        "rods halved": _without(WEIGHT + RODS, names, halved),
        "+ weight of arms and rods": _without(RODS, names, halved),
        "+ inertia of rods": halved,
    }
    errors = {model: regressor @ parameters - full for model, parameters in models.items()}
    return Comparison(
        robot.name,
        float(np.abs(full).max()),
        _rms(full),
        tuple(Simplification(model, _rms(error), float(np.abs(error).max())) for model, error in errors.items()),
    )


def _without(effects: tuple[str, ...], names: tuple[str, ...], parameters: Array) -> Array:
    """The parameters, with those of some effects zero."""
    return np.where([name.rstrip("1234") in effects for name in names], 0.0, parameters)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))
