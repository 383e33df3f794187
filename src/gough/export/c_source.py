"""A model as C99: one header, one source, and a test program with vectors that gough computed."""

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import gough
from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.text import listed
from gough.dynamics.validation import quantile
from gough.estimates import Claim, Estimate
from gough.export.bounds import covering_factor, radius_of
from gough.export.effects import FRICTION, ExportedEffects
from gough.export.model import IdentifiedDynamics, RobotModel
from gough.export.templates import filled, source
from gough.export.vectors import Vectors, dynamic_vectors, geometric_vectors
from gough.kernels import Kernel, Reals
from gough.kernels.ports import check_name
from gough.region import Box, ConfidenceEllipsoid, Ellipsoid, Intersection
from gough.robots.chain_controller import chain_controller
from gough.robots.controller import Controllable, ControllerEquations, StateSearch
from gough.robots.meanings import parameter_meanings

TOLERANCE, FLOAT_TOLERANCE = 1e-9, 1e-2
"""Relative errors up to which exported C agrees with gough, in double and in single precision."""
_WIDTH = 110
_PLAIN = str.maketrans({"·": "*", "²": "^2", "³": "^3", "–": "-", "—": "-", "−": "-", "±": "+/-", "’": "'"})
_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma", "θ": "theta", "φ": "phi", "ψ": "psi"}


