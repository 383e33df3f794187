"""mujoco.sysid: its nonlinear least squares over log-Cholesky factors, and its intervals.

Its usual residual compares simulated sensors with measured ones. Efforts are measured here, and motions are exact: the
residual is that of the efforts by MuJoCo's inverse dynamics, with friction as two more parameters of each joint.
"""

import re

import mujoco
import numpy as np
from mujoco import sysid
from mujoco.sysid._src.model_modifier import pi_from_theta
from protocol import answer_task

CALL = "sysid.optimize(body_inertia_param(…, InertiaType.Pseudo), residual of mj_inverse); calculate_intervals"


def arm(data, stated):
    spec = mujoco.MjSpec.from_string(re.sub(r"<dynamics[^>]*/>", "", stated["urdf"]))
    spec.compile()
    spec = mujoco.MjSpec.from_string(spec.to_xml())
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # no stops: motions stay inside them
    model = spec.compile()
    n = data["q"].shape[1]
    bodies = [f"link{k + 1}" for k in range(n)]
    state = mujoco.MjData(model)
    q, dq, ddq = data["q"], data["dq"], data["ddq"]

    def efforts(known):
        for body in bodies:
            set_body(model, body, pi_from_theta(known[f"{body}_inertia"].value))
        mujoco.mj_setConst(model, state)
        found = np.empty(q.shape)
        for k in range(len(q)):
            state.qpos[:], state.qvel[:], state.qacc[:] = q[k], dq[k], ddq[k]
            mujoco.mj_inverse(model, state)
            found[k] = state.qfrc_inverse
        return found + dq * known["viscous"].value + np.sign(dq) * known["coulomb"].value

    def answer(k):
        parameters = sysid.ParameterDict()
        for body in bodies:
            parameters.add(sysid.body_inertia_param(spec, model, body, sysid.InertiaType.Pseudo))
        parameters.add(sysid.Parameter("viscous", np.ones(n), np.zeros(n), np.full(n, 20.0)))
        parameters.add(sysid.Parameter("coulomb", np.ones(n), np.zeros(n), np.full(n, 20.0)))

        def residual(x, known):  # its optimizer asks for several points at once
            found = []
            for point in np.asarray(x).reshape(len(x), -1).T:
                known.update_from_vector(point)
                found.append((efforts(known) - data["efforts"][k]).ravel())
            return [np.stack(found, axis=1) if np.ndim(x) > 1 else found[0]], None, None

        fitted, result = sysid.optimize(parameters, residual, verbose=False, max_iters=30)
        left, _, _ = residual(fitted.as_vector(), fitted)
        _, half = sysid.calculate_intervals(left, np.asarray(result.jac))
        standard = []
        for body in bodies:
            pi = pi_from_theta(fitted[f"{body}_inertia"].value)
            inertia = pi[4:].reshape(3, 3)
            standard += [*pi[:4], *inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]]
        standard += [*fitted["viscous"].value, *fitted["coulomb"].value]
        own = fitted.as_vector()
        given = int(np.isfinite(half).sum())
        numbers = {"standard": standard, "own": own, "own_half": np.where(np.isfinite(half), half, -1)}
        return {**numbers, "single": 0, "infinite": len(own) - given}

    return CALL, {}, answer


def set_body(model, body, pi):
    """Mass, center and principal moments of a compiled model: compiling a specification for each point takes longer."""
    m, c = pi[0], pi[1:4] / pi[0]
    values, axes = np.linalg.eigh(pi[4:].reshape(3, 3) - m * (c @ c * np.eye(3) - np.outer(c, c)))
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    own = model.body(body)
    own.mass[:], own.ipos[:], own.inertia[:] = m, c, values
    mujoco.mju_mat2Quat(own.iquat, axes.reshape(-1))


if __name__ == "__main__":
    answer_task({"arm": arm}, ["mujoco", "numpy", "scipy"])
