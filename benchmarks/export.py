"""Exported C for a controller: time of each function, and of closed-loop inverse dynamics in C++ with Pinocchio.

Ours begins with positions, velocities and accelerations of the actuators: forward kinematics from the last cycle's
state, distance to singularity, efforts with friction, flags. Pinocchio's program is given the positions, velocities and
accelerations of all joints for free; it computes the forces on the open tree (rnea), the Jacobians of the closures, and
the efforts of the actuators by one factorization of the closure equations. Both are compiled with -O2, and run on one
core; the best of 30 passes over 1000 motions is printed, with cycles of the time stamp counter where there is one. The
headers of Pinocchio are those of its wheel, with the Eigen of CasADi's; where they do not compile, the line says so.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gough import Unknowns
from gough.estimates import Claim, Estimate, Status
from gough.export import IdentifiedDynamics, MotionRange, RobotModel
from gough.export.c_source import c_files, identifier
from gough.kernels.compiler import find_compiler
from gough.region import ConfidenceEllipsoid
from gough.robots import ROBOTS
from gough.robots.mechanism import MechanismModel
from gough.simulate.multibody import pinocchio_model

TARGETS = {"h4": 1000, "par4": 1000, "delta": 1000, "five-bar": 1000, "6-ups": 5000, "palida": 5000}
"""ns for a cycle."""

CLOCK = r"""
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#define CYCLES() ((double)__rdtsc())
#else
#define CYCLES() 0.0
#endif
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return 1e9 * t.tv_sec + t.tv_nsec; }
#define TIMED(what, call) { double best = 1e30, cycles = 0; \
    for (int pass = 0; pass < 30; ++pass) { const double c = CYCLES(), t = now(); \
        for (int k = 0; k < 1000; ++k) { call; } \
        const double took = (now() - t) / 1000; if (took < best) { best = took; cycles = (CYCLES() - c) / 1000; } } \
    printf("%s %.1f %.0f\n", what, best, cycles); }
