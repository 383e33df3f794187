"""Mass, center and inertia of bodies from MJCF files are those that MuJoCo compiles."""

import numpy as np
import pytest

from gough import InputError
from gough.robots.mechanism import MechanismModel, Platform
from gough.robots.mechanism.imports import read_mjcf
from tests.robots.mechanism.mujoco_versions import INERTIALS_IN_FRAMES, OWN_QUAT_COUNTS, TURN

mujoco = pytest.importorskip("mujoco")

SHAPES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a file where it runs."""
    monkeypatch.chdir(tmp_path)


def numbers(values):
    return " ".join(f"{value:.17g}" for value in np.atleast_1d(values))


class Files:
    """Random MJCF files."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.bodies = 0

    def maybe(self, chance=0.5):
        return self.rng.random() < chance

    def orientation(self):
        match self.rng.integers(6):
            case 0:
                return ""
            case 1:
                return f'quat="{numbers(self.rng.normal(size=4))}"'
            case 2:
                return f'axisangle="{numbers(self.rng.normal(size=4))}"'
            case 3:
                return f'euler="{numbers(self.rng.uniform(-90, 90, 3))}"'
            case 4:
                return f'xyaxes="{numbers(self.rng.normal(size=6))}"'
            case _:
                return f'zaxis="{numbers(self.rng.normal(size=3))}"'

    def frame(self):
        return f'pos="{numbers(self.rng.uniform(-1, 1, 3))}" {self.orientation()}'

    def geom(self):
        shape = self.rng.choice(list(SHAPES))
        size = self.rng.uniform(0.05, 0.3, 3)
        words = [f'type="{shape}"' if shape != "sphere" or self.maybe() else ""]
        if shape != "sphere" and self.maybe(0.3):
            words.append(
                f'fromto="{numbers(self.rng.uniform(-1, 1, 6))}" size="{numbers(size[: self.rng.integers(1, 4)])}"'
            )
        else:
            words.append(f'size="{numbers(size[: max(SHAPES[shape], self.rng.integers(1, 4))])}"')
            words.append(self.frame())
        words.append(
            ["", "", f'mass="{self.rng.uniform(0, 3)}"', f'density="{self.rng.uniform(0, 3000)}"', 'mass="0"'][
                self.rng.integers(5)
            ]
        )
        words.append(["", "", f'group="{self.rng.integers(6)}"'][self.rng.integers(3)])
        words.append(["", 'class="light"', 'class="heavy"', 'class="tilted"'][self.rng.integers(4)])
        return f"<geom {' '.join(words)}/>"

    def inertial(self):
        a = self.rng.normal(size=(3, 3))
        full = a @ a.T
        inertia = np.trace(full) * np.eye(3) - full
        if self.maybe():
            i = inertia
            text = f'fullinertia="{numbers([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])}"'
            place = f'pos="{numbers(self.rng.uniform(-1, 1, 3))}"'
        else:
            text, place = f'diaginertia="{numbers(np.linalg.eigvalsh(inertia))}"', self.frame()
        return f'<inertial {place} mass="{self.rng.uniform(0.1, 3)}" {text}/>'

    def body(self, depth):
        self.bodies += 1
        name = f"b{self.bodies}"
        inside = [f'<geom size="{self.rng.uniform(0.1, 0.3)}" group="1" mass="{self.rng.uniform(0.1, 1)}"/>']
        inside += [self.geom() for _ in range(self.rng.integers(0, 4))]
        kinds = ["", "", '<joint axis="{}" pos="{}"/>', '<joint type="slide" axis="{}" pos="{}" ref="0.2"/>']
        joint = kinds[self.rng.integers(4)].format(*(numbers(self.rng.normal(size=3)) for _ in range(2)))
        if joint:
            inside.append(joint)
        if self.maybe(0.25):
            inside.append(self.inertial())
        if depth < 3:
            inside += [self.body(depth + 1) for _ in range(self.rng.integers(0, 3))]
        self.rng.shuffle(inside)
        k = self.rng.integers(len(inside) + 1)
        if self.maybe(0.6):  # part of it stands in a frame, perhaps within another
            style = ['childclass="heavy"', ""][self.rng.integers(2)]
            inner, outer = inside[:k], inside[k:]
            if not INERTIALS_IN_FRAMES:
                outer = [each for each in inner if each.startswith("<inertial")] + outer
                inner = [each for each in inner if not each.startswith("<inertial")]
            held = "".join(inner)
            held = f"<frame {self.frame()}>{held}</frame>" if self.maybe(0.3) else held
            inside = [f"<frame {self.frame()} {style}>{held}</frame>", *outer]
        style = ["", "", 'childclass="light"', 'childclass="tilted"'][self.rng.integers(4)]
        return f'<body name="{name}" {self.frame()} {style}>{"".join(inside)}</body>'

    def file(self):
        rng = self.rng
        letters = "".join(rng.permutation(list("xyz")))
        options = [
            ['angle="radian"', ""][rng.integers(2)],
            [f'eulerseq="{letters}"', f'eulerseq="{letters.upper()}"', 'eulerseq="zYx"', ""][rng.integers(4)],
            ['inertiafromgeom="true"', 'inertiafromgeom="auto"', "", ""][rng.integers(4)],
            ['inertiagrouprange="1 3"', "", ""][rng.integers(3)],
            [f'boundmass="{rng.uniform(0, 2)}"', "", ""][rng.integers(3)],
            [f'boundinertia="{rng.uniform(0, 0.2)}"', "", ""][rng.integers(3)],
            ['balanceinertia="true"', ""][rng.integers(2)],
        ]
        density, tilt = rng.uniform(100, 2000), self.orientation()
        tilt = tilt if OWN_QUAT_COUNTS else ""
        return f"""<mujoco><compiler {" ".join(options)}/>
          <default><geom density="{density}"/><default class="heavy"><geom density="7800" group="2"/>
            <default class="tilted"><geom {tilt}/></default></default></default>
          <default><default class="light"><geom mass="{rng.uniform(0.1, 1)}"/></default></default>
          <worldbody><geom type="plane" size="1 1 1"/><frame {self.frame()}>{self.body(0)}</frame>{self.body(1)}
          </worldbody></mujoco>"""