@dataclass(frozen=True, eq=False)
class Section:
    """The functions of one robot: of its dynamics, or of its calibrated geometry."""

    prefix: str
    model: RobotModel
    """With either dynamics or geometry."""

    @property
    def dynamics(self) -> IdentifiedDynamics | None:
        """The dynamics; None for a geometry."""
        return self.model.dynamics

    @cached_property
    def equations(self) -> ControllerEquations:
        """The kernels of the robot.

        Raises:
            InputError: the robot has no such equations.
        """
        if self.dynamics is None:
            geometry = self.model.geometry
            assert geometry is not None
            return chain_controller(geometry.model, geometry.parameters, geometry.home_readings, geometry.home)
        robot = self.dynamics.robot
        if not isinstance(robot, Controllable):
            raise InputError(f"the {robot.name} has no equations for a controller")
        return robot.controller_equations()

    @cached_property
    def effects(self) -> ExportedEffects | None:
        """The effects of the model; None for a geometry.

        Raises:
            InputError: efforts without one of the effects would be wrong.
        """
        return None if self.dynamics is None else ExportedEffects(self.dynamics, self.equations)

    @cached_property
    def vectors(self) -> Vectors:
        """Motions and results for the test program."""
        if self.effects is not None:
            return dynamic_vectors(self.effects)
        assert self.model.geometry is not None
        return geometric_vectors(self.model.geometry, self.equations)

    @cached_property
    def present(self) -> dict[str, bool]:
        """The parts of the sources that there are."""
        of = self.equations
        forward, inverse = isinstance(of.forward, StateSearch), isinstance(of.inverse, StateSearch)
        region = self.region
        return {
            "dynamics": of.efforts is not None,
            "pose_efforts": of.efforts is not None and of.efforts.pose is not None,
            "search": forward or inverse,
            "forward_search": forward,
            "forward_closed": not forward,
            "inverse_search": inverse,
            "inverse_closed": not inverse,
            "complete": of.complete is not None,
            "effects": self.effects is not None and bool(self.effects.terms),
            "no_effects": self.effects is None or not self.effects.terms,
            "bounds": region is not None,
            "box": isinstance(region, Box | Intersection),
            "ellipsoid": isinstance(region, Ellipsoid | ConfidenceEllipsoid | Intersection),
        }

    @cached_property
    def region(self) -> Box | Ellipsoid | ConfidenceEllipsoid | Intersection | None:
        """The set of the unknowns; None where it has no bounds."""
        if self.dynamics is None:
            return None
        _, estimate = self.dynamics.estimate_of()
        region = estimate.region
        hull = region.hull()
        known = isinstance(region, Box | Ellipsoid | ConfidenceEllipsoid | Intersection)
        if estimate.claim is Claim.VALUE or not hull.is_bounded or hull.is_empty or not known:
            return None
        return region

    def header(self) -> str:
        """The declarations."""
        return self._filled("interface.h")

    def code(self) -> str:
        """The definitions."""
        return self._filled("driver.c")

    def test(self) -> str:
        """The function that compares all functions with the vectors."""
        return self._filled("test_section.c")

    def test_vectors(self) -> str:
        """The vectors as C arrays."""
        lines = [f"enum {{ {self.prefix.upper()}_VECTORS = {len(self.vectors)} }};"]
        results = ("x", "q", "dx", "tau", "friction", "gravity", "inertial")
        scales = {name: self.vectors.scale(name) for name in results if name in self.vectors.values}
        lines += [f"static const double {self.prefix}_scale_{name} = {value!r};" for name, value in scales.items()]
        for name, values in self.vectors.values.items():
            if name == "ddx" and not self.present["pose_efforts"]:
                continue
            lines.append(f"static const double {self.prefix}_v_{name}[{len(values)}][{values.shape[1]}] = {{")
            lines += [f"    {{{', '.join(map(repr, row))}}}," for row in values.tolist()]
            lines.append("};")
        return "\n".join(lines) + "\n"

    def _filled(self, name: str) -> str:
        return filled(source(name), self._values, self.present, self.prefix)

    @cached_property
    def _values(self) -> dict[str, str]:
        of, model = self.equations, self.model
        values = {
            "about": _ascii(self._about()),
            "table": _commented(self._table()),
            "n_actuators": str(len(of.actuated)),
            "n_pose": str(len(of.pose)),
            "n_state": str(len(of.home)),
            "pose": _ascii(", ".join(of.coordinates[k] for k in of.pose)),
            "inverse_start": ", beginning at the state" if self.present["inverse_search"] else "",
            "kernels": "\n".join(self._kernels()),
            "home": _numbers(of.home),
            "scale": _numbers(of.scale),
            "actuated_places": ", ".join(map(str, of.actuated)),
            "pose_places": ", ".join(map(str, of.pose)),
            "pose_turns": ", ".join(str(int(of.scale[k] == 1.0)) for k in of.pose),  # the unit of an angle
            "forward_side": repr(of.forward.side) if isinstance(of.forward, StateSearch) else "",
            "inverse_side": repr(of.inverse.side) if isinstance(of.inverse, StateSearch) else "",
            "tolerance": repr(TOLERANCE),
            "float_tolerance": repr(FLOAT_TOLERANCE),
        }
        if self.dynamics is None:
            geometry = model.geometry
            assert geometry is not None
            unit = geometry.model.reading_unit
            table = _rows([geometry.readings])
            return values | {
                "actuators": _ascii(", ".join(geometry.model.chains)),
                "position_units": unit,
                "values": f"{table}\n    {of.least_margin!r}",
            }
        return values | self._dynamic_values(self.dynamics)

    def _dynamic_values(self, dynamics: IdentifiedDynamics) -> dict[str, str]:
        robot, seen = dynamics.robot, dynamics.seen
        effects = self.effects
        assert effects is not None
        given = dynamics.effect_values()
        theta = np.append(dynamics.robot_parameters(), [given[name] for name in effects.names])
        words = identifiers([*robot.names, *effects.names])
        names = [f"    {self.prefix.upper()}_P_{word} = {k}" for k, word in enumerate(words)]
        units = ", ".join(dict.fromkeys(robot.coordinate_units))
        values = {
            "actuators": _ascii(", ".join(robot.actuators)),
            "position_units": _ascii(units),
            "speed_units": _ascii(", ".join(f"{unit}/s" for unit in dict.fromkeys(robot.coordinate_units))),
            "acceleration_units": _ascii(", ".join(f"{unit}/s²" for unit in dict.fromkeys(robot.coordinate_units))),
            "effort_units": _ascii(", ".join(dict.fromkeys(robot.effort_units))),
            "n_parameters": str(len(theta)),
            "n_own": str(len(robot.names)),
            "n_unknowns": str(len(dynamics.columns)),
            "parameter_names": ",\n".join(names),
            "values": f"    {{\n{_numbers(theta, 8)}\n    }},\n"
            f"{_rows([seen.q, seen.dq, seen.ddq])}\n    {self.equations.least_margin!r}",
        }
        return values | self._switch_values(effects) | self._set_values(dynamics)

    def _switch_values(self, effects: ExportedEffects) -> dict[str, str]:
        """The switches of friction and effects."""
        terms, upper = effects.terms, self.prefix.upper()
        chosen = [each for each in terms if each.switch != FRICTION]
        lines = [f"    {upper}_WITH_{each.word} = {each.switch}, /* {_ascii(each.effect.title)} */" for each in chosen]
        left = [each.effect.name for each in chosen if not each.effect.is_default]
        rest = [each.effect.name for each in chosen if each.effect.is_default and not each.effect.is_in_mass]
        return {
            "switches": "\n".join(lines),
            "n_effects": str(len(terms)),
            "effect_switches": ", ".join(str(each.switch) for each in terms),
            "default_switches": str(effects.default),
            "default_words": f"all but {listed(left)}" if left else "all of them",
            "in_mass": str(effects.in_mass),
            "n_switches": str(effects.every.bit_length()),
            "friction_words": f", {', '.join(rest)}" if rest else "",
        }

    def _set_values(self, dynamics: IdentifiedDynamics) -> dict[str, str]:
        """The set of the unknowns, and the values of known parameters behind them."""
        region, (title, estimate) = self.region, dynamics.estimate_of()
        if region is None:
            return {}
        fixed = list(dynamics.fixed)
        own, is_friction = dynamics.robot.names, self._is_friction
        assert self.effects is not None
        columns = (*dynamics.columns, *fixed)
        switches = [
            FRICTION * is_friction[own.index(name)] if name in own else self.effects.switch_of(name) for name in columns
        ]
        box = region.box if isinstance(region, Intersection) else region if isinstance(region, Box) else None
        middle = estimate.value if box is None else box.center
        values = {
            "set_about": _ascii(_set_in_words(title, estimate)),
            "n_columns": str(len(columns)),
            "center": _numbers(np.append(middle, [dynamics.fixed[name] for name in fixed])),
            "column_switches": ", ".join(map(str, switches)),
        }
        if box is not None:
            values["radius"] = _numbers(radius_of(box))
        ellipsoid = region.ellipsoid if isinstance(region, Intersection) else region
        if isinstance(ellipsoid, ConfidenceEllipsoid):
            ellipsoid = Ellipsoid(ellipsoid.center, quantile(ellipsoid) ** 2 * ellipsoid.covariance)
        if isinstance(ellipsoid, Ellipsoid):
            values["shape_center"] = _numbers(ellipsoid.center)
            L = covering_factor(ellipsoid)
            values["shape"] = _numbers(L[np.tril_indices(len(L))])
        return values

    @property
    def _is_friction(self) -> tuple[bool, ...]:
        assert self.equations.efforts is not None
        return self.equations.efforts.is_friction

    def _kernels(self) -> list[str]:
        of = self.equations
        reals = Reals(f"{self.prefix}_real", f"{self.prefix.upper()}_C({{}})", f"{self.prefix.upper()}_F({{}})")
        forward, inverse = of.forward, of.inverse
        named: dict[str, Kernel | None] = {
            "forward_step": forward.newton if isinstance(forward, StateSearch) else None,
            "forward_closed": None if isinstance(forward, StateSearch) else forward,
            "inverse_step": inverse.newton if isinstance(inverse, StateSearch) else None,
            "states": of.complete if isinstance(inverse, StateSearch) else inverse,
            "margin": of.margin,
            "jacobian_at": of.jacobian,
        }
        if of.efforts is not None:
            assert self.dynamics is not None
            assert self.effects is not None
            named |= {"joint_efforts": of.efforts.joint, "pose_efforts": of.efforts.pose}
            if self.effects.terms:
                named["effect_efforts"] = self.effects.efforts()
            if self.region is not None:
                named["columns"] = self.effects.regressor((*self.dynamics.columns, *self.dynamics.fixed))
        return [
            f"static {kernel.c_function(f'{self.prefix}_{name}', reals)}"
            for name, kernel in named.items()
            if kernel is not None
        ]

    def _about(self) -> str:
        if self.dynamics is None:
            return f"calibrated kinematics of the {self.model.name}"
        variant = getattr(self.dynamics.robot, "variant", "")
        model = f" (model '{variant}')" if variant else ""
        return f"kinematics and inverse dynamics of the {self.model.name}{model}"

    def _table(self) -> list[str]:
        """The parameters in words, with units and what they mean."""
        if self.dynamics is None:
            geometry = self.model.geometry
            assert geometry is not None
            triples = zip(geometry.model.names, geometry.parameters.tolist(), geometry.model.units, strict=True)
            lines = [f"{name} = {value!r} {unit}" for name, value, unit in triples]
            doubt = ["The residuals of the calibration exceed the stated noise."] if geometry.is_refuted else []
            return ["Geometry:", *(f"  {line}" for line in lines), *doubt]
        dynamics = self.dynamics
        title, estimate = dynamics.estimate_of()
        meanings, theta = parameter_meanings(dynamics.robot), dynamics.robot_parameters()
        combined = dict(zip(dynamics.columns, estimate.unknowns.names, strict=True))
        lines = [f"Parameters by {title}:"]
        for name, value, unit in zip(dynamics.robot.names, theta.tolist(), dynamics.robot.units, strict=True):
            if name in dynamics.fixed:
                text = f"{name} = {value!r} {unit}, known beforehand"
            elif name not in combined:
                text = f"{name} [{unit}]: not determined by itself; its effect is in the combinations of others"
            elif combined[name] != name:
                text = f"{name} = {value!r} {unit}, stands for {combined[name]}"
            else:
                text = f"{name} = {value!r} {unit}. {meanings.get(name, '')}".rstrip(". ") + "."
            lines.append(f"  {text}")
        lines += self._effect_lines(dynamics)
        if dynamics.headline:
            lines.append(f"Verdict: {dynamics.headline}")
        return [part for line in lines for part in wrapped(line)]

    def _effect_lines(self, dynamics: IdentifiedDynamics) -> list[str]:
        assert self.effects is not None
        given, lines = dynamics.effect_values(), []
        for term in self.effects.terms:
            lines.append(f"Effect {term.effect.name}: {term.effect.title}")
            lines += [f"  {name} = {given[name]!r} {dynamics.effect_units[name]}" for name in term.names]
        return [*lines, *self.effects.left_out()]


