"""Which cause the verdict names for each effect that is planted in a simulated robot: a confusion table.

    python -m benchmarks.verdicts --robots delta,five-bar --effects delay,offset --seeds 50 --clean 200 --workers 2

Robots move in Pinocchio (gough.simulate.multibody.experiment); recordings pass the default preparation. Results are
kept in a ledger, so that a run can be stopped and resumed; with --page they are written into docs/verdicts.md.
"""

import argparse
import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gough
from benchmarks._campaign import add_options, results_of
from gough.campaigns import Campaign, Ledger
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.dynamics import Finding, adequacy_of, recorded, reduced
from gough.dynamics.causes import causes_of, correlated_rows
from gough.dynamics.effect import Planted
from gough.dynamics.effects import catalogue
from gough.dynamics.noise_level import noise_level
from gough.dynamics.verdict import sign_of_spectrum, verdict_of
from gough.methods import identifiability
from gough.simulate.multibody import EXPERIMENTS, Experiment, experiment

CLEAN = "none"
VARIANTS = 5
"""Random choices (signs, actuators, lengths) with which an effect is planted; seeds take them in turn."""
PART = 5
"""Seeds of one cell that follow each other."""
SECONDS, SHORTER, RATE = 10.0, 5.0, 250.0
"""Duration of each of the two recordings, that of robots whose verdicts take longest, and samples a second."""
LONGEST = ("hexapod", "arm")
NOISE = 0.003
MOVED = 3.0
"""Shift, in σ, above which the right cause must be named first …"""
RIGHT, FALSE = 0.9, 0.02
"""… in this share of the seeds; and the greatest share of false alarms."""
PAGE = Path(__file__).parents[1] / "docs" / "verdicts.md"
BEGIN, END = "<!-- begin: benchmarks/verdicts.py -->", "<!-- end: benchmarks/verdicts.py -->"


class Cell(NamedTuple):
    """An effect of a size in a robot."""

    robot: str
    effect: str
    size: float

    def key(self, seed: int) -> str:
        return f"{self.robot} {self.effect} {self.size:g} {seed}"


@cache
def truth(robot: str) -> Experiment:
    return experiment(robot, seconds=SHORTER if robot in LONGEST else SECONDS, rate=RATE)


@cache
def planted(cell: Cell, variant: int) -> Planted | None:
    if cell.effect == CLEAN:
        return Planted(truth(cell.robot).q, truth(cell.robot).efforts(*_own(cell.robot)))
    rng = np.random.default_rng([variant, 77])
    return catalogue()[cell.effect].plant(truth(cell.robot), cell.size, rng)


def _own(robot: str):
    of = truth(robot)
    return of.q, of.dq, of.ddq


@cache
@one_blas_thread()
def fitted(cell: Cell, variant: int):
    """By least squares from noise-free data: parameters of the first recording that it determines, their σ at the usual
    noise, and the residual of both recordings over the usual noise.
    """
    of = truth(cell.robot)
    kept = determined(cell.robot)
    rms = np.sqrt((of.efforts(*_own(cell.robot)) ** 2).mean(axis=0))
    rows = []
    for motion in of.measured(planted(cell, variant)):
        problem = recorded(of.robot, motion)
        weight = 1 / (NOISE * np.sqrt(correlated_rows(motion)) * rms[np.nonzero(motion.kept)[1]])
        rows.append((problem.W[:, kept] * weight[:, None], problem.y * weight))
    A, y = rows[0]
    theta = np.linalg.lstsq(A, y, rcond=None)[0]
    sigma = np.sqrt(np.diagonal(np.linalg.pinv(A.T @ A, hermitian=True)))
    A, y = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    left = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    return theta, sigma, float(np.linalg.norm(left))


@cache
def determined(robot: str):
    """Independent columns of the regressor."""
    from scipy.linalg import qr  # noqa: PLC0415 - start-up time

    of = truth(robot)
    W = recorded(of.robot, of.measured()[0]).W
    size = np.linalg.norm(W, axis=0)
    R, order = qr(W / np.where(size > 0, size, 1.0), mode="r", pivoting=True)
    diagonal = abs(R.diagonal())
    return np.sort(order[: int((diagonal > 1e-8 * diagonal[0]).sum())])


