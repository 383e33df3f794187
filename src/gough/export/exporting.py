"""Export a model to another program's form, read it back there, and compare it with gough."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from gough.core.errors import InputError, nearest, require
from gough.export.bodies import CompleteMechanism, complete_mechanism, with_effects
from gough.export.c_source import FLOAT_TOLERANCE, TOLERANCE, Section, c_files, identifier, sections_of
from gough.export.compiling import ExportError, compiler_path, vector_errors
from gough.export.fmu import VERSIONS, fmus
from gough.export.model import FILE, RobotModel
from gough.export.simulators import STATES, mjcf_text, mujoco_errors, pinocchio_errors, urdf_texts
from gough.export.vectors import COUNT, Vectors
from gough.kernels.ports import check_name


@dataclass(frozen=True)
class Comparison:
    """The largest relative difference between another program and gough."""

    what: str
    error: float
    tolerance: float
    states: int
    """Number of random states; 0 where texts are compared."""

    @property
    def is_close(self) -> bool:
        """Does the difference stay below the tolerance?"""
        return self.error <= self.tolerance

    def __str__(self) -> str:
        if self.states == 0:
            return f"{self.what}: {'the same' if self.is_close else 'different'}"
        return (
            f"{self.what}: largest relative difference {self.error:.1e} at {self.states} random states "
            f"(tolerance {self.tolerance:g})"
        )


@dataclass(frozen=True)
class Export:
    """The files of an export, and how they compare with gough."""

    name: str
    files: Mapping[str, bytes]
    comparisons: tuple[Comparison, ...]
    """Empty where nothing was verified."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Options:
    """How to export."""

    name: str
    """Prefix of functions and files."""
    is_verified: bool
    bodies: str = ""
    """"nominal" takes from the robot's description what the data do not determine of single bodies."""


_COMPILED = ("c", "fmu")
FORMS = ("c", "mjcf", "urdf", "fmu", "json")
Exporter = Callable[[RobotModel, Options], Export]


def export(model: RobotModel, to: str, *, name: str = "", verify: bool = True, bodies: str = "") -> Export:
    """The files of a model for another program: c, mjcf, urdf, fmu or json.

    Args:
        model: What was identified or calibrated.
        to: The form.
        name: Prefix of functions and names of files; by default the robot's name.
        verify: Read the files back by the other program and compare its results with gough's at random states.
        bodies: Single bodies for mjcf and urdf: "nominal" takes what the data do not determine from the description.

    Raises:
        InputError: there is no such form, or the model cannot be written in it; the message gives the reason.
        ExportError: the other program is missing, does not read the files, or its results differ.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> model = RobotModel.of(identify(*random_motion(1), methods=["weighted"], compare=False))
        >>> sorted(export(model, "c", verify=False).files)[:3]
        ['CMakeLists.txt', 'five_bar.c', 'five_bar.h']
    """
    require_form(to)
    require(bodies in ("", "nominal"), f"bodies must be 'nominal' or left out, but is '{bodies}'")
    options = Options(name or identifier(model.name), verify, bodies)
    check_name(options.name)
    if verify and to in _COMPILED:
        compiler_path()  # refused before any work
    done = _exporters()[to](model, options)
    for each in done.comparisons:
        if not each.is_close:
            raise ExportError(f"{each}: nothing was written. This may be a mistake of gough or of the other program")
    content = {FILE: f"{model.to_json()}\n".encode()} if to != "json" else {}
    return replace(done, files=MappingProxyType({**done.files, **content}))


def require_form(to: str) -> None:
    """Refuse a form that does not exist, and suggest the nearest one."""
    if to not in FORMS:
        raise InputError(f"there is no export to '{to}'{nearest(to, FORMS)} (known: {', '.join(FORMS)})")


def _exporters() -> dict[str, Exporter]:
    return {"c": _to_c, "mjcf": _to_mjcf, "urdf": _to_urdf, "fmu": _to_fmu, "json": _to_json}


