"""Which mistake `calibrate` names for each one that is made in simulated calibrations: a confusion table.

    python -m benchmarks.calibration_mistakes --seeds 20 --clean 40 --workers 2 --page

A Gough platform and a linear delta are measured at 8 to 100 random poses, in the robot's frame or an instrument's, with
the noise stated or not. Results are kept in a ledger, so that a run can be stopped and resumed; with --page they are
written into docs/calibration-verdicts.md.
"""

import argparse
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks._campaign import add_options, results_of
from gough import campaigns
from gough.core.errors import GoughError
from gough.core.rotations import exp
from gough.core.threads import one_blas_thread
from gough.data import Poses
from gough.geometry import calibrate
from gough.geometry.mistake import Campaign
from gough.geometry.mistakes import catalogue
from gough.geometry.nested import LEVEL, SPARE, dense, fitted_at, whiteners
from gough.geometry.rigid_columns import at_base, at_platform
from gough.robots import GoughPlatform, KinematicModel, LinearDelta

CLEAN = "none"
SIZES = (8, 12, 20, 40, 100)
FRAMES = ("robot", "instrument")
ROBOTS: dict[str, KinematicModel] = {"gough": GoughPlatform.deltalab(), "delta": LinearDelta()}
POSITION, ANGLE, READING = 5e-5, 2e-4, 1e-5
"""Standard deviations of the noise: m, rad, m."""
BLUEPRINT = 2e-3
"""Standard deviation of the robot from its blueprint, m and rad."""
POWER = 0.99
"""A mistake is identifiable if the test of this one alternative, at its corrected level, finds it so often."""
RIGHT, FALSE = 0.95, 0.01
DIGEST = campaigns.digest(("calibration mistakes", 2, POSITION, ANGLE, READING, BLUEPRINT))
PAGE = Path(__file__).parents[1] / "docs" / "calibration-verdicts.md"
BEGIN, END = "<!-- begin: benchmarks/calibration_mistakes.py -->", "<!-- end: benchmarks/calibration_mistakes.py -->"


class Cell(NamedTuple):
    """A mistake of a size, in poses of a robot."""

    robot: str
    mistake: str
    size: float
    poses: int
    frames: str
    stated: bool

    def key(self, seed: int) -> str:
        noise = "stated" if self.stated else "unknown"
        return f"{self.robot}, {self.mistake} {self.size:g}, {self.poses} poses, {self.frames}, {noise}, {seed}"


def campaign(cell: Cell, rng: np.random.Generator) -> Campaign:
    """Measured poses without a mistake, in the frame of the cell."""
    model = ROBOTS[cell.robot]
    theta = model.nominal + BLUEPRINT * rng.normal(size=len(model.names)) * (0.5 if cell.robot == "delta" else 1.0)
    n = cell.poses
    if isinstance(model, GoughPlatform):
        readings = rng.uniform(0, 0.14, (n, 6))
        exact = model.forward(theta, readings)
        rotation = exp(ANGLE * rng.normal(size=(n, 3))) @ exact.rotation
        position = exact.position
    else:
        position, rotation = rng.uniform([-0.09, -0.09, 0.0], [0.09, 0.09, 0.15], (n, 3)), None
        readings = model.inverse(theta, position)
    poses = Poses(
        position + POSITION * rng.normal(size=(n, 3)), rotation, readings + READING * rng.normal(size=readings.shape)
    )
    return Campaign(model, theta, poses.with_noise(POSITION, ANGLE, READING), POSITION)


def elsewhere(poses: Poses) -> Poses:
    """The same, seen by an instrument that stands elsewhere; its target is not the platform."""
    Z, z = exp(np.array([2.0, 0.1, 0.3])), np.array([0.1, 0.0, 0.9])
    if poses.rotation is None:
        return replace(poses, position=poses.position @ Z.T + z)
    X, x = exp(np.array([0.2, 0.0, 1.0])), np.array([0.0, 0.02, 0.05])
    position = (poses.position - poses.rotation @ X.T @ x) @ Z.T + z
    return replace(poses, position=position, rotation=Z @ poses.rotation @ X.T)


def back(poses: Poses) -> Poses:
    """What `elsewhere` did undone: poses of the instrument in the robot's frame."""
    Z, z = exp(np.array([2.0, 0.1, 0.3])), np.array([0.1, 0.0, 0.9])
    if poses.rotation is None:
        return replace(poses, position=(poses.position - z) @ Z)
    X, x = exp(np.array([0.2, 0.0, 1.0])), np.array([0.0, 0.02, 0.05])
    return replace(
        poses, position=(poses.position - z) @ Z + Z.T @ poses.rotation @ x, rotation=Z.T @ poses.rotation @ X
    )


