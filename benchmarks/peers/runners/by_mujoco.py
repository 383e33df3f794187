"""mujoco.sysid: its nonlinear least squares over log-Cholesky factors, and its intervals.

Its usual residual compares simulated sensors with measured ones. Efforts are measured here, and motions are exact: the
residual is that of the efforts by MuJoCo's inverse dynamics, with friction as two more parameters of each motor.
Efforts of a closed chain are those of the tree along the freedoms that the Jacobian of MuJoCo's constraint leaves.
"""

import re

import mujoco
import numpy as np
from mujoco import sysid
from mujoco_bodies import body_parameters, residual_of, set_bodies, standard_parameters, tree_efforts
from protocol import answer_task

CALL = "sysid.optimize(body_inertia_param(…, InertiaType.Pseudo), residual of mj_inverse); calculate_intervals"


def arm(data, stated):
    n = data["q"].shape[1]
    bodies = [f"link{k + 1}" for k in range(n)]
    text = re.sub(r"<dynamics[^>]*/>", "", stated["urdf"])
    return CALL, {}, identified(data, text, bodies, list(range(n)), np.eye(n) + np.zeros((len(data["q"]), 1, 1)))


def loop(data, stated):
    text = re.sub(r' (damping|frictionloss)="[^"]*"', "", stated["mjcf"])
    model = mujoco.MjModel.from_xml_string(text)
    state = mujoco.MjData(model)
    motors = [model.joint(name).dofadr[0] for name in stated["motors"]]
    passive = [k for k in range(model.nv) if k not in motors]
    G = np.zeros((len(data["q"]), model.nv, len(motors)))
    G[:, motors, range(len(motors))] = 1.0
    for k, q in enumerate(data["q"]):
        state.qpos[:] = q
        mujoco.mj_forward(model, state)
        J = np.empty((state.nefc, model.nv))
        J[:] = state.efc_J.reshape(J.shape)
        G[k][passive] = -np.linalg.pinv(J[:, passive], rcond=1e-9) @ J[:, motors]
    tree = re.sub(r"<equality>.*</equality>", "", text)
    return f"{CALL}, along the freedoms of the closed loop", {}, identified(data, tree, stated["bodies"], motors, G)


def identified(data, text, bodies, motors, G):
    """What answers a recording; efforts are Gᵀ of those of the tree, and friction of the motors."""
    spec = mujoco.MjSpec.from_string(text)
    spec.compile()
    spec = mujoco.MjSpec.from_string(spec.to_xml())  # with principal moments, which it starts from
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # no stops: motions stay inside them
    model = spec.compile()
    state, n = mujoco.MjData(model), len(motors)
    moving = data["dq"][:, motors]

    def efforts(known):
        set_bodies(model, state, bodies, known)
        rigid = np.einsum("nij,ni->nj", G, tree_efforts(model, state, data["q"], data["dq"], data["ddq"]))
        return rigid + moving * known["viscous"].value + np.sign(moving) * known["coulomb"].value

    def answer(k):
        parameters = body_parameters(spec, model, bodies)
        parameters.add(sysid.Parameter("viscous", np.ones(n), np.zeros(n), np.full(n, 20.0)))
        parameters.add(sysid.Parameter("coulomb", np.ones(n), np.zeros(n), np.full(n, 20.0)))
        residual = residual_of(lambda known: efforts(known) - data["efforts"][k])
        fitted, result = sysid.optimize(parameters, residual, verbose=False, max_iters=30)
        left, _, _ = residual(fitted.as_vector(), fitted)
        _, half = sysid.calculate_intervals(left, np.asarray(result.jac))
        standard = [value for body in bodies for value in standard_parameters(fitted, body)]
        standard += [*fitted["viscous"].value, *fitted["coulomb"].value]
        own = fitted.as_vector()
        numbers = {"standard": standard, "own": own, "own_half": np.where(np.isfinite(half), half, -1)}
        return {**numbers, "single": 0, "infinite": len(own) - int(np.isfinite(half).sum())}

    return answer


if __name__ == "__main__":
    answer_task({"arm": arm, "loop": loop}, ["mujoco", "numpy", "scipy"])
