"""Coverage of the truth by 95 % intervals of legs over complete campaigns: camera, poses and robot, from centroids.

Each campaign calibrates a camera from views of a printed target with errors of its own, measures poses of the DeltaLab
platform with this camera and the target as found, and calibrates all 42 parameters. Centroids have the noise that
`benchmarks.vision` measures on rendered images, where the normalized error squared of poses is 6. With
`--rendered` all centroids are found in rendered images instead. Intervals are judged with and without the errors that
all poses share.
"""

import argparse
import itertools
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks._campaign import add_options, results_of
from gough.campaigns import Campaign
from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.core.tables import table
from gough.geometry import calibrate
from gough.robots import GoughPlatform
from gough.vision import (
    Camera,
    Conditions,
    ImageRefused,
    MeasuredImages,
    Sighting,
    calibrate_camera,
    design_target,
    find_target,
    render,
)
from gough.vision.camera import expected
from gough.vision.pose import pose_of

LENS = Camera((1024, 768), [672.0, 672.0], [511.5, 383.5], [-0.12, 0.03])
SHEET = design_target(0.2, 0.2)
FACING = np.diag([1.0, -1.0, -1.0])
NOISE = 0.01  # px
READING = 1e-5  # m
VIEWS, POSES = 16, 40
PRINTED = (1e-4, 0.0)  # standard deviation of printed dots, m
OFF = 0.05  # relative standard deviation of the exponent of a released response
COMPARED = 5  # every fifth campaign is calibrated in other ways too


def seen(lens, target, R, t, rng):
    pixels = expected(lens, target, R, t)
    return Sighting(np.arange(len(pixels)), pixels + rng.normal(0, NOISE, pixels.shape), np.full(len(pixels), NOISE))


def photographed(lens, target, R, t, rng, *, gamma=1.0, response=1.0):
    """As `seen`, but found in a rendered image with vignetting, blur, noise and a response; None where refused."""
    made = Conditions(vignetting=0.3, gradient=(0.2, -0.1), noise=rng.uniform(1.5, 3.0), gamma=gamma)
    with suppress(ImageRefused):
        return find_target(render(lens, target, R, t, made, rng).image, SHEET, response=response)
    return None


def campaign(rng, print_sigma, *, compared, seen=seen):
    """Truth, a calibration with common errors (others too, if these are compared), and how many images are refused."""
    printed = replace(SHEET, points=SHEET.points + without_similarity(SHEET.points, rng, print_sigma))
    sightings = []
    while len(sightings) < VIEWS:
        R, t = exp(rng.normal(0, 0.4, 3)) @ FACING, rng.uniform([-0.1, -0.08, 0.3], [0.1, 0.08, 0.5])
        pixels = LENS.project(R, t, printed.points)
        if (pixels > 10).all() and (pixels < np.array(LENS.size) - 10).all():
            view = seen(LENS, printed, R, t, rng)
            sightings += [] if view is None else [view]
    terms = ("k1", "k2", "p1", "p2")
    found = calibrate_camera(sightings, SHEET, LENS.size, estimated=terms, release=print_sigma > 0)
    robot = GoughPlatform.deltalab()
    truth = robot.nominal + rng.normal(0, 1e-3, 42)
    readings = rng.choice(np.array(list(itertools.product([0.0, 0.07, 0.14], repeat=6))), POSES, replace=False)
    there = robot.forward(truth, readings)
    above = np.array([0.0, 0.0, 1.0])
    measured = []
    for p, R in zip(there.position, there.rotation, strict=True):
        shown = seen(LENS, printed, FACING @ R, FACING @ p + above, rng)
        try:
            measured.append(None if shown is None else pose_of(shown, found.target, found.camera))
        except ImageRefused:
            measured.append(None)
    kept = [k for k, pose in enumerate(measured) if pose is not None]
    images = MeasuredImages(tuple(map(str, kept)), tuple(measured[k] for k in kept), ())
    poses = images.to_poses((readings + rng.normal(0, READING, readings.shape))[kept])
    rows = robot.rows(truth).copy()
    rows[:, :3] = rows[:, :3] @ FACING.T + above  # joints of the base, in the frame of the camera
    stated = replace(poses, reading_sigma=np.array(READING))
    answers = {"with common errors": calibrate(robot, stated, frames="instrument")}
    if compared:
        answers["with them, noise of readings estimated"] = calibrate(robot, poses, frames="instrument")
        answers["without"] = calibrate(robot, replace(stated, common=None), frames="instrument")
    return robot.parameters(rows), answers, POSES - len(kept)


