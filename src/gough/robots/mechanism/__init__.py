"""Any closed-chain mechanism from a description: kinematics of its loops, and a regressor of its dynamics.

A `Mechanism` describes bodies, joints and closures; a `MechanismModel` of it is a robot like any other of the library.
"""

from gough.robots.mechanism.closed_chain import MechanismModel as MechanismModel
from gough.robots.mechanism.description import Mechanism as Mechanism
from gough.robots.mechanism.inertia import Inertia as Inertia
from gough.robots.mechanism.parts import Body as Body
from gough.robots.mechanism.parts import Closure as Closure
from gough.robots.mechanism.parts import Cogging as Cogging
from gough.robots.mechanism.parts import Freedom as Freedom
from gough.robots.mechanism.parts import Friction as Friction
from gough.robots.mechanism.parts import Joint as Joint
from gough.robots.mechanism.parts import Limits as Limits
from gough.robots.mechanism.parts import Platform as Platform
from gough.robots.mechanism.placement import Placement as Placement

__all__ = [
    "Body",
    "Closure",
    "Cogging",
    "Freedom",
    "Friction",
    "Inertia",
    "Joint",
    "Limits",
    "Mechanism",
    "MechanismModel",
    "Placement",
    "Platform",
]