def _set_in_words(title: str, estimate: Estimate) -> str:
    if isinstance(estimate.region, ConfidenceEllipsoid):
        return f"a confidence region by {title}, level {estimate.region.level:g} for one effort at one instant."
    return f"a guaranteed set by {title}: it contains the parameters if the stated error bounds hold."


def source_files(sections: Sequence[Section], name: str) -> dict[str, str]:
    """The texts of header and source by name: all that a controller needs."""
    guard, banner = f"GOUGH_{name.upper()}_H", _banner(name)
    opened = f'{banner}#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
    closed = "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
    return {
        f"{name}.h": opened + "\n".join(each.header() for each in sections) + closed,
        f"{name}.c": f'{banner}#include "{name}.h"\n\n#include <math.h>\n\n'
        + "\n".join(each.code() for each in sections),
    }


def _banner(name: str) -> str:
    return f"/* {name}: written by gough {gough.__version__}. C99 and math.h, nothing else. */\n"


def c_files(model: RobotModel, name: str) -> tuple[dict[str, str], list[Section]]:
    """The texts of all files by name, and the sections with their vectors."""
    sections = sections_of(model, name)
    definitions = " ".join(f"{each.prefix.upper()}_FLOAT" for each in sections)
    calls = "\n".join(f"    {each.prefix}_test();" for each in sections)
    has_dynamics = sections[0].dynamics is not None
    wrapper = (
        f"add_executable({name}_ros2_control {name}_ros2_control.cpp)\n"
        f"target_link_libraries({name}_ros2_control {name})\n"
        f"add_test(NAME ros2_control COMMAND {name}_ros2_control)\n"
    )
    common = {
        "name": name,
        "NAME": name.upper(),
        "definitions": definitions,
        "wrapper": wrapper if has_dynamics else "",
        "count": str(sum(len(each.vectors) for each in sections)),
        "sections": "\n".join(each.test() for each in sections),
        "calls": calls,
        "actuated_places": ", ".join(map(str, sections[0].equations.actuated)),
    }
    files = {
        **source_files(sections, name),
        f"{name}_test.c": filled(source("test.c"), common, {}, name),
        f"{name}_vectors.h": _banner(name) + "\n".join(each.test_vectors() for each in sections),
        "CMakeLists.txt": filled(source("CMakeLists.txt"), common, {}, name),
    }
    if model.dynamics is not None:
        joints = ", ".join(f'"{word}"' for word in identifiers(model.dynamics.robot.coordinates))
        files[f"{name}_ros2_control.cpp"] = filled(source("ros2_control.cpp"), common | {"joints": joints}, {}, name)
        files["ros2_control_stubs.hpp"] = source("ros2_control_stubs.hpp")
    return files, sections


