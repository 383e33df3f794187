"""odrpack: explicit orthogonal distance regression of all legs, with the stated errors as weights."""

import numpy as np
import odrpack
from protocol import answer_task

CALL = 'odr_fit(f, x, y, beta0, weight_x=1/σ², weight_y=1/σ², task="explicit-ODR"); ± = 1.96 · sd_beta'


def hexapod(data, stated):
    sigma = stated["sigma"]
    of_pose = np.r_[np.full(3, sigma["position"]), np.full(3, sigma["rotation"])]
    weights = {"weight_x": 1 / of_pose**2, "weight_y": np.full(6, 1 / sigma["reading"] ** 2)}
    start = data["nominal"].ravel()

    def answer(k):
        R = data["rotation"][k]
        x = np.vstack([data["position"][k].T, np.zeros((3, len(R)))])

        def readings(x, beta):
            legs = beta.reshape(6, 7)
            turned = np.einsum("nij,lj->nli", R, legs[:, 3:6])
            w = x[3:].T[:, None]
            turned = turned + np.cross(w, turned) + np.cross(w, np.cross(w, turned)) / 2  # rotations of about 1e-4 rad
            return (np.linalg.norm(x[:3].T[:, None] + turned - legs[:, :3], axis=2) - legs[:, 6]).T

        found = odrpack.odr_fit(readings, x, data["readings"][k].T, start, **weights, task="explicit-ODR", maxit=200)
        return {"value": found.beta, "half": 1.96 * found.sd_beta, "said": str(found.stopreason)}

    return CALL, {}, answer


if __name__ == "__main__":
    answer_task({"hexapod": hexapod}, ["odrpack", "numpy"])
