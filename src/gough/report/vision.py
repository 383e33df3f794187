"""Pages of a calibrated camera and of measured poses, and images with the dots that were detected."""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.html import tag
from gough.core.tables import Table, table
from gough.core.text import number
from gough.data import Poses, write_poses
from gough.data.poses import Repeatability
from gough.report.base.drawing import INK, SERIES, Drawing, blank, style
from gough.report.base.page import Page, Section
from gough.vision import CalibratedCamera, MeasuredImages, Sighting, camera_text
from gough.vision.lens import PARAMETERS


def overlay(image: Any, seen: Sighting, name: str = "overlay") -> Drawing:
    """An image with the numbers of the dots that were detected in it."""
    height, width = np.asarray(image).shape[:2]
    with style(name):
        figure = blank(7.0, 7.0 * height / width)
        axes = figure.subplots()
        axes.imshow(image, cmap="gray", vmin=0, vmax=np.iinfo(np.asarray(image).dtype).max, interpolation="nearest")
        axes.plot(*seen.pixels.T, "+", color=SERIES[1], markersize=5, markeredgewidth=0.8)
        for k, (u, v) in zip(seen.which.tolist(), seen.pixels.tolist(), strict=True):
            axes.annotate(str(k), (u, v), (5, 5), textcoords="offset points", fontsize=6, color=SERIES[1])
        axes.set_axis_off()
    return Drawing(
        name,
        figure,
        f"An image of the target with {len(seen)} dots marked and numbered.",
        f"{len(seen)} dots detected and numbered; each cross is a centroid.",
    )


def residual_map(calibrated: CalibratedCamera, name: str = "residuals") -> Drawing:
    """Residuals of all images over the sensor, as arrows, and how they are distributed."""
    pixels = np.vstack([view.pixels for view in calibrated.views])
    residuals = np.vstack([view.residuals for view in calibrated.views])
    width, height = calibrated.camera.size
    with style(name):
        figure = blank(7.0, 3.6)
        axes, side = figure.subplots(1, 2, width_ratios=[2.4, 1])
        stretch = 0.02 * width / max(float(np.sqrt((residuals**2).mean())), 1e-9)
        ends = residuals * stretch
        axes.quiver(*pixels.T, *ends.T, angles="xy", scale_units="xy", scale=1, width=0.0015, color=SERIES[0])
        axes.set(xlim=(0, width), ylim=(height, 0), aspect="equal", xlabel="u, px", ylabel="v, px")
        axes.set_title(f"residuals, {stretch:.0f} times enlarged")
        side.hist(residuals.ravel(), bins=41, color=SERIES[0])
        side.set(xlabel="residual, px", yticks=[])
        side.axvline(0, color=INK, linewidth=0.6)
    caption = "Arrows of the same direction in one region indicate a distortion that the model does not describe."
    return Drawing(name, figure, "Residuals of the calibration over the image, and their histogram.", caption)


def camera_documents(calibrated: CalibratedCamera, pictures: Sequence[Drawing] = ()) -> dict[str, bytes]:
    """Files of a calibrated camera: camera.toml, report.html, camera.json and its figures."""
    sigma = calibrated.camera.sigma
    assert sigma is not None
    values = list(zip(PARAMETERS, calibrated.camera.parameters.tolist(), sigma.tolist(), strict=True))
    rows = [[name, number(value, s or None), number(s, digits=2)] for name, value, s in values]
    parameters = table(["parameter", "value", "standard deviation"], rows, "lrr", "Parameters of the camera")
    links = [tag("li", tag("a", each.caption, href=f"figures/{each.name}.png")) for each in pictures]
    residuals = residual_map(calibrated)
    sections = (
        Section("Camera", (parameters,)),
        Section("Residuals", (residuals,)),
        Section("Detected dots", (tag("ul", *links) if links else "",)),
        Section("Images that were not used", (_reasons(calibrated.rejected),)),
    )
    about = "Standard deviations come from the scatter of the dots; the size of the target is taken as described."
    page = Page("Calibration of a camera", (str(calibrated).splitlines()[0], about), sections=sections)
    answer = {
        "parameters": {name: {"value": value, "sigma": s} for name, value, s in values},
        "size": calibrated.camera.size,
        "images": len(calibrated.views),
        "rms": calibrated.rms,
        "noise": calibrated.noise,
        "released": calibrated.released,
        "rejected": [{"image": image, "reason": why} for image, why in calibrated.rejected],
    }
    files = {
        "camera.toml": camera_text(calibrated).encode(),
        "camera.json": (json.dumps(answer, ensure_ascii=False, indent=1) + "\n").encode(),
        "report.html": page.html().encode(),
    }
    return files | {f"figures/{drawing.name}.png": drawing.png() for drawing in (residuals, *pictures)}


