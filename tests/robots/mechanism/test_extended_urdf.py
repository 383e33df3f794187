"""Extended URDF: the public models of closed legs, a delta and five-bars, and what we write, against Pinocchio."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gough import InputError
from gough.cli.app import run
from gough.dynamics.base_parameters import base_parameters
from gough.export.exporting import export
from gough.robots import efforts
from gough.robots.mechanism.assembly import assembled
from gough.robots.mechanism.imports import read_extended_urdf
from gough.robots.mechanism.imports.extended_urdf import unlisted_loops
from gough.studies.mechanism_file import Stated, read_mechanism_robot
from tests.export.models import named_model

pin = pytest.importorskip("pinocchio")
yaml = pytest.importorskip("yaml")
MODELS = Path(__file__).resolve().parents[4] / "shared" / "data" / "parallel-urdf"
FREEDOMS = {
    "5bar_linkage": (3, 2),
    "5bar_linkage_iso6d": (2, 2),
    "robot_delta": (5, 2),
    "cassie_like": (7, 5),
    "disney_like": (9, 6),
    "digit_like": (9, 6),
    "wl16_like": (12, 6),
}
"""Freedoms and motors of public models that close: the others move rods about their axes, or halves of pins."""


@cache
def robot_of(path, fixed=()):
    """Tracing its equations takes seconds: once for all tests."""
    return read_mechanism_robot(path, Stated(fixed=fixed))


def model_of(name):
    folder = MODELS / name
    if not folder.is_dir():
        pytest.skip("the public models are not here")
    return folder / "robot.yaml"


class Constrained:
    """A URDF in Pinocchio, some joints locked at zero, with the frames that a YAML file joins."""

    def __init__(self, path, locked=()):
        self.stated = yaml.safe_load(path.read_text())
        whole = pin.buildModelFromUrdf(str(path.with_suffix(".urdf")))
        self.model = pin.buildReducedModel(whole, [whole.getJointId(name) for name in locked], pin.neutral(whole))
        self.model.gravity.linear = np.array(self.stated.get("gravity", [0, 0, -9.81]))
        self.names = list(self.model.names)[1:]
        armature = self.stated.get("armature", {})
        self.model.armature = np.array([armature.get(name, 0.0) for name in self.names])
        self.data = self.model.createData()

    def constraints(self, q):
        """Gaps and their Jacobian."""
        pin.computeJointJacobians(self.model, self.data, q)
        pin.framesForwardKinematics(self.model, self.data, q)
        gaps, rows = [], []
        for pair, kind in zip(self.stated["closed_loop"], self.stated["type"], strict=True):
            a, b = (self.model.getFrameId(name) for name in pair)
            A, B = self.data.oMf[a], self.data.oMf[b]
            Ja, Jb = (
                pin.getFrameJacobian(self.model, self.data, f, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED) for f in (a, b)
            )
            k = 6 if kind == "6d" else 3
            turn = pin.log3(A.rotation @ B.rotation.T)
            gaps.append(np.concatenate([A.translation - B.translation, turn])[:k])
            rows.append((Ja - Jb)[:k])
        return np.concatenate(gaps), np.vstack(rows)

    def efforts(self, q, dq, ddq):
        """Efforts of the motors and forces of the constraints that together make the motion, and what is left."""
        needed = pin.rnea(self.model, self.data, q, dq, ddq)
        _, J = self.constraints(q)
        motors = np.eye(len(q))[[self.names.index(name) for name in self.stated["name_mot"]]]
        found, *_ = np.linalg.lstsq(np.vstack([motors, J]).T, needed, rcond=1e-10)
        left = needed - np.vstack([motors, J]).T @ found
        return found[: len(motors)], float(np.abs(left).max() / np.abs(needed).max())


def held_in(name):
    """The joints that the refusal of a public model proposes to hold, and nothing else but the refusal."""
    path, (freedoms, motors) = model_of(name), FREEDOMS[name]
    if freedoms == motors:
        return ()
    with pytest.raises(InputError, match=f"{freedoms} freedoms but {motors} actuators .* --fixed ") as refused:
        read_mechanism_robot(path)
    proposed = str(refused.value).rsplit("--fixed ", 1)[1].split(" ")[0].split(",")
    assert len(proposed) == freedoms - motors
    return tuple(proposed)


def base_ranks(robot, other, rng, n=40):
    """Number of base parameters of the bodies: of our regressor, and of Pinocchio's along the freedoms of its loops."""
    x = robot.home + np.where(np.array(robot.pose_units) == "m", 1e-3, 0.03) * rng.uniform(-1, 1, (n, len(robot.home)))
    dx, ddx = rng.normal(size=(2, n, len(robot.home)))
    motion = robot.coordinate_motion(x, dx, ddx)
    order = [list(robot.mechanism.coordinates).index(name) for name in other.names]
    motors = np.eye(len(order))[[other.names.index(name) for name in other.stated["name_mot"]]]
    with_mass = [
        10 * j - 10 + k for j, body in enumerate(other.model.inertias) if j and body.mass > 0 for k in range(10)
    ]
    theirs = []
    for k in range(n):
        q, dq, ddq = (part[k, order] for part in (motion.s, motion.ds, motion.dds))
        _, values, right = np.linalg.svd(other.constraints(q)[1])
        free = right[(values > 1e-7 * values[0]).sum() :].T
        Y = pin.computeJointTorqueRegressor(other.model, other.data, q, dq, ddq)[:, with_mass]
        theirs.append((free @ np.linalg.inv(motors @ free)).T @ Y)
    bodies = [i for i, name in enumerate(robot.names) if name[:2] in {"m_", "sx", "sy", "sz", "Ix", "Iy", "Iz"}]
    ours = robot.regressor(*robot.joint_motion(x, dx, ddx)).reshape(-1, len(robot.names))[:, bodies]
    return [rank_of(W) for W in (ours, np.vstack(theirs))]


