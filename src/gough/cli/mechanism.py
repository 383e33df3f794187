"""`gough mechanism`: check assembly, degrees of freedom, singularities and base parameters of a mechanism."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from gough.cli.options import Actuated, AsJson, Fixed, Home, PlatformBody, Pose, stated_beside_file
from gough.cli.progress import working
from gough.cli.terminal import answer, say, tell
from gough.core.errors import InputError, nearest, require
from gough.core.files import new_file
from gough.core.tables import table
from gough.core.text import number, on_factors
from gough.dynamics.base_parameters import base_parameters
from gough.dynamics.reduce import base_values
from gough.methods.statistical.identifiability import Identifiability
from gough.robots import ROBOTS
from gough.robots.mechanism import MechanismModel
from gough.robots.mechanism.examination import examine
from gough.robots.mechanism.imports import SUFFIXES
from gough.robots.mechanism.regrouping import formula
from gough.studies.mechanism_file import Stated, read_mechanism_robot
from gough.studies.mechanism_text import mechanism_text


def mechanism(
    file: Annotated[
        str,
        typer.Argument(
            help=f"Mechanism file (TOML, URDF, YAML of an Extended URDF, SDF, MJCF), or one of: {', '.join(ROBOTS)}."
        ),
    ],
    *,
    actuated: Actuated = "",
    platform: PlatformBody = "",
    pose: Pose = "",
    home: Home = "",
    fixed: Fixed = "",
    write: Annotated[
        Path | None, typer.Option(help="Also write the mechanism, part by part, to this new TOML file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a mechanism: degrees of freedom, assembly, singularities, limits, and base dynamic parameters."""
    with working("reading the mechanism") as now:
        robot = _robot(file, stated_beside_file(actuated, platform, pose, home, fixed))
        now("assembling it, and looking for singularities")
        examined = examine(robot)
        now("finding what can be identified")
        found = base_parameters(robot)
    if write is not None:
        with new_file(write) as target:
            target.write(mechanism_text(robot.mechanism).encode())
    if as_json:
        data: dict[str, Any] = {**asdict(examined), "grubler": examined.grubler, "warnings": examined.warnings}
        data["parameters"] = robot.names
        data["base_parameters"] = [
            {"formula": text, "unit": unit, "nominal": value} for text, unit, value in _base(robot, found)
        ]
        data["without_effect"] = found.without_effect
        answer(json.dumps(data, ensure_ascii=False, indent=1))
        return
    if Path(file).suffix.lower() in SUFFIXES:
        tell(f"{_on_platform(robot)}\n")
    tell(f"{examined}\n")
    tell(_in_words(robot, found))
    if write is not None:
        say("", f"Wrote {write}.")


def _on_platform(robot: MechanismModel) -> str:
    """Actuators and platform as they were read or stated."""
    platform = robot.mechanism.platform
    at = ", ".join(f"{name} = {number(value)}" for name, value in zip(platform.pose, platform.home, strict=True))
    return f"Actuated: {', '.join(robot.coordinates)}. Platform: {platform.body}; home: {at}."


def _robot(file: str, stated: Stated) -> MechanismModel:
    path = Path(file)
    if file in ROBOTS and not path.exists():
        require(stated.is_empty, f"{file} has its own actuators and platform: leave the options out")
        return MechanismModel(ROBOTS[file]().mechanism)
    if not path.suffix and not path.exists():
        raise InputError(
            f"there is no file {file}, and no mechanism of this name{nearest(file, ROBOTS)} "
            f"(known: {', '.join(ROBOTS)})"
        )
    return read_mechanism_robot(path, stated)


def _base(robot: MechanismModel, found: Identifiability) -> list[tuple[str, str, float]]:
    """Formula, unit and nominal value of each base parameter."""
    values = base_values(found, robot.nominal).tolist()
    units = [robot.units[k] for k in found.kept]
    formulas = [formula(robot.mechanism, robot.names, base.coefficients.tolist()) for base in found.base]
    return list(zip(formulas, units, values, strict=True))


def _in_words(robot: MechanismModel, found: Identifiability) -> str:
    base = _base(robot, found)
    rows = [[text, unit, number(value)] for text, unit, value in base]
    lines = [
        f"Base parameters: {found.rank} combinations of {len(found.names)} parameters are identifiable.",
        "",
        str(table(["base parameter", "unit", "nominal"], rows, "lur")),
    ]
    if rounded := on_factors(text for text, _, _ in base):
        lines.append(rounded)
    if any("Σ" in text for text, _, _ in base):
        lines.append("Σ: over the joints with the bodies of that mass, in the frame of the body named first.")
    if found.without_effect:
        lines.append(f"Parameters without effect on the actuators: {', '.join(found.without_effect)}.")
    return "\n".join(lines)
