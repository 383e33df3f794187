"""What `calibrate` names where two mistakes are easily confused: tables of verdicts by the number of poses.

    python -m benchmarks.calibration_confusion --seeds 3 --clean 5 --workers 2 --page

Three tables, of mistakes that are made in simulated calibrations with the noise stated: readings exchanged, or joints
of the blueprint; a wrong pose, or noise that is stated too small; units. A fourth counts what data without a mistake
are accused of, for every robot. Results are kept in a ledger, so that a run can be stopped and resumed; with --page
they are written into docs/calibration-verdicts.md.
"""

import argparse
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from benchmarks._campaign import add_options, results_of
from benchmarks.calibration_mistakes import ANGLE, BLUEPRINT, PAGE, POSITION, elsewhere
from gough import campaigns
from gough.core.errors import GoughError
from gough.core.rotations import exp, log
from gough.core.threads import one_blas_thread
from gough.data import Poses
from gough.geometry import calibrate
from gough.geometry.diagnosis import UNDERSTATED, UNTOLD
from gough.geometry.mistakes import catalogue
from gough.papers.new_calibration import WORKSPACE
from gough.robots import KINEMATICS, GoughPlatform, KinematicModel

SIZES = (8, 16, 32, 64, 200)
FRAMES = ("robot", "instrument")
READING = MappingProxyType({"m": 1e-5, "rad": 5e-5})
DIGEST = campaigns.digest(("calibration confusion", 3, POSITION, ANGLE, tuple(READING.items()), BLUEPRINT))
BEGIN, END = "<!-- begin: benchmarks/calibration_confusion.py -->", "<!-- end: benchmarks/calibration_confusion.py -->"
NOTHING, REFUSED = "nothing", "refused, no name"

Made = Callable[[KinematicModel, Poses, np.random.Generator], tuple[KinematicModel, Poses, frozenset[int]]]
"""Blueprint and data with a mistake, and the poses that are wrong."""


@dataclass(frozen=True)
class Case:
    """A mistake and what is a right verdict on it."""

    table: str
    made: Made
    right: tuple[str, ...]
    """Names of which one must be given …"""
    words: str = ""
    """… with these words."""
    robots: tuple[str, ...] = ("gough",)
    sizes: tuple[int, ...] = SIZES


class Cell(NamedTuple):
    """A case in poses of a robot."""

    case: str
    robot: str
    poses: int
    frames: str

    def key(self, seed: int) -> str:
        return f"{self.case}|{self.robot}|{self.poses}|{self.frames}|{seed}"


def measured(name: str, n: int, frames: str, rng: np.random.Generator) -> tuple[KinematicModel, Poses]:
    """A robot's blueprint, and poses with noise of a machine that is near it."""
    model: KinematicModel = GoughPlatform.deltalab() if name == "gough" else KINEMATICS[name]()
    unit, size = model.reading_unit, BLUEPRINT * (1.0 if name == "gough" else 0.5)
    axes = np.array([float(freedom in model.freedoms) for freedom in range(6)])
    truth = model.nominal + size * rng.normal(size=len(model.names))
    if isinstance(model, GoughPlatform):
        readings = rng.uniform(0, 0.14, (n, 6))
        exact = model.forward(truth, readings)
        position, rotation = exact.position, exact.rotation
    else:
        lower, upper, turn = WORKSPACE[name]
        position = rng.uniform(lower, upper, (n, 3))
        rotation = exp(turn * rng.uniform(-1, 1, (n, 3)) * axes[3:])
        readings = model.inverse(truth, position, rotation)
    readings = readings + READING[unit] * rng.normal(size=readings.shape)
    seen = position + POSITION * rng.normal(size=(n, 3)) * axes[:3]
    turned = exp(ANGLE * rng.normal(size=(n, 3)) * axes[3:]) @ rotation if model.has_orientation else None
    poses = Poses(seen, turned, readings).with_noise(POSITION, ANGLE, READING[unit])
    return model, elsewhere(poses) if frames == "instrument" else poses


