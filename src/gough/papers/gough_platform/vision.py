"""The calibration paper from images: rendered, found, measured, averaged, calibrated, certified [DACP06, §2.3]."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

import numpy as np

from gough.core.progress import Phase
from gough.core.tables import Table
from gough.core.text import number
from gough.papers.gough_platform import paper
from gough.papers.gough_platform.vision_campaign import CampaignByCamera, Instrument
from gough.papers.reproduction import Reproduction, side_by_side
from gough.vision.lens import PARAMETERS

FEW, IN_PRINT = 3, 11
"""Runs by default, and in the paper."""


def reproduce(
    seed: int = 1,
    on_step: Callable[[Phase], object] = lambda _: None,
    *,
    repetitions: int = FEW,
    executor: Executor | None = None,
    folder: Path | None = None,
) -> Reproduction:
    """The tables of the paper from rendered images; `repetitions` runs of as many images, at most ten."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    images = min(repetitions, 10)
    stage = Phase(1, 5, "calibrating the camera")

    def tell(step: Phase) -> None:
        nonlocal stage
        stage = step
        on_step(step)

    def visited(done: int, of: int) -> None:
        on_step(Phase(stage.number, stage.of, f"{stage.what}: configuration {done} of {of}"))

    measure = CampaignByCamera(seed, folder, executor, visited)
    found = paper.reproduce(seed, tell, measure=measure, runs=repetitions, images=images)
    assert measure.tool is not None
    about = (
        (
            f"From images: {measure.images} were rendered (two robots, {repetitions} runs of {images} images in 64 "
            "configurations, and one run less in 64 others), with perspective, distortion, blur, noise and uneven "
            "light; the dots were found and told apart, and each image gave a pose. The camera was calibrated from 20 "
            "more images of the same printed target, whose errors were estimated too. The robot returns to a "
            "configuration with half the variance of Table 3; the images add their own scatter."
        ),
        *found.about[1:],
    )
    return replace(found, about=about, tables=(*_stages(measure, measure.tool), *found.tables))


def _stages(measure: CampaignByCamera, tool: Instrument) -> tuple[Table, Table]:
    """The camera beside its truth, and what became of the images."""
    sigma = tool.found.camera.sigma
    assert sigma is not None
    values = zip(PARAMETERS, tool.camera.parameters, tool.found.camera.parameters, sigma, strict=True)
    camera = tuple(
        (name, number(truth, digits=6), number(value, s), number(s, digits=2), f"{(value - truth) / s:+.1f}")
        for name, truth, value, s in values
        if s > 0
    )
    mean = float(np.mean(measure.squares))
    images = (
        ("images", "14,784", str(measure.images)),
        ("of them refused", "—", str(len(measure.refused))),
        ("poses more than 1 mm beside the truth", "—", str(measure.wrong)),
        ("squared scatter in units of the covariance: 6 if that is honest", "—", f"{mean:.2f}"),
    )
    return (
        side_by_side("The camera", ("parameter", "truth", "found", "±", "error / ±"), camera),
        side_by_side("The images", ("", "paper", "ours"), images),
    )