"""

PROGRAM = r"""
#include "gx.h"
#include "gx_vectors.h"
#include <stdio.h>
#include <math.h>
CLOCK
enum { N = GX_ACTUATORS };
static gx_real q[1000][N], x[1000][N];
int main(void)
{
    gx_state state;
    gx_real tau[N], other[N], M[N * N];
    /* a smooth motion at 1 kHz between two vectors */
    for (int k = 0; k < 1000; ++k)
        for (int i = 0; i < N; ++i)
            q[k][i] = gx_v_q[0][i] + 0.15 * (1 - cos(6.283185 * k / 1000)) * (gx_v_q[1][i] - gx_v_q[0][i]);
    gx_start(&state);
    int failed = 0;
    for (int k = 0; k < 1000; ++k)
        failed |= gx_forward(&gx_identified, q[k], &state, x[k], 0) >= GX_INVALID;
    if (failed)
        return 1;
    TIMED("forward", gx_forward(&gx_identified, q[k], &state, other, 0))
    TIMED("inverse", gx_inverse(&gx_identified, x[k], &state, other, 0))
    gx_forward(&gx_identified, q[0], &state, other, 0);
    TIMED("torque", gx_torque(&gx_identified, q[k], gx_v_dq[k], gx_v_ddq[k], 1, &state, tau))
#ifdef OF_POSE
    TIMED("torque_of_pose", gx_torque_of_pose(&gx_identified, x[k], gx_v_dx[k], gx_v_ddx[k], 1, &state, tau))
#endif
    TIMED("mass_matrix", gx_mass_matrix(&gx_identified, &state, M))
    TIMED("torque_bounds", gx_torque_bounds(&state, gx_v_dq[k], gx_v_ddq[k], 1, tau, other))
    return 0;
}
"""

PINOCCHIO = r"""
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <Eigen/LU>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
CLOCK
using namespace pinocchio;
using Eigen::MatrixXd; using Eigen::VectorXd;
static double number() { double v = 0; if (std::scanf("%lf", &v) != 1) std::exit(2); return v; }
static Eigen::VectorXd numbers(int n) { Eigen::VectorXd v(n); for (int i = 0; i < n; ++i) v(i) = number(); return v; }
static Eigen::Matrix3d matrix()
{
    const Eigen::VectorXd v = numbers(9);
    return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(v.data());
}
static SE3 placement() { const Eigen::Matrix3d R = matrix(); return SE3(R, numbers(3)); }
static Model built()
{
    Model model;
    model.gravity.linear() = numbers(3);
    for (int count = (int)number(); count > 0; --count) {
        const int parent = (int)number(), kind = (int)number();
        const Eigen::Vector3d axis = numbers(3);
        const SE3 place = placement();
        const std::string name = "j" + std::to_string(count);
        JointIndex k = 0;
        switch (kind) {
        case 0: k = model.addJoint(parent, JointModelRX(), place, name); break;
        case 1: k = model.addJoint(parent, JointModelRY(), place, name); break;
        case 2: k = model.addJoint(parent, JointModelRZ(), place, name); break;
        case 3: k = model.addJoint(parent, JointModelPX(), place, name); break;
        case 4: k = model.addJoint(parent, JointModelPY(), place, name); break;
        case 5: k = model.addJoint(parent, JointModelPZ(), place, name); break;
        case 6: k = model.addJoint(parent, JointModelRevoluteUnaligned(axis), place, name); break;
        default: k = model.addJoint(parent, JointModelPrismaticUnaligned(axis), place, name);
        }
        const double mass = number();
        const Eigen::Vector3d center = numbers(3);
        model.appendBodyToJoint(k, Inertia(mass, center, matrix()), SE3::Identity());
    }
    return model;
}
int main()
{
    Model model = built();
    std::vector<FrameIndex> ends;
    for (int count = (int)number(); count > 0; --count) {
        const JointIndex joint = (JointIndex)number();
        ends.push_back(model.addFrame(Frame("e" + std::to_string(count), joint, placement(), OP_FRAME)));
    }
    const int m = (int)number(), n = model.nv, rows = 3 * (int)ends.size() / 2;
    std::vector<int> drives, others;
    for (int i = 0; i < m; ++i) drives.push_back((int)number());
    for (int i = 0; i < n - m; ++i) others.push_back((int)number());
    Data data(model);
    const VectorXd s = numbers(n), ds = numbers(n), dds = numbers(n);
    Data::Matrix6x A(6, n), B(6, n);
    MatrixXd C_o(rows, n - m), C_d(rows, m);
    VectorXd f_o(n - m), f_d(m), tau(m);
    const auto efforts = [&]() {
        rnea(model, data, s, ds, dds);
        computeJointJacobians(model, data, s);
        for (int r = 0; r < rows / 3; ++r) {
            A.setZero();
            B.setZero();
            getFrameJacobian(model, data, ends[2 * r], LOCAL_WORLD_ALIGNED, A);
            getFrameJacobian(model, data, ends[2 * r + 1], LOCAL_WORLD_ALIGNED, B);
            A -= B;
            for (int j = 0; j < n - m; ++j) C_o.block<3, 1>(3 * r, j) = A.block<3, 1>(0, others[j]);
            for (int j = 0; j < m; ++j) C_d.block<3, 1>(3 * r, j) = A.block<3, 1>(0, drives[j]);
        }
        for (int j = 0; j < n - m; ++j) f_o(j) = data.tau(others[j]);
        for (int j = 0; j < m; ++j) f_d(j) = data.tau(drives[j]);
        tau = f_d - C_d.transpose() * C_o.transpose().partialPivLu().solve(f_o);
    };
    TIMED("pinocchio", efforts())
    TIMED("rnea", rnea(model, data, s, ds, dds))
    std::printf("tau");
    for (int j = 0; j < m; ++j) std::printf(" %.17g", tau(j));
    std::printf("\n");
    return 0;
}
"""


def model_of(robot) -> RobotModel:
    """The robot as if it had been identified around home."""
    equations = robot.controller_equations()
    q = equations.home[list(equations.actuated)]
    turns = np.array([unit == "rad" for unit in robot.coordinate_units])
    spans = [np.where(turns, *pair) for pair in ((0.35, 0.06), (3.0, 0.5), (60.0, 8.0))]
    ranges = [np.stack([-span, span]) for span in spans]
    region = ConfidenceEllipsoid(robot.nominal, np.diag((0.05 * np.abs(robot.nominal) + 1e-3) ** 2))
    estimate = Estimate(region, Claim.CONFIDENCE, Status.OK, Unknowns(robot.names), "nominal", None)
    seen = MotionRange(ranges[0] + q, ranges[1], ranges[2])
    return RobotModel(IdentifiedDynamics(robot, robot.names, {"nominal": estimate}, "nominal", {}, seen))


def run(command: list[str], folder: Path) -> str | None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def timed(text: str) -> dict[str, tuple[float, float]]:
    """ns and cycles by function."""
    rows = (line.split() for line in text.splitlines())
    return {row[0]: (float(row[1]), float(row[2])) for row in rows if len(row) == 3 and row[0] != "tau"}


def exported(robot, folder: Path) -> tuple[dict[str, tuple[float, float]], object]:
    files, sections = c_files(model_of(robot), "gx")
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "bench.c").write_text(PROGRAM.replace("CLOCK", CLOCK))
    more = ["-DOF_POSE"] if sections[0].present["pose_efforts"] else []
    compiler = [find_compiler().path, "-std=gnu99", "-O2", *more, "bench.c", "gx.c", "-o", "bench", "-lm"]
    assert run(compiler, folder) is not None
    text = run([str(folder / "bench")], folder)
    assert text is not None, "the motion of the benchmark leaves the workspace"
    return timed(text), sections[0].vectors


KINDS = (*(f"JointModel{kind}{axis}" for kind in "RP" for axis in "XYZ"), "JointModelRevoluteUnaligned")
DEFINITIONS = (
    "BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_LIMIT_VECTOR_SIZE=30", "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "BOOST_FUSION_INVOKE_MAX_ARITY=12", "NDEBUG",
)  # fmt: skip
"""As Pinocchio's own CMake files state them."""


