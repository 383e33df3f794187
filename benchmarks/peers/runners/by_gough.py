"""gough, as its documentation recommends; in this repository's environment."""

import tempfile
from pathlib import Path

import numpy as np
from protocol import answer_task

from gough import Bounded, Box, LinearProblem, Status, Unknowns, estimate
from gough.checker.leg_equations import LegMeasurements
from gough.closure import LegProblem, relaxed_tolerance, wrong_poses
from gough.core.rotations import to_quaternion
from gough.data import MeasuredMotion, Poses
from gough.dynamics import identify
from gough.geometry import calibrate
from gough.methods import LinearHull, outliers
from gough.methods.nonlinear.lifted import LiftedHull
from gough.robots import GoughPlatform
from gough.robots.mechanism import MechanismModel
from gough.robots.mechanism.imports import read_description

TERMS = {"s": "m", "r": "fc", "v": "fv"}


def standard_name(name):
    """The name of a parameter as tasks have it: sx_rod1 is mx_rod1, r_q1 is fc_q1."""
    term, of = name.split("_", 1)
    return f"{TERMS.get(term) or (term.replace('s', 'm') if term[0] == 's' else term)}_{of}"


def cause(verdict):
    """The first sentence of the verdict: whether the model is adequate, and the one cause that is held likely.

    What follows mentions other effects too, which would count as names.
    """
    return next(line for line in verdict.splitlines() if line.startswith("The model is")).split(". ")[0]


def arm(data, stated):
    return identified(stated["urdf"], ".urdf", data, stated, slice(None))


def loop(data, stated):
    return identified(stated["mjcf"], ".xml", data, stated, [stated["joints"].index(name) for name in stated["motors"]])


def identified(description, suffix, data, stated, motors):
    """A chain, open or closed, from its description, and the motion of its motors."""
    path = Path(tempfile.mkdtemp()) / f"robot{suffix}"
    path.write_text(description, encoding="utf-8")
    robot = MechanismModel(read_description(path).completed())
    names = ("coordinates", "coordinate_units", "actuators", "effort_units")
    names = {name: getattr(robot, name) for name in names}
    place = [stated["standard"].index(standard_name(name)) for name in robot.names]
    judges = bool(stated.get("verdicts"))
    options = {"methods": ["weighted"], "compare": judges}
    moved = [data[name][:, motors] for name in ("q", "dq", "ddq")]
    robot.regressor(*(each[:10] for each in moved))  # equations are compiled once for all times

    def answer(k):
        efforts = data["efforts"][k]
        kept = np.ones(efforts.shape, dtype=bool)
        answer = identify(robot, MeasuredMotion(stated["rate"], *moved, efforts, kept, **names), **options)
        chosen = answer.estimates["weighted"]
        box = chosen.intervals()
        combinations = np.zeros((len(chosen.value), len(place)))
        combinations[:, place] = [base.coefficients for base in answer.identifiability.base]
        numbers = {"value": chosen.value, "half": (box.upper - box.lower) / 2, "combinations": combinations}
        return {**numbers, "single": 0, "said": cause(str(answer.verdict)) if judges else ""}

    call = f'identify(robot, motion, methods=["weighted"], compare={judges})'
    return call, {}, answer


def hexapod(data, stated):
    legs, sigma = data["nominal"], stated["sigma"]
    robot = GoughPlatform(legs[:, :3], legs[:, 3:6], legs[:, 6])

    def answer(k):
        poses = Poses(data["position"][k], data["rotation"][k], data["readings"][k])
        found = calibrate(robot, poses.with_noise(sigma["position"], sigma["rotation"], sigma["reading"]))
        box = found.estimate.intervals()
        return {"value": found.parameters, "half": (box.upper - box.lower) / 2}

    return "calibrate(robot, poses.with_noise(σ, σ, σ))", {}, answer


def bounded(data, stated):
    unknowns = Unknowns(stated["unknowns"])

    def answer(k):
        problem = LinearProblem(data["W"][k], data["y"][k], unknowns, Bounded(stated["epsilon"]))
        found = estimate(problem, LinearHull(), strict=False)
        if found.status is Status.INCONSISTENT:
            named = outliers(problem)
            return {"empty": True, "named": [int(row) for row in named.proven], "said": str(named)}
        return {"lower": found.intervals().lower, "upper": found.intervals().upper, "empty": False}

    return "estimate(problem, LinearHull()); where that is inconsistent, outliers(problem)", {}, answer


def leg(data, stated):
    within = stated["tolerance"]

    def answer(k):
        poses = (to_quaternion(data["rotation"][k]), data["position"][k], data["readings"][k])
        measured = LegMeasurements(*poses, within["position"], within["rotation"], within["reading"])
        problem = LegProblem(measured, Box.around(data["nominal"], stated["around"]))
        found = LiftedHull().estimate(problem)
        if found.status is Status.INCONSISTENT:
            named = wrong_poses(problem, 1, relaxed_tolerance(problem, 1).left_out).named
            return {"empty": True, "named": [int(pose) for pose in named], "said": str(named)}
        return {"lower": found.region.lower, "upper": found.region.upper, "empty": False}

    return "LiftedHull().estimate(LegProblem(…)); where that is inconsistent, wrong_poses(problem, 1)", {}, answer


def camera(data, stated):
    from gough.vision import CharucoBoard, Sighting, calibrate_camera

    board = CharucoBoard(*stated["squares"], stated["side"], 0.7 * stated["side"])
    # our board has its corners in an order and a frame of its own
    corners = board.points - board.points.mean(axis=0)
    which = [int(np.argmin(np.linalg.norm(corners - point, axis=1))) for point in data["points"]]
    assert sorted(which) == list(range(len(which)))

    def answer(k):
        sigma = np.full(len(which), stated["sigma"])
        seen = [Sighting(np.array(which), pixels, sigma) for pixels in data["pixels"][k]]
        found = calibrate_camera(seen, board, tuple(stated["size"]), lens="tangential").camera
        return {"value": found.parameters[:8], "half": 1.96 * found.sigma[:8]}

    return 'calibrate_camera(sightings, board, size, lens="tangential"); ± = 1.96 · sigma', {}, answer


KINDS = {"arm": arm, "loop": loop, "hexapod": hexapod, "bounded": bounded, "leg": leg, "camera": camera}

if __name__ == "__main__":
    answer_task(KINDS, ["gough", "numpy", "scipy"])
