"""The public verbs refuse whatever they cannot use by gough's own errors, which say what to write instead.

A registry: every verb that `gough` exports, every parameter of its signature, every wrong thing below.
"""

import inspect
import math
import re
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gough
from gough.checker import Certificate, ChainCertificate, ChainWitness, Witness
from gough.closure import ModelError, Tolerances
from gough.closure import certification as certifying
from gough.core.errors import AssumptionError, InputError
from gough.data import Poses, read_poses, write_poses
from gough.designs.excitation import DesignProblem, MotionLimits, search
from gough.designs.poses import Camera, PoseLimits
from gough.dynamics import RepeatedMotion
from gough.dynamics.example import random_motion
from gough.estimates import EstimationError
from gough.methods import GaussNewton, LinearHull
from gough.robots import H4, KINEMATICS, ROBOTS, Delta, LinearDelta

PRINTER = LinearDelta()
BOX = {"x": (-0.08, 0.08), "y": (-0.08, 0.08), "z": (0.0, 0.1)}


def _poses() -> Poses:
    p = np.random.default_rng(1).uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (12, 3))
    return Poses(p, None, PRINTER.inverse(PRINTER.nominal, p)).with_noise(1e-5, None, 1e-6)


class DataFrame:
    """A table of another library: it has columns, a shape and a length, and makes attributes of its columns."""

    columns = ("x", "y", "z")
    shape = (2, 3)

    def __len__(self) -> int:
        return 2

    def __getattr__(self, name: str):
        raise AttributeError(name)


POSES = _poses()
ROBOT, MOTION = random_motion(1)
MASS = gough.LinearProblem([[1.0]], [2.0], gough.Unknowns(["mass"]), gough.Bounded(0.5))
CERTIFICATE = Certificate.of(MASS, Witness({"mass": 2.0}))
CHAINS = ChainCertificate("sha256:" + 64 * "0", (1,), ChainWitness((0, 0, 0, 0, 0, 0, 0.25)))
ANSWER = gough.estimate(MASS, LinearHull())
WRONG = {
    "None": None,
    "True": True,
    "a negative number": -1,
    "zero": 0,
    "a count": 3,
    "a fraction": 2.5,
    "a huge number": 10**400,
    "not a number": math.nan,
    "infinity": math.inf,
    "a complex number": 1j,
    "a decimal": Decimal("0.1"),
    "a text": "linear-delta",
    "an empty text": "",
    "a quantity": "0.05 mm",
    "a character NUL": "\0",
    "bytes": b"poses",
    "no file": Path("nowhere.csv"),
    "no study": "nowhere.toml",
    "a list of numbers": [1, 2],
    "an empty list": [],
    "a list of texts": ["mass", "weighted"],
    "a ragged list": [[1.0], [1.0, 2.0]],
    "an empty mapping": {},
    "a mapping": {"mass": 1.0},
    "a mapping of numbers": {1: 2},
    "a set": {1.0, 2.0},
    "an iterator": iter(()),
    "an array": np.zeros(3),
    "an array of NaN": np.full((12, 3), math.nan),
    "an array of objects": np.array([None, "a"], dtype=object),
    "a table": DataFrame(),
    "an object": object(),
    "a class": LinearDelta,
    "a method": LinearHull(),
    "a class of methods": LinearHull,
    "a function": lambda: None,
    "a module": math,
    "a kinematic model": PRINTER,
    "a dynamic model": H4(),
    "poses": POSES,
    "a motion": MOTION,
    "a problem": MASS,
    "a box": gough.Box([0.0], [1.0]),
    "an answer": ANSWER,
    "a certificate": CERTIFICATE,
}
RIGHT = {
    gough.estimate: {"problem": MASS, "method": LinearHull()},
    gough.identify: {
        "robot": ROBOT,
        "motion": MOTION,
        "methods": ["least squares"],
        "bound": 0.1,
        "compare": False,
    },
    gough.calibrate: {"robot": PRINTER, "poses": POSES},
    gough.certify: {"robot": PRINTER, "poses": POSES, "tolerances": Tolerances(1e-5, 1e-6)},
    gough.check: {"certificate": CERTIFICATE, "problem": MASS},
    gough.design: {"robot": Delta(), "limits": MotionLimits(speeds=8.0, efforts=10.0), "n_harmonics": 1, "starts": 1},
    gough.choose_poses: {
        "robot": PRINTER,
        "limits": PoseLimits(pose=BOX),
        "count": 8,
        "position": 5e-5,
        "draws": 20,
        "starts": 1,
    },
    gough.write_report: {"answer": ANSWER, "folder": "report"},
    gough.read_study: {"path": "nowhere.toml"},
    gough.Study.read: {"path": "nowhere.toml"},
}
"""A call of each verb that is in order, small and quick."""
NOUNS = {
    Tolerances: {"position": 1e-5, "reading": 1e-6},
    ModelError: {},
    MotionLimits: {"speeds": 8.0, "efforts": 10.0},
    PoseLimits: {"pose": BOX},
    Camera: {"position": [0.0, 0.0, 2.0], "direction": [0.0, 0.0, -1.0], "half_angle": 0.3},
    Poses: {"position": POSES.position, "rotation": None, "readings": POSES.readings},
}
"""What verbs take that is made of numbers: these are given to the verb, which judges them where they do not."""