def none(model: KinematicModel, poses: Poses, _: np.random.Generator) -> tuple[KinematicModel, Poses, frozenset[int]]:
    return model, poses, frozenset()


def readings_in_order(moved: int) -> Made:
    """So many readings take one another's places."""

    def made(
        model: KinematicModel, poses: Poses, rng: np.random.Generator
    ) -> tuple[KinematicModel, Poses, frozenset[int]]:
        order = _order(rng, poses.readings.shape[1], moved)
        return model, replace(poses, readings=poses.readings[:, order]), frozenset()

    return made


def joints_in_order(moved: int, *parts: slice) -> Made:
    """So many joints of the blueprint take one another's places, in the same way in each part."""

    def made(
        model: KinematicModel, poses: Poses, rng: np.random.Generator
    ) -> tuple[KinematicModel, Poses, frozenset[int]]:
        assert isinstance(model, GoughPlatform)
        rows, order = model.rows(model.nominal).copy(), _order(rng, 6, moved)
        for part in parts:
            rows[:, part] = rows[order, part]
        return GoughPlatform(rows[:, :3], rows[:, 3:6], rows[:, 6]), poses, frozenset()

    return made


def _order(rng: np.random.Generator, n: int, moved: int) -> list[int]:
    order, chosen = list(range(n)), rng.permutation(n)[:moved].tolist()
    for k, other in zip(chosen, [*chosen[1:], chosen[0]], strict=True):
        order[k] = other
    return order


def wrong_pose(size: float, understated: float = 1.0) -> Made:
    """One position is off by so many standard deviations; all are stated too small by a factor."""

    def made(
        model: KinematicModel, poses: Poses, rng: np.random.Generator
    ) -> tuple[KinematicModel, Poses, frozenset[int]]:
        position, k = poses.position.copy(), int(rng.integers(len(poses)))
        direction = rng.normal(size=3)
        position[k] += size * POSITION * direction / np.linalg.norm(direction)
        worse = larger_noise(understated)(model, replace(poses, position=position), rng)[1]
        return model, worse, frozenset([k])

    return made


def larger_noise(factor: float, *components: str) -> Made:
    """The noise is larger than stated by a factor; without names that of all components."""

    def made(
        model: KinematicModel, poses: Poses, rng: np.random.Generator
    ) -> tuple[KinematicModel, Poses, frozenset[int]]:
        sigma = {"positions": POSITION, "orientations": ANGLE, "readings": READING[model.reading_unit]}
        if not components:
            stated = [each / factor for each in sigma.values()]
            return model, Poses(poses.position, poses.rotation, poses.readings).with_noise(*stated), frozenset()
        more = {name: np.sqrt(factor**2 - 1) * each if name in components else 0.0 for name, each in sigma.items()}
        N, R = len(poses), poses.rotation
        position = poses.position + more["positions"] * rng.normal(size=(N, 3))
        rotation = R if R is None else exp(more["orientations"] * rng.normal(size=(N, 3))) @ R
        readings = poses.readings + more["readings"] * rng.normal(size=poses.readings.shape)
        return model, Poses(position, rotation, readings).with_noise(*sigma.values()), frozenset()

    return made


def other_units(position: float = 1.0, readings: float = 1.0, angles: float = 1.0) -> Made:
    """Numbers are read as if their units were other ones; the stated noise is in the stated units."""

    def made(
        model: KinematicModel, poses: Poses, _: np.random.Generator
    ) -> tuple[KinematicModel, Poses, frozenset[int]]:
        R = poses.rotation
        rotation = exp(angles * log(R)) if R is not None and angles != 1.0 else R
        changed = Poses(position * poses.position, rotation, readings * poses.readings)
        return model, changed.with_noise(POSITION, ANGLE, READING[model.reading_unit]), frozenset()

    return made


