"""Lenses chosen by evidence: which model is chosen for which lens, coverage of the intervals, and OpenCV beside it.

Centroids have Gaussian noise of 0.012 px; the sheet's dots are 0.1 mm beside their places and are estimated too.
"""

import sys
from collections import Counter
from dataclasses import replace
from time import process_time

import cv2
import numpy as np

from gough.core.rotations import exp
from gough.core.tables import table
from gough.core.threads import one_blas_thread
from gough.vision import Camera, CircleGrid, Sighting, calibrate_camera, design_target
from gough.vision.camera import expected
from gough.vision.lens_models import LENSES

SIZE, NOISE, STATED = (1024, 768), 0.012, 0.01
TARGET = design_target(0.2, 0.2)
FACING = np.diag([1.0, -1.0, -1.0])


def camera(*distortion, lens="brown"):
    return Camera(SIZE, [672.0, 671.0], [515.0, 380.0], distortion, lens=lens)


TRUTH = {
    "k1": camera(-0.12),
    "k2": camera(-0.25, 0.12),
    "tangential": camera(-0.12, 0.03, 1e-3, -5e-4),
    "k3": camera(-0.30, 0.15, 1e-3, -5e-4, -0.06),
    "fisheye": camera(-0.02, 0.01, 0.0, 0.0, lens="fisheye"),
    "rational": camera(0.35, 0.05, 5e-4, -5e-4, 0.01, 0.65, 0.15, 0.02),
    "prism": camera(-0.12, 0.03, 1e-3, -5e-4, 0.0, 0.0, 0.0, 0.0, 2e-3, -1e-3, -1.5e-3, 1e-3),
}


def views(rng, truth, target, n, share=0.7):
    """Sightings of a target that fills much of the image, tilted to all sides."""
    seen = []
    while len(seen) < n:
        R = exp(rng.normal(0, 0.35, 3)) @ FACING
        t = rng.uniform([-0.09, -0.06, 0.24], [0.09, 0.06, 0.45])
        pixels = expected(truth, target, R, t)
        inside = ((pixels > 8) & (pixels < np.array(SIZE) - 9)).all(axis=1)
        if inside.sum() < share * len(pixels):
            continue
        which = np.flatnonzero(inside)
        noisy = pixels[which] + rng.normal(0, NOISE, (len(which), 2))
        seen.append(Sighting(which, noisy, np.full(len(which), STATED)))
    return seen


def printed(rng):
    return replace(TARGET, points=TARGET.points + rng.normal(0, 1e-4, TARGET.points.shape) * [1, 1, 0.5])


def choice(seeds, n=16):
    """True lens × chosen lens, and coverage of 95 % intervals with the chosen lens and with the former default."""
    rows = []
    for name, truth in TRUTH.items():
        chosen, covered, found_bad = Counter(), {"chosen": [], "k1, k2, p1, p2": []}, Counter()
        for seed in range(seeds):
            rng = np.random.default_rng(1000 + seed)
            seen = views(rng, truth, printed(rng), n)
            free = calibrate_camera(seen, TARGET, SIZE)
            chosen[free.choice.used.name] += 1
            found_bad["chosen"] += free.choice.finding.name == "INADEQUATE"
            covered["chosen"].append(within(free.camera, truth))
            if seed < 20:
                old = calibrate_camera(seen, TARGET, SIZE, lens="tangential")
                covered["k1, k2, p1, p2"].append(within(old.camera, truth))
                found_bad["old"] += old.choice.finding.name == "INADEQUATE"
        counts = [str(chosen[lens] or "") for lens in LENSES]
        shares = [f"{100 * np.nanmean(np.concatenate(c)):.1f}" for c in covered.values()]
        rows.append([name, *counts, str(found_bad["chosen"]), *shares, f"{found_bad['old']} of {min(seeds, 20)}"])
        print(rows[-1], flush=True)
    heads = ["true lens", *LENSES, "called inadequate", "95 % covers", "tangential covers", "called inadequate"]
    print(table(heads, rows, "l" + "r" * (len(heads) - 1)))


def within(found, truth):
    """Whether 95 % intervals contain the true focal lengths, center and, of the same model, coefficients."""
    sigma = found.sigma
    n = min(len(found.parameters), len(truth.parameters)) if found.lens == truth.lens else 4
    if found.lens == truth.lens and len(truth.parameters) > len(found.parameters):
        n = 4  # other coefficients mean something else
    free = sigma[:n] > 0
    return (np.abs(found.parameters[:n] - truth.parameters[:n]) < 1.96 * sigma[:n])[free]


