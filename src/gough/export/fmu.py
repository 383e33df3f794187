"""FMUs for co-simulation, FMI 3 and FMI 2, from the same C: efforts for positions, velocities and accelerations."""

import ctypes
import platform
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

import gough
from gough.core.arrays import Array
from gough.core.errors import require
from gough.export.c_source import Section, identifiers, sections_of, source_files
from gough.export.compiling import ExportError, built, write_sources
from gough.export.effects import FRICTION
from gough.export.model import RobotModel
from gough.export.templates import filled, source
from gough.export.vectors import Vectors

VERSIONS = (3, 2)
_QUIET = ("-Wno-unused-parameter", "-shared", "-fPIC")
_DATE = (1980, 1, 1, 0, 0, 0)
"""Of files in the archive: equal contents make equal archives."""


class FmuSource:
    """The parts of an FMU of one version."""

    def __init__(self, name: str, version: int, section: Section, texts: Mapping[str, str]) -> None:
        assert section.dynamics is not None
        self.name, self.version = name, version
        self.dynamics, self.section = section.dynamics, section
        self.token = "{" + sha256(f"{version}{texts[f'{name}.c']}".encode()).hexdigest()[:32] + "}"
        of = self.section.equations
        home = [repr(float(of.home[k])) for k in of.actuated]
        values = {
            "name": name,
            "version": f"{version}.0",
            "token": self.token,
            "home_positions": f"(const gx_real[]){{{', '.join(home)}}}[i]",
        }
        glue = filled(source("fmu.c"), values, {}, name) + source(f"fmi{version}.c")
        self.sources = {f"{name}.h": texts[f"{name}.h"], f"{name}.c": texts[f"{name}.c"], f"{name}_fmu.c": glue}

    def variables(self) -> list[tuple[str, int, str, str, float | None, str]]:
        """Name, value reference, causality, unit, start and description of the real variables."""
        robot, of = self.dynamics.robot, self.section.equations
        names, units = identifiers(robot.coordinates), robot.coordinate_units
        home = [float(of.home[k]) for k in of.actuated]
        n = len(names)
        rows: list[tuple[str, int, str, str, float | None, str]] = []
        kinds = (("", "", "position"), ("d", "/s", "velocity"), ("dd", "/s2", "acceleration"))
        for k, (prefix, suffix, what) in enumerate(kinds):
            for i, (name, unit) in enumerate(zip(names, units, strict=True)):
                start, about = 0.0 if k else home[i], f"{what} of {robot.actuators[i]}"
                rows.append((f"{prefix}{name}", 1 + k * n + i, "input", f"{unit}{suffix}", start, about))
        for i, unit in enumerate(robot.effort_units):
            rows.append((f"tau_{names[i]}", 1 + 3 * n + i, "output", unit, None, f"effort of {robot.actuators[i]}"))
        assert self.section.effects is not None
        given, names = self.dynamics.effect_values(), list(self.section.effects.names)
        every = [*robot.names, *names]
        theta = [*self.dynamics.robot_parameters().tolist(), *(given[name] for name in names)]
        units = (*robot.units, *(self.dynamics.effect_units[name] for name in names))
        for i, word in enumerate(identifiers(every)):
            kind = "dynamic parameter" if i < len(robot.names) else "parameter of an effect"
            rows.append((f"theta_{word}", 1 + 4 * n + i, "parameter", units[i], theta[i], f"{kind} {every[i]}"))
        return rows

    def switches(self) -> list[tuple[str, bool, str]]:
        """Name, start and description of the switches."""
        effects = self.section.effects
        assert effects is not None
        rows = [("friction", True, "add the efforts of friction")]
        terms = (term for term in effects.terms if term.switch != FRICTION)
        rows += [(f"with_{each.word.lower()}", each.effect.is_default, f"add {each.effect.title}") for each in terms]
        return rows

    def description(self) -> str:
        """The text of modelDescription.xml."""
        return _described_3(self) if self.version == 3 else _described_2(self)

    def library(self, folder: Path, compiled: str) -> Path:
        """Link the FMU's library in a folder, with the object file of the robot there."""
        write_sources(folder, self.sources)
        # a name of its own: a loader returns the library that it has already loaded from the same path
        target = f"{self.name}_fmi{self.version}{library_suffix()}"
        return built(folder, [compiled, f"{self.name}_fmu.c"], target, _QUIET)

    def archive(self, library: bytes | None) -> bytes:
        """The FMU: description, sources, and the library for this platform where there is one."""
        files = {f"sources/{file}": text.encode() for file, text in self.sources.items()}
        files["modelDescription.xml"] = self.description().encode()
        if self.version == 3:
            files["sources/buildDescription.xml"] = _build_description(self).encode()
        if library is not None:
            files[f"binaries/{_platform(self.version)}/{self.name}{library_suffix()}"] = library
        stream = BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(files):
                archive.writestr(zipfile.ZipInfo(file, _DATE), files[file], zipfile.ZIP_DEFLATED)
        return stream.getvalue()