def shift(cell: Cell, variant: int) -> float:
    """Largest difference, in σ, that the effect makes to a fitted parameter."""
    (theta, _, _), (clean, sigma, _) = fitted(cell, variant), fitted(Cell(cell.robot, CLEAN, 0.0), 0)
    return float((abs(theta - clean) / sigma).max())


def judged(cell: Cell, seed: int) -> dict | None:
    """What the library says about one experiment: the verdict of `identify` without its estimates."""
    of, variant = truth(cell.robot), seed % VARIANTS
    faulty = planted(cell, variant)
    if faulty is None:
        return None
    digest = hashlib.sha256(cell.key(seed).encode()).digest()
    rng = np.random.default_rng(np.frombuffer(digest[:16], dtype=np.uint32))
    motion, validation = of.measured(faulty, rng, effort_noise=NOISE)
    began = time.process_time()
    problem = recorded(of.robot, motion)
    analysis = identifiability(problem)
    level = noise_level(motion, problem if analysis.is_full_rank else reduced(problem, analysis))
    both = MeasuredMotion.concatenate(motion, validation)
    causes = causes_of(of.robot, both, most=1)
    signs = (sign_of_spectrum(both, causes.residuals), level.sign if level else None)
    adequacy = adequacy_of(of.robot, motion, validation, with_bound=False)
    verdict = verdict_of(adequacy, causes, tuple(sign for sign in signs if sign is not None))
    first = verdict.cause
    return {
        "against": verdict.finding is Finding.INADEQUATE,
        "signs": [sign.about for sign in verdict.against],
        "first": first.effect.name if first else "",
        "ranked": {cause.effect.name: [round(cause.score, 1), cause.p] for cause in causes.ranked[:4]},
        "not_excluded": [one.effect for one in causes.hidden],
        "seconds": time.process_time() - began,
        "shift": shift(cell, variant) if cell.effect != CLEAN else 0.0,
        "evidence": fitted(cell, variant)[2],
    }


def cells(robots: Sequence[str], effects: Sequence[str]) -> Iterator[Cell]:
    for robot in robots:
        for effect in effects:
            for size in (0.0,) if effect == CLEAN else catalogue()[effect].sizes:
                yield Cell(robot, effect, size)


def sources() -> str:
    """A fingerprint of the code that is judged: results of another version are not mixed with these."""
    root = Path(gough.__file__).parent
    files = [*sorted((root / "dynamics").rglob("*.py")), root / "simulate" / "multibody" / "experiment.py"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:32]


