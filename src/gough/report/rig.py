"""Page of a rig of cameras and of the poses that they measure together."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.html import tag
from gough.core.rotations import to_quaternion
from gough.core.tables import Table, table
from gough.data import Poses
from gough.data.poses import Repeatability
from gough.report.base.drawing import FAINT, INK, SERIES, Drawing, blank, style
from gough.report.base.page import Page, Section
from gough.report.vision import deviations, poses_csv, reasons, scatter
from gough.vision import FusedPoses, Rig, rig_text

_CAUSES = {
    "noise": "noise and light of the images",
    "rig": "cameras, their places, and dots: the same error in all frames",
    "total": "total",
}


def rig_budget_table(fused: FusedPoses) -> Table:
    """Standard deviations of fused poses by their causes: medians over the frames."""
    budget, rows = fused.budget(), []
    for part, cause in _CAUSES.items():
        sigma = np.median(deviations(budget[part]), axis=0)
        rows.append([cause, *(f"{1e6 * s:.2f}" for s in sigma[:3]), *(f"{1e3 * np.degrees(s):.3f}" for s in sigma[3:])])
    heads = ["standard deviation by", "x, µm", "y, µm", "z, µm", "rx, mdeg", "ry, mdeg", "rz, mdeg"]
    return table(heads, rows, "lrrrrrr", "Error budget of a pose (median over the frames)")


def rig_table(rig: Rig) -> Table:
    """Places of cameras and targets with their standard deviations."""
    rows = []
    for j, camera in enumerate(rig.cameras):
        if camera.is_moving:
            rows.append([f"camera {camera.name}", "moves", "", "", "", ""])
            continue
        there = camera.world.inverse().t  # the camera in the world
        rows.append([f"camera {camera.name}", "world", *_millimetres(there), _known(rig, rig.layout.camera[j])])
    for k, sheet in enumerate(rig.targets):
        mount = "world" if sheet.is_fixed else "platform"
        known = _known(rig, rig.layout.target[k])
        rows.append([f"target {sheet.name}", mount, *_millimetres(sheet.place.t), known])
    heads = ["", "frame", "x, mm", "y, mm", "z, mm", "known to"]
    return table(heads, rows, "llrrrl", "Places of cameras and targets")


def _millimetres(position: Array) -> list[str]:
    return [f"{1e3 * v + 0.0:.3f}" if abs(v) > 5e-7 else "0.000" for v in position]


def _known(rig: Rig, of: slice) -> str:
    if rig.covariance is None:
        return ""
    sigma = np.sqrt(np.maximum(rig.covariance.diagonal()[of], 0.0))
    if not sigma.any():
        return "by definition"
    shift, turn = float(np.linalg.norm(sigma[:3])), float(np.linalg.norm(sigma[3:]))
    return f"{1e6 * shift:.3g} µm, {1e3 * np.degrees(turn):.2g} mdeg"


def rig_view(fused: FusedPoses) -> Drawing:
    """Cameras, targets and positions of the platform in the world's frame, from two sides."""
    rig = fused.rig
    size = max(float(np.ptp(fused.position, axis=0).max()), 0.1)
    with style("rig"):
        figure = blank(7.0, 3.6)
        for axes, (a, b) in zip(figure.subplots(1, 2), ((0, 2), (1, 2)), strict=True):
            for j, camera in enumerate(rig.cameras):
                if camera.is_moving:
                    continue
                home = camera.world.inverse()
                width, height = np.array(camera.camera.size) / camera.camera.focal / 2
                corners = np.array([[x, y, 1.0] for x, y in ((-width, -height), (width, -height), (width, height))])
                corners = np.vstack([corners, [-width, height, 1.0]]) * 0.35 * size
                for corner in home.of(corners):
                    axes.plot([home.t[a], corner[a]], [home.t[b], corner[b]], color=SERIES[j % 8], linewidth=0.9)
                frustum = home.of(np.vstack([corners, corners[:1]]))
                axes.plot(frustum[:, a], frustum[:, b], color=SERIES[j % 8], linewidth=0.9)
                axes.annotate(camera.name, (home.t[a], home.t[b]), (4, -10), textcoords="offset points", fontsize=8)
            for sheet in rig.targets:
                corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [-1, -1, 0.0]]) / 2
                corners[:, :2] *= sheet.target.size
                outline = sheet.place.of(corners)
                if not sheet.is_fixed:
                    outline = outline @ fused.rotation[0].T + fused.position[0]
                axes.plot(outline[:, a], outline[:, b], color=INK, linewidth=1.4)
                axes.annotate(
                    sheet.name, (outline[0, a], outline[0, b]), (4, 4), textcoords="offset points", fontsize=8
                )
            axes.plot(fused.position[:, a], fused.position[:, b], ".", color=FAINT, markersize=3, zorder=0)
            axes.set(xlabel=f"{'xyz'[a]}, m", ylabel=f"{'xyz'[b]}, m", aspect="equal")
    return Drawing(
        "rig",
        figure,
        "Cameras with their fields of view, targets and positions of the platform, seen along y and along x.",
        f"The rig in the frame of {rig.world}: cameras, the targets of the first frame, and positions of the platform.",
    )


