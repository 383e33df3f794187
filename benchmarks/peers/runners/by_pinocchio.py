"""Pinocchio: its regressor, and least squares of NumPy with the textbook covariance; it has no estimator of its own."""

import numpy as np
import pinocchio as pin
from protocol import answer_task

CALL = "computeJointTorqueRegressor, numpy.linalg.lstsq, σ² (WᵀW)⁺; ± = 1.96 σ"


def arm(data, stated):
    model = pin.buildModelFromXML(stated["urdf"])
    state, each = model.createData(), np.eye(model.nv)

    def answer(k):
        rigid = np.array(
            [pin.computeJointTorqueRegressor(model, state, *row) for row in zip(data["q"], data["dq"], data["ddq"])]
        )
        friction = [data["dq"][:, :, None] * each, np.sign(data["dq"])[:, :, None] * each]
        W = np.concatenate([rigid, *friction], axis=2).reshape(-1, len(stated["standard"]))
        y = data["efforts"][k].ravel()
        theta, _, rank, _ = np.linalg.lstsq(W, y, rcond=1e-9)
        _, s, Vt = np.linalg.svd(W, full_matrices=False)
        variance = np.sum((y - W @ theta) ** 2) / (len(y) - rank)
        half = 1.96 * np.sqrt(variance) / s[:rank]
        # what it determines are combinations along the singular vectors; it prints a number for each parameter
        return {"value": Vt[:rank] @ theta, "half": half, "combinations": Vt[:rank], "single": len(theta)}

    return CALL, {}, answer


if __name__ == "__main__":
    answer_task({"arm": arm}, ["pin", "numpy"])