def rank_of(W):
    """The rank of columns scaled to one: singular values end at rounding, four decades below the least true one."""
    sizes = np.abs(W).max(axis=0)
    W = W[:, sizes > 1e-9 * sizes.max()] / sizes[sizes > 1e-9 * sizes.max()]
    values = np.linalg.svd(W, compute_uv=False)
    rank = int((values > 1e-12 * values[0]).sum())
    assert rank == len(values) or values[rank] < 1e-3 * values[rank - 1]
    return rank


def compare(robot, other, rng, n=6):
    """The largest relative error of efforts, the widest gap, and the speed and acceleration at which loops open."""
    scale = np.where(np.array(robot.pose_units) == "m", 1e-3, 0.02)
    x = robot.home + scale * rng.uniform(-1, 1, (n, len(robot.home)))
    dx, ddx = rng.normal(size=(2, n, len(robot.home)))
    motion = robot.coordinate_motion(x, dx, ddx)
    names = list(robot.mechanism.coordinates)
    order = [names.index(name) for name in other.names]
    order_of = [list(other.stated["name_mot"]).index(name) for name in robot.coordinates]
    rigid = np.where([name.startswith(("r_", "v_")) for name in robot.names], 0.0, robot.nominal)
    ours = efforts(robot, rigid, *robot.joint_motion(x, dx, ddx))
    worst = np.zeros(4)
    for k in range(n):
        q, dq, ddq = (part[k, order] for part in (motion.s, motion.ds, motion.dds))
        gaps, J = other.constraints(q)
        tau, left = other.efforts(q, dq, ddq)
        error = np.abs(tau[order_of] - ours[k]).max() / np.abs(ours[k]).max()
        step = 1e-5
        changing = other.constraints(q + step * dq)[1] - other.constraints(q - step * dq)[1]
        opening = np.abs(J @ ddq + changing @ dq / (2 * step)).max() / np.abs(ddq).max()
        worst = np.maximum(worst, [error + left, np.abs(gaps).max(), np.abs(J @ dq).max(), opening])
    return worst


