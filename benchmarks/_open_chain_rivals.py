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

sys.path.insert(0, str(Path(__file__).parent / "peers" / "runners"))

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

    if not hasattr(sysid, "optimize"):
        return {"reason": "mujoco is installed without its extra sysid"}
    from mujoco_bodies import (  # noqa: PLC0415
        body_parameters,
        residual_of,
        set_bodies,
        standard_parameters,
        tree_efforts,
    )

    bodies = data["bodies"].tolist()
    spec = mujoco.MjSpec.from_string(str(data["mjcf"]))
    spec.compile()
    spec = mujoco.MjSpec.from_string(spec.to_xml())  # with principal moments, which it starts from
    model = spec.compile()
    order = [model.joint(f"q{k + 1}").dofadr[0] for k in range(len(bodies))]
    tau, state = data["tau"].reshape(-1, len(bodies)), mujoco.MjData(model)
    motion = [np.empty(data["q"].shape) for _ in range(3)]
    for values, name in zip(motion, ("q", "qd", "qdd"), strict=True):
        values[:, order] = data[name]

    def off(known):
        set_bodies(model, state, bodies, known)
        return tree_efforts(model, state, *motion)[:, order] - tau

    start = time.process_time()
    parameters = body_parameters(spec, model, bodies)
    fitted, _ = sysid.optimize(parameters, residual_of(off), optimizer="mujoco", verbose=False, max_iters=100)
    taken = time.process_time() - start
    ten = [np.array(standard_parameters(fitted, body))[[0, 1, 2, 3, 4, 6, 9, 5, 7, 8]] for body in bodies]
    return {"theta": np.concatenate(ten).tolist(), "seconds": taken}


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
