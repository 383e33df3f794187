"""Honesty of covariances on images of another renderer: a path tracer, with lamps and glossy paper.

    python -m benchmarks.vision_path_tracer /path/of/an/environment/with/mitsuba/bin/python

The path tracer runs in an environment of its own (`pip install mitsuba numpy`). Its images are linear light; exposure,
noise, response and quantization of the sensor are added here.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gough.core.rotations import exp, log
from gough.core.tables import table
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


def rendered(python, poses, light):
    """Linear images (n, height, width) from the path tracer."""
    fixed = {
        "size": SIZE, "focal": FOCAL, "samples": SAMPLES, "sheet": list(TARGET.size), "radius": TARGET.radius,
        "points": TARGET.points.tolist(), "gloss": light["gloss"], "sky": light["sky"], "lamp": light["lamp"],
    }  # fmt: skip
    scenes = [{**fixed, "rotation": R.tolist(), "position": t.tolist()} for R, t in poses]
    script = Path(__file__).parent / "path_tracer" / "render_scenes.py"
    with TemporaryDirectory() as folder:
        Path(folder, "scenes.json").write_text(json.dumps(scenes), encoding="utf-8")
        subprocess.run(
            [python, script, f"{folder}/scenes.json", f"{folder}/images.npz"],
            check=True,
            env={"DRJIT_CACHE_DIR": folder},
        )
        with np.load(f"{folder}/images.npz") as images:
            return [images[str(k)] for k in range(len(scenes))]


def exposed(linear, gamma, rng):
    """What a sensor of 8 bits makes of light: the brightest thousandth at 80 % of its range."""
    level = 205 * linear / np.quantile(linear, 0.999) + rng.normal(0, NOISE, linear.shape)
    return np.clip(np.rint(255 * (np.clip(level, 0, 255) / 255) ** (1 / gamma)), 0, 255).astype(np.uint8)


def main(python, count="16"):
    rng = np.random.default_rng(3)
    poses, cache, rows = views(int(count), rng), {}, []
    for name, light in ROWS.items():
        key = json.dumps({k: v for k, v in light.items() if k != "gamma"})
        if key not in cache:
            cache[key] = rendered(python, poses, light)
        squares, errors, reasons = [], [], Counter()
        for (R, t), linear in zip(poses, cache[key], strict=True):
            for _ in range(2):
                try:
                    pose = measure_pose(exposed(linear, light["gamma"], rng), TARGET, CAMERA)
                except ImageRefused as refused:
                    reasons[str(refused)] += 1
                    continue
                error = np.concatenate([pose.position - t, log(pose.rotation @ R.T)])
                errors.append(error)
                squares.append(error @ np.linalg.solve(pose.covariance, error))
        spread = np.std(squares) / np.sqrt(max(len(squares) / 2, 1))
        rms = 1e6 * np.sqrt(np.mean(np.square(errors), axis=0)[:3]) if errors else np.full(3, np.nan)
        rows.append([name, str(len(squares)), str(sum(reasons.values())), f"{np.mean(squares):.2f} ± {spread:.2f}",
                     " ".join(f"{v:.1f}" for v in rms)])  # fmt: skip
        print(
            table(["light", "measured", "refused", "error² / cov (6)", "µm x y z"], rows, "lrrrr"),
            *reasons,
            sep="\n",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
