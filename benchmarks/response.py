"""The response of a camera from the edges of dots: estimates under several point-spread functions, and what a release
gains.

    python -m benchmarks.response 21

The first table: exponents estimated from eight images each, with blur that the estimator does not assume. Images are
rendered sharply, convolved in linear light by a kernel, and then get noise, response and quantization. The second:
error² over covariance of poses from images with γ 2.2, as they are and in linear light with the exponent off by a
normal error of 5 %.
"""

import sys
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import cv2
import numpy as np

from benchmarks.vision import CAMERA, FACING, TARGET, configurations
from gough.core.rotations import exp, log
from gough.core.tables import table
from gough.core.threads import one_blas_thread
from gough.vision import Conditions, ImageRefused, find_target, measure_pose, render
from gough.vision.response import Shot, estimate_response

IMAGES, RUNS, NOISE, OFF = 8, 2, 2.0, 0.05
_FINE, _HALF = 5, 12


def _disc(u, v, radius):
    return (u * u + v * v < radius**2).astype(float)


def _gauss(u, v, s):
    return np.exp(-(u * u + v * v) / (2 * s * s)) / s**2


SHAPES = {
    "Gaussian, 0.7 px": lambda u, v: _gauss(u, v, 0.63),
    "Gaussian, 1.5 px": lambda u, v: _gauss(u, v, 1.47),
    "defocus, disc of 1.5 px radius": lambda u, v: _disc(u, v, 1.5),
    "defocus, disc of 3 px radius": lambda u, v: _disc(u, v, 3.0),
    "coma to one side": lambda u, v: sum(_disc(u - 1.2 * s, v, 0.3 + s) for s in np.linspace(0, 1, 12)),
    "core with a halo of 8 %": lambda u, v: _gauss(u, v, 0.5) + 0.08 * _gauss(u, v, 2.5),
    "long tails, r⁻³": lambda u, v: (1 + (u * u + v * v) / 0.25) ** -1.5,
    "sharpened by the camera": lambda u, v: _gauss(u, v, 0.6) - 0.35 * _gauss(u, v, 1.3),
    "motion by 3 px": lambda u, v: ((abs(u) < 1.5) & (abs(v) < 0.3)).astype(float),
}


def kernel(shape):
    n = 2 * _HALF + 1
    steps = (np.arange(n * _FINE) + 0.5) / _FINE - n / 2
    fine = np.asarray(shape(steps[None, :], steps[:, None]))
    cells = fine.reshape(n, _FINE, n, _FINE).sum(axis=(1, 3))
    return cells / cells.sum()


def power(gamma):
    return lambda x: x ** (1 / gamma)


def srgb(x):
    return np.where(x < 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)


def shot(shape, response, spread, rng):
    """An image of a target whose dots are larger than described by `spread`, m."""
    while True:
        R, t = exp(rng.normal(0, 0.35, 3)) @ FACING, rng.uniform([-0.05, -0.04, 0.32], [0.05, 0.04, 0.45])
        pixels = CAMERA.project(R, t, TARGET.points)
        if (pixels > 30).all() and (pixels < np.array(CAMERA.size) - 30).all():
            with suppress(ImageRefused):  # tilted too far: another view
                return _shot(shape, response, spread, R, t, rng)


def _shot(shape, response, spread, R, t, rng):  # noqa: PLR0917 - a pose is two arguments
    made = Conditions(blur=0.3, noise=0.0, vignetting=0.3, gradient=(0.2, -0.1))
    inked = replace(TARGET, radius=TARGET.radius + spread)
    sharp = render(CAMERA, inked, R, t, made).image.astype(float)
    light = cv2.filter2D(sharp, -1, np.ascontiguousarray(kernel(shape)[::-1, ::-1]))
    light += rng.normal(0, NOISE, light.shape)
    image = np.clip(np.rint(255 * response(np.clip(light, 0, 255) / 255)), 0, 255).astype(np.uint8)
    return Shot(image, find_target(image, TARGET), R, t)


def estimates(seed):
    rng, rows = np.random.default_rng(seed), []
    cases = [(name, shape, f"γ {gamma}", power(gamma), 0.0) for name, shape in SHAPES.items() for gamma in (1.0, 2.2)]
    first = SHAPES["Gaussian, 0.7 px"]
    cases += [("Gaussian, 0.7 px", first, "γ 1.4", power(1.4), 0.0), ("Gaussian, 0.7 px", first, "sRGB", srgb, 0.0)]
    cases += [(f"Gaussian, 0.7 px; dots {1e6 * d:+.0f} µm", first, "γ 1.0", power(1.0), d) for d in (1e-4, -1e-4)]
    for name, shape, truth, response, spread in cases:
        found = [
            estimate_response([shot(shape, response, spread, rng) for _ in range(IMAGES)], TARGET, CAMERA)
            for _ in range(RUNS)
        ]
        values = [each.gamma for each in found]
        verdicts = Counter(each.finding.name.lower() for each in found)
        rows.append([
            name, truth, f"{np.mean(values):.3f}", f"{min(values):.3f} … {max(values):.3f}",
            f"{np.mean([each.gamma * each.sigma for each in found]):.3f}",
            ", ".join(f"{k} {v}" for k, v in verdicts.items()),
        ])  # fmt: skip
        print(rows[-1], flush=True)
    print(table(["point-spread function", "response", "mean", "range", "± stated", "verdicts"], rows, "llrrrl"))


def gains(seed, repeats=4):
    rows = []
    lights = {
        "γ 2.2": Conditions(gamma=2.2),
        "γ 2.2, light uneven by 60 %": Conditions(gamma=2.2, vignetting=0.4, gradient=(0.4, 0.2)),
    }
    for name, made in lights.items():
        rng = np.random.default_rng(seed + 1)
        errors, squares = {}, {}
        for R, t in configurations() * repeats:
            image = render(CAMERA, TARGET, R, t, made, rng).image
            known = replace(CAMERA, response=2.2 * float(np.exp(OFF * rng.normal())))
            for way, camera in (("as it is", CAMERA), ("released", known)):
                pose = measure_pose(image, TARGET, camera)
                error = np.concatenate([pose.position - t, log(pose.rotation @ R.T)])
                errors.setdefault(way, []).append(error)
                squares.setdefault(way, []).append(error @ np.linalg.solve(pose.covariance, error))
        for way, own in squares.items():
            rms = 1e6 * np.sqrt(np.mean(np.square(errors[way]), axis=0)[:3])
            rows.append([
                name, way, str(len(own)), f"{np.mean(own):.2f} ± {np.std(own) / np.sqrt(len(own)):.2f}",
                " ".join(f"{v:.1f}" for v in rms),
            ])  # fmt: skip
    print(table(["light", "response", "images", "error² / cov (6)", "µm x y z"], rows, "llrrr"))


@one_blas_thread()
def main(seed=1):
    print("Response of a camera from the edges of dots\n")
    estimates(int(seed))
    gains(int(seed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