def _to_c(model: RobotModel, options: Options) -> Export:
    files, sections = c_files(model, options.name)
    comparisons: list[Comparison] = []
    if options.is_verified:
        states = sum(len(each.vectors) for each in sections)
        floats = [f"-D{each.prefix.upper()}_FLOAT" for each in sections]
        for what, tolerance, more in (
            ("compiled C, double precision", TOLERANCE, []),
            ("compiled C, single precision", FLOAT_TOLERANCE, floats),
        ):
            error = vector_errors(files, options.name, more)["worst"]
            comparisons.append(Comparison(what, error, tolerance, states))
    encoded = {key: text.encode() for key, text in files.items()}
    return Export(options.name, encoded, tuple(comparisons), _left_out(sections))


def _left_out(sections: Sequence[Section]) -> tuple[str, ...]:
    """Notes on effects that no torque function has."""
    return tuple(note for each in sections if each.effects is not None for note in each.effects.left_out())


def _bodies_of(model: RobotModel, options: Options) -> tuple[CompleteMechanism, Vectors]:
    require(model.dynamics is not None, "a calibration has no masses: simulators need the results of gough identify")
    assert model.dynamics is not None
    plain = model.dynamics.without_effects()
    section = sections_of(RobotModel(dynamics=plain), options.name)[0]
    vectors = section.vectors
    return with_effects(complete_mechanism(plain, lambda: vectors, options.bodies), model.dynamics), vectors


def _compared(program: str, errors: Mapping[str, float]) -> tuple[Comparison, ...]:
    return tuple(Comparison(f"{program}, {what}", error, TOLERANCE, STATES) for what, error in errors.items())


def _to_mjcf(model: RobotModel, options: Options) -> Export:
    of, vectors = _bodies_of(model, options)
    text = mjcf_text(of)
    checked = _compared("MuJoCo", mujoco_errors(text, of, vectors)) if options.is_verified else ()
    notes = (*of.notes, *_offsets(of))
    return Export(options.name, {f"{options.name}.xml": f"{text}\n".encode()}, checked, notes)


def _to_urdf(model: RobotModel, options: Options) -> Export:
    of, vectors = _bodies_of(model, options)
    urdf, yaml = urdf_texts(of)
    checked = _compared("Pinocchio", pinocchio_errors(urdf, yaml, of, vectors)) if options.is_verified else ()
    files = {f"{options.name}.urdf": urdf.encode(), f"{options.name}.yaml": yaml.encode()}
    return Export(options.name, files, checked, (*of.notes, *_offsets(of)))


def _offsets(of: CompleteMechanism) -> tuple[str, ...]:
    """A note on parts of the model that simulators do not have."""
    lost = [name for name, value in of.values.items() if value and name.split("_")[0] in ("o", "cos1", "sin1")]
    return (f"Left out, because the form has no such term: {', '.join(lost)}.",) if lost else ()


def _to_fmu(model: RobotModel, options: Options) -> Export:
    notes: tuple[str, ...] = ()
    try:
        compiler_path()
        is_compiled = True
    except ExportError:
        is_compiled = False  # only without verification: else it was refused before
        notes = ("No C compiler was found: the FMUs contain sources and no library.",)
    files, errors, section = fmus(model, options.name, is_compiled=is_compiled, is_verified=options.is_verified)
    notes += _left_out([section])
    named = zip(VERSIONS, errors, strict=False)
    checked = tuple(Comparison(f"FMU, FMI {version} functions", error, TOLERANCE, COUNT) for version, error in named)
    return Export(options.name, files, checked, notes)


def _to_json(model: RobotModel, options: Options) -> Export:
    text = model.to_json()
    comparisons: tuple[Comparison, ...] = ()
    if options.is_verified:
        same = RobotModel.from_json(text).to_json() == text
        comparisons = (Comparison("JSON, read again by gough", 0.0 if same else 1.0, 0.0, 0),)
    return Export(options.name, {f"{options.name}.json": f"{text}\n".encode()}, comparisons)
