"""Robots with every part a rigid body, in Pinocchio and MuJoCo: the extra `multibody`.

The model of each engine is built from the robot's `mechanism`. In [NCPP, §IV.C] Adams has this role: an independent
reference for the simplified models of `gough.robots`, and a robot for virtual experiments that no simplified model fits
exactly.
"""

from gough.simulate.multibody.comparison import Comparison as Comparison
from gough.simulate.multibody.comparison import compare as compare
from gough.simulate.multibody.engines import PinocchioModel as PinocchioModel
from gough.simulate.multibody.engines import pinocchio_model as pinocchio_model
from gough.simulate.multibody.experiment import EXPERIMENTS as EXPERIMENTS
from gough.simulate.multibody.experiment import Experiment as Experiment
from gough.simulate.multibody.experiment import experiment as experiment
from gough.simulate.multibody.mjcf import mjcf as mjcf
from gough.simulate.multibody.model import Multibody as Multibody
from gough.simulate.multibody.plants import Plant as Plant
from gough.simulate.multibody.plants import plant as plant

__all__ = [
    "EXPERIMENTS",
    "Comparison",
    "Experiment",
    "Multibody",
    "PinocchioModel",
    "Plant",
    "compare",
    "experiment",
    "mjcf",
    "pinocchio_model",
    "plant",
]