def fmu_error(library: Path, of: FmuSource, vectors: Vectors) -> float:
    """The largest relative difference of efforts through the FMI functions of a library from those of gough.

    Raises:
        ExportError: the library cannot be loaded or does not make an instance.
    """
    try:
        loaded = ctypes.CDLL(str(library))
    except OSError as error:
        raise ExportError(f"the FMU's library cannot be loaded ({error}): nothing was written") from error
    word = f"fmi{of.version}"
    make = getattr(loaded, f"{word}{'InstantiateCoSimulation' if of.version == 3 else 'Instantiate'}")
    make.restype = ctypes.c_void_p
    token = of.token.encode()
    if of.version == 3:
        no, zero = ctypes.c_bool(False), ctypes.c_size_t(0)  # noqa: FBT003 - C's false
        instance = make(b"check", token, None, no, no, no, no, None, zero, None, None, None)
    else:
        instance = make(b"check", 1, token, None, None, 0, 0)
    if not instance:
        raise ExportError("the FMU makes no instance of itself: nothing was written")
    n = vectors["q"].shape[1]
    worst, usual = 0.0, vectors.scale("tau")
    call = _calls(loaded, of.version, instance)
    for q, dq, ddq, tau in zip(*(vectors[key] for key in ("q", "dq", "ddq", "tau")), strict=True):
        # from home, as the vectors were computed
        getattr(loaded, f"{word}Reset")(ctypes.c_void_p(instance))
        call("Set", range(1, 1 + 3 * n), np.concatenate([q, dq, ddq]))
        found = call("Get", range(1 + 3 * n, 1 + 4 * n), np.full(n, np.nan))
        away = np.abs(found - tau).max() / max(usual, float(np.abs(tau).max()))
        worst = max(worst, float(away) if np.isfinite(away) else np.inf)
    getattr(loaded, f"{word}FreeInstance")(ctypes.c_void_p(instance))
    return worst


def _calls(loaded: ctypes.CDLL, version: int, instance: int) -> Callable[[str, Sequence[int], Array], Array]:
    """A function that sets or gets real variables of an instance."""
    kind = "Float64" if version == 3 else "Real"

    def call(what: str, references: Sequence[int], values: Array) -> Array:
        handle = ctypes.c_void_p(instance)
        numbers, places = np.ascontiguousarray(values), np.array(references, dtype=np.uint32)
        size = ctypes.c_size_t(len(places))
        rest = (size,) if version == 3 else ()
        pointers = (places.ctypes.data_as(ctypes.c_void_p), size, numbers.ctypes.data_as(ctypes.c_void_p))
        getattr(loaded, f"fmi{version}{what}{kind}")(handle, *pointers, *rest)
        return numbers

    return call


def fmus(
    model: RobotModel, name: str, *, is_compiled: bool, is_verified: bool
) -> tuple[dict[str, bytes], list[float], Section]:
    """The FMUs of both versions by file name, and their largest relative errors where they are verified.

    Also the functions that they call.
    """
    require(model.dynamics is not None, "an FMU computes efforts: it needs the results of gough identify")
    sections = sections_of(RobotModel(dynamics=model.dynamics), name)
    texts, section = source_files(sections, name), sections[0]
    files, errors = {}, []
    with TemporaryDirectory(prefix="gough-export-") as place:
        folder, compiled = Path(place), f"{name}.o"
        if is_compiled:  # once for both versions
            write_sources(folder, texts)
            built(folder, [f"{name}.c"], compiled, ("-c", "-fPIC"))
        for version in VERSIONS:
            of = FmuSource(name, version, section, texts)
            library = None
            if is_compiled:
                path = of.library(folder, compiled)
                library = path.read_bytes()
                if is_verified:
                    errors.append(fmu_error(path, of, section.vectors))
            files[f"{name}_fmi{version}.fmu"] = of.archive(library)
    return files, errors, section


