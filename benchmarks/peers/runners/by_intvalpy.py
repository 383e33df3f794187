"""intvalpy: the partition method PSS, its optimal outer estimate of rectangular systems, with its defaults."""

import intvalpy as ip
import numpy as np
from protocol import answer_task

CALL = "linear.PSS(A, b)"


def bounded(data, stated):
    ip.precision.extendedPrecisionQ = False

    def answer(k):
        W, y, e = data["W"][k], data["y"][k], stated["epsilon"]
        A, b = ip.Interval(W, W), ip.Interval(y - e, y + e)
        box = ip.linear.PSS(A, b)
        lower, upper = np.asarray(ip.inf(box), dtype=float), np.asarray(ip.sup(box), dtype=float)
        if np.isnan(lower).any() or (lower > upper).any():
            return {"empty": True}
        return {"lower": lower, "upper": upper, "empty": False}

    return CALL, {}, answer


if __name__ == "__main__":
    answer_task({"bounded": bounded}, ["intvalpy", "mpmath", "numpy"])
