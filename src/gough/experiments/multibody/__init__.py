"""Full mechanisms of the Delta family, every part a rigid body, in Pinocchio and MuJoCo: the extra `multibody`.

They play the part that Adams has in [NCPP, §IV.C]: an independent reference for the simplified models of
`gough.robots`, and a machine for virtual experiments that no simplified model fits exactly.
"""

from gough.experiments.multibody.comparison import Comparison as Comparison
from gough.experiments.multibody.comparison import compare as compare
from gough.experiments.multibody.delta import DeltaMechanism as DeltaMechanism
from gough.experiments.multibody.description import Tree as Tree
from gough.experiments.multibody.h4 import H4Mechanism as H4Mechanism
from gough.experiments.multibody.mechanism import FullMechanism as FullMechanism
from gough.experiments.multibody.par4 import Par4Mechanism as Par4Mechanism

__all__ = ["Comparison", "DeltaMechanism", "FullMechanism", "H4Mechanism", "Par4Mechanism", "Tree", "compare"]