def library_suffix() -> str:
    return ".dylib" if sys.platform == "darwin" else ".so"


def _platform(version: int) -> str:
    """The folder of binaries for this computer, by the names of the standard."""
    machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    system = "darwin" if sys.platform == "darwin" else "linux"
    if version == 2 and machine == "x86_64":
        return f"{system}64"
    return f"{machine}-{system}"


def _head(of: FmuSource, version: str, **more: str) -> Element:
    attributes = {
        "fmiVersion": version,
        "modelName": of.name,
        "generationTool": f"gough {gough.__version__}",
        "description": "Inverse dynamics of an identified robot",
    }
    return Element("fmiModelDescription", {**attributes, **more})


def _text(root: Element) -> str:
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _described_3(of: FmuSource) -> str:
    root = _head(of, "3.0", instantiationToken=of.token)
    SubElement(root, "CoSimulation", modelIdentifier=of.name, canHandleVariableCommunicationStepSize="true")
    variables = SubElement(root, "ModelVariables")
    time = {"name": "time", "valueReference": "0", "causality": "independent", "variability": "continuous"}
    SubElement(variables, "Float64", time)
    rows = of.variables()
    for name, reference, causality, unit, start, about in rows:
        variability = "tunable" if causality == "parameter" else "continuous"
        values = {"name": name, "valueReference": str(reference), "causality": causality, "variability": variability}
        values |= {} if start is None else {"start": repr(start)}
        SubElement(variables, "Float64", {**values, "description": f"{about} [{unit}]"})
    last = rows[-1][1]
    values = {"name": "status", "valueReference": str(last + 1), "causality": "output", "variability": "discrete"}
    SubElement(variables, "Int32", {**values, "description": "flags of the last efforts, see the header; 0 is good"})
    for k, (name, is_on, about) in enumerate(of.switches()):
        values = {"name": name, "valueReference": str(last + 2 + k), "causality": "parameter", "variability": "tunable"}
        SubElement(variables, "Boolean", {**values, "start": str(is_on).lower(), "description": about})
    structure = SubElement(root, "ModelStructure")
    outputs = [str(row[1]) for row in rows if row[2] == "output"] + [str(last + 1)]
    for kind in ("Output", "InitialUnknown"):
        for output in outputs:
            SubElement(structure, kind, valueReference=output)
    return _text(root)


def _described_2(of: FmuSource) -> str:
    root = _head(of, "2.0", guid=of.token, numberOfEventIndicators="0")
    SubElement(root, "CoSimulation", modelIdentifier=of.name, canHandleVariableCommunicationStepSize="true")
    variables = SubElement(root, "ModelVariables")
    rows, outputs = of.variables(), []
    for k, (name, reference, causality, unit, start, about) in enumerate(rows):
        variability = "tunable" if causality == "parameter" else "continuous"
        values = {"name": name, "valueReference": str(reference), "causality": causality, "variability": variability}
        scalar = SubElement(variables, "ScalarVariable", {**values, "description": f"{about} [{unit}]"})
        SubElement(scalar, "Real", {} if start is None else {"start": repr(start)})
        outputs += [k + 1] if causality == "output" else []
    last = rows[-1][1]
    values = {"name": "status", "valueReference": str(last + 1), "causality": "output", "variability": "discrete"}
    SubElement(SubElement(variables, "ScalarVariable", values), "Integer")
    for k, (name, is_on, about) in enumerate(of.switches()):
        values = {"name": name, "valueReference": str(last + 2 + k), "causality": "parameter", "variability": "tunable"}
        scalar = SubElement(variables, "ScalarVariable", {**values, "description": about})
        SubElement(scalar, "Boolean", start=str(is_on).lower())
    outputs.append(len(rows) + 1)
    structure = SubElement(root, "ModelStructure")
    for kind in ("Outputs", "InitialUnknowns"):
        parent = SubElement(structure, kind)
        for index in outputs:
            SubElement(parent, "Unknown", index=str(index))
    return _text(root)


def _build_description(of: FmuSource) -> str:
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = SubElement(root, "BuildConfiguration", modelIdentifier=of.name)
    files = SubElement(configuration, "SourceFileSet", language="C99")
    for file in of.sources:
        if file.endswith(".c"):
            SubElement(files, "SourceFile", name=file)
    return _text(root)