def sections_of(model: RobotModel, name: str) -> list[Section]:
    """The dynamics, then the geometry; that of a calibration beside an identification has a longer prefix."""
    check_name(name)
    parts = [] if model.dynamics is None else [Section(name, RobotModel(dynamics=model.dynamics))]
    if model.geometry is not None:
        prefix = f"{name}_geometry" if parts else name
        parts.append(Section(prefix, RobotModel(geometry=model.geometry)))
    return parts


def identifier(text: str) -> str:
    """A text as a word of C: ASCII letters, digits and underscores, beginning with a letter.

    Examples:
        >>> identifier("6-UPS"), identifier("r_α"), identifier("H4")
        ('robot_6_ups', 'r_alpha', 'h4')
    """
    word = _word(text).lower()
    return word if word[:1].isalpha() else f"robot_{word}".rstrip("_")


def identifiers(texts: Sequence[str]) -> list[str]:
    """Different words of C for different texts.

    Examples:
        >>> identifiers(["m 1", "m-1", "α"])
        ['m_1', 'm_1_2', 'alpha']
    """
    words: list[str] = []
    for text in texts:
        word, k = _word(text), 2
        while word in words:
            word, k = f"{_word(text)}_{k}", k + 1
        words.append(word)
    return words


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", _ascii(text)).strip("_")