_BASE, _PLATFORM, _DEGREES = slice(0, 3), slice(3, 6), 180 / np.pi
_BOTH = ("gough", "linear-delta")
_NOISE = (UNDERSTATED, UNTOLD)
ORDERS, POSES, UNITS, CLEAN = "Readings or joints of the blueprint", "A pose or the noise", "Units", "No mistake"
CASES: Mapping[str, Case] = MappingProxyType(
    {
        "two readings exchanged": Case(ORDERS, readings_in_order(2), ("order of readings",), robots=_BOTH),
        "three readings exchanged": Case(ORDERS, readings_in_order(3), ("order of readings",)),
        "all readings exchanged": Case(ORDERS, readings_in_order(6), ("order of readings",)),
        "two joints of the base": Case(ORDERS, joints_in_order(2, _BASE), ("order of joints",), "of the base alone"),
        "two joints of the platform": Case(
            ORDERS, joints_in_order(2, _PLATFORM), ("order of joints",), "of the platform alone"
        ),
        "three joints of the base": Case(ORDERS, joints_in_order(3, _BASE), ("order of joints",), "of the base alone"),
        "two joints of both bodies": Case(ORDERS, joints_in_order(2, _BASE, _PLATFORM), ("order of readings",)),
        **{
            f"a position off by {size:g} σ": Case(POSES, wrong_pose(size), ("outliers",), robots=_BOTH)
            for size in (10.0, 30.0, 100.0)
        },
        "the same, 300 σ, and all σ stated 10 times too small": Case(
            POSES, wrong_pose(300.0, 10.0), ("outliers",), robots=_BOTH
        ),
        **{
            f"all σ stated {factor:g} times too small": Case(POSES, larger_noise(factor), _NOISE, robots=_BOTH)
            for factor in (3.0, 10.0, 30.0)
        },
        **{
            f"noise of {which} 10 times as large as stated": Case(POSES, larger_noise(10.0, which), _NOISE)
            for which in ("positions", "orientations", "readings")
        },
        **{
            f"{true} read as {stated} in the {what}": Case(
                UNITS,
                other_units(**{key: factor}),
                (name,),
                f"{true} were taken for {stated} in the {what}",
                robots,
            )
            for what, key, name, robots, units in (
                (
                    "positions",
                    "position",
                    "unit of positions",
                    _BOTH,
                    (("millimetres", "metres", 1e3), ("centimetres", "metres", 1e2), ("inches", "metres", 1 / 0.0254)),
                ),
                (
                    "readings",
                    "readings",
                    "unit of readings",
                    _BOTH,
                    (
                        ("millimetres", "metres", 1e3),
                        ("centimetres", "metres", 1e2),
                        ("inches", "metres", 1 / 0.0254),
                        ("inches", "millimetres", 1 / 25.4),
                    ),
                ),
                (
                    "readings",
                    "readings",
                    "unit of readings",
                    ("rotary-delta", "3-rrr"),
                    (("degrees", "radians", _DEGREES),),
                ),
                ("orientations", "angles", "unit of angles", ("gough",), (("degrees", "radians", _DEGREES),)),
            )
            for true, stated, factor in units
        },
        "inches in the blueprint, read as millimetres": Case(
            UNITS, other_units(25.4, 25.4), ("unit of positions",), "inches for millimetres in the blueprint", _BOTH
        ),
        "no mistake": Case(CLEAN, none, (NOTHING,), robots=tuple(KINEMATICS)),
    }
)


