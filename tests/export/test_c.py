"""Exported C: compiled without a warning, equal to gough, and steady under hostile inputs."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gough.export import RobotModel
from gough.export.c_source import c_files, identifier
from gough.export.compiling import WARNINGS, ExportError, built, figures, vector_errors
from gough.export.vectors import Vectors
from gough.robots import ROBOTS, GoughPlatform, H4Kinematics, LinearDelta, Par4Kinematics, PlanarRRR, RotaryDelta
from tests.compiler import needs_compiler
from tests.export.models import Compiled, dynamic_model, geometric_model, named_files, named_model

pytestmark = needs_compiler
SMALL, LARGE = ("h4", "par4", "delta", "five-bar", "3-rrr"), ("6-ups", "6-ucu", "palida")


@pytest.fixture(scope="module")
def compiled_h4(tmp_path_factory):
    return Compiled(named_files("h4", "gx")[0], "gx", tmp_path_factory.mktemp("h4"))


def written(key, name, folder):
    files, sections = named_files(key, name)
    for file, text in files.items():
        (folder / file).write_text(text)
    return sections[0]


@pytest.mark.parametrize("key", [*SMALL, *(pytest.param(key, marks=pytest.mark.slow) for key in LARGE)])
def test_compiled_c_equals_gough(key):
    """Rounding is 1e-16; forward kinematics and solves of 6 × 6 systems multiply it by their condition: most of PaLiDA,
    whose 1000 states lie in the whole range of its data. The condition of its Jacobian is up to 89 there, and torques
    of a motion of the motors need it twice: 89² · 2.2e-16 = 1.7e-12, and 2.2e-12 is seen; 5e-13 from platform motion.

    Hexapods are compiled without optimization, which takes most of the time, and one of them in single precision.
    """
    files, sections = named_files(key, "gx") if key in SMALL else c_files(named_model(key), "gx")
    assert len(sections[0].vectors) == 1000
    quick = ["-O0"] if key in LARGE else []
    errors = vector_errors(files, "gx", quick)
    assert {"gx_torque", "gx_mass_matrix", "gx_torque_bounds", "gx_forward"} <= set(errors)
    assert ("gx_torque_of_pose" in errors) == (key != "five-bar")
    assert errors["worst"] < (5e-12 if key == "palida" else 2e-12)
    if key in (*SMALL, LARGE[0]):
        assert vector_errors(files, "gx", ["-DGX_FLOAT", *quick])["worst"] < 1e-3


def test_every_robot_is_tested():
    assert set(ROBOTS) == {*SMALL, *LARGE}


@pytest.mark.parametrize("kind", ["box", "ellipsoid", "both", "value"])
def test_bounds_of_every_kind_of_set(kind):
    robot = ROBOTS["five-bar"]()
    files, sections = c_files(dynamic_model(robot, kind, fixed=("m_1", "fv_2")), "bar")
    errors = vector_errors(files, "bar")
    assert errors["worst"] < 1e-13
    assert ("bar_torque_bounds" in errors) == (kind != "value")
    assert ("bar_torque_bounds" in files["bar.h"]) == (kind != "value")
    assert isinstance(sections[0].vectors, Vectors)


@pytest.mark.parametrize(
    ("model", "readings"),
    [
        (GoughPlatform.deltalab(), [[0.02] * 6, [0.1] * 6]),
        (LinearDelta(), [[0.05] * 3, [0.2] * 3]),
        (RotaryDelta(), [[0.1] * 3, [0.9] * 3]),
        (PlanarRRR.of_circles(0.5, 0.1, arm=0.35, rod=0.35), None),
        (H4Kinematics(), [[0.2] * 4, [0.8] * 4]),
        (Par4Kinematics(), [[0.2] * 4, [0.8] * 4]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_kinematics_of_calibrated_robots(model, readings):
    if readings is None:
        middle = model.inverse(model.nominal, *model.home(model.nominal))[0]
        readings = [middle - 0.3, middle + 0.3]
    files, _ = c_files(geometric_model(model, np.array(readings)), "arm")
    errors = vector_errors(files, "arm")
    assert errors["worst"] < 1e-10
    assert "torque" not in files["arm.h"]
    assert vector_errors(files, "arm", ["-DARM_FLOAT"])["worst"] < 1e-2


def test_dynamics_and_geometry_share_one_header():
    geometry = geometric_model(H4Kinematics(), np.array([[0.2] * 4, [0.8] * 4])).geometry
    files, _ = c_files(RobotModel(named_model("h4").dynamics, geometry), "h4")
    errors = vector_errors(files, "h4")
    assert {"h4_torque", "h4_forward", "h4_geometry_forward", "h4_geometry_jacobian"} <= set(errors)
    assert errors["worst"] < 1e-10


@pytest.mark.parametrize("key", ["h4", "five-bar", "3-rrr"])
def test_hostile_inputs_have_status_codes(key, tmp_path):
    section = written(key, "gx", tmp_path)
    places = ", ".join(map(str, section.equations.actuated))
    hostile = (Path(__file__).parent / "hostile.c").read_text().replace("ACTUATED", places)
    (tmp_path / "hostile.c").write_text(hostile)
    for more in ([], ["-DGX_FLOAT"]):
        sanitized = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *more]
        program = built(tmp_path, ["gx.c", "hostile.c"], "hostile", sanitized)
        done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    if key == "five-bar":  # the same functions as above, at 1000 good states
        program = built(tmp_path, ["gx.c", "gx_test.c"], "sanitized", ["-g", "-fsanitize=address,undefined"])
        assert figures(tmp_path, program)["worst"] < 2e-12


def test_spoiled_numbers_have_status_codes_and_threads_do_not_meet(tmp_path):
    section = written("h4", "gx", tmp_path)
    places = ", ".join(map(str, section.equations.actuated))
    spoiled = (Path(__file__).parent / "spoiled.c").read_text().replace("ACTUATED", places)
    (tmp_path / "spoiled.c").write_text(spoiled)
    program = built(tmp_path, ["gx.c", "spoiled.c"], "spoiled", ["-pthread"])
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_parameters_may_be_replaced_at_run_time(tmp_path):
    model = named_model("h4")
    files, sections = named_files("h4", "gx")
    compiled, vectors = Compiled(files, "gx", tmp_path), sections[0].vectors
    table = compiled.identified(16 + 3 * 8 + 1)
    assert (table[:16] == model.dynamics.parameters()).all()
    table[:16] *= 2
    state, tau = np.zeros(8), np.zeros(4)
    compiled("start", state)
    status = compiled(
        "torque", table, *(np.ascontiguousarray(vectors[k][0]) for k in ("q", "dq", "ddq")), 1, state, tau
    )
    assert status < 16
    assert np.allclose(tau, 2 * vectors["tau"][0], rtol=1e-12)


@pytest.mark.parametrize(
    "x", [(0.0087, 0.1005, -0.1834, 2.5057), (-0.0035, 0.113, -0.0564, -3.024), (-0.0106, 0.1412, -0.1210, -3.1939)]
)
def test_poses_of_another_assembly_are_singular(x, compiled_h4):
    """Beyond two singularities the margin is positive again, but forward kinematics from home finds another pose."""
    table, home, tau, still = compiled_h4.identified(16 + 3 * 8 + 1), np.zeros(8), np.zeros(4), np.zeros(4)
    compiled_h4("start", home)
    state, report, pose = home.copy(), np.zeros(3), np.array(x)
    s = ROBOTS["h4"]().controller_equations().inverse.replay(pose)["s"]
    assert ROBOTS["h4"]().controller_equations().margin.replay(s)["margin"] > 5e-3
    assert np.abs(ROBOTS["h4"]().forward(s[None, 4:])[0] - pose).max() > 0.01
    assert compiled_h4("inverse", table, pose, state, tau, report) == 64
    assert np.isnan(tau).all()
    assert compiled_h4("torque_of_pose", table, pose, still, still, 0, state, tau) == 64
    assert (state == home).all()


def test_whole_turns_of_the_platform_are_the_same_pose(compiled_h4):
    """A path may state its angle between 0 and 2π: it jumps while the robot moves on."""
    table, state, q, other = compiled_h4.identified(16 + 3 * 8 + 1), np.zeros(8), np.zeros(4), np.zeros(4)
    compiled_h4("start", state)
    x = state[:4] + np.array([0.01, 0.02, 0.03, 0.1])
    assert compiled_h4("inverse", table, x, state, q, np.zeros(3)) == 0
    assert compiled_h4("inverse", table, x + np.array([0, 0, 0, 2 * np.pi]), state, other, np.zeros(3)) == 0
    assert np.abs(q - other).max() < 1e-14


def test_warm_start_follows_a_motion_in_few_steps(tmp_path):
    """At 1 kHz and 3 rad/s the positions change by 3 mrad: Newton's method squares the error in each step."""
    robot = ROBOTS["h4"]()
    compiled = Compiled(named_files("h4", "gx")[0], "gx", tmp_path)
    t = np.linspace(0, 1, 1000)
    x = robot.home + 0.05 * np.stack([np.sin(7 * t), np.cos(5 * t) - 1, np.sin(9 * t), 4 * np.sin(3 * t)], axis=1)
    table, state, found = compiled.identified(16 + 3 * 8 + 1), np.zeros(8), np.zeros(4)
    compiled("start", state)
    worst = 0
    for k, q in enumerate(robot.inverse(x)):
        report = np.zeros(3)
        assert compiled("forward", table, np.ascontiguousarray(q), state, found, report) < 16
        assert abs(found - x[k]).max() < 1e-13
        worst = max(worst, int(report[2:].view(np.int32)[0]))
    assert worst <= 4


