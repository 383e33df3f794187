"""Runs tasks by rivals, prints the figures, and writes the page."""

import argparse
import json
import platform
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks._campaign import add_options, results_of
from benchmarks.peers import arm, bounded, camera, five_bar, hexapod
from benchmarks.peers.page import figures_in_words, write_page
from benchmarks.peers.rivals import REPOSITORY, RIVALS
from benchmarks.peers.score import score
from benchmarks.peers.task import Task
from gough.campaigns import Campaign

FOLDER = REPOSITORY / "build" / "peers"
RESULTS = Path(__file__).with_name("results.jsonl")

TASKS: dict[str, tuple[str, int, Callable[[range], Task]]] = {
    "arm-white": ("arm", 40, lambda seeds: arm.recordings("white", seeds)),
    "arm-filtered": ("arm", 40, lambda seeds: arm.recordings("filtered", seeds)),
    "arm-slow": ("arm", 40, lambda seeds: arm.recordings("slow", seeds)),
    "arm-mistakes": ("arm", 5, lambda seeds: arm.with_mistakes("white", seeds)),
    "five-bar-white": ("loop", 40, lambda seeds: five_bar.recordings("white", seeds)),
    "five-bar-slow": ("loop", 40, lambda seeds: five_bar.recordings("slow", seeds)),
    "hexapod": ("hexapod", 100, hexapod.with_noise),
    "camera": ("camera", 40, camera.recordings),
    "bounded": ("bounded", 20, bounded.recordings),
    "bounded-wrong-row": ("bounded", 20, lambda seeds: bounded.recordings(seeds, is_wrong=True)),
    "leg": ("leg", 10, hexapod.with_tolerances),
    "leg-wrong-pose": ("leg", 10, lambda seeds: hexapod.with_tolerances(seeds, is_wrong=True)),
}
"""By name: the kind, how many seeds are the default, and what makes the task."""


@cache
def made(name: str, seeds: int) -> Task:
    return TASKS[name][2](range(seeds))


def answered(name: str, rival_name: str, seeds: int) -> dict[str, Any]:
    """The figures of one rival in one task, with versions."""
    rival, task = RIVALS[rival_name], made(name, seeds)
    entry: dict[str, Any] = {"task": name, "rival": rival_name, "machine": platform.machine(), "note": rival.note}
    reason = rival.install()
    if reason:
        return {**entry, "versions": {}, "call": "", "figures": {}, "reason": reason}
    count = next(len(task.data[key]) for key in ("efforts", "pixels", "readings", "y") if key in task.data)
    given = replace(task, stated={**task.stated, "recordings": min(count, rival.most * (count // seeds))})
    lines = list(rival.answers(*given.write(FOLDER / name / rival_name)))
    (FOLDER / name / rival_name / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    head = lines[0]
    return {
        **entry,
        "versions": head.get("versions", {}),
        "call": head.get("call", ""),
        "reason": "" if head else "its runner did not start; see the log in build/peers",
        "figures": score(task, lines[1:]),
    }


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="gough and its rivals on the same data.")
    parser.add_argument("tasks", nargs="*", metavar="task", help=f"of {', '.join(TASKS)}; all by default")
    parser.add_argument("--rival", action="append", choices=list(RIVALS), help="may be repeated; all by default")
    parser.add_argument("--seeds", type=int, help="how many recordings; by default as many as the page states")
    parser.add_argument("--page", action="store_true", help="write results.jsonl and the table of docs/benchmarks.md")
    add_options(parser, str(FOLDER))  # another version of gough or of the tasks has a ledger of its own there
    given = parser.parse_args(words)
    unknown = [name for name in given.tasks if name not in TASKS]
    if unknown:
        parser.error(f"no task is called {', '.join(unknown)}; there are: {', '.join(TASKS)}")
    if given.seeds is not None and given.seeds < 1:
        parser.error(f"--seeds must be at least 1, but is {given.seeds}")
    pairs = {
        f"{name}, {rival.name}": (name, rival.name, given.seeds or TASKS[name][1])
        for name in given.tasks or TASKS
        for rival in RIVALS.values()
        if TASKS[name][0] in rival.kinds and (not given.rival or rival.name in given.rival)
    }
    if not pairs:
        parser.error(f"{', '.join(given.rival)} takes no part in {', '.join(given.tasks)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    results = list(results_of(Campaign(answered, pairs), given).values())
    print(figures_in_words(results))
    if given.page:
        RESULTS.write_text("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in results), encoding="utf-8")
        write_page(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
