"""Coverage of the 95 % regions of calibrations, for each kind of measurement, with stated and with estimated noise.

    python -m benchmarks.instrument_coverage --campaigns 200 --noise stated estimated --page
    python -m benchmarks.instrument_coverage cables --campaigns 1000 --first 5000

Each campaign is one simulated calibration whose truth is known. Results are kept in a ledger, so that a run can be
stopped and resumed; with --page the table of all results in the ledger is written into docs/calibration-coverage.md.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import beta, chi2
from scipy.stats import f as f_distribution

from benchmarks._campaign import add_options, results_of
from benchmarks.instruments import MACHINE, SIGMA
from gough import campaigns
from gough.core.arrays import Array
from gough.core.errors import GoughError
from gough.core.rotations import exp
from gough.data import KlipperDelta, Poses
from gough.estimates import Estimate
from gough.geometry import Placement, calibrate, procrustes
from gough.geometry.instruments import Measurements, calibrate_by_instruments
from gough.geometry.printers import calibrate_printer
from gough.robots import GoughPlatform, LinearDelta
from gough.robots.kinematics import PlatformPoses
from tests.geometry.instruments.campaigns import CAMPAIGNS, ELSEWHERE, Campaign

PAGE = Path(__file__).parents[1] / "docs" / "calibration-coverage.md"
BEGIN, END = "<!-- begin: benchmarks/instrument_coverage.py -->", "<!-- end: benchmarks/instrument_coverage.py -->"
LEDGER = "instrument-coverage.jsonl"
NOISE = ("stated", "estimated")
POSITION, ORIENTATION, READING = 5e-5, 2e-4, 1e-5
"""Standard deviations of pose files: m, rad, m."""
HEIGHT, DISTANCE = 1e-5, 5e-5
"""Standard deviations of probed heights and of distances by a caliper, m."""
ON_PLATFORM = Placement([0.01, 0.02, 0.03], [0.8, 0.0, 0.0, 0.6])
"""Where a target sits on the platform."""
DIGEST = campaigns.digest(("coverage of calibrations", 1, POSITION, ORIENTATION, READING, HEIGHT, DISTANCE))


class Outcome(NamedTuple):
    """Whether the joint region and the intervals of one campaign hold the truth, and what names the campaign."""

    joint: bool
    intervals: list[bool]


def cables() -> Campaign:
    """The Hangprinter by its readings alone; its truth is in the frame in which it is nearest to the blueprint."""
    rng = np.random.default_rng(1)
    rows = (MACHINE.nominal + rng.normal(0, 0.03, 16)).reshape(4, 4)
    motion, _ = procrustes(rows[:, :3], MACHINE.anchors)
    rows[:, :3] = motion.of(rows[:, :3])
    p = rng.uniform([-0.7, -0.7, 0.0], [0.7, 0.7, 1.5], (60, 3))
    poses = PlatformPoses(p, np.repeat(np.eye(3)[None], len(p), axis=0))
    return Campaign(MACHINE, rows.reshape(-1), poses, Measurements(np.zeros((60, 4)), SIGMA))


INSTRUMENTS = CAMPAIGNS | {"cables": cables}


@cache
def _campaign(kind: str) -> Campaign:
    return INSTRUMENTS[kind]()


def by_instruments(kind: str, rng: np.random.Generator, *, stated: bool) -> Outcome:
    """A campaign of instruments; where noise is not stated, none is: neither of readings nor of any instrument."""
    one = _campaign(kind)
    data = one.drawn(rng)
    if not stated:
        instruments = tuple(replace(each, sigma=None) for each in data.instruments)
        data = replace(data, reading_sigma=None, instruments=instruments)
    answer = calibrate_by_instruments(one.model, data, start=one.start, fixed=one.fixed)
    free = [i for i, each in enumerate(one.model.names) if each in answer.estimate.names]
    return judged(answer.estimate, answer.departure_from(one.truth)[free])


def judged(estimate: Estimate, error: Array) -> Outcome:
    """Errors of the first unknowns against the region: directions that a convention of frames fixes do not count."""
    C = estimate.region.covariance[: len(error), : len(error)]
    s, V = np.linalg.eigh(C)
    seen = s > 1e-9 * s[-1]
    distance = float(((V.T @ error)[seen] ** 2 / s[seen]).sum())
    n, dof = int(seen.sum()), estimate.region.joint_dof or estimate.region.dof
    limit = chi2.isf(0.05, n) if np.isinf(dof) else n * f_distribution.isf(0.05, n, dof)
    return Outcome(bool(distance <= limit), (abs(error) <= estimate.half_widths()[: len(error)]).tolist())


def pose_file(rng: np.random.Generator, *, stated: bool, frames: str) -> Outcome:
    """40 complete poses of a hexapod that is 2 mm from its blueprint, in the robot's frame or a camera's."""
    robot = GoughPlatform.deltalab()
    theta = robot.nominal + rng.normal(0, 2e-3, 42)
    true = robot.forward(theta, rng.uniform(0, 0.14, (40, 6)))
    readings = robot.inverse(theta, *true) + rng.normal(0, READING, (40, 6))
    p, R, truth = true.position, true.rotation, theta
    if frames == "instrument":
        rows = robot.rows(theta)[:, :7].copy()
        camera, target = ELSEWHERE.motion, ON_PLATFORM.motion
        p, R = camera.of(p + (R @ target.t)), camera.R @ R @ target.R
        rows[:, :3], rows[:, 3:6] = camera.of(rows[:, :3]), target.inverse().of(rows[:, 3:6])
        truth = rows.reshape(-1)
    poses = Poses(p + rng.normal(0, POSITION, (40, 3)), exp(rng.normal(0, ORIENTATION, (40, 3))) @ R, readings)
    poses = poses.with_noise(POSITION, ORIENTATION, READING) if stated else poses
    answer = calibrate(robot, poses, frames=frames)  # type: ignore[arg-type]
    return judged(answer.estimate, answer.estimate.value - truth)


def delta_file(rng: np.random.Generator, *, stated: bool) -> Outcome:
    """40 positions of a linear delta that is 1 mm from its blueprint."""
    robot = LinearDelta()
    theta = robot.nominal + rng.normal(0, 1e-3, 10)
    p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.15], (40, 3))
    readings = robot.inverse(theta, p) + rng.normal(0, READING, (40, 3))
    poses = Poses(p + rng.normal(0, POSITION, (40, 3)), None, readings)
    poses = poses.with_noise(POSITION, 0.0, READING) if stated else poses
    answer = calibrate(robot, poses)
    return judged(answer.estimate, answer.estimate.value - theta)


def probed(rng: np.random.Generator, *, heights: int, distances: int) -> Outcome:
    """A delta printer by its own probe, and by distances of a printed object."""
    robot = LinearDelta()
    theta = robot.nominal + rng.normal(0, 3e-4, 10) * [1, 1, 1, 1, 10, 10, 0, *(3 * [distances > 0])]

    def at(xy: Array) -> Array:
        p = np.column_stack([xy, np.zeros(len(xy))])
        return robot.inverse(theta, p)

    def spread(n: int) -> Array:
        r, angle = 0.1 * np.sqrt(rng.uniform(0, 1, n)), rng.uniform(0, 2 * np.pi, n)
        return np.column_stack([r * np.cos(angle), r * np.sin(angle)])

    met = at(spread(heights))
    first, second = spread(distances), spread(distances)
    length = np.linalg.norm(first - second, axis=1) + rng.normal(0, DISTANCE, distances)
    ends = np.stack([at(first), at(second)], axis=1) if distances else np.zeros((0, 2, 3))
    probes = KlipperDelta(
        robot.radius, robot.angle, robot.arm, robot.endstop, rng.normal(0, HEIGHT, heights), met, length, ends
    )
    answer = calibrate_printer(probes)
    names = answer.estimate.names
    return judged(answer.estimate, answer.estimate.value - theta[[robot.names.index(name) for name in names]])


class Kind(NamedTuple):
    """A kind of measurement, in words, how a campaign of it is drawn, and whether its noise may be stated."""

    words: str
    draw: Callable[..., Outcome]
    noise: tuple[str, ...] = NOISE


def _of_instruments(name: str) -> Kind:
    words = (INSTRUMENTS[name].__doc__ or "").split(".", maxsplit=1)[0]
    return Kind(words, partial(by_instruments, name))


KINDS = {name: _of_instruments(name) for name in INSTRUMENTS} | {
    "poses": Kind("File of 40 complete poses of a hexapod, in the robot's frame", partial(pose_file, frames="robot")),
    "poses, camera": Kind(
        "The same, in the frames of a camera and its target", partial(pose_file, frames="instrument")
    ),
    "positions": Kind("File of 40 positions of a linear delta", delta_file),
    "heights": Kind("Ten probed heights of a delta printer", partial(probed, heights=10, distances=0), NOISE[1:]),
    "distances": Kind(
        "Ten probed heights and twelve distances on a printed object",
        partial(probed, heights=10, distances=12),
        NOISE[1:],
    ),
}


def simulated(kind: str, noise: str, seed: int) -> dict:
    """One campaign: whether the regions hold the truth, or why it was refused."""
    rng = np.random.default_rng([seed, *kind.encode()])
    one = KINDS[kind]
    options = {"stated": noise == "stated"} if len(one.noise) > 1 else {}
    try:
        outcome = one.draw(rng, **options)
    except GoughError as error:
        return {"refused": str(error)[:100]}
    return {"joint": outcome.joint, "inside": sum(outcome.intervals), "of": len(outcome.intervals)}


def between(inside: int, of: int) -> str:
    """The 95 % confidence interval of a share (Clopper and Pearson), in percent."""
    low = beta.ppf(0.025, inside, of - inside + 1) if inside else 0.0
    high = beta.ppf(0.975, inside + 1, of - inside) if inside < of else 1.0
    return f"{100 * low:.1f} … {100 * high:.1f}"


def rows(results: dict[str, dict]) -> list[str]:
    """The lines of the table."""
    cells = defaultdict(list)
    for key, result in results.items():
        kind, noise, _ = key.split("/")
        cells[kind, noise].append(result)
    lines = []
    for kind, one in KINDS.items():
        for noise in one.noise:
            if not (all_ := cells.get((kind, noise))):
                continue
            done = [each for each in all_ if "joint" in each]
            joint = sum(each["joint"] for each in done)
            held, of = sum(each["inside"] for each in done), sum(each["of"] for each in done)
            share = f"{100 * joint / len(done):.1f} %" if done else "—"
            within = f"{between(joint, len(done))} %" if done else "—"
            single = f"{100 * held / of:.1f} %" if of else "—"
            lost = len(all_) - len(done)
            count = f"{len(done)} ({lost} refused)" if lost else f"{len(done)}"
            lines.append(f"| `{kind}` | {one.words} | {noise} | {count} | {share} | {within} | {single} |")
    return lines


HEAD = """| kind | what is measured | noise | campaigns | joint region | its 95 % interval | single intervals |
|---|---|---|---|---|---|---|
"""


def main() -> None:
    """Run the campaigns that are missing in the ledger and print the table."""
    parser = argparse.ArgumentParser(description="Coverage of the 95 %% regions of calibrations.")
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="kind", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--campaigns", type=int, default=200, help="campaigns of each kind")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--noise", nargs="*", default=list(NOISE), choices=NOISE)
    parser.add_argument("--page", action="store_true", help="write the table into the documentation")
    add_options(parser, LEDGER)
    given = parser.parse_args()
    tasks = {
        f"{kind}/{noise}/{seed}": (kind, noise, seed)
        for seed in range(given.first, given.first + given.campaigns)
        for kind in given.kinds
        for noise in KINDS[kind].noise
        if noise in given.noise
    }
    results_of(campaigns.Campaign(simulated, tasks, name=DIGEST), given)
    with campaigns.Ledger(given.ledger, DIGEST) as ledger:
        text = HEAD + "\n".join(rows(ledger.results)) + "\n"
    print(text)
    if given.page:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{text}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