def pinocchio_input(robot, vectors) -> tuple[str, np.ndarray] | None:
    """The numbers that the C++ program reads, and the efforts that it should print; None for other closures."""
    mechanism, full = robot.mechanism, MechanismModel(robot.mechanism)
    points = all(set(closure.directions) == {"x", "y", "z"} for closure in mechanism.closures)
    if not points or mechanism.redundant:  # the program's closure equations must be square
        return None
    tree = pinocchio_model(mechanism)
    model = tree.model
    parts = [mechanism.gravity, [model.njoints - 1]]
    for k in range(1, model.njoints):
        joint, place, inertia = model.joints[k], model.jointPlacements[k], model.inertias[k]
        name = joint.shortname()
        kind = KINDS.index(name) if name in KINDS else 7
        axis = np.asarray(joint.extract().axis) if kind > 5 else np.zeros(3)
        parts += [[model.parents[k], kind], axis, place.rotation, place.translation]
        parts += [[inertia.mass], inertia.lever, inertia.inertia]
    parts.append([2 * len(mechanism.closures)])
    for closure in mechanism.closures:
        for body, place in zip(closure.bodies, closure.placements, strict=True):
            parts += [[tree.bodies[body]], place.matrix, place.position]
    names = [mechanism.coordinates[k] for k in tree.order]
    drives = [names.index(name) for name in mechanism.actuated]
    parts += [[len(drives)], drives, [k for k in range(len(names)) if k not in drives]]
    q, dq, ddq = (vectors[key][:1] for key in ("q", "dq", "ddq"))
    motion = full.coordinate_motion(*full.pose_motion(q, dq, ddq))
    parts += [tree.arranged(part)[0] for part in motion[:3]]
    bodies = [k for k, parameter in enumerate(full.parameters) if parameter.part == "bodies"]
    expected = full.regressor(q, dq, ddq)[0][:, bodies] @ full.nominal[bodies]
    return " ".join(repr(float(v)) for part in parts for v in np.asarray(part, dtype=float).reshape(-1)), expected


def compiled_pinocchio(folder: Path) -> Path | None:
    """The C++ program, compiled in a minute or two; None where that is impossible."""
    spec, eigen = find_spec("pinocchio"), find_spec("casadi")
    if spec is None or spec.origin is None or eigen is None or eigen.origin is None:
        return None
    prefix = next((p for p in Path(spec.origin).parents if p.name == "cmeel.prefix"), None)
    if prefix is None:
        return None
    (folder / "pin.cpp").write_text(PINOCCHIO.replace("CLOCK", CLOCK))
    command = ["g++", "-std=c++17", "-O2", "-w", *(f"-D{word}" for word in DEFINITIONS), f"-I{prefix / 'include'}"]
    command += [f"-I{Path(eigen.origin).parent / 'include' / 'eigen3'}", "pin.cpp", "-o", "pin"]
    command += [f"-L{prefix / 'lib'}", "-lpinocchio_default", f"-Wl,-rpath,{prefix / 'lib'}"]
    try:
        return folder / "pin" if run(command, folder) is not None else None
    except OSError:
        return None


def by_pinocchio(program: Path | None, robot, vectors) -> dict[str, tuple[float, float]] | None:
    """Times of Pinocchio's program; None where there is none, or the robot has other closures."""
    found = pinocchio_input(robot, vectors) if program is not None else None
    if program is None or found is None:
        return None
    done = subprocess.run([str(program)], input=found[0], capture_output=True, text=True, check=True)
    tau = np.array([float(word) for word in done.stdout.split("tau")[1].split()])
    error = float(np.abs(tau - found[1]).max() / np.abs(found[1]).max())
    print(f"  Pinocchio's program against gough: {error:.1e} of the largest effort")
    return timed(done.stdout)


def main() -> None:
    """Print times and ratios."""
    with TemporaryDirectory() as place:
        program = compiled_pinocchio(Path(place))
        if program is None:
            print("Pinocchio's C++ headers cannot be compiled here: no ratios")
        for key, target in TARGETS.items():
            robot = ROBOTS[key]()
            print(f"{key} ({identifier(robot.name)}): {len(robot.names)} parameters")
            ours, vectors = exported(robot, Path(place))
            for name, (ns, cycles) in ours.items():
                print(f"  {name:16} {ns:8.0f} ns {cycles:9.0f} cycles")
            torque = ours["torque"][0]
            verdict = "within" if torque <= target else "MORE THAN"
            print(f"  torque with forward kinematics: {verdict} {target} ns")
            other = by_pinocchio(program, robot, vectors)
            if other is not None:
                ns, alone = other["pinocchio"][0], other["rnea"][0]
                print(f"  Pinocchio, joints given: {ns:.0f} ns, of which rnea {alone:.0f} ns: ratio {ns / torque:.1f}")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