@pytest.mark.parametrize("name", FREEDOMS)
def test_public_models_are_those_of_pinocchio(name, rng):
    """A refusal says which joints to hold; closure, mobility, inverse dynamics and base parameters are then equal."""
    path, held = model_of(name), held_in(name)
    robot, other = robot_of(path, held), Constrained(path, held)
    motors = FREEDOMS[name][1]
    assert assembled(robot.mechanism).mobility == len(robot.coordinates) == motors
    still = np.zeros((1, motors))
    s = robot.coordinate_motion(robot.home[None], still, still).s[0]
    _, J = other.constraints(s[[robot.mechanism.coordinates.index(each) for each in other.names]])
    values = np.linalg.svd(J, compute_uv=False)
    assert len(other.names) - (values > 1e-7 * values[0]).sum() == motors
    ours, theirs = base_ranks(robot, other, rng)
    assert ours == theirs
    efforts_, gap, opening, accelerating = compare(robot, other, rng)
    assert efforts_ < 1e-7  # the drawn spheres of 6.5e5 kg in one model cost digits
    assert gap < 1e-9
    assert opening < 1e-9
    assert accelerating < 1e-4  # by differences


def test_a_public_model_is_examined_and_regrouped():
    robot = robot_of(model_of("5bar_linkage_iso6d"))
    assert assembled(robot.mechanism).mobility == 2
    known = base_parameters(robot)
    # the rank of the regressor along other random motions is the number of base parameters
    rng = np.random.default_rng(8)
    x = robot.home + 0.1 * rng.uniform(-1, 1, (60, 2))
    W = robot.regressor(*robot.joint_motion(x, *rng.normal(size=(2, 60, 2)))).reshape(-1, len(robot.names))
    values = np.linalg.svd(W / np.maximum(np.abs(W).max(axis=0), 1e-300), compute_uv=False)
    assert (values > 1e-9 * values[0]).sum() == known.rank


@pytest.mark.parametrize("key", ["five-bar", "delta", "3-rrr", "h4"])
def test_what_we_write_is_read_back_by_us_and_by_pinocchio(tmp_path, key, rng):
    files = export(named_model(key), "urdf", bodies="nominal", verify=False).files
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    path = next(tmp_path.glob("*.yaml"))
    written = named_model(key).dynamics.robot
    read = read_extended_urdf(path)
    assert read.actuated == tuple(written.mechanism.actuated)
    robot, other = read_mechanism_robot(path), Constrained(path)
    equations = written.controller_equations()
    np.testing.assert_allclose(robot.home, equations.home[list(equations.actuated)], atol=1e-12)
    assert assembled(robot.mechanism).mobility == len(written.mechanism.actuated)
    ours, theirs = base_ranks(robot, other, rng)
    assert ours == theirs
    efforts_, gap, opening, _ = compare(robot, other, rng)
    assert efforts_ < 1e-9
    assert gap < 1e-10
    assert opening < 1e-10