def _ascii(text: str) -> str:
    """A text in ASCII: units with * and ^, Greek letters by name; nothing that would end a comment."""
    replaced = "".join(_GREEK.get(letter, letter) for letter in text)
    for old, new in (
        ("·", "*"),
        ("²", "^2"),
        ("³", "^3"),
        ("–", "-"),
        ("—", "-"),
        ("−", "-"),
        ("±", "+/-"),
        ("’", "'"),
    ):
        replaced = replaced.replace(old, new)
    plain = unicodedata.normalize("NFKD", replaced).encode("ascii", "ignore").decode()
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/").replace("?", ".")


def wrapped(line: str) -> list[str]:
    """A line of a comment as lines that are not too long; those after the first keep its indent.

    Examples:
        >>> [len(part) <= 110 for part in wrapped("  " + "word " * 40)]
        [True, True]
    """
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, _WIDTH, initial_indent="", subsequent_indent=indent, break_long_words=False) or [""]


def _commented(lines: Sequence[str]) -> str:
    return "\n".join(f" * {_ascii(line)}" for line in lines)


def _numbers(values: Array, indent: int = 4) -> str:
    """Numbers of a C array, in lines."""
    lines, line = [], ""
    for number in map(repr, np.asarray(values, dtype=float).tolist()):
        if line and len(line) + len(number) + indent + 2 > _WIDTH:
            lines.append(line)
            line = ""
        line += f"{number}, "
    return "\n".join(f"{' ' * indent}{each.rstrip()}" for each in (*lines, line)).rstrip(",")


def _rows(tables: Sequence[Array]) -> str:
    """Tables (2, n) as members of a C struct."""
    texts = []
    for table in tables:
        rows = ",\n".join(f"        {{\n{_numbers(row, 12)}\n        }}" for row in table)
        texts.append(f"    {{\n{rows}\n    }},")
    return "\n".join(texts)
