"""What the answers of a rival are worth: coverage, bias, held-out error, widths, mistakes named, time."""

import math
import re
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np

from benchmarks.peers.arm import MISTAKES
from benchmarks.peers.bounded import EPSILON
from benchmarks.peers.task import Task

Answer = dict[str, Any]


def score(task: Task, answers: list[Answer]) -> dict[str, Any]:
    """Figures of one rival in one task; answers that failed count, with their reasons."""
    given = [answer for answer in answers if "reason" not in answer]
    reasons = sorted({answer["reason"] for answer in answers if "reason" in answer})
    figures: dict[str, Any] = {"recordings": len(answers), "failed": len(answers) - len(given), "reasons": reasons}
    if given:
        figures["seconds"] = median(answer["seconds"] for answer in given)
        figures |= _SCORES[task.name if task.name == "arm-mistakes" else task.kind](task, given)
    elif task.truth.get("is_wrong") is not None and bool(task.truth["is_wrong"]):
        figures |= {"says_wrong": 0.0, "named": 0.0}
    return figures


def _intervals(errors: np.ndarray, halves: np.ndarray) -> dict[str, Any]:
    """Coverage of 95 % intervals, and bias: the mean error of each unknown over its standard deviation."""
    inside = np.abs(errors) <= halves
    n = inside.size
    figures = {"coverage": float(inside.mean()), "intervals": n, "least_coverage": float(inside.mean(axis=0).min())}
    if len(errors) > 1:
        spread = errors.std(axis=0, ddof=1)
        z = errors.mean(axis=0) / np.where(spread > 0, spread / math.sqrt(len(errors)), np.inf)
        figures["bias"] = float(np.sqrt(np.mean(z**2)))
    figures["rms_over_half"] = float(np.sqrt(np.mean(np.square(errors[halves > 0] / halves[halves > 0]))))
    return figures


def _arm(task: Task, answers: list[Answer]) -> dict[str, Any]:
    theta, held_out = task.truth["theta"], task.truth["W_held_out"].reshape(-1, len(task.truth["theta"]))
    scale = np.sqrt(np.mean((held_out @ theta) ** 2))
    bodies = len({name.split("_")[1] for name in task.stated["standard"] if name[0] in "mI"})
    errors, halves, off = [], [], []
    for answer in answers:
        if "standard" in answer:
            estimate = np.array(answer["standard"])
            own, half = np.array(answer["own"]), np.array(answer["own_half"])
            known = half >= 0
            errors.append((own - log_cholesky(theta, bodies))[known])
            halves.append(half[known])
        else:
            C, value = np.array(answer["combinations"]), np.array(answer["value"])
            errors.append(value - C @ theta)
            halves.append(np.array(answer["half"]))
            estimate = np.linalg.pinv(C) @ value
        off.append(np.sqrt(np.mean((held_out @ (estimate - theta)) ** 2)) / scale)
    figures = {"held_out": float(np.mean(off)), "undetermined_as_numbers": _undetermined(task, answers[0])}
    if len({len(error) for error in errors}) == 1 and len(errors[0]):
        figures |= _intervals(np.array(errors), np.array(halves))
    elif sum(map(len, errors)):
        inside = np.concatenate(errors), np.concatenate(halves)
        figures |= {"coverage": float((np.abs(inside[0]) <= inside[1]).mean()), "intervals": len(inside[0])}
    return figures


def _undetermined(task: Task, answer: Answer) -> int:
    """Parameters that no motion of this robot determines alone, but which have a number in the answer."""
    if not answer.get("single"):
        return 0
    W = task.truth["W"].reshape(-1, len(task.truth["theta"]))
    triangle = np.linalg.qr(W / np.maximum(np.linalg.norm(W, axis=0), 1e-300), mode="r")
    _, s, Vt = np.linalg.svd(triangle)
    free = Vt[int((s > 1e-8 * s[0]).sum()) :]
    return int((np.abs(free).max(axis=0) > 1e-6).sum())


def log_cholesky(theta: np.ndarray, bodies: int) -> np.ndarray:
    """Bodies in the parameters of mujoco.sysid: pseudo-inertia U Uᵀ with an upper triangle U, then friction."""
    found = []
    for k in range(bodies):
        m, hx, hy, hz, xx, xy, yy, xz, yz, zz = theta[10 * k : 10 * k + 10]
        inertia, h = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), np.array([hx, hy, hz])
        J = np.block([[np.trace(inertia) / 2 * np.eye(3) - inertia, h[:, None]], [h[None], np.array([[m]])]])
        U = np.linalg.cholesky(J[::-1, ::-1])[::-1, ::-1]
        alpha = math.log(U[3, 3])
        U = U / U[3, 3]
        found += [alpha, *np.log(np.diag(U)[:3]), U[0, 1], U[1, 2], U[0, 2], U[0, 3], U[1, 3], U[2, 3]]
    return np.array([*found, *theta[10 * bodies :]])


COMPLAINTS = ("not adequate", "not physically possible", "warning", "error", "inconsistent", "suspicious", "unreliable")
"""A line of an answer with one of these words says that something is wrong."""


