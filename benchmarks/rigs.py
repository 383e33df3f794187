"""Rigs of cameras: coverage of fused poses, mistakes found, and bundle adjustment against scipy and OpenCV.

Centroids have the noise of rendered images (`benchmarks.vision`); cameras and dots have errors of the size that a
calibration leaves, drawn from the covariance that is stated.
"""

import sys
import time
from dataclasses import replace
from typing import NamedTuple

import cv2
import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import lil_matrix

from gough.core.rigid import RigidMotion
from gough.core.rotations import exp, log
from gough.core.tables import table
from gough.core.threads import one_blas_thread
from gough.vision import Camera, Rig, RigCamera, RigTarget, Sightings, design_target, fit_rig, simulate_sightings
from gough.vision.rig_adjustment import adjust_rig
from gough.vision.rig_start import first_places
from gough.vision.rig_tests import retaken

FACING = np.diag([1.0, -1.0, -1.0])
SHEET, FLOOR = design_target(0.2, 0.2), design_target(0.16, 0.2)
SIGMA = np.array([0.1, 0.1, 0.1, 0.1, 2e-4, 5e-4, 1e-5, 1e-5, 0.0])
DOTS, NOISE, SHIFT = 2e-6, 0.01, 0.5e-3
LENSES = (
    Camera((1024, 768), [672.0, 672.0], [511.5, 383.5], [-0.12, 0.03]),
    Camera((1024, 768), [690.0, 690.0], [505.0, 380.0], [-0.10, 0.02]),
    Camera((1024, 768), [655.0, 655.0], [515.0, 390.0], [-0.11, 0.03]),
)
PLACES = (
    RigidMotion(np.eye(3), np.zeros(3)),
    RigidMotion(exp([0.0, -0.6, 0.05]), np.array([0.5, 0.0, 0.15])),
    RigidMotion(exp([0.0, 0.5, -0.03]), np.array([-0.4, 0.02, 0.1])),
)
NAMES = ("left", "right", "third")


def rig(cameras=2, *, floor=False):
    """The true rig; with `floor` a target at the base is the world."""
    turn = RigidMotion(exp([0.25, 0.25, 0.0]) @ FACING, np.array([0.1, 0.16, 1.0])) if floor else None
    worlds = [X if turn is None else X @ turn for X in PLACES[:cameras]]
    parts = zip(NAMES, LENSES, worlds, strict=False)
    targets = (RigTarget("plate", SHEET),)
    if floor:
        targets += (RigTarget("floor", FLOOR, is_fixed=True),)
    return Rig(tuple(RigCamera(name, lens, world=X) for name, lens, X in parts), targets)


def calibrated(truth, rng):
    """The rig as known before: lenses and dots with errors, places unknown."""
    C = np.diag(SIGMA**2)
    C[0, 1] = C[1, 0] = 0.9 * C[0, 0]
    root = np.linalg.cholesky(C[:8, :8])
    cameras = []
    for each in truth.cameras:
        p = each.camera.parameters.copy()
        p[:8] += root @ rng.normal(size=8)
        lens = replace(each.camera, focal=p[:2], center=p[2:4], distortion=p[4:], covariance=C)
        cameras.append(RigCamera(each.name, lens, each.is_moving))
    targets = []
    for each in truth.targets:
        off = np.column_stack([rng.normal(0, DOTS, (len(each.target.points), 2)), np.zeros(len(each.target.points))])
        sheet = replace(each.target, points=each.target.points + off)
        targets.append(replace(each, target=sheet, dots_sigma=DOTS))
    return Rig(tuple(cameras), tuple(targets))


def motion(truth, frames, rng):
    """Poses of the platform in the world."""
    back = truth.cameras[0].world.inverse()
    return [
        back @ RigidMotion(exp(rng.normal(0, 0.2, 3)) @ FACING, rng.uniform([-0.05, -0.05, 0.72], [0.05, 0.02, 0.82]))
        for _ in range(frames)
    ]


class Scene(NamedTuple):
    """A rig, what is known of it, and what its cameras see."""

    truth: Rig
    known: Rig
    poses: list
    sightings: Sightings
    rng: np.random.Generator


