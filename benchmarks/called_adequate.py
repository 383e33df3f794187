"""Faults of a delta whose models were once called adequate: verdict, named cause and parameters, then with the effect.

Identification and validation of 20 s at 1 kHz, simulated by Pinocchio. Readings of efforts have noise of 0.05 N·m, of
which the low-pass leaves 0.010 N·m. The table is part of docs/verdicts.md.

    python -m benchmarks.called_adequate [--page] [part of a case's name ...]
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from gough.core.errors import InputError
from gough.core.text import number
from gough.core.threads import one_blas_thread
from gough.dynamics import Finding, identify
from gough.dynamics.effect import Planted
from gough.dynamics.effects import catalogue
from gough.dynamics.results import Identified
from gough.simulate.multibody import Experiment, experiment

NOISE, POSITIONS = 0.05, 1e-6
"""Standard deviation of one reading of an effort, N·m, and of a position, rad."""
METHOD = "least squares"
PAGE = Path(__file__).parents[1] / "docs" / "verdicts.md"
BEGIN, END = "<!-- begin: benchmarks/called_adequate.py -->", "<!-- end: benchmarks/called_adequate.py -->"
HEADS = ("case", "before", "verdict, exit code", "named cause and estimated size (±: 2 σ)", "most off", "mended")


def own(of: Experiment):
    return of.efforts(of.q, of.dq, of.ddq)


def late(of: Experiment, efforts, seconds: float):
    """Efforts of an earlier instant, within each recording."""
    result = np.empty_like(efforts)
    for k in np.unique(of.recording):
        part = of.recording == k
        t = of.time[part]
        result[part] = np.stack([np.interp(t - seconds, t, one) for one in efforts[part].T], axis=1)
    return result


def elastic(of: Experiment, stiffness: float):
    """Springs in all drives, about so stiff, N·m/rad."""
    swing = np.sqrt(((of.q - of.q.mean(axis=0)) ** 2).mean(axis=0))
    load = own(of) - of.drive_efforts(of.q, of.dq, of.ddq)
    size = float((np.sqrt((load**2).mean(axis=0)) / swing).mean()) / stiffness
    planted = catalogue()["elasticity"].plant(of, size, np.random.default_rng(0))
    if planted is None:
        raise InputError(f"springs of {stiffness} N·m/rad are too soft for this motion")
    return planted.efforts


def loaded(of: Experiment, mass: float):
    """A payload in the second recording."""
    with_mass = of.with_payload(mass).efforts(of.q, of.dq, of.ddq)
    return np.where((of.recording == of.recording[-1])[:, None], with_mass, own(of))


def warmed(of: Experiment, factor: float):
    """Friction of the drives multiplied in the second recording."""
    friction = of.drive_efforts(of.q, of.dq, 0 * of.ddq)
    return own(of) + np.where((of.recording == of.recording[-1])[:, None], (factor - 1) * friction, 0.0)


@dataclass(frozen=True)
class Case:
    name: str
    before: str
    efforts: Callable[[Experiment], np.ndarray] = own
    step: float = 0.0
    sigma: float | None = None
    use: tuple[str, ...] = ()
    """Effects with which the model is identified again; default: the one that is named."""
    is_corrected: bool = False
    """Is it corrected in the data instead?"""
    longer: float = 1.0
    """Factor of the arms' length, by which their true moments change."""


OFFSETS = np.array([0.15, -0.15, 0.15])
SECOND = np.array([0.0, 1.0, 0.0])
CASES = (
    Case("clean", "—"),
    Case(
        "torque ripple 0.25 N·m, 60 periods per turn",
        "“0.182 is the noise”",
        lambda of: own(of) + 0.25 * np.sin(60 * of.q),
    ),
    *(
        Case(
            f"efforts delayed by {1e3 * d:g} ms",
            f"adequate; viscous friction {off} off",
            lambda of, d=d: late(of, own(of), d),
        )
        for d, off in ((0.002, "20 %"), (0.005, "50 %"), (0.01, "99 %, 17 σ,"))
    ),
    Case("elastic drives, about 1500 N·m/rad", "—", lambda of: elastic(of, 1500.0)),
    Case("elastic drives, about 400 N·m/rad", "adequate; 16 % off, 6 σ", lambda of: elastic(of, 400.0)),
    Case("effort of motor 2 5 % too large", "adequate; 12 % off, 34 σ", lambda of: own(of) * (1 + 0.05 * SECOND)),
    Case("offsets of ±0.15 N·m", "adequate; −78 σ", lambda of: own(of) + OFFSETS),
    Case(
        "arms 2 % longer than drawn",
        "adequate; rod mass 31 % off, 17 σ",
        lambda of: of.with_length("arm", 1.02).efforts(of.q, of.dq, of.ddq),
        longer=1.02,
    ),
    Case("all efforts negated", "adequate; all masses negative, exit code 0", lambda of: -own(of), is_corrected=True),
    Case("effort of motor 2 negated", "—", lambda of: own(of) * (1 - 2 * SECOND), is_corrected=True),
    Case(
        "payload of 0.5 kg in the validation only",
        "undecided: “record longer”",
        lambda of: loaded(of, 0.5),
        is_corrected=True,
    ),
    Case(
        "friction 1.5 times in the validation",
        "adequate, of a real arm: fitted 0.400, held out 0.970",
        lambda of: warmed(of, 1.5),
        is_corrected=True,
    ),
    Case("encoders with 4096 counts", "65 % of 95 % intervals hold the true value", step=2 * np.pi / 4096),
    Case(
        "delay of 5 ms and offsets of ±0.15 N·m",
        "—",
        lambda of: late(of, own(of) + OFFSETS, 0.005),
        use=("delay", "offset"),
    ),
    Case("`sigma` ten times too small", "—", sigma=NOISE / 10),
    Case("`sigma` ten times too large", "—", sigma=NOISE * 10),
)


