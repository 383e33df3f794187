"""A task: data that every rival is given, what is stated about them, and the truth, which only the scorer reads."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Task:
    """Data of some recordings and what is asked about each."""

    name: str
    kind: str
    """What is asked: arm, bounded, leg, tolerances, camera. Runners answer by kind."""
    data: dict[str, np.ndarray]
    stated: dict[str, Any]
    """What a user would know: units, rates, bounds, blueprints."""
    truth: dict[str, np.ndarray]

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write data.npz and task.json, for programs that do not have gough."""
        folder.mkdir(parents=True, exist_ok=True)
        data, stated = folder / "data.npz", folder / "task.json"
        np.savez(data, **self.data)
        stated.write_text(json.dumps({"name": self.name, "kind": self.kind, **self.stated}), encoding="utf-8")
        return data, stated