def run(arguments: argparse.Namespace) -> dict[str, dict | None]:
    name = arguments.digest or sources()
    wanted = [] if arguments.stored else list(cells(arguments.robots, arguments.effects))
    parts: list[tuple[int, Cell, list[int]]] = []
    for cell in wanted:
        count = arguments.clean if cell.effect == CLEAN else arguments.seeds
        seeds = list(range(arguments.first, arguments.first + count))
        # seeds with the same random choices together: a worker plants each once; all choices in turn
        seeds.sort(key=lambda seed: ((seed - arguments.first) // (VARIANTS * PART), seed % VARIANTS))
        parts += [(k, cell, seeds[k : k + PART]) for k in range(0, len(seeds), PART)]
    parts.sort(key=lambda part: part[0])  # some seeds of every cell first: a run that is stopped has a whole table
    tasks = {cell.key(seed): (cell, seed) for _, cell, seeds in parts for seed in seeds}
    results_of(Campaign(judged, tasks, name=name), arguments)
    with Ledger(arguments.ledger, name) as ledger:
        return dict(ledger.results)


class Summary(NamedTuple):
    """What was found in one cell."""

    seeds: int
    against: float
    right: float
    shift: float
    evidence: float
    """What the model cannot absorb of the effect, in σ."""
    stated: float
    """Share of the seeds in which the effect is named first, or else stated among those that the data do not exclude,
    in an answer that calls the model adequate."""
    named: Counter

    @property
    def fails(self) -> bool:
        return self.shift > MOVED and self.right < RIGHT

    @property
    def is_stated(self) -> bool:
        return self.stated >= RIGHT


def summarized(cell: Cell, results: dict[str, dict | None], seeds: Sequence[int]) -> Summary | None:
    found = [result for seed in seeds if (result := results.get(cell.key(seed))) is not None]
    if not found:
        return None
    named = Counter(result["first"] or "nothing" for result in found)
    unseen = sum(not result["against"] and cell.effect in result["not_excluded"] for result in found)
    return Summary(
        len(found),
        float(np.mean([result["against"] for result in found])),
        named[cell.effect] / len(found),
        float(np.median([result["shift"] for result in found])),
        float(np.median([result["evidence"] for result in found])),
        (named[cell.effect] + unseen) / len(found),
        named,
    )


def tables(results: dict[str, dict | None], arguments: argparse.Namespace) -> Iterator[str]:
    robots = arguments.robots
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    clean_seeds = range(arguments.first, arguments.first + arguments.clean)
    found = {
        cell: summarized(cell, results, clean_seeds if cell.effect == CLEAN else seeds)
        for cell in cells(robots, arguments.effects)
    }
    yield f"| effect | size | {' | '.join(robots)} |"
    yield "|---|---|" + "---|" * len(robots)
    if CLEAN in arguments.effects:
        alarms = [found[Cell(robot, CLEAN, 0.0)] for robot in robots]
        shown = [f"{each.against:.1%} of {each.seeds}" if each else "—" for each in alarms]
        yield f"| none: false alarms | | {' | '.join(shown)} |"
    counts = [
        {each.seeds for cell, each in found.items() if each and cell.robot == robot and cell.effect != CLEAN}
        for robot in robots
    ]
    yield f"| seeds per cell | | {' | '.join(_range(sizes) for sizes in counts)} |"
    for effect in arguments.effects:
        if effect == CLEAN:
            continue
        for size in catalogue()[effect].sizes:
            own = [found[Cell(robot, effect, size)] for robot in robots]
            if not any(own):  # absorbed by the parameters of all these robots
                continue
            yield f"| {effect} | {size:g} {catalogue()[effect].size_unit} | {' | '.join(map(_shown, own))} |"
    yield ""
    yield "| planted | first cause named, where a parameter moves by more than 3 σ |"
    yield "|---|---|"
    for effect in arguments.effects:
        named: Counter = Counter()
        for cell, each in found.items():
            if cell.effect == effect and each is not None and each.shift > MOVED:
                named += each.named
        if named:
            total = named.total()
            yield f"| {effect} | {', '.join(f'{name} {count / total:.1%}' for name, count in named.most_common())} |"


def _shown(each: Summary | None) -> str:
    if each is None:
        return "—"
    text = f"{each.right:.0%} / {each.against:.0%} ({_short(each.shift)} σ, {_short(each.evidence)})"
    if not each.fails:
        return text
    return f"{text} †" if each.is_stated else f"**{text}**"


def _range(sizes: set[int]) -> str:
    if not sizes:
        return "—"
    return str(max(sizes)) if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"


def _short(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def listed(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def main(arguments: Sequence[str] = ("--robots", "five-bar", "--seeds", "2", "--clean", "4")) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description=__doc__.splitlines()[0])
    parser.add_argument("--robots", type=listed, default=list(EXPERIMENTS))
    parser.add_argument("--effects", type=listed, default=[CLEAN, *catalogue()])
    parser.add_argument("--seeds", type=int, default=50, help="per effect, size and robot")
    parser.add_argument("--clean", type=int, default=200, help="seeds per robot without any effect")
    parser.add_argument("--first", type=int, default=1000, help="the first seed; use others to develop than to report")
    add_options(parser, "verdicts.jsonl")
    parser.add_argument("--digest", default="", help="take up results of another version of the code that is judged")
    parser.add_argument("--stored", action="store_true", help="tables of the results in the ledger; compute no others")
    parser.add_argument("--page", action="store_true", help="write the tables into docs/verdicts.md")
    chosen = parser.parse_args(list(arguments))
    results = run(chosen)
    lines = list(tables(results, chosen))
    print("\n".join(lines))
    spent = [result["seconds"] for result in results.values() if result]
    print(f"\n{len(spent)} verdicts, {np.mean(spent):.2f} s each, {max(spent):.2f} s at most")
    if chosen.page:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text("\n".join([before + BEGIN, *lines, END + after]), encoding="utf-8")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
