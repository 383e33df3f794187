"""Pinocchio: its regressor, and least squares of NumPy with the textbook covariance; it has no estimator of its own.

For a closed chain the regressor of the tree is taken along the freedoms that the Jacobians of the two ends leave.
"""

import numpy as np
import pinocchio as pin
from protocol import answer_task

CALL = "computeJointTorqueRegressor, numpy.linalg.lstsq, σ² (WᵀW)⁺; ± = 1.96 σ"


def arm(data, stated):
    model = pin.buildModelFromXML(stated["urdf"])
    state = model.createData()

    def regressor():
        rows = zip(data["q"], data["dq"], data["ddq"])
        rigid = np.array([pin.computeJointTorqueRegressor(model, state, *row) for row in rows])
        return with_friction(rigid, data["dq"])

    return CALL, {}, answers(regressor, data["efforts"])


def loop(data, stated):
    model = pin.buildModelFromXML(stated["urdf"])
    model.gravity.linear = np.array(stated["gravity"])
    state = model.createData()
    ids = [model.getJointId(name) for name in stated["joints"]]
    place = [model.idx_vs[number] for number in ids]
    columns = [10 * (number - 1) + term for number in ids for term in range(10)]
    motors = [stated["joints"].index(name) for name in stated["motors"]]
    passive = [k for k in range(len(ids)) if k not in motors]
    ends = [model.getFrameId(name) for name in ("tip1", "tip2")]

    def row(q, dq, ddq):
        tree = [np.empty(model.nv) for _ in range(3)]
        for values, given in zip(tree, (q, dq, ddq)):
            values[place] = given
        angles = np.stack([np.cos(tree[0]), np.sin(tree[0])], axis=1).ravel()  # its continuous joints
        W = pin.computeJointTorqueRegressor(model, state, angles, tree[1], tree[2])[place][:, columns]
        pin.computeJointJacobians(model, state, angles)
        pin.updateFramePlacements(model, state)
        one, two = (pin.getFrameJacobian(model, state, end, pin.LOCAL_WORLD_ALIGNED)[:3, place] for end in ends)
        J = one - two
        G = np.zeros((len(ids), len(motors)))
        G[motors] = np.eye(len(motors))
        G[passive] = -np.linalg.pinv(J[:, passive], rcond=1e-9) @ J[:, motors]
        return G.T @ W

    def regressor():
        rigid = np.array([row(*each) for each in zip(data["q"], data["dq"], data["ddq"])])
        return with_friction(rigid, data["dq"][:, motors])

    return f"{CALL}; the loop by getFrameJacobian of both ends", {}, answers(regressor, data["efforts"])


def with_friction(rigid, speeds):
    each = np.eye(speeds.shape[1])
    friction = [speeds[:, :, None] * each, np.sign(speeds)[:, :, None] * each]
    return np.concatenate([rigid, *friction], axis=2)


def answers(regressor, efforts):
    """Least squares of each recording; the regressor is computed for each, as for a single one."""

    def answer(k):
        W = regressor()
        W, y = W.reshape(-1, W.shape[2]), efforts[k].ravel()
        theta, _, rank, _ = np.linalg.lstsq(W, y, rcond=1e-9)
        _, s, Vt = np.linalg.svd(W, full_matrices=False)
        variance = np.sum((y - W @ theta) ** 2) / (len(y) - rank)
        half = 1.96 * np.sqrt(variance) / s[:rank]
        # what it determines are combinations along the singular vectors; it prints a number for each parameter
        return {"value": Vt[:rank] @ theta, "half": half, "combinations": Vt[:rank], "single": len(theta)}

    return answer


if __name__ == "__main__":
    answer_task({"arm": arm, "loop": loop}, ["pin", "numpy"])
