"""Model-based control of the H4, for which both papers identify it [PRV03i, §1], [PRV03e, §V].

The papers print no result of it: [PRV03e] says that "the quality of estimation have been checked through model based
control scheme" and refers to a predictive controller elsewhere.
"""

from collections.abc import Mapping, Sequence

from gough.control import Comparison
from gough.dynamics import Identified
from gough.export import RobotModel
from gough.papers.closed_loop import controlled
from gough.papers.rebuilt import Rebuilt
from gough.simulate import Loop

LOOP = Loop(rate=1000.0, limit=15.0, bandwidth=10.0)
"""Drives of ± 15 N·m as in the papers; the bandwidth is our choice."""
SECONDS = 2.0


def follow_fast_phase(
    rebuilt: Rebuilt, complete: Identified, models: Mapping[str, Mapping[str, float]], laws: Sequence[str]
) -> Comparison:
    """The complete H4 on a fast phase that no identification has seen, with each model in the controllers.

    Args:
        rebuilt: The robot with its true parameters.
        complete: An identification of its 16 parameters.
        models: Parameters of each model by name; those that a model of 14 parameters lacks are 0.
        laws: Names of laws.
    """
    model = RobotModel.of(complete)
    return controlled(model, rebuilt.truth, motion="h4-fast", laws=laws, loop=LOOP, models=models, seconds=SECONDS)