@pytest.mark.parametrize("key", ["h4", "3-rrr"])
def test_one_jump_from_home_reaches_what_small_steps_reach(key, tmp_path):
    """A single search with Newton's method refuses some of these poses, and takes others to another assembly."""
    section = written(key, "gx", tmp_path)
    places = ", ".join(map(str, section.equations.actuated))
    jump = (Path(__file__).parent / "jump.c").read_text().replace("ACTUATED", places)
    (tmp_path / "jump.c").write_text(jump)
    program = built(tmp_path, ["gx.c", "jump.c"], "jump", ["-DSPAN=1.3"])
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    reached, refused, other, most = map(int, done.stdout.split())
    assert reached > 1000
    assert (refused, other) == (0, 0)
    assert most < 250 + 15


def test_the_header_is_also_cpp_and_the_wrapper_runs(tmp_path):
    cpp = shutil.which("g++") or shutil.which("clang++")
    if not cpp:
        pytest.skip("needs a C++ compiler")
    written("delta", "gx", tmp_path)
    built(tmp_path, ["gx.c"], "gx.o", ["-c"])
    done = subprocess.run(
        [cpp, "-std=c++17", *WARNINGS, "-Werror", "gx_ros2_control.cpp", "gx.o", "-o", "wrapper"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert subprocess.run([str(tmp_path / "wrapper")], check=False).returncode == 0
    wrapper = (tmp_path / "gx_ros2_control.cpp").read_text()
    assert "state_interfaces_[" not in wrapper  # a feedforward of measured values is a feedback


def test_cmake_builds_and_tests(tmp_path):
    cmake = shutil.which("cmake")
    if not cmake:
        pytest.skip("needs CMake")
    written("five-bar", "gx", tmp_path)
    for command in (["-B", "build"], ["--build", "build"]):
        done = subprocess.run([cmake, *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "warning" not in done.stderr
    tested = subprocess.run(
        [shutil.which("ctest"), "--test-dir", "build"], cwd=tmp_path, capture_output=True, check=False
    )
    assert tested.returncode == 0


def test_c_has_no_state_and_no_dependency():
    files, _ = named_files("five-bar", "gx")
    code = files["gx.c"]
    assert re.findall(r"#include (\S+)", code) == ['"gx.h"', "<math.h>"]
    assert not re.search(r"\b(malloc|calloc|free|printf|goto|while)\b", code)
    assert not re.search(r"^static (?!const|void|int|gx_report)", code, re.MULTILINE)
    assert all(text.isascii() for text in files.values())
    for unit in ("kg*m^2", "N*m*s/rad", "rad/s^2"):
        assert unit in files["gx.h"]


def test_names_of_functions():
    assert identifier("6-UPS") == "robot_6_ups"
    assert identifier("Röbot / 7") == "robot_7"


def test_a_wrong_result_is_told():
    files, _ = named_files("five-bar", "gx")
    table = files["gx.c"].split("const gx_model gx_identified = {")
    spoiled = re.sub(r"0\.\d+", "0.5", table[1], count=4)
    files["gx.c"] = "const gx_model gx_identified = {".join([table[0], spoiled])
    assert vector_errors(files, "gx")["worst"] > 1e-6


def test_vectors_are_in_the_range_of_the_data():
    section = named_files("h4", "gx")[1][0]
    for name in ("q", "dq", "ddq"):
        span, values = getattr(section.dynamics.seen, name), section.vectors[name]
        assert ((span[0] < values) & (values < span[1])).all()


def test_a_wrong_return_value_is_told():
    files, _ = named_files("five-bar", "gx")
    files["gx.c"] = files["gx.c"].replace("return flag;", "return flag & 0;")
    with pytest.raises(ExportError, match="3000 return values of the exported C"):
        vector_errors(files, "gx")


def test_a_compiler_that_warns_is_told():
    files, _ = named_files("five-bar", "gx")
    files["gx.c"] += "static int unused;\n"
    with pytest.raises(ExportError, match="does not accept the exported C"):
        vector_errors(files, "gx")
