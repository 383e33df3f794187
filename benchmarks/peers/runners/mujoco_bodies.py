"""Efforts by MuJoCo's inverse dynamics as a residual of mujoco.sysid, for whatever bodies its optimizer proposes."""

import mujoco
import numpy as np
from mujoco import sysid
from mujoco.sysid._src.model_modifier import pi_from_theta


def body_parameters(spec, model, bodies):
    """Log-Cholesky factors of the pseudo-inertia of each body, starting at the model's."""
    parameters = sysid.ParameterDict()
    for body in bodies:
        parameters.add(sysid.body_inertia_param(spec, model, body, sysid.InertiaType.Pseudo))
    return parameters


def set_bodies(model, state, bodies, known):
    """Mass, center and principal moments of a compiled model: compiling a specification for each point takes longer."""
    for body in bodies:
        pi = pi_from_theta(known[f"{body}_inertia"].value)
        m, c = pi[0], pi[1:4] / pi[0]
        values, axes = np.linalg.eigh(pi[4:].reshape(3, 3) - m * (c @ c * np.eye(3) - np.outer(c, c)))
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        own = model.body(body)
        own.mass[:], own.ipos[:], own.inertia[:] = m, c, values
        mujoco.mju_mat2Quat(own.iquat, axes.reshape(-1))
    mujoco.mj_setConst(model, state)


def tree_efforts(model, state, q, dq, ddq):
    """Efforts (n, joints) of a motion by inverse dynamics."""
    found = np.empty(q.shape)
    for k in range(len(q)):
        state.qpos[:], state.qvel[:], state.qacc[:] = q[k], dq[k], ddq[k]
        mujoco.mj_inverse(model, state)
        found[k] = state.qfrc_inverse
    return found


def residual_of(off):
    """The residual that its optimizer calls, which asks for several points at once; off(known) is that of one point."""

    def residual(x, known):
        found = []
        for point in np.asarray(x).reshape(len(x), -1).T:
            known.update_from_vector(point)
            found.append(np.ravel(off(known)))
        return [np.stack(found, axis=1) if np.ndim(x) > 1 else found[0]], None, None

    return residual


def standard_parameters(known, body):
    """The ten of a body in Pinocchio's order: m, m·c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""
    pi = pi_from_theta(known[f"{body}_inertia"].value)
    return [*pi[:4], *pi[4:].reshape(3, 3)[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]]
