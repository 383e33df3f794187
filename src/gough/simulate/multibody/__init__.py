"""Full mechanisms of the Delta family, every part a rigid body, in Pinocchio and MuJoCo: the extra `multibody`.

They play the part that Adams has in [NCPP, §IV.C]: an independent reference for the simplified models of
`gough.robots`, and a robot for virtual experiments that no simplified model fits exactly.
"""

from gough.simulate.multibody.comparison import Comparison as Comparison
from gough.simulate.multibody.comparison import compare as compare
from gough.simulate.multibody.delta import DeltaMechanism as DeltaMechanism
from gough.simulate.multibody.description import Tree as Tree
from gough.simulate.multibody.h4 import H4Mechanism as H4Mechanism
from gough.simulate.multibody.mechanism import FullMechanism as FullMechanism
from gough.simulate.multibody.par4 import Par4Mechanism as Par4Mechanism

__all__ = ["Comparison", "DeltaMechanism", "FullMechanism", "H4Mechanism", "Par4Mechanism", "Tree", "compare"]
