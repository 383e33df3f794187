"""One case for each effect of the catalogue: what the verdict says of a delta in which the effect is planted.

The table is part of docs/tutorials/what-the-verdict-means.md; a run without --page prints it, and the verdicts in full.

    python -m benchmarks.verdict_cases [--page] [effects]
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gough.core.text import number
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.dynamics import identify
from gough.dynamics.adequacy import Finding
from gough.dynamics.effects import catalogue
from gough.dynamics.verdict import Verdict
from gough.simulate.multibody import experiment

ROBOT, METHODS = "delta", ("least-squares",)
PAGE = Path(__file__).parents[1] / "docs" / "tutorials" / "what-the-verdict-means.md"
BEGIN, END = "<!-- begin: benchmarks/verdict_cases.py -->", "<!-- end: benchmarks/verdict_cases.py -->"
HEADS = (
    "planted",
    "size",
    "verdict",
    "residual / noise",
    "named first",
    "estimated size",
    "if ignored: parameter most off",
    "verdict with the effect in the model",
)


@one_blas_thread()
def case(name: str) -> list[str] | None:
    """The cells of one effect; None where the robot cannot have it."""
    of = experiment(ROBOT)
    planted, size = None, ""
    effects = catalogue()
    if name in effects:
        effect = effects[name]
        amount = effect.sizes[-1]
        planted = effect.plant(of, amount, np.random.default_rng(7))
        if planted is None:
            return None
        size = f"{number(amount, digits=2)} {effect.size_unit}"
    motion = MeasuredMotion.concatenate(*of.measured(planted, np.random.default_rng(1)))
    found = identify(of.robot, motion, methods=METHODS)
    verdict = found.verdict
    print(f"== {name} {size}\n{verdict}\n", flush=True)
    cause = verdict.cause
    ratio = next((sign.statistic for sign in verdict.signs if sign.about == "noise level"), "—")
    cells = [f"`{name}`" if size else name, size or "—", words(verdict), ratio.removeprefix("residual / noise = ")]
    if cause is None:
        return [*cells, "—", "—", "—", "—"]
    worst = cause.worst
    off = "—" if worst is None else f"{worst[0]}: {100 * abs(worst[1]):.0f} %, {abs(worst[2]):.0f} σ"
    again = "—"
    if cause.effect.name != "sign":  # that one is corrected, not estimated
        again = words(identify(of.robot, motion, methods=METHODS, effects=(cause.effect.name,)).verdict)
    return [*cells, f"`{cause.effect.name}`", largest(cause.size), off, again]


def largest(sizes: str) -> str:
    """Of estimated sizes, "a = 1 ± 0.1 m, b = …", the one with the largest value."""
    if " = " not in sizes:
        return "—"
    parts = sizes.split(" and ", maxsplit=1)[0].split(", ")
    return max(parts, key=lambda one: abs(float(one.split(" = ")[1].split()[0].replace("−", "-"))))


def words(verdict: Verdict) -> str:
    """The finding, with the cause where there is one."""
    finding = verdict.finding.name.replace("_", " ").lower()
    return finding if verdict.finding is not Finding.INADEQUATE else "**not adequate**"


def main(names: Sequence[str] = (), *, page: bool = False) -> None:
    """Print the table, or write it into the page."""
    rows = [row for name in names or ("nothing", *catalogue()) if (row := case(name)) is not None]
    text = "\n".join(f"| {' | '.join(row)} |" for row in (HEADS, ["---"] * len(HEADS), *rows))
    if not page:
        print(text)
        return
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main([word for word in sys.argv[1:] if word != "--page"], page="--page" in sys.argv)