def campaign(seed, frames=12, cameras=2, *, floor=False):
    rng = np.random.default_rng(seed)
    truth = rig(cameras, floor=floor)
    known, poses = calibrated(truth, rng), motion(truth, frames, rng)
    return Scene(truth, known, poses, simulate_sightings(truth, poses, NOISE, rng, known=known), rng)


def errors(fused, poses):
    """Errors (N, 6) of fused poses."""
    true = [poses[int(name[1:])] for name in fused.names]
    parts = zip(fused.position, fused.rotation, true, strict=True)
    return np.array([np.concatenate([p - G.t, log(R @ G.R.T)]) for p, R, G in parts])


# -- coverage ---------------------------------------------------------------------------------------------------------


def coverage(campaigns, seeds_from=0, frames=12):
    rows = []
    for cameras, floor in ((2, False), (3, False), (2, True)):
        hits, hits_after, square, ratio = [], [], [], []
        for seed in range(seeds_from, seeds_from + campaigns):
            truth, known, poses, sightings, rng = campaign(seed, frames, cameras, floor=floor)
            first = fit_rig(known, sightings)
            hits += covered(first, errors(first, poses))
            square.append(
                np.mean(
                    [
                        e @ np.linalg.solve(C, e)
                        for e, C in zip(errors(first, poses), first.budget()["total"], strict=True)
                    ]
                )
            )
            later = motion(truth, frames, rng)  # a later run with the rig as found
            again = fit_rig(first.rig, simulate_sightings(truth, later, NOISE, rng, known=first.rig))
            hits_after += covered(again, errors(again, later))
            alone = [each.pose.sigma[2] for each in sightings.seen if each.camera == 0 and each.target == 0]
            ratio.append(np.median(np.sqrt(first.own[:, 2, 2])) / np.median(alone))
        rows.append([
            f"{cameras}{' and a base target' if floor else ''}", str(campaigns),
            f"{100 * np.mean(hits):.1f}", f"{100 * np.mean(hits_after):.1f}",
            f"{np.mean(square):.2f} ± {np.std(square) / np.sqrt(campaigns):.2f}",
            f"{np.mean(ratio):.2f}",
        ])  # fmt: skip
        heads = ["cameras", "campaigns", "% in 95 % regions", "later run", "error² / covariance", "σz / one camera's"]
        print(table(heads, rows, "lrrrrr"), flush=True)


def covered(fused, off):
    return [e @ np.linalg.solve(C, e) < 12.5916 for e, C in zip(off, fused.budget()["total"], strict=True)]


# -- mistakes ---------------------------------------------------------------------------------------------------------


def moved_camera(scene):
    """The second camera is knocked before the frame in the middle."""
    truth, known, poses, sightings, rng = scene.truth, scene.known, scene.poses, scene.sightings, scene.rng
    middle = len(poses) // 2
    step = np.concatenate([rng.normal(size=3) * SHIFT / np.sqrt(3), rng.normal(size=3) * SHIFT / 2])
    knocked = list(truth.cameras)
    knocked[1] = replace(knocked[1], world=knocked[1].world.stepped(step))
    after = simulate_sightings(Rig(tuple(knocked), truth.targets), poses, NOISE, rng, known=known)
    seen = [s for s in sightings.seen if s.frame < middle or s.camera != 1]
    seen += [s for s in after.seen if s.frame >= middle and s.camera == 1]
    return replace(sightings, seen=tuple(seen)), ("camera right moved", f"before frame c{middle:03d}")


def exchanged_all(scene):
    known, sightings = scene.known, scene.sightings
    seen = [retaken(known, s, {0: 1, 1: 0}.get(s.camera, s.camera)) for s in sightings.seen]
    return replace(sightings, seen=tuple(seen)), ("are exchanged in all frames",)


def exchanged_once(scene):
    known, sightings = scene.known, scene.sightings
    seen = [retaken(known, s, {0: 1, 1: 0}.get(s.camera, s.camera)) if s.frame == 3 else s for s in sightings.seen]
    return replace(sightings, seen=tuple(seen)), ("c003", "left and right are exchanged")


