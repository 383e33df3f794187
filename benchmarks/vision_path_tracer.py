"""Honesty of covariances on images of another renderer: a path tracer, with lamps and glossy paper.

    python -m benchmarks.vision_path_tracer /path/of/an/environment/with/mitsuba/bin/python --images 320

The path tracer runs in an environment of its own (`pip install mitsuba numpy`). Its images are linear light; exposure,
noise, response and quantization of the sensor are added here. `--variant llvm_ad_rgb` is four times as fast as the
default and needs LLVM 15 or later (DRJIT_LIBLLVM_PATH). Images are kept in a folder; another run measures them again.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from gough.campaigns import digest
from gough.core.rotations import exp, log
from gough.core.tables import table
from gough.core.threads import one_blas_thread
from gough.vision import Camera, ImageRefused, design_target, measure_pose

SIZE, FOCAL, SAMPLES = (480, 360), 465.0, 36
CAMERA = Camera(SIZE, [FOCAL, FOCAL], [(SIZE[0] - 1) / 2, (SIZE[1] - 1) / 2])
TARGET = design_target(0.2, 0.2)
LAMP = [0.5, -0.3, -0.1]
ROWS = {
    "even sky": {"sky": 1.0, "lamp": None, "gloss": None, "gamma": 1.0},
    "lamp from one side": {"sky": 0.0, "lamp": LAMP, "gloss": None, "gamma": 1.0},
    "lamp from one side, γ 2.2": {"sky": 0.0, "lamp": LAMP, "gloss": None, "gamma": 2.2},
    "lamp and glossy paper": {"sky": 0.0, "lamp": LAMP, "gloss": 0.3, "gamma": 1.0},
    "lamp and glossy paper, γ 2.2": {"sky": 0.0, "lamp": LAMP, "gloss": 0.3, "gamma": 2.2},
}
NOISE = 1.0
CHUNK = 40


def views(n, rng):
    """Random poses of a target that is completely in the image."""
    poses = []
    while len(poses) < n:
        R = exp(np.clip(rng.normal(0, 0.3, 3), -0.6, 0.6)) @ np.diag([1.0, -1.0, -1.0])
        t = rng.uniform([-0.04, -0.03, 0.34], [0.04, 0.03, 0.45])
        pixels = CAMERA.project(R, t, TARGET.points)
        if (pixels > 16).all() and (pixels < np.array(SIZE) - 17).all():
            poses.append((R, t))
    return poses


def rendered(python, variant, folder, poses, light):
    """Linear images (height, width) from the path tracer, one for each pose; those of an earlier run are used again."""
    fixed = {
        "size": SIZE, "focal": FOCAL, "samples": SAMPLES, "sheet": list(TARGET.size), "radius": TARGET.radius,
        "points": TARGET.points.tolist(), "gloss": light["gloss"], "sky": light["sky"], "lamp": light["lamp"],
    }  # fmt: skip
    scenes = [{**fixed, "rotation": R.tolist(), "position": t.tolist()} for R, t in poses]
    script = Path(__file__).parent / "path_tracer" / "render_scenes.py"
    for start in range(0, len(scenes), CHUNK):
        text = json.dumps({"variant": variant, "seed": start, "scenes": scenes[start : start + CHUNK]})
        file = folder / f"{digest(text)[:16]}.npz"
        if not file.exists():
            (folder / "scenes.json").write_text(text, encoding="utf-8")
            made = folder / "images.npz"
            cache = {**os.environ, "DRJIT_CACHE_DIR": str(folder)}
            subprocess.run([python, script, folder / "scenes.json", made], check=True, env=cache)
            made.rename(file)
        with np.load(file) as images:
            yield from (images[str(k)] for k in range(len(scenes[start : start + CHUNK])))


def exposed(linear, gamma, rng):
    """What a sensor of 8 bits makes of light: the brightest thousandth at 80 % of its range."""
    level = 205 * linear / np.quantile(linear, 0.999) + rng.normal(0, NOISE, linear.shape)
    return np.clip(np.rint(255 * (np.clip(level, 0, 255) / 255) ** (1 / gamma)), 0, 255).astype(np.uint8)


def squares_of(poses, images, light, exposures, rng):
    """For each measured image, error² over covariance (mean of its exposures); the errors (n, 6); refusals."""
    squares, errors, reasons = [], [], Counter()
    for (R, t), linear in zip(poses, images, strict=True):
        own = []
        for _ in range(exposures):
            try:
                pose = measure_pose(exposed(linear, light["gamma"], rng), TARGET, CAMERA)
            except ImageRefused as refused:
                reasons[str(refused)] += 1
                continue
            error = np.concatenate([pose.position - t, log(pose.rotation @ R.T)])
            errors.append(error)
            own.append(error @ np.linalg.solve(pose.covariance, error))
        if own:
            squares.append(np.mean(own))
    return np.array(squares), np.array(errors), reasons


@one_blas_thread()
def main(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.vision_path_tracer", description=__doc__.splitlines()[0]
    )
    parser.add_argument("python", help="interpreter of an environment with mitsuba")
    parser.add_argument("--images", type=int, default=16, help="of each kind of light")
    parser.add_argument("--exposures", type=int, default=2, help="of each image, with noise of their own")
    parser.add_argument("--variant", default="scalar_rgb", help="of mitsuba")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("path-tracer"), help="for the images")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(given.seed)
    poses, rows = views(given.images, rng), []
    for name, light in ROWS.items():
        images = rendered(given.python, given.variant, given.folder, poses, light)
        squares, errors, reasons = squares_of(poses, images, light, given.exposures, rng)
        spread = np.std(squares) / np.sqrt(max(len(squares), 1))
        rms = 1e6 * np.sqrt(np.mean(np.square(errors), axis=0)[:3]) if len(errors) else np.full(3, np.nan)
        rows.append([name, str(len(squares)), str(sum(reasons.values())), f"{np.mean(squares):.2f} ± {spread:.2f}",
                     " ".join(f"{v:.1f}" for v in rms)])  # fmt: skip
        print(
            table(["light", "images", "refused", "error² / cov (6)", "µm x y z"], rows, "lrrrr"),
            *reasons,
            sep="\n",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
