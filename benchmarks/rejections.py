"""Reasons of rejected images: a confusion table of faults and the causes that are named, on random scenes.

Poses, noise, blur and light vary from image to image. The thresholds were chosen on other seeds.
"""

import sys
from collections import Counter

import cv2
import numpy as np

from gough.core.rotations import exp, log
from gough.core.tables import table
from gough.core.threads import one_blas_thread
from gough.vision import Camera, Conditions, ImageRefused, design_target, measure_pose, render

CAMERA = Camera((640, 480), [560.0, 560.0], [321.0, 238.0], [-0.15, 0.04])
TARGET, OTHERS = design_target(0.2, 0.2), [design_target(0.2, 0.2, seed=seed) for seed in range(1, 6)]
FACING = np.diag([1.0, -1.0, -1.0])
RIGHT = {
    "good": {"honest"},  # a pose within its covariance is right where a fault is mild
    "mirrored": {"mirrored"},
    "too dark": {"too dark", "honest"},
    "over-exposed": {"over-exposed"},
    "too far": {"too far", "blurred", "honest"},  # the message of a blurred one says "out of focus, or too far away"
    "another target": {"another target"},
    "partly outside": {"partly outside", "honest"},
    "out of focus": {"blurred", "honest"},
    "without target": {"absent"},
}


def scene(fault, rng):
    R = exp(rng.normal(0, 0.25, 3)) @ FACING
    t = rng.uniform([-0.02, -0.02, 0.36], [0.02, 0.02, 0.5])
    made = {"noise": rng.uniform(1, 4), "blur": rng.uniform(0.5, 1.1), "vignetting": rng.uniform(0, 0.4),
            "around": rng.choice([None, 60.0, 140.0])}  # fmt: skip
    target = TARGET
    if fault == "too dark":
        share = rng.uniform(0.02, 0.08)
        made |= {"white": 200 * share, "black": 25 * share, "around": None}
    elif fault == "over-exposed":
        made |= {"white": rng.uniform(500, 900), "black": rng.uniform(100, 250)}
    elif fault == "too far":
        t = t * rng.uniform(3, 6)
    elif fault == "another target":
        target = OTHERS[rng.integers(len(OTHERS))]
    elif fault == "partly outside":
        way = rng.choice([[1, 0], [-1, 0], [0, 1], [0, -1]])
        t[:2] = way * t[2] * np.array(CAMERA.size) / 2 / 560 * rng.uniform(0.95, 1.05)
    elif fault == "out of focus":
        made["blur"] = rng.uniform(4.5, 7)
    image = empty(rng) if fault == "without target" else render(CAMERA, target, R, t, Conditions(**made), rng).image
    return (np.ascontiguousarray(image[:, ::-1]) if fault == "mirrored" else image), R, t


def empty(rng):
    """A room without target: rectangles, lines and a few discs."""
    image = np.full(CAMERA.size[::-1], rng.uniform(60, 140), np.float32)
    for _ in range(rng.integers(4, 20)):
        a, b = rng.uniform([0, 0], CAMERA.size, (2, 2)).astype(int)
        level = rng.uniform(10, 240)
        if rng.random() < 0.6:
            cv2.rectangle(image, tuple(map(int, a)), tuple(map(int, b)), level, -1)
        else:
            cv2.circle(image, tuple(map(int, a)), int(rng.uniform(3, 40)), level, -1)
    image = cv2.GaussianBlur(image, (0, 0), 0.8) + rng.normal(0, 2, image.shape)
    return np.clip(image, 0, 255).astype(np.uint8)


def outcome(image, R, t):
    """The cause that is named; "honest" for a pose within its covariance, as a dark or cut target may still give."""
    try:
        pose = measure_pose(image, TARGET, CAMERA)
    except ImageRefused as refused:
        return refused.cause or str(refused)[:40]
    error = np.concatenate([pose.position - t, log(pose.rotation @ R.T)])
    return "honest" if error @ np.linalg.solve(pose.covariance, error) < 27 else "wrong"  # χ² of 6 at 10⁻⁴


@one_blas_thread()
def main(count=50, seed=6000):
    rows, right, total = [], 0, 0
    for fault, causes in RIGHT.items():
        rng = np.random.default_rng([int(seed), len(rows)])
        named = Counter(outcome(*scene(fault, rng)) for _ in range(int(count)))
        hits = sum(n for cause, n in named.items() if cause in causes)
        if fault != "good":
            right, total = right + hits, total + int(count)
        rows.append([fault, str(count), str(hits), ", ".join(f"{cause} {n}" for cause, n in named.most_common())])
        print(rows[-1], flush=True)
    print(table(["images", "number", "right", "named"], rows, "lrrl"))
    print(f"\nright cause: {right} of {total} = {100 * right / total:.1f} %")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