def late_once(scene):
    """The platform moved by 0.3 mm between the images of one frame."""
    truth, known, poses, sightings, rng = scene.truth, scene.known, scene.poses, scene.sightings, scene.rng
    step = np.concatenate([rng.normal(size=3), np.zeros(3)])
    other = poses[4].stepped(3e-4 * step / np.linalg.norm(step))
    after = simulate_sightings(truth, [*poses[:4], other, *poses[5:]], NOISE, rng, known=known)
    seen = [s for s in sightings.seen if s.frame != 4 or s.camera != 1]
    seen += [s for s in after.seen if s.frame == 4 and s.camera == 1]
    return replace(sightings, seen=tuple(seen)), ("c004", "disagree")


def late_all(scene):
    poses, sightings = scene.poses, scene.sightings
    seen = [replace(s, frame=s.frame + 1) if s.camera == 1 else s for s in sightings.seen]
    seen = [s for s in seen if s.frame < len(poses)]
    return replace(sightings, seen=tuple(seen)), (
        "camera right belong 1 frame earlier",
        "camera left belong 1 frame later",
    )


def slipped_target(scene):
    """The target at the base is pushed before the frame in the middle."""
    truth, known, poses, sightings, rng = scene.truth, scene.known, scene.poses, scene.sightings, scene.rng
    middle = len(poses) // 2
    step = np.concatenate([rng.normal(size=3), np.zeros(3)]) * SHIFT / np.sqrt(3)
    pushed = (truth.targets[0], replace(truth.targets[1], place=truth.targets[1].place.stepped(step)))
    after = simulate_sightings(Rig(truth.cameras, pushed), poses, NOISE, rng, known=known)
    seen = [s for s in sightings.seen if s.frame < middle or s.target != 1]
    seen += [s for s in after.seen if s.frame >= middle and s.target == 1]
    return replace(sightings, seen=tuple(seen)), ("target floor moved", f"before frame c{middle:03d}")


def clean(scene):
    return scene.sightings, ()


CASES = {
    "clean": (clean, 2, False),
    "clean, base target": (clean, 2, True),
    "second of 3 cameras knocked, 0.5 mm": (moved_camera, 3, False),
    "second of 2 knocked, base target": (moved_camera, 2, True),
    "folders of two cameras exchanged": (exchanged_all, 3, False),
    "two images exchanged in one frame": (exchanged_once, 2, False),
    "one frame not synchronous, 0.3 mm": (late_once, 2, False),
    "one camera a frame late": (late_all, 2, False),
    "base target pushed, 0.5 mm": (slipped_target, 2, True),
}


def mistakes(runs, clean_runs):
    rows = []
    for name, (change, cameras, floor) in CASES.items():
        n = clean_runs if change is clean else runs
        found = right = 0
        for seed in range(1000, 1000 + n):
            scene = campaign(seed, 12, cameras, floor=floor)
            sightings, words = change(scene)
            fused = fit_rig(scene.known, sightings)
            text = fused.contradiction.split(" As likely")[0] + "".join(f" {a}: {b}" for a, b in fused.rejected)
            found += bool(fused.contradiction or fused.rejected)
            either = "belong" in "".join(words)
            right += bool(words) and (any if either else all)(word in text for word in words)
        rows.append([name, str(n), f"{found}", "—" if change is clean else f"{right}"])
        print(table(["case", "runs", "found", "cause named first"], rows, "lrrr"), flush=True)


# -- rivals -----------------------------------------------------------------------------------------------------------


