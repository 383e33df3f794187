"""Possible bodies: complete parameters of a robot that can exist, what of them is data, and guaranteed bounds."""

from gough.dynamics.bodies.complete import CompleteSet, Ellipsoid, complete_set
from gough.dynamics.bodies.possible import Freedom, PhysicalOptions, PossibleBodies, PossibleBody, possible_bodies

__all__ = [
    "CompleteSet",
    "Ellipsoid",
    "Freedom",
    "PhysicalOptions",
    "PossibleBodies",
    "PossibleBody",
    "complete_set",
    "possible_bodies",
]
