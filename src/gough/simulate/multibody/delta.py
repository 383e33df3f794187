"""The full mechanism of the Delta: three arms, six rods and a platform."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import cos, sin

from gough.kernels import Kernel
from gough.kernels.expression import Expression
from gough.robots.delta import Delta
from gough.simulate.multibody.description import Body, Closure
from gough.simulate.multibody.legs import Leg, motion_kernel
from gough.simulate.multibody.mechanism import FullMechanism
from gough.simulate.multibody.platforms import FLOATING, drawn, plate


def _platform(pose: Expression, h: Expression) -> tuple[Sequence[Expression], Sequence[Expression]]:  # noqa: ARG001
    return [pose] * 3, [pose[0], pose[1], pose[2], 0.0, 0.0, 0.0]


@cache
def _kernel() -> Kernel:
    return motion_kernel("delta", 3, 3, _platform)


@dataclass(frozen=True)
class DeltaMechanism(FullMechanism):
    """The Delta with all its parts: 10 bodies, 21 joints, and 6 ball joints that leave it 3 freedoms.

    The default masses add up to the nominal parameters of the robot.

    Examples:
        >>> mechanism = DeltaMechanism()
        >>> mechanism.efforts(mechanism.robot.home, [0, 0, 0], [0, 0, 0]).round(3)
        array([-2.424, -2.424, -2.424])
    """

    robot: Delta = field(default_factory=Delta)
    arm_mass: float = 0.6
    arm_center: float = 0.16387
    arm_inertia: float = 0.0045
    rotor_inertia: tuple[float, ...] = (0.072188,) * 3
    rod_mass: float = 0.08
    rod_radius: float = 0.007
    rod_inertia: float | None = None
    spacing: float = 0.1
    platform_mass: float = 0.96
    """Mass of the platform with the tool, in kg."""

    @property
    def legs(self) -> tuple[Leg, ...]:
        """Where the legs begin and end."""
        size, legs = self.robot.geometry, []
        for alpha in size.alpha:
            c, s = cos(alpha), sin(alpha)
            end = (size.platform * c, size.platform * s, 0.0)
            legs.append(Leg((size.base * c, size.base * s, 0.0), alpha, "platform", end))
        return tuple(legs)

    @property
    def platform(self) -> tuple[tuple[Body, ...], tuple[Closure, ...]]:
        """One plate."""
        radii = tuple(drawn((0.0, 0.0, 0.0), leg.end) for leg in self.legs)
        return (
            Body("platform", "", FLOATING, plate(self.platform_mass, self.robot.geometry.platform), segments=radii),
        ), ()

    @property
    def lumped(self) -> Mapping[str, float]:
        """The parameters of the robot's simplified models by name, without friction."""
        return {**self._chain_parameters, "m_plate": self.platform_mass + 3 * self.rod_mass}

    def _kernel(self) -> Kernel:
        return _kernel()
