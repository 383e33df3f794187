"""A mechanism as a robot."""

from dataclasses import dataclass, field

from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.mechanism.description import Mechanism


@dataclass(frozen=True)
class MechanismModel(ClosedChain):
    """Any mechanism as a robot that can be identified: kinematics of its loops, and a regressor for its actuators.

    Its parameters are those of the description: for each group of identical bodies the ten of a rigid body, or those
    that its symmetry leaves; rotors; friction; cogging. Not all of them can be told apart: `gough.dynamics` finds
    their combinations that can.

    Examples:
        >>> from gough.robots.mechanism import five_bar_mechanism
        >>> robot = MechanismModel(five_bar_mechanism())
        >>> q = robot.inverse([0.0, 0.5])
        >>> q.round(4)
        array([2.0424, 1.0992])
        >>> robot.forward(q).round(9) + 0.0
        array([0. , 0.5])
        >>> robot.regressor(q, [1.0, 0.0], [0.0, 0.0]).shape
        (2, 21)
    """

    description: Mechanism
    variant: str = ""
    """Which of the nested models; the most detailed by default."""
    only: tuple[str, ...] = ()
    """Names of the parameters to keep; all by default."""
    least_margin: float = field(default=1e-4, kw_only=True)
    """Poses with a smaller singularity margin are refused."""

    def __post_init__(self) -> None:
        self._check()

    @property
    def mechanism(self) -> Mechanism:
        """What the robot is made of."""
        return self.description