def compiled(model, name):
    """Mass, center and inertia matrix about it, in the body's frame."""
    body = model.body(name)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, body.iquat)
    R = turn.reshape(3, 3)
    return body.mass[0], body.ipos, R @ np.diag(body.inertia) @ R.T


@pytest.mark.parametrize("seed", range(60))
def test_bodies_weigh_what_mujoco_compiles(tmp_path, seed):
    path = tmp_path / "random.xml"
    path.write_text(Files(seed).file())
    model = mujoco.MjModel.from_xml_path(str(path))
    read = read_mjcf(path)
    at = {joint.child: joint for joint in read.joints}
    assert len(read.bodies) == model.nbody - 1
    for body in read.bodies:
        mass, center, inertia = compiled(model, body.name)
        mine = body.inertia
        joints = model.body(body.name).jntadr
        shift = model.jnt_pos[joints[0]] if joints[0] >= 0 else np.zeros(3)
        assert (at[body.name].kind == "fixed") == (joints[0] < 0)
        joint, turn = at[body.name], np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.body(body.name).quat)
        R, back = turn.reshape(3, 3), np.zeros(3)
        if joint.kind != "fixed":
            assert joint.axis == pytest.approx(model.jnt_axis[joints[0]], abs=1e-12)
            back = np.array(joint.axis) * (0.2 if joint.kind == "prismatic" else 0.0)  # ref
        above = model.body(model.body(body.name).parentid[0]).jntadr[0]
        start = np.zeros(3) if above < 0 else model.jnt_pos[above]
        assert joint.placement.matrix == pytest.approx(R, abs=1e-12)
        assert joint.placement.position + start == pytest.approx(
            model.body(body.name).pos + R @ (shift - back), abs=1e-12
        )
        scale = max(1.0, np.abs(inertia).max())
        assert mine.mass == pytest.approx(mass, rel=1e-12)
        # a placement keeps 16 digits of a rotation; MuJoCo normalizes quaternions in between
        assert np.array(mine.center) + shift == pytest.approx(center, abs=1e-12)
        assert np.abs(mine.matrix - inertia).max() < (1e-11 + TURN) * scale


def test_random_files_have_what_they_are_meant_to_have():
    texts = [Files(seed).file() for seed in range(60)]
    for word in (
        *SHAPES,
        "fromto",
        "<frame",
        "euler=",
        "inertiafromgeom",
        "eulerseq",
        "<inertial",
        "childclass",
        "bound",
    ):
        assert sum(word in text for text in texts) >= 10, word