@one_blas_thread()
def judged(cell: Cell, seed: int) -> dict | None:
    """What `calibrate` names, and whether the mistake is identifiable."""
    digest = hashlib.sha256(f"{cell.robot} {cell.mistake} {cell.size:g} {cell.poses} {seed}".encode()).digest()
    rng = np.random.default_rng(np.frombuffer(digest[:16], dtype=np.uint32))
    of = campaign(cell, rng)
    framed = cell.frames == "instrument"
    made, fixed, start = elsewhere(of.poses) if framed else of.poses, (), None
    if cell.mistake != CLEAN:
        mistake = catalogue()[cell.mistake]
        if framed and cell.mistake == "frame":
            return None
        moved_after = framed and cell.mistake == "still platform"
        found = mistake.make(of if moved_after else replace(of, poses=made), cell.size, rng)
        if found is None:
            return None
        made = elsewhere(found) if moved_after else found
        if cell.mistake == "zeros":  # yesterday's robot, of which only the joints are sought
            fixed, start = of.model.zeros, of.theta
    shown = made if cell.stated else replace(made, covariance=None, reading_sigma=None)
    try:
        answer = calibrate(of.model, shown, frames=cell.frames, fixed=fixed, start=start)
        accused = answer.diagnosis.accusations
        names = [each.mistake for each in accused if each.is_convention] or [each.mistake for each in accused[:1]]
        extra = len(accused) - len(names)
    except GoughError as error:
        text, extra = str(error), 0
        names = [each.name for each in catalogue().values() if each.advice in text] or ["refused, no name"]
    known = identifiable(cell, of, back(made) if framed else made, fixed)
    return {"named": names or ["nothing"], "extra": extra, "identifiable": known}


def identifiable(cell: Cell, of: Campaign, made: Poses, fixed: tuple[str, ...]) -> bool:
    """Whether a test of the right alternative alone finds a small error; `made` is in the robot's frame.

    Conventions always count as identifiable, except an order of readings that a turn of a symmetric robot undoes.
    """
    from scipy.stats import f, ncf  # noqa: PLC0415 - start-up time

    model, n = of.model, len(of.model.chains)
    if cell.mistake == "order of readings" and cell.frames == "instrument" and isinstance(model, LinearDelta):
        order = abs(made.readings[0][:, None] - of.poses.readings[0]).argmin(axis=1)
        return bool(np.linalg.det(np.eye(n)[order]) < 0)  # cyclic orders are turns by 120°, which the frame absorbs
    columns = {"gain": (1, n), "backlash": (1, n), "scale": (1, 1), "moved frame": (6, 4 * cell.poses - 4)}
    columns |= {
        "zeros": (n, 1),
        "outliers": (2 * n, comb(cell.poses, 2)),
        "exchanged poses": (2 * n, comb(cell.poses, 2)),
    }
    if cell.mistake not in columns:
        return True
    k, trials = columns[cell.mistake]
    at, clean, own = fitted_at(model, of.poses, of.theta, scale=1.0, fixed=())
    _, spoilt, _ = fitted_at(model, replace(made, covariance=None, reading_sigma=None), of.theta, scale=1.0, fixed=())
    free = np.array([i for i, name in enumerate(model.names) if name not in fixed])
    root, _ = whiteners(at, clean, own, free)
    J = dense(own, model.columns, len(model.names))[..., free]
    if cell.frames == "instrument":  # the joints of a Gough platform absorb both frames, unless they are held
        J = np.concatenate([J, at_base(at), *([at_platform(at)] if model.has_orientation else [])], axis=2)
    J = (root @ J).reshape(-1, J.shape[2])
    d = (root @ (spoilt - clean)[..., None]).reshape(-1)
    size = np.linalg.norm(J, axis=0)
    U, s, _ = np.linalg.svd(J / np.where(size > 0, size, 1.0), full_matrices=False)
    U = U[:, s > 1e-10 * s[0]]
    d = d - U @ (U.T @ d)
    spare, power = len(d) - U.shape[1] - k, 0.0
    if spare >= SPARE:  # the noise may be larger than stated, so that its size is that of what is left
        power = float(ncf.sf(f.isf(LEVEL / 7 / trials, k, spare), k, spare, d @ d))
    return power >= POWER


def cells(robots: list[str], mistakes: list[str], sizes: list[int]) -> Iterator[Cell]:
    for name in mistakes:
        for size in (1.0,) if name == CLEAN else catalogue()[name].sizes:
            for poses in sizes:
                for robot in robots:
                    for frames in FRAMES:
                        for stated in (True, False):
                            yield Cell(robot, name, size, poses, frames, stated)


