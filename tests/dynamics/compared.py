"""The comparison of a robot's variants without the search for effects, which takes most of the time of a verdict."""

from gough.dynamics import identify
from gough.dynamics.adequacy import adequacy_of


def compared(robot, motion, validation):
    """What weighted least squares find, and how the variants compare on held-out data."""
    found = identify(robot, motion, methods=["weighted"], validation=validation, compare=False)
    answer = found["weighted"]
    sigma = dict(zip(answer.unknowns.names, answer.region.sigma.tolist(), strict=True))
    return found, adequacy_of(robot, motion, validation, sigma=sigma)