def rivals(frames=(10, 20, 40)):
    """The same minimum by scipy's sparse least squares and by cv2.stereoCalibrate: two cameras, exact lenses."""
    truth = rig(2)
    plate = RigTarget("plate", replace(SHEET, radius=1e-9))  # OpenCV knows points, not discs
    there, points = (Rig(cameras, (plate,)) for cameras in (truth.cameras, unplaced(truth.cameras)))
    rows = []
    for n in frames:
        rng = np.random.default_rng(n)
        sightings = simulate_sightings(there, motion(truth, n, rng), NOISE, rng)
        places, usable, _ = first_places(points, sightings)
        start = time.process_time()
        ours = adjust_rig(points, first_places(points, sightings)[0].known, usable.of_frame)
        gough = time.process_time() - start
        X = ours.state.places["camera", 1, -1]
        sigma = np.sqrt(ours.covariance.diagonal()[points.layout.camera[1]])
        cells = [str(n), f"{1e3 * gough:.0f}"]
        for rival in (scipy_rig, opencv_rig):
            start = time.process_time()
            R, t = rival(points, usable, places.known, ours.scale)
            spent = time.process_time() - start
            apart = abs(np.concatenate([t.ravel() - X.t, log(R @ X.R.T)]) / sigma).max()
            cells += [f"{spent / gough:.2f}", f"{apart:.1e}"]
        rows.append(cells)
        heads = ["frames", "gough, ms", "scipy / gough", "apart, σ", "OpenCV / gough", "apart, σ"]
        print(table(heads, rows, "rrrrrr"), flush=True)


def unplaced(cameras):
    return tuple(replace(each, world=PLACES[0]) for each in cameras)


def opencv_rig(known, sightings, *_):
    """The second camera by cv2.stereoCalibrate, which weights both cameras alike."""
    both = [{s.camera: s.pose.pixels.astype(np.float32) for s in group} for group in sightings.of_frame]
    both = [pair for pair in both if len(pair) == 2]
    objects, lenses = [SHEET.points.astype(np.float32)] * len(both), []
    for each in known.cameras:
        (fx, fy), (cx, cy) = each.camera.focal, each.camera.center
        lenses += [np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]]), each.camera.distortion]
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_COUNT, 200, 1e-12)
    seen = [[pair[j] for pair in both] for j in (0, 1)]
    size, fixed = known.cameras[0].camera.size, cv2.CALIB_FIX_INTRINSIC
    return cv2.stereoCalibrate(objects, *seen, *lenses, size, flags=fixed, criteria=stop)[5:7]


def scipy_rig(known, sightings, places, scale):
    """The second camera by scipy.optimize.least_squares with the sparsity of the Jacobian."""
    seen, points = sightings.seen, SHEET.points
    frames = sorted({s.frame for s in seen})
    start = [places["platform", -1, f] for f in frames]
    X0 = places["camera", 1, -1]
    at = {f: 6 + 6 * k for k, f in enumerate(frames)}
    m = 2 * len(points)

    def residuals(x):
        out = np.empty(m * len(seen))
        for n, s in enumerate(seen):
            G = start[frames.index(s.frame)].stepped(x[at[s.frame] : at[s.frame] + 6])
            Z = X0.stepped(x[:6]) @ G if s.camera == 1 else G
            out[m * n : m * n + m] = (
                (s.pose.pixels - known.cameras[s.camera].camera.project(Z.R, Z.t, points)) / (NOISE * scale[s.camera])
            ).ravel()
        return out

    pattern = lil_matrix((m * len(seen), 6 + 6 * len(frames)), dtype=int)
    for n, s in enumerate(seen):
        pattern[m * n : m * n + m, at[s.frame] : at[s.frame] + 6] = 1
        if s.camera == 1:
            pattern[m * n : m * n + m, :6] = 1
    answer = least_squares(
        residuals,
        np.zeros(6 + 6 * len(frames)),
        jac_sparsity=pattern,
        x_scale="jac",
        xtol=1e-10,
        ftol=1e-10,
        gtol=1e-10,
        max_nfev=60,
    )
    X = X0.stepped(answer.x[:6])
    return X.R, X.t


@one_blas_thread()
def main(campaigns=20, runs=10, clean_runs=100, first=0):
    """A part that has no campaigns or runs is left out; campaigns of the coverage have seeds from `first` on."""
    if runs:
        rivals()
    if campaigns:
        coverage(campaigns, first)
    if runs:
        mistakes(runs, clean_runs)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
