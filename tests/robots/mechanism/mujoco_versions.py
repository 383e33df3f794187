"""How MuJoCo of different versions reads the same file. gough reads it as the newest do."""

from importlib.metadata import version

import numpy as np

VERSION = tuple(int(part) for part in version("mujoco").split(".")[:2])
TURN = 0.0 if VERSION >= (3, 16) else 3 * np.sqrt(2e-12)
"""Angle (rad) by which principal axes of inertia may be off: earlier versions diagonalize by rotations, and leave out
those with a cosine within 1e-12 of one (`mju_eig3`), in each of three planes."""
INERTIALS_IN_FRAMES = VERSION >= (3, 14)
"""Whether an <inertial> in a <frame> is placed in it; earlier versions place it in the body."""
OWN_QUAT_COUNTS = VERSION >= (3, 16)
"""Whether the quat of an element counts if its class has an orientation of another kind; in earlier versions, that of
the class counts."""