def camera_residuals(fused: FusedPoses) -> Drawing:
    """Residuals over the image of each camera."""
    every = fused.residuals()
    n = len(every)
    with style("camera-residuals"):
        figure = blank(7.0, 0.4 + 2.9 * ((n + 1) // 2))
        grid = np.atleast_1d(figure.subplots((n + 1) // 2, min(n, 2))).ravel()
        for axes in grid[n:]:
            axes.set_axis_off()
        for axes, camera, (pixels, rest) in zip(grid, fused.rig.cameras, every, strict=False):
            width, height = camera.camera.size
            stretch = 0.02 * width / max(float(np.sqrt((rest**2).mean())) if len(rest) else 1.0, 1e-9)
            ends = rest * stretch
            axes.quiver(*pixels.T, *ends.T, angles="xy", scale_units="xy", scale=1, width=0.002, color=SERIES[0])
            axes.set(xlim=(0, width), ylim=(height, 0), aspect="equal", xlabel="u, px", ylabel="v, px")
            axes.set_title(f"{camera.name}: residuals, {stretch:.0f} times enlarged")
    caption = "Arrows of the same direction in one region indicate a camera that is not where the rig has it."
    return Drawing("camera-residuals", figure, "Residuals over the image of each camera.", caption)


def disagreement(fused: FusedPoses) -> Drawing:
    """How far each camera's poses are from the fused ones, frame by frame."""
    values = fused.adjustment.normal.disagreement
    seen = [each for group in fused.adjustment.groups for each in group]
    with style("disagreement"):
        figure = blank(7.0, 2.6)
        axes = figure.subplots()
        for j, camera in enumerate(fused.rig.cameras):
            own = [n for n, each in enumerate(seen) if each.camera == j]
            axes.plot([seen[n].frame + 1 for n in own], values[own], ".", color=SERIES[j % 8], label=camera.name)
        axes.axhline(6, color=INK, linewidth=0.6)
        axes.set(xlabel="frame", ylabel="squared distance, σ²", yscale="log")
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:g}")
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    caption = (
        "Squared distance of each camera's own pose of a target from the one that the rig expects. Alone, it "
        "would be 6 on average; fitted poses take a part of it."
    )
    return Drawing("disagreement", figure, "Distance of each camera's poses from the fused ones.", caption)


def rig_documents(
    fused: FusedPoses,
    poses: Poses,
    averaged: Poses | None,
    repeatability: Repeatability | None,
    *,
    wrong: Sequence[str] = (),
    reading_unit: str = "",
    is_calibration: bool = False,
) -> dict[str, bytes]:
    """Files of a rig and its poses: poses.csv, report.html and figures; rig.toml and rig.json, or poses.json."""
    rig, drawings = fused.rig, (rig_view(fused), camera_residuals(fused), disagreement(fused))
    counts = [
        [camera.name, *(str(n) for n in row)] for camera, row in zip(rig.cameras, fused.counts().tolist(), strict=True)
    ]
    heads = ["camera", *(sheet.name for sheet in rig.targets)]
    seen = table(heads, counts, "l" + "r" * len(rig.targets), "Frames in which a camera saw a target")
    verdict = "\n".join([*wrong, fused.verdict])
    repeats = "" if repeatability is None else tag("pre", str(repeatability))
    sections = (
        Section("Verdict", (tag("p", verdict),)),
        Section("Rig", (rig_table(rig), drawings[0], seen)),
        Section("Error budget", (rig_budget_table(fused),)),
        Section("Repeatability, in m and rad", (repeats,)),
        Section("Residuals", (drawings[1], drawings[2])),
        Section("Frames and images that were not used", (reasons(fused.rejected),)),
    )
    frame = f"Poses are those of {rig.platform} in the frame of {rig.world}."
    title = "Rig of cameras" if is_calibration else "Poses measured by several cameras"
    page = Page(title, (str(fused.verdict), frame), sections=sections)
    answer = _answer(fused, poses, repeatability, wrong)
    files = {
        "poses.csv": poses_csv(poses, reading_unit, fused.names),
        "report.html": page.html().encode(),
        ("rig.json" if is_calibration else "poses.json"): (
            json.dumps(answer, ensure_ascii=False, indent=1) + "\n"
        ).encode(),
        **{f"figures/{each.name}.png": each.png() for each in drawings},
    }
    if is_calibration:
        files["rig.toml"] = rig_text(rig).encode()
    return files if averaged is None else files | {"averaged.csv": poses_csv(averaged, reading_unit)}


def _answer(
    fused: FusedPoses, poses: Poses, repeatability: Repeatability | None, wrong: Sequence[str]
) -> dict[str, Any]:
    rig, test = fused.rig, fused.test
    total = poses.total_covariance
    assert total is not None
    return {
        "world": rig.world,
        "platform": rig.platform,
        "cameras": [
            {
                "name": camera.name,
                "moving": camera.is_moving,
                "position": None if camera.is_moving else camera.world.t.tolist(),
                "quaternion": None if camera.is_moving else to_quaternion(camera.world.R).tolist(),
                "sigma": _sigma(rig, rig.layout.camera[j]),
                "noise_ratio": float(fused.adjustment.scale[j]),
                "residual_rms": float(np.sqrt((rest**2).mean())) if len(rest) else None,
            }
            for j, (camera, (_, rest)) in enumerate(zip(rig.cameras, fused.residuals(), strict=True))
        ],
        "targets": [
            {
                "name": sheet.name,
                "fixed": sheet.is_fixed,
                "position": sheet.place.t.tolist(),
                "quaternion": to_quaternion(sheet.place.R).tolist(),
                "sigma": _sigma(rig, rig.layout.target[k]),
            }
            for k, sheet in enumerate(rig.targets)
        ],
        "sightings": fused.counts().tolist(),
        "measured": len(fused),
        "names": fused.names,
        "sigma": deviations(np.broadcast_to(total, (len(fused), 6, 6))).tolist(),
        "budget": {part: deviations(C).tolist() for part, C in fused.budget().items()},
        "test": {
            "contradiction": fused.contradiction or None,
            "cameras": list(wrong),
            "chi_squared": test.chi_squared,
            "freedom": test.freedom,
            "probability": test.probability,
            "causes": [{"cause": each.words, "explains": each.is_enough} for each in fused.causes[:5]],
        },
        "rejected": [{"image": name, "reason": why} for name, why in fused.rejected],
        "repeatability": None if repeatability is None else scatter(repeatability),
    }


def _sigma(rig: Rig, of: slice) -> list[float] | None:
    if rig.covariance is None:
        return None
    return [float(v) for v in np.sqrt(np.maximum(rig.covariance.diagonal()[of], 0.0))]