def _parameters(call) -> list[str]:
    options = [field.name for field in fields(DesignProblem)] if call is gough.design else []
    return [*dict.fromkeys([*inspect.signature(call).parameters, *options])]


DOORS = [(verb, name) for verb in RIGHT for name in _parameters(verb) if name != "options"]


@pytest.fixture(autouse=True)
def _quick(monkeypatch, tmp_path):
    """Arguments are examined before the searches begin, which these tests leave out."""
    monkeypatch.setattr(certifying, "_findings", lambda *_, **__: ((), None))
    monkeypatch.setattr(search, "Starts", lambda *_, **__: SimpleNamespace(run=lambda _: ([], False)))
    monkeypatch.chdir(tmp_path)


def refusal(call, arguments) -> str:
    """The message of the refusal; empty if the call is taken."""
    try:
        call(**arguments)
    except (InputError, AssumptionError) as error:
        return str(error) or "nothing is said"
    except EstimationError:
        return ""
    return ""


def test_the_registry_is_complete():
    verbs = {getattr(gough, name) for name in gough.__all__ if inspect.isfunction(getattr(gough, name))}
    assert verbs | {gough.Study.read} == set(RIGHT)


@pytest.mark.parametrize("verb", RIGHT, ids=lambda verb: verb.__qualname__)
def test_what_is_right_is_taken(verb):
    message = refusal(verb, RIGHT[verb])
    assert not message or "nowhere.toml" in message or "none of 1 starts" in message


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("verb", "name"), DOORS, ids=lambda x: x if isinstance(x, str) else x.__qualname__)
def test_wrong_things_are_refused_by_our_own_errors(verb, name):
    """Whatever is refused is refused by InputError or AssumptionError: any other exception fails the test."""
    for what, value in WRONG.items():
        if (name, what) == ("starts", "a huge number"):
            continue  # as many starts as wanted: it takes as long as that takes
        try:
            refusal(verb, {**RIGHT[verb], name: value})
        except Exception as error:  # noqa: BLE001 - that is the point
            pytest.fail(f"{verb.__name__}({name}={what}) raises {type(error).__name__}: {error}")


@pytest.mark.parametrize(
    ("noun", "name"), [(noun, name) for noun in NOUNS for name in inspect.signature(noun).parameters]
)
def test_wrong_numbers_of_nouns_are_refused_by_our_own_errors(noun, name):
    def given(**arguments):
        made = noun(**arguments)
        if noun is Tolerances:
            gough.certify(PRINTER, POSES, made)
        elif noun is ModelError:
            gough.certify(PRINTER, POSES, Tolerances(1e-5, 1e-6), model_error=made)
        elif noun is MotionLimits:
            gough.design(**{**RIGHT[gough.design], "limits": made})
        elif noun is PoseLimits:
            gough.choose_poses(**{**RIGHT[gough.choose_poses], "limits": made})
        elif noun is Camera:
            gough.choose_poses(**{**RIGHT[gough.choose_poses], "limits": PoseLimits(pose=BOX, camera=made)})
        else:
            gough.calibrate(PRINTER, made)

    for what, value in WRONG.items():
        try:
            refusal(given, {**NOUNS[noun], name: value})
        except Exception as error:  # noqa: BLE001 - that is the point
            pytest.fail(f"{noun.__name__}({name}={what}) raises {type(error).__name__}: {error}")


NEEDED = [
    (verb, name)
    for verb in RIGHT
    for name, each in inspect.signature(verb).parameters.items()
    if each.default is each.empty and each.kind is not each.VAR_KEYWORD
]


@pytest.mark.parametrize(("verb", "name"), NEEDED, ids=lambda x: x if isinstance(x, str) else x.__qualname__)
def test_what_is_needed_is_named_with_a_line_that_makes_it(verb, name):
    others = {key: value for key, value in RIGHT[verb].items() if key != name}
    missing = refusal(verb, others)
    assert f"'{name}'" in missing
    assert f"write {verb.__name__}(" in missing
    for value in (None, object(), np.zeros(3)):
        message = refusal(verb, {**others, name: value})
        assert name in message or (verb is gough.write_report and name == "answer")
        assert "write " in message or name in {"folder", "path", "answer"}