BODY = '<mujoco>{}<worldbody><body name="a" pos="0 0 1"><joint name="j"/>{}</body></worldbody></mujoco>'
BALL = '<geom type="sphere" size="0.1" mass="2"/>'
MESH = '<geom type="mesh" mesh="part"/>'
OWN = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'


def bodies(tmp_path, text):
    path = tmp_path / "one.xml"
    path.write_text(text)
    return read_mjcf(path).bodies


def test_all_masses_are_scaled_to_a_stated_total(tmp_path):
    two = f'{BALL}<body><joint/><geom type="box" size="0.1 0.2 0.3" mass="4"/></body>'
    text = BODY.format('<compiler settotalmass="3"/>', two)
    model = mujoco.MjModel.from_xml_string(text)
    for k, body in enumerate(bodies(tmp_path, text), start=1):
        assert body.inertia.mass == pytest.approx(model.body_mass[k], rel=1e-14)
        assert np.linalg.eigvalsh(body.inertia.matrix) == pytest.approx(sorted(model.body_inertia[k]), rel=1e-14)


def test_a_mesh_needs_an_inertial(tmp_path):
    with pytest.raises(
        InputError, match=r"one\.xml, line 1, <geom>: the inertia of a geom of type mesh is not computed"
    ):
        bodies(tmp_path, BODY.format("", MESH))
    with pytest.raises(InputError, match="of type mesh"):
        bodies(tmp_path, BODY.format('<compiler inertiafromgeom="true"/>', OWN + MESH))
    (body,) = bodies(tmp_path, BODY.format("", OWN + MESH))
    assert body.inertia.mass == 1
    (body,) = bodies(tmp_path, BODY.format("", BALL + MESH.replace("/>", ' mass="0"/>')))
    assert body.inertia.mass == 2
    (body,) = bodies(
        tmp_path, BODY.format('<compiler inertiagrouprange="0 1"/>', BALL + MESH.replace("/>", ' group="2"/>'))
    )
    assert body.inertia.mass == 2


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ('<geom size="0.1" shellinertia="true"/>', "the inertia of a geom with shellinertia is not computed"),
        ('<geom type="box" size="0.1 0.2"/>', "<geom>: a box needs 3 positive sizes"),
        ('<geom type="sphere"/>', "<geom>: a sphere needs 1 positive size,"),
        ('<geom size="0.1" fromto="0 0 0 1 0 0"/>', "a sphere has no two ends"),
        ('<geom type="capsule" size="0.1" fromto="0 0 0 1 0 0" pos="1 0 0"/>', "stated twice, by pos and fromto"),
        ('<geom size="0.1" mass="-1"/>', "mass and density must not be negative"),
        ('<geom size="0.1" type="sdf"/>', "the inertia of a geom of type sdf"),
        ('<geom size="0.1" class="none"/>', "there is no default class 'none'"),
        ('<joint type="ball" damping="0.1"/>', "damping of a ball joint cannot be expressed: write damping='0'"),
    ],
)
def test_shapes_without_a_known_inertia_are_refused(tmp_path, inside, said):
    with pytest.raises(InputError) as refused:
        bodies(tmp_path, BODY.format("", inside))
    assert said in str(refused.value)


def test_settings_that_are_not_known_are_refused(tmp_path):
    with pytest.raises(InputError, match="'inertiafromgeom' must be one of auto, true, false, but is 'maybe'"):
        bodies(tmp_path, BODY.format('<compiler inertiafromgeom="maybe"/>', BALL))
    with pytest.raises(InputError, match="alignfree moves the frames of free bodies"):
        bodies(tmp_path, BODY.format('<compiler alignfree="true"/>', BALL))


def test_a_default_gear_is_refused_as_a_stated_one_is(tmp_path):
    text = BODY.format('<default><general gear="5"/></default><actuator><motor joint="j"/></actuator>', BALL)
    with pytest.raises(InputError, match="the effort of a joint is identified"):
        bodies(tmp_path, text)