def pose_documents(
    images: MeasuredImages,
    poses: Poses,
    averaged: Poses | None,
    repeatability: Repeatability | None,
    *,
    reading_unit: str = "",
) -> dict[str, bytes]:
    """Files of measured poses: poses.csv, averaged.csv, report.html and poses.json; readings are in `reading_unit`."""
    sigma = np.sqrt(np.diagonal(_each(poses), axis1=1, axis2=2))
    rows = [
        [name, str(len(pose.which)), f"{pose.rms:.4f}", *_micro(s)]
        for name, pose, s in zip(images.names, images.measured, sigma, strict=True)
    ]
    heads = ["image", "dots", "residuals, px", "σ x, µm", "σ y, µm", "σ z, µm", "σ rotation, mdeg"]
    repeats = "" if repeatability is None else tag("pre", str(repeatability))
    sections = (
        Section("Repeatability, in m and rad", (repeats,)),
        Section("Poses", (table(heads, rows, "lrrrrrr", "Poses with their standard deviations"),)),
        Section("Images without a pose", (_reasons(images.rejected),)),
    )
    n = len(images) + len(images.rejected)
    frame = "Positions are in the camera's frame: x right, y down, z forward."
    page = Page("Measured poses", (f"{len(images)} of {n} images give a pose.", frame), sections=sections)
    answer = {
        "images": n,
        "measured": len(images),
        "noise": float(np.median([pose.noise for pose in images.measured])),
        "rejected": [{"image": image, "reason": why} for image, why in images.rejected],
        "sigma": sigma.tolist(),
        "names": images.names,
        "repeatability": None if repeatability is None else _scatter(repeatability),
    }
    files = {
        "poses.csv": _csv(poses, reading_unit, images.names),
        "poses.json": (json.dumps(answer, ensure_ascii=False, indent=1) + "\n").encode(),
        "report.html": page.html().encode(),
    }
    return files if averaged is None else files | {"averaged.csv": _csv(averaged, reading_unit)}


def _each(poses: Poses) -> Array:
    assert poses.covariance is not None
    return np.broadcast_to(poses.covariance, (len(poses), 6, 6))


def _scatter(repeatability: Repeatability) -> dict[str, Any]:
    parts = (("within", repeatability.within), ("between", repeatability.between))
    return {"names": repeatability.names, **{name: None if v is None else v.tolist() for name, v in parts}}


def _micro(sigma: Array) -> list[str]:
    turn = float(np.degrees(np.sqrt((sigma[3:] ** 2).mean())))
    return [*(f"{1e6 * s:.2f}" for s in sigma[:3]), f"{1000 * turn:.2f}"]


def _reasons(rejected: Sequence[tuple[str, str]]) -> Table | None:
    return table(["image", "reason"], rejected, "lw", "Images that were not used") if rejected else None


def _csv(poses: Poses, reading_unit: str, images: Sequence[str] = ()) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "poses.csv")
        write_poses(path, poses, reading_unit=reading_unit, images=images)
        return path.read_bytes()
