"""codac: contractors of all rows to their fixpoint, then a paving of what is left."""

import codac as c
import numpy as np
from protocol import answer_task


def box(lower, upper):
    return c.IntervalVector([[float(a), float(b)] for a, b in zip(lower, upper)])


def ends(boxes, n):
    """The hull of boxes, as codac returned them."""
    boxes = [each for each in boxes if not each.is_empty()]
    if not boxes:
        return {"empty": True}
    lower = [min(each[i].lb() for each in boxes) for i in range(n)]
    upper = [max(each[i].ub() for each in boxes) for i in range(n)]
    return {"lower": lower, "upper": upper, "empty": False}


def leg(data, stated):
    """Rotations as interval matrices: exp(ω) R lies within (I + [ω]×) R and ± |ω|²/2, entry by entry."""
    within, around = stated["tolerance"], stated["around"]
    turn = within["rotation"]
    spread = turn * (1 - np.eye(3)) + 1.5 * turn**2

    def answer(k):
        x = c.VectorVar(7)
        parts = []
        for p, R, q in zip(data["position"][k], data["rotation"][k], data["readings"][k]):
            off = spread @ np.abs(R) * (1 + 1e-12)
            total = None
            for i in range(3):
                end = c.Interval(p[i] - within["position"], p[i] + within["position"]) - x[i]
                for j in range(3):
                    end = end + c.Interval(R[i, j] - off[i, j], R[i, j] + off[i, j]) * x[3 + j]
                total = c.sqr(end) if total is None else total + c.sqr(end)
            length = c.sqrt(total) - x[6]
            f = c.AnalyticFunction([x], length)
            parts.append(c.CtcInverse(f, c.Interval(q - within["reading"], q + within["reading"])))
        contractor = c.CtcFixpoint(c.CtcInter(*parts))
        start = box(data["nominal"] - around, data["nominal"] + around)
        paving = c.pave(start, contractor, 1.01 * around, stated["limit"])
        return ends(list(paving.boxes(c.PavingOut.outer)), 7)

    return "pave(x0, CtcFixpoint(CtcInter(CtcInverse of each pose)), eps=10.1 mm, time=60)", {}, answer


def bounded(data, stated):
    n = len(stated["unknowns"])

    def answer(k):
        W, y, e = data["W"][k], data["y"][k], stated["epsilon"]
        x = c.VectorVar(n)
        parts = []
        for row, value in zip(W, y):
            f = c.AnalyticFunction([x], sum((float(row[i]) * x[i] for i in range(1, n)), float(row[0]) * x[0]))
            parts.append(c.CtcInverse(f, c.Interval(float(value - e), float(value + e))))
        contractor = c.CtcFixpoint(c.CtcInter(*parts))
        start = box([-stated["prior"]] * n, [stated["prior"]] * n)
        paving = c.pave(start, contractor, 0.002, stated["limit"])
        return ends(list(paving.boxes(c.PavingOut.outer)), n)

    return "pave(x0, CtcFixpoint(CtcInter(CtcInverse of each row)), eps=0.002, time=60)", {}, answer


if __name__ == "__main__":
    answer_task({"bounded": bounded, "leg": leg}, ["codac", "numpy"])
