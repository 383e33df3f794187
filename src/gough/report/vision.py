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
from gough.vision.image_tests import CalibrationTest
from gough.vision.lens_models import LensChoice


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
    values = list(zip(calibrated.camera.names, calibrated.camera.parameters.tolist(), sigma.tolist(), strict=True))
    rows = [[name, number(value, s or None), number(s, digits=2)] for name, value, s in values]
    parameters = table(["parameter", "value", "standard deviation"], rows, "lrr", "Parameters of the camera")
    links = [tag("li", tag("a", each.caption, href=f"figures/{each.name}.png")) for each in pictures]
    residuals, choice = residual_map(calibrated), calibrated.choice
    sections = (
        Section("Camera", (parameters,)),
        Section("Lens", () if choice is None else (choice.table(), tag("p", choice.verdict))),
        Section("Response", () if calibrated.response is None else (tag("p", calibrated.response.verdict),)),
        Section("Residuals", (residuals,)),
        Section("Detected dots", (tag("ul", *links) if links else "",)),
        Section("Images that were not used", (reasons(calibrated.rejected),)),
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
        "lens": None if choice is None else _lens(choice),
        "response": _response(calibrated),
        "rejected": [{"image": image, "reason": why} for image, why in calibrated.rejected],
    }
    files = {
        "camera.toml": camera_text(calibrated).encode(),
        "camera.json": (json.dumps(answer, ensure_ascii=False, indent=1) + "\n").encode(),
        "report.html": page.html().encode(),
    }
    return files | {f"figures/{drawing.name}.png": drawing.png() for drawing in (residuals, *pictures)}


_CAUSES = {
    "noise": "noise of the image",
    "light": "uneven light",
    "camera": "camera, the same error in all images",
    "target": "dots of the target, the same error in all images",
    "size": "size of the target, the same error in all images",
    "total": "total",
}


def budget_table(images: MeasuredImages) -> Table:
    """Standard deviations of poses by their causes: medians over the images."""
    budget = images.budget()
    rows = []
    for part, cause in _CAUSES.items():
        if part == "camera" and not images.measured[0].common.shape[1]:
            rows.append([cause, *("not known" for _ in range(6))])
            continue
        if part in {"light", "size", "target"} and not budget[part].any():
            continue
        sigma = np.median(deviations(budget[part]), axis=0)
        rows.append([cause, *(f"{1e6 * s:.2f}" for s in sigma[:3]), *(f"{1e3 * np.degrees(s):.3f}" for s in sigma[3:])])
    heads = ["standard deviation by", "x, µm", "y, µm", "z, µm", "rx, mdeg", "ry, mdeg", "rz, mdeg"]
    return table(heads, rows, "lrrrrrr", "Error budget of a pose (median over the images)")


def deviations(C: Array) -> Array:
    """Standard deviations (N, 6) of covariances (N, 6, 6)."""
    return np.sqrt(np.maximum(np.diagonal(C, axis1=1, axis2=2), 0.0))


def _response(calibrated: CalibratedCamera) -> dict[str, Any] | None:
    found = calibrated.response
    if found is None:
        return None
    return {
        "gamma": found.gamma,
        "sigma": found.gamma * found.sigma,
        "finding": found.finding.value,
        "images": found.images,
        "used": calibrated.camera.response,
    }


def _lens(choice: LensChoice) -> dict[str, Any]:
    fits = [
        {"lens": fit.lens.name, "rms": fit.rms, "held_out_gain": fit.gain}
        for fit in choice.fits
        if np.isfinite(fit.gain)
    ]
    return {
        "used": choice.used.name,
        "coefficients": choice.used.terms,
        "finding": choice.finding.value,
        "pattern_probability": choice.pattern,
        "models": fits,
    }


def pose_documents(
    images: MeasuredImages,
    poses: Poses,
    averaged: Poses | None,
    repeatability: Repeatability | None,
    test: CalibrationTest | None = None,
    *,
    reading_unit: str = "",
) -> dict[str, bytes]:
    """Files of measured poses: poses.csv, averaged.csv, report.html and poses.json; readings are in `reading_unit`."""
    total = poses.total_covariance
    assert total is not None
    sigma = np.sqrt(np.diagonal(np.broadcast_to(total, (len(poses), 6, 6)), axis1=1, axis2=2))
    rows = [
        [name, str(len(pose.which)), f"{pose.rms:.4f}", *_micro(s)]
        for name, pose, s in zip(images.names, images.measured, sigma, strict=True)
    ]
    heads = ["image", "dots", "residuals, px", "σ x, µm", "σ y, µm", "σ z, µm", "σ rotation, mdeg"]
    repeats = "" if repeatability is None else tag("pre", str(repeatability))
    sections = (
        Section("Test against the calibration", (tag("pre", str(test)) if test is not None else "",)),
        Section("Error budget", (budget_table(images),)),
        Section("Repeatability, in m and rad", (repeats,)),
        Section("Poses", (table(heads, rows, "lrrrrrr", "Poses with their standard deviations"),)),
        Section("Images without a pose", (reasons(images.rejected),)),
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
        "budget": {part: deviations(C).tolist() for part, C in images.budget().items()},
        "half_width": None if poses.half_width is None else poses.half_width.tolist(),
        "names": images.names,
        "repeatability": None if repeatability is None else scatter(repeatability),
        "test": None if test is None else _tests(test),
    }
    files = {
        "poses.csv": poses_csv(poses, reading_unit, images.names),
        "poses.json": (json.dumps(answer, ensure_ascii=False, indent=1) + "\n").encode(),
        "report.html": page.html().encode(),
    }
    return files if averaged is None else files | {"averaged.csv": poses_csv(averaged, reading_unit)}


def scatter(repeatability: Repeatability) -> dict[str, Any]:
    parts = (("within", repeatability.within), ("between", repeatability.between))
    return {"names": repeatability.names, **{name: None if v is None else v.tolist() for name, v in parts}}


def _tests(test: CalibrationTest) -> dict[str, Any]:
    return {
        "contradiction": test.contradiction or None,
        "changes": [
            {
                "change": each.name,
                "estimate": each.estimate.tolist(),
                "sigma": each.sigma.tolist(),
                "probability": each.probability,
                "detectable": each.detectable if np.isfinite(each.detectable) else None,
            }
            for each in test.together
        ],
        "noise_ratio": [image.noise for image in test.images],
    }


def _micro(sigma: Array) -> list[str]:
    turn = float(np.degrees(np.sqrt((sigma[3:] ** 2).mean())))
    return [*(f"{1e6 * s:.2f}" for s in sigma[:3]), f"{1000 * turn:.2f}"]


def reasons(rejected: Sequence[tuple[str, str]]) -> Table | None:
    return table(["image", "reason"], rejected, "lw", "Images that were not used") if rejected else None


def poses_csv(poses: Poses, reading_unit: str, images: Sequence[str] = ()) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "poses.csv")
        write_poses(path, poses, reading_unit=reading_unit, images=images)
        return path.read_bytes()
