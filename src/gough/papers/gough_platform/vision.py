"""The calibration paper from images: a campaign seen by a camera, and the tables that follow from it [DACP06, §2.3].

Each image is rendered, found and measured; an interrupted campaign is resumed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.campaigns import Campaign, digest
from gough.core.arrays import Array
from gough.core.progress import Phase, Progress
from gough.core.rotations import exp, log
from gough.core.tables import Table
from gough.core.text import number
from gough.core.threads import one_blas_thread
from gough.data import Poses
from gough.papers.gough_platform import paper
from gough.papers.reproduction import Reproduction, side_by_side
from gough.simulate import CalibrationCampaign, MeasuredCampaign
from gough.vision import (
    Camera,
    Conditions,
    DotTarget,
    ImageRefused,
    Sighting,
    calibrate_camera,
    design_target,
    find_target,
    measure_pose,
    render,
)
from gough.vision.camera import CalibratedCamera
from gough.vision.lens import PARAMETERS

LENS = Camera((1024, 768), np.array([672.0, 671.5]), np.array([515.2, 381.0]), np.array([-0.12, 0.03, 3e-4, -2e-4]))
"""1024 × 768 pixels of 6.25 µm behind 4.2 mm [DACP06, §2.2]."""
LIGHT = Conditions(vignetting=0.2, gradient=(0.1, 0.0))
_PRINT = 5e-5
_VIEWS = 20
_WRONG = 1e-3


@dataclass(frozen=True)
class Instrument:
    """The camera and the target as they are, and as a calibration found them."""

    camera: Camera
    target: DotTarget
    """As it was printed: its dots are beside their places."""
    calibrated: CalibratedCamera

    @property
    def known(self) -> tuple[Camera, DotTarget]:
        """Camera and target with which poses are measured: those that the calibration found."""
        assert isinstance(self.calibrated.target, DotTarget)
        return self.calibrated.camera, self.calibrated.target


@cache
@one_blas_thread()
def instrument(seed: int) -> Instrument:
    """A printed target with errors of 50 µm, and a camera calibrated from 20 rendered images of it."""
    rng = np.random.default_rng([seed, 77])
    designed = design_target(0.2, 0.2)
    printed = replace(
        designed, points=designed.points + _PRINT * rng.standard_normal(designed.points.shape) * [1, 1, 0.5]
    )
    seen: list[Sighting] = []
    while len(seen) < _VIEWS:
        R = exp(0.35 * rng.standard_normal(3)) @ np.diag([1.0, -1.0, -1.0])
        t = rng.uniform([-0.06, -0.04, 0.28], [0.06, 0.04, 0.4])
        try:
            seen.append(find_target(render(LENS, printed, R, t, LIGHT, rng).image, designed))
        except ImageRefused:
            continue  # it was drawn out of the image
    return Instrument(LENS, printed, calibrate_camera(seen, designed, LENS.size))


@dataclass
class CampaignByCamera:
    """How a campaign is measured: every image rendered where the target is, and its pose taken from the pixels.

    The robot returns to a configuration as well as the campaign's noise says; what the images add is their own.
    """

    seed: int
    folder: Path | None = None
    """Where results are kept, so that an interrupted campaign goes on."""
    executor: Any = None
    """Where images are rendered and measured, of `gough.campaigns`; here by default."""
    on_visit: Callable[[int, int], object] = lambda _done, _of: None
    refused: list[str] = field(default_factory=list)
    """Reasons of images that gave no pose, of all campaigns so far."""
    squares: list[float] = field(default_factory=list)
    """Squared scatter of the images of each visit in units of their covariance: 6 on average if that is right."""
    wrong: int = 0
    """Poses more than a millimeter beside the truth."""
    images: int = 0
    """That were rendered."""
    tool: Instrument | None = None

    def __call__(self, campaign: CalibrationCampaign, rng: np.random.Generator) -> MeasuredCampaign:
        """Measure a campaign."""
        self.tool = self.tool or instrument(self.seed)
        poses = self._measured(campaign, rng, campaign.configurations, campaign.runs, "calibration")
        validation = self._measured(campaign, rng, campaign.others, campaign.runs - 1, "validation")
        exact = campaign.seen(campaign.robot.forward(campaign.geometry, campaign.configurations))
        return MeasuredCampaign(poses, validation, campaign.truth, exact, campaign.configurations)

    def _measured(
        self, campaign: CalibrationCampaign, rng: np.random.Generator, readings: Array, runs: int, what: str
    ) -> Poses:
        assert self.tool is not None
        K, legs = readings.shape
        play = campaign.faults.backlash / 2 * rng.choice([-1.0, 1.0], (K, legs))
        seen = campaign.seen(campaign.robot.forward(campaign.geometry, readings + play))
        errors = campaign.noise.run * rng.standard_normal((runs * K, 6))
        read = np.tile(readings, (runs, 1)) + campaign.noise.reading * rng.standard_normal((runs * K, legs))
        seeds = rng.integers(0, 2**31, runs * K)
        of = np.tile(np.arange(K), runs)
        visits = [
            Visit(exp(e[3:]) @ seen.rotation[k], seen.position[k] + e[:3], campaign.images, int(s))
            for k, e, s in zip(of, errors, seeds, strict=True)
        ]
        answers = self._answers(visits, f"{what}: {campaign.faults.words}")
        counts = np.array([len(answer["poses"]) for answer in answers])
        values = np.array([pose for answer in answers for pose in answer["poses"]])
        visit: npt.NDArray[np.int64] = np.repeat(np.arange(len(visits)), counts)
        self.refused += [reason for answer in answers for reason in answer["refused"]]
        self.squares += [answer["scatter"] for answer in answers if answer["scatter"] is not None]
        self.wrong += sum(answer["wrong"] for answer in answers)
        self.images += campaign.images * len(visits)
        position, rotation = values[:, :3], exp(values[:, 3:])
        return Poses(position, rotation, read[visit], configuration=of[visit], run=visit // K)

    def _answers(self, visits: list["Visit"], what: str) -> list[dict[str, Any]]:
        """Results of the images of each visit, from the file or computed."""
        tasks = {str(k): (visit,) for k, visit in enumerate(visits)}
        campaign = Campaign(look, tasks, (self.tool,))
        path = None
        if self.folder is not None:
            path = (
                self.folder
                / f"campaign-{what.split(':', maxsplit=1)[0]}-{digest((campaign.fingerprint, what))[:8]}.jsonl"
            )

        begun: list[int] = []

        def show(step: Progress) -> None:
            if begun:  # the first call is about visits that were measured before
                self.on_visit(step.done, step.of)
            begun.append(step.done)

        return list(campaign.run(path, executor=self.executor, on_progress=show).values())


@dataclass(frozen=True)
class Visit:
    """A robot that stands still, and how many images are taken of it."""

    rotation: Array
    position: Array
    images: int
    seed: int


def look(tool: Instrument, visit: Visit) -> dict[str, Any]:
    """Poses (position and rotation vector) from the images of a visit, reasons of refusals, and their scatter."""
    rng = np.random.default_rng(visit.seed)
    poses, refused, errors, precision = [], [], [], []
    camera, target = tool.known
    for _ in range(visit.images):
        image = render(tool.camera, tool.target, visit.rotation, visit.position, LIGHT, rng).image
        try:
            pose = measure_pose(image, target, camera)
        except ImageRefused as error:
            refused.append(str(error))
            continue
        poses.append([*pose.position.tolist(), *log(pose.rotation).tolist()])
        errors.append(np.concatenate([pose.position - visit.position, log(pose.rotation @ visit.rotation.T)]))
        precision.append(np.linalg.inv(pose.covariance))
    away = np.array(errors).reshape(-1, 6)
    wrong = int((np.linalg.norm(away[:, :3], axis=1) > _WRONG).sum())
    scatter = None
    if len(poses) > 1:
        away = away - away.mean(axis=0)
        scatter = float(np.einsum("ni,nij,nj->", away, np.array(precision), away) / (len(poses) - 1))
    return {"poses": poses, "refused": refused, "wrong": wrong, "scatter": scatter}


FEW, IN_PRINT = 3, 11
"""Runs by default, and in the paper."""


def reproduce(
    seed: int = 1,
    on_step: Callable[[Phase], object] = lambda _: None,
    *,
    repetitions: int = FEW,
    executor: Any = None,
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
    reproduction = paper.reproduce(seed, tell, measure=measure, runs=repetitions, images=images)
    assert measure.tool is not None
    about = (
        (
            f"From images: {measure.images} were rendered (two robots, {repetitions} runs of {images} images in 64 "
            "configurations, and one run less in 64 others), with perspective, distortion, blur, noise and uneven "
            "light; the dots were found and told apart, and each image gave a pose. The camera was calibrated from 20 "
            "more images of the same printed target, whose errors were estimated too. The robot returns to a "
            "configuration with half the variance of Table 3; the images add their own scatter."
        ),
        *reproduction.about[1:],
    )
    return replace(reproduction, about=about, tables=(*_stages(measure, measure.tool), *reproduction.tables))


def _stages(measure: CampaignByCamera, tool: Instrument) -> tuple[Table, Table]:
    """The camera beside its truth, and what became of the images."""
    sigma = tool.calibrated.camera.sigma
    assert sigma is not None
    values = zip(PARAMETERS, tool.camera.parameters, tool.calibrated.camera.parameters, sigma, strict=True)
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