def table(ledger: dict[str, dict | None], robots: list[str], names: list[str], sizes: list[int]) -> str:
    """Rows: mistakes and sizes; columns: numbers of poses; right names among identifiable ones, and all."""
    lines = []
    for robot in robots:
        lines += [
            "",
            f"**{robot}**",
            "",
            f"| mistake | size | {' | '.join(f'{n} poses' for n in sizes)} | named instead |",
        ]
        lines.append("|---|---" + "|---" * (len(sizes) + 1) + "|")
        for name in names:
            for size in (1.0,) if name == CLEAN else catalogue()[name].sizes:
                row, instead = [], Counter[str]()
                for n in sizes:
                    seen = [
                        value
                        for key, value in ledger.items()
                        if value is not None and key.startswith(f"{robot}, {name} {size:g}, {n} poses,")
                    ]
                    able = [each for each in seen if each["identifiable"]]
                    right = [name in each["named"] or (name == CLEAN and each["named"] == ["nothing"]) for each in able]
                    for each, good in zip(able, right, strict=True):
                        if not good:
                            instead[" or ".join(each["named"])] += 1
                    if not seen:
                        row.append("—")
                    elif name == CLEAN:
                        row.append(f"{len(right) - sum(right)} of {len(right)} accused")
                    else:
                        other = len(seen) - len(able)
                        share = f"{sum(right)} of {len(right)}" if right else "—"
                        row.append(f"**{share}**" if right and sum(right) < RIGHT * len(right) else share)
                        row[-1] += f" ({other} not identifiable)" if other else ""
                if all(each == "—" for each in row):
                    continue
                unit = "" if name == CLEAN else catalogue()[name].size_unit
                words = ", ".join(f"{what} ({count})" for what, count in instead.most_common(3)) or "—"
                lines.append(f"| {name} | {f'{size:g} {unit}' if unit else '—'} | {' | '.join(row)} | {words} |")
    return "\n".join(lines)


def totals(ledger: dict[str, dict | None]) -> str:
    """The sums over all cells, by frame and noise."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for key, value in ledger.items():
        if value is None or not value["identifiable"]:
            continue
        robot, what, _, frames, noise, _ = key.split(", ")
        name = what.rsplit(" ", 1)[0]
        good = value["named"] == ["nothing"] if name == CLEAN else name in value["named"]
        for group in ("all", f"frame: {frames}", f"noise {noise}", robot):
            kind = "clean" if name == CLEAN else "mistake"
            counts[f"{group}|{kind}"][0] += good
            counts[f"{group}|{kind}"][1] += 1
    lines = ["| | right name, where identifiable | accused without a mistake |", "|---|---|---|"]
    for group in dict.fromkeys(key.split("|")[0] for key in counts):
        good, n = counts[f"{group}|mistake"]
        fine, clean = counts[f"{group}|clean"]
        share = f"{100 * good / n:.1f} % of {n}" if n else "—"
        accused = f"{100 * (clean - fine) / clean:.1f} % of {clean}" if clean else "—"
        lines.append(f"| {group} | {share} | {accused} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robots", default=",".join(ROBOTS))
    parser.add_argument("--mistakes", default=",".join([CLEAN, *catalogue()]))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--seeds", type=int, default=1, help="runs of each mistake")
    parser.add_argument("--clean", type=int, default=10, help="runs without a mistake in each cell")
    parser.add_argument("--first", type=int, default=0, help="first random seed")
    add_options(parser, "calibration-mistakes.ledger")
    parser.add_argument("--stored", action="store_true", help="only print what the ledger has")
    parser.add_argument("--page", action="store_true", help="write the tables into the documentation")
    given = parser.parse_args()
    robots, names = given.robots.split(","), given.mistakes.split(",")
    sizes = [int(each) for each in given.sizes.split(",")]
    work = [
        (cell, seed)
        for cell in cells(robots, names, sizes)
        for seed in range(given.first, given.first + (given.clean if cell.mistake == CLEAN else given.seeds))
    ]
    order = np.random.default_rng(1).permutation(0 if given.stored else len(work))
    tasks = {work[k][0].key(work[k][1]): work[k] for k in order}  # a run that is stopped has some of every cell
    results_of(campaigns.Campaign(judged, tasks, name=DIGEST), given)
    with campaigns.Ledger(given.ledger, DIGEST) as ledger:
        results = dict(ledger.results)
    text = f"{totals(results)}\n{table(results, robots, names, sizes)}\n"
    print(text)
    if given.page:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{text}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
