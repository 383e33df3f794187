"""Possible bodies: complete parameters of a robot that can exist, what of them is data, and guaranteed bounds."""

from gough.dynamics.bodies.certified import CertifiedBodies, Limits, certified_bodies
from gough.dynamics.bodies.complete import CompleteSet, Ellipsoid, complete_set
from gough.dynamics.bodies.possible import Freedom, PhysicalOptions, PossibleBodies, PossibleBody, possible_bodies

__all__ = [
    "CertifiedBodies",
    "CompleteSet",
    "Ellipsoid",
    "Freedom",
    "Limits",
    "PhysicalOptions",
    "PossibleBodies",
    "PossibleBody",
    "certified_bodies",
    "complete_set",
    "possible_bodies",
]