def without_similarity(points, rng, sigma):
    """Errors of printed dots (n, 3) in the plane, without shift, turn and change of size."""
    errors = np.column_stack([rng.normal(0, sigma, (len(points), 2)), np.zeros(len(points))])
    flat = points - points.mean(axis=0)
    basis = [np.tile(axis, (len(points), 1)).ravel() for axis in np.eye(3)[:2]]
    basis += [np.cross([0, 0, 1], flat).ravel(), flat.ravel()]
    Q = np.linalg.qr(np.column_stack(basis))[0]
    return (errors.ravel() - Q @ (Q.T @ errors.ravel())).reshape(errors.shape)


def judged(print_sigma: float, k: int, gamma: float | None, off: float | None, rng: np.random.Generator) -> dict:
    """Share of the intervals that hold the truth, χ², and whether the calibration is refuted, for each way.

    With the exponent of a response, centroids are found in rendered images; if the relative standard deviation `off` of
    its estimate is given, too, in linear light.
    """
    response = 1.0 if off is None or gamma is None else gamma * float(np.exp(off * rng.normal()))
    look = seen if gamma is None else partial(photographed, gamma=gamma, response=response)
    try:
        truth, answers, refused = campaign(rng, print_sigma, compared=gamma is None and k % COMPARED == 0, seen=look)
    except InputError as error:
        return {"error": str(error)}
    found = {"refused": refused}
    for name, answer in answers.items():
        intervals = [answer.interval(each) for each in answer.model.names]
        hits = [i.lower <= v <= i.upper for i, v in zip(intervals, truth, strict=True)]
        chi = answer.estimate.stats.chi_squared
        found[name] = [float(np.mean(hits)), float(np.nan if chi is None else chi), bool(answer.refuted)]
    return found


def main(arguments=("--campaigns", "100")):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vision_coverage", description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rendered", action="store_true", help="Find centroids in rendered images.")
    parser.add_argument("--gamma", type=float, default=1.0, help="Exponent of the response of rendered images.")
    parser.add_argument("--released", action="store_true", help="Compute centroids in linear light.")
    add_options(parser, "vision-coverage.jsonl")
    given = parser.parse_args(list(arguments))
    printed = PRINTED[:1] if given.rendered else PRINTED
    gamma = given.gamma if given.rendered else None
    tasks = {
        f"{sigma:g} {k}": (sigma, k, gamma, OFF if given.released else None)
        for sigma in printed
        for k in range(given.campaigns)
    }
    results = results_of(Campaign(judged, tasks, seed=given.seed), given)
    for sigma in printed:
        inside, chi, refuted, without_pose = {}, {}, {}, 0
        for k in range(given.campaigns):
            for name, value in results[f"{sigma:g} {k}"].items():
                if name == "refused":
                    without_pose += value
                    continue
                if name == "error":
                    print(f"campaign {k}: {value}")
                    continue
                inside.setdefault(name, []).append(value[0])
                chi.setdefault(name, []).append(value[1])
                refuted[name] = refuted.get(name, 0) + value[2]
        print(_summary(sigma, inside, chi, refuted))
        print(f"{without_pose} of {POSES * given.campaigns} images give no pose and are left out")


def _summary(print_sigma, inside, chi, refuted):
    rows = []
    for name, values in inside.items():
        spread = np.std(values) / np.sqrt(len(values))
        rows.append([
            f"{1e6 * print_sigma:.0f} µm", name, str(len(values)),
            f"{100 * np.mean(values):.1f} ± {100 * spread:.1f}",
            f"{np.nanmean(chi[name]):.2f}" if np.isfinite(chi[name]).any() else "—", str(refuted[name]),
        ])  # fmt: skip
    return table(["dots printed to", "intervals", "campaigns", "% inside", "χ²/dof", "refuted"], rows, "llrrrr")


if __name__ == "__main__":
    main(sys.argv[1:])