@cache
def robot() -> Experiment:
    return experiment("delta", seconds=20.0, rate=1000.0)


@cache
def truth(longer: float) -> dict[str, float]:
    """Parameters of the robot that moves, by its true dimensions, from data without noise."""
    of = robot()
    own_length = replace(of.robot.geometry, arm=longer * of.robot.geometry.arm)
    efforts = of.with_length("arm", longer).efforts(of.q, of.dq, of.ddq)
    motion = of.measured(Planted(of.q, efforts))[0]
    exact = identify(replace(of.robot, geometry=own_length), motion, methods=[METHOD], compare=False)[METHOD]
    return dict(zip(exact.unknowns.names, exact.value.tolist(), strict=True))


def measured(case: Case, seed: int = 1):
    of, rng = robot(), np.random.default_rng(seed)
    efforts = case.efforts(of)
    noisy = efforts + NOISE * rng.normal(size=efforts.shape)
    return of.measured(Planted(of.q + POSITIONS * rng.normal(size=of.q.shape), noisy, case.step))


def most_off(answer: Identified, case: Case) -> str:
    """The parameter that differs most from the true value, in its σ."""
    best, true = answer[METHOD], truth(case.longer)
    z = {
        name: (value - true[name]) / sigma
        for name, value, sigma in zip(best.unknowns.names, best.value.tolist(), best.region.sigma.tolist(), strict=True)
        if name in true
    }
    name = max(z, key=lambda each: abs(z[each]))
    return f"{name} {number(abs(z[name]), digits=2)} σ"


def verdict_in_words(answer: Identified) -> str:
    finding = "NOT ADEQUATE" if answer.verdict.finding is Finding.INADEQUATE else answer.verdict.finding.name
    return f"{finding.replace('_', ' ')}, {int(answer.is_refuted)}"


@one_blas_thread()
def judged(case: Case) -> list[str]:
    motion, validation = measured(case)
    options = {"methods": [METHOD], "validation": validation, "sigma": case.sigma}
    answer = identify(robot().robot, motion, **options)
    verdict = answer.verdict
    print(f"== {case.name}\n{verdict.text}\n", file=sys.stderr, flush=True)
    named = "—"
    if verdict.has_mistake:
        named = f"“{verdict.mistake}”"
    elif verdict.cause is not None:
        names = [f"`{cause.effect.name}`" for cause in (verdict.cause, *verdict.rivals)]
        named = f"{' or '.join(names)}: {verdict.cause.size or verdict.cause.effect.title}"
        named += ", indicative only" if "indicative only" in verdict.cause.caveat else ""
    mended = "—"
    if verdict.cause is not None and not case.is_corrected:
        use = case.use or (verdict.cause.effect.name,)
        again = identify(robot().robot, motion, **options, effects=use)
        mended = f"`{', '.join(use)}`: {verdict_in_words(again)}; {most_off(again, case)}"
    elif case.is_corrected:
        mended = "corrected in the data"
    return [case.name, case.before, verdict_in_words(answer), named, most_off(answer, case), mended]


def main(words: Sequence[str] = ()) -> None:
    words = words or sys.argv[1:]
    wanted = [word for word in words if not word.startswith("--")]
    chosen = [case for case in CASES if not wanted or any(word in case.name for word in wanted)]
    rows = []
    for case in chosen:
        rows.append(judged(case))
        print(f"| {' | '.join(rows[-1])} |", flush=True)
    if "--page" in words:
        text = "\n".join(f"| {' | '.join(row)} |" for row in (HEADS, ["---"] * len(HEADS), *rows))
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