TREE = """<robot name="r"><link name="floor"/><link name="a"/><link name="b"/>
<joint name="q1" type="revolute"><parent link="floor"/><child link="a"/></joint>
<joint name="q2" type="revolute"><parent link="a"/><child link="b"/></joint></robot>"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("closed_loop: [[q1, q2]", r"robot\.yaml: it is no YAML"),
        ("- 1\n- 2", "no description of an Extended URDF"),
        ("closed_loop: [[q1]]", "'closed_loop' must be a list of pairs"),
        ("name_mot: [q1]", "'closed_loop' must be a list of pairs"),
        ("closed_loop: [[q1, q2]]\ntype: [3d, 6d]", "has 1 pairs, but 'type' has 2"),
        ("closed_loop: [[q1, q2]]\ntype: [4d]", "must be 3d or 6d, not '4d'"),
        ("closed_loop: [[q1, q9]]\nname_mot: [q1]", "no joint or link is called 'q9'"),
        ("closed_loop: [[q1, b]]\nname_mot: [q7]", "'name_mot': no coordinate is called 'q7'"),
        ("closed_loop: [[q1, b]]\nname_mot: [q1, q1]", "names a joint twice"),
        ("closed_loop: [[q1, a]]", "holds 'a' to itself"),
        ("closed_loop: [[q1, b]]\nmotors: [q1]", "the key 'motors' is not known"),
        ("closed_loop: [[q1, b]]\njoint_name: [q2]\njoint_type: [HELIX]", "must be one of SPHERICAL, FIXED, CARDAN"),
        ("closed_loop: [[q1, b]]\njoint_name: [q2]", "lists of equal length"),
        ("closed_loop: [[q1, b]]\narmature: {q1: -1}", "inertias that are not negative"),
        ("closed_loop: [[q1, b]]\nstart: {q7: 1}", "'start': no coordinate is called 'q7'"),
        ("closed_loop: [[q1, b]]\nstart: {q1: .inf}", "'start' must be a table of joints and of finite numbers"),
        ("closed_loop: [[q1, b]]\nstart: [1, 2]", "'start' must be a table of joints"),
        ("closed_loop: [[q1, b]]\ngravity: [0, 0]", "'gravity' must be three finite numbers"),
    ],
)
def test_malformed_files_are_refused_in_one_line(tmp_path, text, said):
    (tmp_path / "robot.urdf").write_text(TREE)
    (tmp_path / "robot.yaml").write_text(text)
    with pytest.raises(InputError, match=said) as refused:
        read_extended_urdf(tmp_path / "robot.yaml")
    assert "\n" not in str(refused.value)


def test_the_urdf_file_must_be_there(tmp_path, capsys):
    (tmp_path / "robot.yaml").write_text("closed_loop: [[q1, b]]\nname_mot: [q1]")
    assert run(["mechanism", str(tmp_path / "robot.yaml")]) == 2
    assert "expected beside it as robot.urdf" in " ".join(capsys.readouterr().err.split())


def test_a_forgotten_closure_is_named():
    path = model_of("kangaroo_like")
    hint = unlisted_loops(path)
    assert hint.endswith("add [closedloop1_A, closedloop1_B]?")
    assert read_extended_urdf(path).closures[7].name == "closedloop8"
    assert not any(unlisted_loops(model_of(name)) for name in ("5bar_linkage", "robot_delta", "digit_like"))


def test_refusals_name_a_forgotten_closure(tmp_path):
    frames = "".join(
        f'<link name="l{k}{end}"/><joint name="loop{k}_{end}" type="fixed"><parent link="{on}"/>'
        f'<child link="l{k}{end}"/></joint>'
        for k in (1, 2)
        for end, on in (("A", "b"), ("B", "floor"))
    )
    (tmp_path / "robot.urdf").write_text(TREE.replace("</robot>", frames + "</robot>"))
    (tmp_path / "robot.yaml").write_text("closed_loop: [[loop2_A, loop2_B]]\ntype: [3d]\nname_mot: [q1]")
    with pytest.raises(InputError, match=r"does not list: add \[loop1_A, loop1_B\]\?"):
        read_mechanism_robot(tmp_path / "robot.yaml")


def test_joints_are_replaced(tmp_path):
    (tmp_path / "robot.urdf").write_text(TREE)
    head = "closed_loop: [[q1, b]]\nname_mot: [q1]\njoint_name: [q2]\njoint_type: [{}]"
    for word, kind in (("SPHERICAL", "spherical"), ("cardan", "universal"), ("FIXED", "fixed")):
        (tmp_path / "robot.yaml").write_text(head.format(word))
        assert read_extended_urdf(tmp_path / "robot.yaml").joints[1].kind == kind
