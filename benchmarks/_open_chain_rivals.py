"""FIGAROH and mujoco.sysid on the data of an open chain, in an interpreter of their own: no import of gough.

    python benchmarks/_open_chain_rivals.py data.npz answers.json

The data have the regressor `Y` and efforts `tau` of the ten parameters of each body in the order m, mx, my, mz, Ixx,
Iyy, Izz, Ixy, Ixz, Iyz, the blueprint `prior`, the names of the bodies, the motion q, qd, qdd (n, joints) and an MJCF
text. Each answer has the ten parameters of every body and the processor time, or the reason why there is none.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

TERMS = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def figaroh(data, which):
    """FIGAROH's physical fit: of efforts, or the exact reconstruction of base parameters."""
    from figaroh.identification import physical_fit  # noqa: PLC0415

    bodies = data["bodies"].tolist()
    names = [f"{term}_{body}" for body in bodies for term in TERMS]
    start = time.process_time()
    problem = physical_fit.build_problem(data["Y"], data["tau"], names, bodies, prior=data["prior"])
    record = getattr(physical_fit, which)(problem)
    taken = time.process_time() - start
    if record.theta is None:
        return {"reason": f"status {record.solver_status}"}
    return {"theta": np.asarray(record.theta).tolist(), "seconds": taken}


def mujoco_sysid(data):
    """The nonlinear least squares of mujoco.sysid over log-Cholesky factors of the pseudo-inertias.

    Its usual residual compares simulated sensors; here it is that of the efforts by MuJoCo's inverse dynamics.
    """
    import mujoco  # noqa: PLC0415
    from mujoco import sysid  # noqa: PLC0415
    from mujoco.sysid._src.model_modifier import pi_from_theta  # noqa: PLC0415

    if not hasattr(sysid, "optimize"):
        return {"reason": "mujoco is installed without its extra sysid"}
    bodies = data["bodies"].tolist()
    spec = mujoco.MjSpec.from_string(str(data["mjcf"]))
    spec.compile()
    spec = mujoco.MjSpec.from_string(spec.to_xml())  # with principal moments, which it starts from
    model = spec.compile()
    order = [model.joint(f"q{k + 1}").dofadr[0] for k in range(len(bodies))]
    parameters = sysid.ParameterDict()
    for body in bodies:
        parameters.add(sysid.body_inertia_param(spec, model, body, sysid.InertiaType.Pseudo))
    tau, size = data["tau"].reshape(-1, len(bodies)), len(bodies)
    state = mujoco.MjData(model)

    def residual(x, known):
        known.update_from_vector(np.asarray(x).reshape(-1))
        for body in bodies:
            _set_body(mujoco, model, body, pi_from_theta(known[f"{body}_inertia"].value))
        mujoco.mj_setConst(model, state)
        off = np.empty((len(tau), size))
        for k in range(len(tau)):
            state.qpos[order], state.qvel[order], state.qacc[order] = data["q"][k], data["qd"][k], data["qdd"][k]
            mujoco.mj_inverse(model, state)
            off[k] = state.qfrc_inverse[order] - tau[k]
        return [off.reshape(-1)], None, None

    def columns(x, known):  # its optimizer asks for several points at once
        if np.ndim(x) < 2:
            return residual(x, known)
        return [np.stack([residual(each, known)[0][0] for each in np.asarray(x).T], axis=1)], None, None

    start = time.process_time()
    fitted, _ = sysid.optimize(parameters, columns, optimizer="mujoco", verbose=False, max_iters=100)
    taken = time.process_time() - start
    ten = []
    for body in bodies:
        pi = pi_from_theta(fitted[f"{body}_inertia"].value)
        m, h, inertia = pi[0], pi[1:4], pi[4:].reshape(3, 3)
        ten += [m, *h, *np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    return {"theta": [float(x) for x in ten], "seconds": taken}


def _set_body(mujoco, model, body, pi):
    """Mass, center and principal moments of a compiled model: its own way over a specification fails to compile."""
    m, c = pi[0], pi[1:4] / pi[0]
    values, axes = np.linalg.eigh(pi[4:].reshape(3, 3) - m * (c @ c * np.eye(3) - np.outer(c, c)))
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    own = model.body(body)
    own.mass[:], own.ipos[:], own.inertia[:] = m, c, values
    mujoco.mju_mat2Quat(own.iquat, axes.reshape(-1))


def main(source, target):
    data = dict(np.load(source, allow_pickle=False))
    rivals = {
        "FIGAROH, exact reconstruction": lambda: figaroh(data, "solve_exact_reconstruction"),
        "FIGAROH, effort fit": lambda: figaroh(data, "solve_direct_effort_fit"),
        "mujoco.sysid": lambda: mujoco_sysid(data),
    }
    answers = {}
    for name, run in rivals.items():
        try:
            answers[name] = run()
        except ImportError as error:
            answers[name] = {"reason": f"not installed ({error})"}
        except Exception as error:  # noqa: BLE001 - a rival's own failure is a result
            answers[name] = {"reason": f"{type(error).__name__}: {error}"}
    Path(target).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