def coverage(seeds, n=12):
    """95 % coverage of focal length, center and distortion, with clean centroids and with one dot in twenty wrong."""
    rows = []
    for name, lens, share in (("tangential", None, 0.0), ("k3", "k3", 0.05)):
        truth, z = TRUTH[name], []
        n_free = 4 + len(LENSES[name].terms)
        for seed in range(seeds):
            rng = np.random.default_rng(5000 + seed)
            seen = [wrong(rng, s, share) if share else s for s in views(rng, truth, printed(rng), n)]
            found = calibrate_camera(seen, TARGET, SIZE, lens=lens).camera
            z.append(((found.parameters[:9] - truth.parameters) / np.maximum(found.sigma[:9], 1e-12))[:n_free])
        inside = (np.abs(z) < 1.96).mean(axis=0)
        parts = (inside[:2].mean(), inside[2:4].mean(), inside[4:].mean(), inside.mean())
        chosen = "chosen" if lens is None else f"--lens {lens}"
        rows.append([
            f"{name}, {chosen}, {100 * share:.0f} % of dots off by up to 2 px", str(seeds),
            *(f"{100 * v:.0f}" for v in parts), f"{np.sqrt(np.mean(np.square(z))):.2f}",
        ])  # fmt: skip
    print(table(["lens", "seeds", "focal", "center", "distortion", "all", "rms of z"], rows, "l" + "r" * 6))


def wrong(rng, seen, share):
    off = rng.random(len(seen)) < share
    return Sighting(seen.which, seen.pixels + off[:, None] * rng.uniform(-2, 2, (len(seen), 2)), seen.sigma)


def beside_opencv(repeats=5):
    """The same points, rigid, without the dots' size: OpenCV's minimum, accuracy and time."""
    grid = CircleGrid(9, 7, 0.025, 1e-6)
    flags = {
        "k1": cv2.CALIB_FIX_K2 | cv2.CALIB_FIX_K3 | cv2.CALIB_ZERO_TANGENT_DIST,
        "k2": cv2.CALIB_FIX_K3 | cv2.CALIB_ZERO_TANGENT_DIST,
        "tangential": cv2.CALIB_FIX_K3,
        "k3": 0,
        "fisheye": None,
    }
    rows = []
    for name, flag in flags.items():
        rng = np.random.default_rng(7)
        seen = views(rng, TRUTH[name], grid, 16, 1.0)  # OpenCV's fisheye.calibrate wants as many points in each
        objects = [grid.points[s.which].astype(np.float64).reshape(1, -1, 3) for s in seen]
        pixels = [s.pixels.reshape(1, -1, 2) for s in seen]
        K = np.array([[600.0, 0, 511.5], [0, 600.0, 383.5], [0, 0, 1]])
        times = {"ours": [], "all": [], "cv": []}
        for _ in range(repeats):
            start = process_time()
            if flag is None:
                fit = cv2.fisheye.calibrate(
                    objects, pixels, SIZE, K.copy(), np.zeros((4, 1)),
                    flags=cv2.CALIB_USE_INTRINSIC_GUESS | cv2.CALIB_RECOMPUTE_EXTRINSIC
                    | cv2.CALIB_FIX_SKEW,
                    criteria=(cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 100, 1e-12),
                )  # fmt: skip
            else:
                criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 100, 1e-12)
                single = [o.astype(np.float32) for o in objects], [p.astype(np.float32) for p in pixels]
                fit = cv2.calibrateCamera(*single, SIZE, K.copy(), np.zeros(5), flags=flag, criteria=criteria)
            times["cv"].append(process_time() - start)
            start = process_time()
            ours = calibrate_camera(seen, grid, SIZE, lens=name)
            times["all"].append(process_time() - start)
        theirs = np.array([fit[1][0, 0], fit[1][1, 1], fit[1][0, 2], fit[1][1, 2], *np.ravel(fit[2])])
        mine, sigma = ours.camera.parameters, ours.camera.sigma
        n = min(len(theirs), len(mine))
        apart = np.abs(mine[:n] - theirs[:n])[sigma[:n] > 0] / sigma[:n][sigma[:n] > 0]
        total = np.sqrt(sum((v.residuals**2).sum() for v in ours.views) / sum(len(v.residuals) for v in ours.views))
        known = TRUTH[name].parameters[:4]
        rows.append([
            name, f"{fit[0]:.6f}", f"{total:.6f}", f"{apart.max():.4f}",
            f"{np.abs(theirs[:4] - known).max():.3f}", f"{np.abs(mine[:4] - known).max():.3f}",
            f"{np.median(times['all']) / np.median(times['cv']):.1f}",
        ])  # fmt: skip
    heads = [
        "lens",
        "OpenCV rms px",
        "gough rms px",
        "difference / σ",
        "error OpenCV px",
        "error gough px",
        "time ratio",
    ]
    print(table(heads, rows, "l" + "r" * 6))


@one_blas_thread()
def main(seeds=20):
    cv2.setNumThreads(1)
    print("Lenses: chosen by the likelihood of held-out images\n")
    beside_opencv()
    choice(seeds)
    coverage(5 * seeds)


if __name__ == "__main__":
    sys.exit(main())