# A plate on a freejoint, held by three sliding rods: its pose is its own.
TRIPOD = """
<mujoco model="tripod">
  <default><joint damping="0"/><geom density="2700"/></default>
  <worldbody>
    <body name="plate" pos="0 0 0.5">
      <freejoint name="plate"/>
      <geom type="cylinder" size="0.2 0.01"/>
      <site name="p1" pos="0.2 0 0"/><site name="p2" pos="-0.1 0.17 0"/><site name="p3" pos="-0.1 -0.17 0"/>
    </body>
    {legs}
  </worldbody>
  <equality>{ends}</equality>
  <actuator><motor joint="s1"/><motor joint="s2"/><motor joint="s3"/></actuator>
</mujoco>"""
LEG = """<body name="foot{k}" pos="{x} {y} 0">
  <joint name="yaw{k}" axis="{u} {v} 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.02"/>
  <body name="rod{k}">
    <joint name="s{k}" type="slide" axis="0 0 1" range="-0.2 0.3"/>
    <geom type="capsule" fromto="0 0 0.2 0 0 0.5" size="0.01"/><site name="e{k}" pos="0 0 0.5"/>
  </body></body>"""


def test_a_plate_on_a_freejoint_is_identified_by_the_efforts_that_mujoco_computes(tmp_path, rng):
    """Three legs that turn in the planes through the axis leave z, roll and pitch: the 3-RPS of Lee and Shah."""
    at = [(0.2, 0.0), (-0.1, 0.17), (-0.1, -0.17)]
    legs = "".join(LEG.format(k=k, x=x, y=y, u=-y, v=x) for k, (x, y) in enumerate(at, start=1))
    ends = "".join(f'<connect site1="p{k}" site2="e{k}"/>' for k in (1, 2, 3))
    path = tmp_path / "tripod.xml"
    path.write_text(TRIPOD.format(legs=legs, ends=ends))
    read = read_mjcf(path)
    assert read.actuated == ("s1", "s2", "s3")
    assert [joint.kind for joint in read.joints if joint.name == "plate"] == ["free"]
    robot = MechanismModel(read.mechanism(Platform("plate", ("plate_z", "plate_roll", "plate_pitch"), (0.5, 0.0, 0.0))))
    x = robot.home + rng.uniform(-1, 1, (5, 3)) * [0.05, 0.1, 0.1]
    dx, ddx = rng.normal(size=(2, 5, 3)) * 0.5
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    motion = robot.coordinate_motion(x, dx, ddx)
    names = list(robot.coordinate_names)
    own = robot.regressor(*robot.joint_motion(x, dx, ddx)) @ robot.nominal
    for k in range(5):
        # inverse dynamics of the open tree, projected on the motions that leave the loops closed
        power = 0.0
        s, ds, dds = (dict(zip(names, part[k], strict=True)) for part in (motion.s, motion.ds, motion.dds))
        q, v, a = state(model, s, ds, dds)
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_EQUALITY
        mujoco.mj_inverse(model, data)
        power = data.qfrc_inverse @ v
        driven = [ds[name] for name in read.actuated]
        assert own[k] @ driven == pytest.approx(power, rel=1e-9)


def state(model, s, ds, dds):
    """MuJoCo's position, velocity and acceleration: a free body has a quaternion and angular velocity in its frame."""
    q, v, a = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
    for j in range(model.njnt):
        name, p, d = model.joint(j).name, model.jnt_qposadr[j], model.jnt_dofadr[j]
        if model.jnt_type[j] != mujoco.mjtJoint.mjJNT_FREE:
            q[p], v[d], a[d] = s[name], ds[name], dds[name]
            continue
        at = [[part[f"{name}_{word}"] for word in ("x", "y", "z", "roll", "pitch", "yaw")] for part in (s, ds, dds)]
        q[p : p + 3], v[d : d + 3], a[d : d + 3] = at[0][:3], at[1][:3], at[2][:3]
        (r, b, _), rates, second = (part[3:] for part in at)
        R = turn(*at[0][3:])
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, R.ravel())
        q[p + 3 : p + 7] = quat
        # body rates of R_z(yaw) R_y(pitch) R_x(roll)
        sr, cr, sb, cb = np.sin(r), np.cos(r), np.sin(b), np.cos(b)
        E = np.array([[1, 0, -sb], [0, cr, cb * sr], [0, -sr, cb * cr]])
        dr, db, _ = rates
        dE = np.array(
            [[0, 0, -cb * db], [0, -sr * dr, -sb * db * sr + cb * cr * dr], [0, -cr * dr, -sb * db * cr - cb * sr * dr]]
        )
        v[d + 3 : d + 6] = E @ rates
        a[d + 3 : d + 6] = E @ second + dE @ rates
    return q, v, a


def turn(roll, pitch, yaw):
    (sr, cr), (sp, cp), (sy, cy) = ((np.sin(x), np.cos(x)) for x in (roll, pitch, yaw))
    x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return z @ y @ x