@pytest.mark.parametrize("verb", RIGHT, ids=lambda verb: verb.__qualname__)
def test_unknown_and_too_many_arguments_are_refused(verb):
    assert "nothing_of_the_kind" in refusal(verb, {**RIGHT[verb], "nothing_of_the_kind": 1})
    with pytest.raises(InputError, match=r"in this order, but 9 arguments are given"):
        verb(*range(9))


def test_repeats_of_a_motion_are_led_to_their_own_function():
    once = np.cos(np.linspace(0, 2 * np.pi, 20, endpoint=False))[:, None] * [1.0, 0.5]
    named = {"actuators": ROBOT.actuators, "effort_units": ROBOT.effort_units}
    repeats = RepeatedMotion(50.0, [once, once], [once, once], ROBOT.coordinates, ROBOT.coordinate_units, **named)
    for arguments in ({"motion": repeats}, {"motion": MOTION, "validation": repeats}):
        with pytest.raises(InputError, match="identify_repeated"):
            gough.identify(ROBOT, **arguments)


def test_arguments_in_the_wrong_order_are_named():
    with pytest.raises(InputError, match=r"^robot must be a dynamic model, but it is a MeasuredMotion: write "):
        gough.identify(MOTION, ROBOT)
    with pytest.raises(InputError, match=r"^poses must be Poses, but it is a Tolerances"):
        gough.certify(PRINTER, Tolerances(1e-5, 1e-6), POSES)
    with pytest.raises(InputError, match=r"^method must be a method, but it is a LinearProblem"):
        gough.estimate(LinearHull(), MASS)


@pytest.mark.parametrize("family", sorted({*KINEMATICS, *ROBOTS}))
def test_names_of_robots_are_refused_with_the_line_that_makes_them(family):
    """A name states no dimensions; the line names the class that the registry has for it."""
    for families, verb, others in ((KINEMATICS, gough.calibrate, POSES), (ROBOTS, gough.identify, MOTION)):
        if family in families:
            kind = families[family]
            line = f"write gough.robots.{getattr(kind, 'func', kind).__name__}("
            for given in (family, kind if isinstance(kind, type) else family):
                with pytest.raises(InputError, match=re.escape(line)):
                    verb(given, others)


def test_a_method_for_other_problems_is_refused():
    with pytest.raises(InputError, match=r"GaussNewton needs a problem with '.*', but problem is a LinearProblem"):
        gough.estimate(replace(MASS, unknowns=gough.Unknowns(["mass"], nominal=[2.0])), GaussNewton())


def test_poses_are_read_from_files(tmp_path):
    path = tmp_path / "poses.csv"
    write_poses(path, POSES)
    sigma = {"position": 1e-5, "readings": 1e-6}
    assert gough.certify(PRINTER, path, Tolerances(1e-5, 1e-6)).questions == (
        gough.certify(PRINTER, read_poses(path, chains=3), Tolerances(1e-5, 1e-6)).questions
    )
    first, others = tmp_path / "first.csv", tmp_path / "others.csv"
    head, *rows = path.read_text().splitlines(keepends=True)
    first.write_text(head + "".join(rows[:-2]))
    others.write_text(head + "".join(rows[-2:]))
    for given in (first, str(first)):
        found = gough.calibrate(PRINTER, given, validation=others)
        assert np.array_equal(found.poses.readings, POSES.readings[:-2])
        assert len(found.validation.position_after) == 2
        chosen = gough.choose_poses(PRINTER, {"pose": BOX}, count=8, measured=POSES, draws=20, starts=1, **sigma)
        assert len(chosen.poses) == 8


def test_records_are_taken_as_mappings_of_their_names():
    answers = [
        gough.certify(PRINTER, POSES, tolerances, model_error=error)
        for tolerances, error in (
            (Tolerances(1e-5, 1e-6), ModelError(1e-6)),
            ({"position": 1e-5, "reading": 1e-6}, {"constant": 1e-6}),
        )
    ]
    assert answers[0].questions == answers[1].questions
    with pytest.raises(InputError, match=r"tolerances has no entry 'positions'; did you mean 'position'"):
        gough.certify(PRINTER, POSES, {"positions": 1e-5, "reading": 1e-6})
    with pytest.raises(InputError, match=r"tolerances lacks the entry 'reading': write gough.closure.Tolerances"):
        gough.certify(PRINTER, POSES, {"position": 1e-5})


def test_the_old_name_of_an_argument_is_taken_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r"'model' of calibrate\(\) is called 'robot' now") as caught:
        gough.calibrate(model=PRINTER, poses=POSES)
    assert caught[0].filename == __file__