def _complaints(answer: Answer) -> set[str]:
    """Lines that complain, without their numbers, by which they would differ from recording to recording."""
    lines = [line.strip().lower() for line in answer.get("said", "").splitlines()]
    return {re.sub(r"[\d.]+", "#", line) for line in lines if any(word in line for word in COMPLAINTS)}


def _mistakes(task: Task, answers: list[Answer]) -> dict[str, Any]:
    """Of recordings with a mistake, how many are called wrong, and how many complaints have a word for the mistake.

    Complaints that the library makes about the recording without a mistake do not count as findings; those of gough
    about that recording are its false alarms.
    """
    planted = task.truth["mistakes"]
    usual = set[str]().union(*(_complaints(a) for a in answers if planted[a["recording"]] == "none"))
    found: dict[str, list[str]] = {name: [] for name in MISTAKES}
    for answer in answers:
        name, lines = str(planted[answer["recording"]]), _complaints(answer) - usual
        says = any(word in line for word in MISTAKES[name] for line in lines)
        found[name].append("named" if says else "found" if lines else "silent")
    wrong = [each for name, results in found.items() if name != "none" for each in results]
    return {
        "says_wrong": float(np.mean([each != "silent" for each in wrong])) if wrong else 0.0,
        "named": float(np.mean([each == "named" for each in wrong])) if wrong else 0.0,
        "complaints_when_clean": len(usual),
        "by_mistake": {name: results for name, results in found.items() if name != "none"},
    }


def _statistical(task: Task, answers: list[Answer]) -> dict[str, Any]:
    theta = task.truth["theta"]
    errors = np.array([np.array(answer["value"]) - theta for answer in answers])
    return _intervals(errors, np.array([answer["half"] for answer in answers]))


def _sets(task: Task, answers: list[Answer]) -> dict[str, Any]:
    """Width over that of the reference, whether the truth is inside, or whether a contradiction was found and named."""
    if bool(task.truth["is_wrong"]):
        named = [answer.get("named") == [int(task.truth["row"])] for answer in answers]
        return {"says_wrong": float(np.mean([answer["empty"] for answer in answers])), "named": float(np.mean(named))}
    theta, widths, inside, lost = task.truth["theta"], [], [], 0
    for answer in answers:
        if answer["empty"]:
            inside.append(False)
            continue
        lower, upper = np.array(answer["lower"]), np.array(answer["upper"])
        inside.append(bool((lower <= theta).all() and (theta <= upper).all()))
        k = answer["recording"]
        if "hull" in task.truth:
            hull = task.truth["hull"][k]
            widths.append((upper - lower) / (hull[:, 1] - hull[:, 0]))
            points = extreme_points(task.data["W"][k], task.data["y"][k])
            lost += sum(not _holds(lower, upper, point) for point in points)
        else:
            widths.append((upper - lower) / (2 * task.stated["around"]))
    figures = {"inside": float(np.mean(inside)), "width": float(np.median(widths)) if widths else math.nan}
    if "hull" in task.truth:
        figures["possible_values_lost"] = lost
    return figures


def _holds(lower: np.ndarray, upper: np.ndarray, point: list[Fraction]) -> bool:
    return all(Fraction(a) <= x <= Fraction(b) for a, x, b in zip(lower.tolist(), point, upper.tolist(), strict=True))


def extreme_points(W: np.ndarray, y: np.ndarray) -> list[list[Fraction]]:
    """Vertices of the feasible set at which each unknown is least and largest, exact, and checked against all rows."""
    from scipy.optimize import linprog  # noqa: PLC0415 - slow to import

    A, b = np.concatenate([W, -W]), np.concatenate([y + EPSILON, EPSILON - y])
    rows = [[Fraction(x) for x in row] for row in A.tolist()]
    ends = [Fraction(x) for x in b.tolist()]
    points = []
    for axis in np.eye(W.shape[1]):
        for sign in (1, -1):
            solved = linprog(sign * axis, A, b, bounds=(None, None), method="highs")
            active = np.argsort(solved.ineqlin.residual)[: W.shape[1]].tolist()
            point = _solved([rows[k] for k in active], [ends[k] for k in active])
            values = [sum(a * x for a, x in zip(row, point, strict=True)) for row in rows]
            if all(value <= end for value, end in zip(values, ends, strict=True)):
                points.append(point)
    return points


def _solved(A: list[list[Fraction]], b: list[Fraction]) -> list[Fraction]:
    """A x = b by Gaussian elimination in rationals."""
    M = [[*row, end] for row, end in zip(A, b, strict=True)]
    n = len(M)
    for k in range(n):
        pivot = next(i for i in range(k, n) if M[i][k] != 0)
        M[k], M[pivot] = M[pivot], M[k]
        M[k] = [x / M[k][k] for x in M[k]]
        for i in range(n):
            if i != k:
                M[i] = [x - M[i][k] * z for x, z in zip(M[i], M[k], strict=True)]
    return [row[n] for row in M]


_SCORES = {
    "arm": _arm,
    "loop": _arm,
    "arm-mistakes": _mistakes,
    "hexapod": _statistical,
    "camera": _statistical,
    "bounded": _sets,
    "leg": _sets,
}