@one_blas_thread()
def judged(cell: Cell, seed: int) -> dict[str, object] | None:
    """What is named, and whether it is right; None where there are fewer equations than unknowns."""
    digest = hashlib.sha256(f"{cell.case} {cell.robot} {cell.poses} {seed}".encode()).digest()
    rng = np.random.default_rng(np.frombuffer(digest[:16], dtype=np.uint32))
    case = CASES[cell.case]
    model, poses, wrong = case.made(*measured(cell.robot, cell.poses, cell.frames, rng), rng)
    try:
        accused = calibrate(model, poses, frames=cell.frames).diagnosis.accusations
        told = [each for each in accused if each.is_convention] or [*accused[:1]]
        names, text = [each.mistake for each in told] or [NOTHING], " ".join(each.words for each in told)
        if told and told[0].mistake == "outliers":
            is_named = set(told[0].poses) == wrong or any(f" {poses.label(k)} is left out" in text for k in wrong)
            names = ["outliers" if is_named else "other poses"]
    except GoughError as error:
        text = str(error)
        if "measure at least" in text:  # fewer equations than unknowns: nothing is judged
            return None
        names = [each.name for each in catalogue().values() if each.advice in text] or [REFUSED]
    is_right = bool(set(names) & set(case.right)) and case.words in text
    return {"named": names, "right": is_right, "said": text[:400]}


def cells(names: list[str], robots: list[str], sizes: list[int]) -> Iterator[Cell]:
    for name in names:
        for robot in CASES[name].robots:
            for n in sizes:
                for frames in FRAMES:
                    if robot in robots:
                        yield Cell(name, robot, n, frames)


def tables(ledger: Mapping[str, Mapping[str, object] | None], sizes: list[int]) -> str:
    """A table for each pair of mistakes: right verdicts by the number of poses, and what is said instead."""
    seen: dict[tuple[str, str, int], list[Mapping[str, object]]] = {}
    for key, value in ledger.items():
        case, robot, n, _, _ = key.split("|")
        if case in CASES and value is not None:
            seen.setdefault((case, robot, int(n)), []).append(value)
    lines: list[str] = []
    for title in dict.fromkeys(case.table for case in CASES.values()):
        lines += [
            "",
            f"**{title}**",
            "",
            f"| made | robot | {' | '.join(f'{n} poses' for n in sizes)} | said instead |",
        ]
        lines.append("|---|---" + "|---" * (len(sizes) + 1) + "|")
        for name, case in CASES.items():
            for robot in case.robots if case.table == title else ():
                row, instead = [], Counter[str]()
                for n in sizes:
                    runs = seen.get((name, robot, n), [])
                    row.append(f"{sum(bool(each['right']) for each in runs)} of {len(runs)}" if runs else "—")
                    instead.update(" or ".join(each["named"]) for each in runs if not each["right"])  # type: ignore[arg-type]
                if any(each != "—" for each in row):
                    words = ", ".join(f"{what} ({count})" for what, count in instead.most_common(4)) or "—"
                    lines.append(f"| {name} | {robot} | {' | '.join(row)} | {words} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="|".join(CASES), help="with | between them")
    parser.add_argument("--robots", default=",".join(KINEMATICS))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--seeds", type=int, default=1, help="runs of each case")
    parser.add_argument("--clean", type=int, default=5, help="runs without a mistake in each cell")
    parser.add_argument("--first", type=int, default=0, help="first random seed")
    add_options(parser, "calibration-confusion.ledger")
    parser.add_argument("--stored", action="store_true", help="only print what the ledger has")
    parser.add_argument("--page", action="store_true", help="write the tables into the documentation")
    given = parser.parse_args()
    sizes = [int(each) for each in given.sizes.split(",")]
    work = [
        (cell, seed)
        for cell in cells(given.cases.split("|"), given.robots.split(","), sizes)
        for seed in range(given.first, given.first + (given.clean if CASES[cell.case].table == CLEAN else given.seeds))
    ]
    order = np.random.default_rng(1).permutation(0 if given.stored else len(work))
    results_of(campaigns.Campaign(judged, {work[k][0].key(work[k][1]): work[k] for k in order}, name=DIGEST), given)
    with campaigns.Ledger(given.ledger, DIGEST) as ledger:
        text = f"{tables(ledger.results, sizes)}\n"
    print(text)
    if given.page:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(f"{page.split(BEGIN)[0]}{BEGIN}\n{text}{END}{page.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
