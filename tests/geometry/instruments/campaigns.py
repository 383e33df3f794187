"""Simulated campaigns, one for each kind of instrument: the truth is known, guesses are forgotten."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gough.core.rotations import exp
from gough.geometry import Placement, procrustes
from gough.geometry.instruments import Instrument, Measurements, Sought, simulated
from gough.robots import GoughPlatform, KinematicModel, LinearDelta, PlanarRRR, PlatformPoses

ELSEWHERE = Placement([1.0, 2.0, 0.5], [0.5, 0.5, 0.5, 0.5])
READING, POSITION, ANGLE, PIXEL = 1e-5, 2e-5, 5e-5, 0.02


@dataclass(frozen=True)
class Campaign:
    """A robot that is off its blueprint, its poses, and instruments whose guesses are their true parts."""

    model: KinematicModel
    truth: np.ndarray
    poses: PlatformPoses
    plan: Measurements
    fixed: tuple[str, ...] = ()

    @property
    def start(self) -> np.ndarray:
        """The blueprint, with the truth where parameters are fixed."""
        from fnmatch import fnmatchcase

        held = [any(fnmatchcase(name, pattern) for pattern in self.fixed) for name in self.model.names]
        return np.where(held, self.truth, self.model.nominal)

    def drawn(self, rng: np.random.Generator | None) -> Measurements:
        """What is measured, without the guesses of frames and surfaces; points keep theirs, 5 mm off."""
        seen = simulated(self.model, self.truth, self.poses, self.plan, rng)
        return replace(seen, instruments=tuple(map(_forgetful, seen.instruments)))


def _forgetful(one: Instrument) -> Instrument:
    parts = {}
    for part in one.of_kind.parts:
        stated = getattr(one, part.name)
        if isinstance(stated, Sought):
            near = part.name == "point" or one.name == "ball1"
            guess = np.asarray(stated.guess) + [5e-3, 5e-3, 5e-3, 0.0][: len(stated.guess)] if near else None
            parts[part.name] = replace(stated, guess=guess)
    return replace(one, **parts)


def _platform(n: int = 60, seed: int = 1):
    rng = np.random.default_rng(seed)
    model = GoughPlatform.deltalab()
    truth = model.nominal + rng.normal(0, 1e-3, 42)
    return model, truth, model.forward(truth, rng.uniform(0, 0.14, (n, 6)))


def _nearest_platform(n: int):
    """A platform whose truth is in the frames in which it is nearest to the blueprint, as answers are."""
    model, truth, _ = _platform(n)
    rows, blueprint = model.rows(truth).copy(), model.rows(model.nominal)
    for body in (slice(0, 3), slice(3, 6)):
        rows[:, body] = procrustes(rows[:, body], blueprint[:, body])[0].of(rows[:, body])
    truth = rows[:, :7].reshape(-1)
    return model, truth, model.forward(truth, np.random.default_rng(2).uniform(0, 0.14, (n, 6)))


def _printer(n: int = 60, seed: int = 1):
    rng = np.random.default_rng(seed)
    model = LinearDelta()
    truth = model.nominal + rng.normal(0, 1e-3, 10)
    p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.15], (n, 3))
    return model, truth, PlatformPoses(p, np.repeat(np.eye(3)[None], n, axis=0))


def plan(model, poses, *instruments, sessions=()):
    return Measurements(np.zeros((len(poses.position), len(model.chains))), READING, instruments, sessions)


def pose() -> Campaign:
    """A camera sees a target, both in unknown places."""
    model, truth, poses = _platform()
    target = Sought(Placement([0.01, 0.02, 0.03], [0.8, 0.0, 0.0, 0.6]))
    n = len(poses.position)
    camera = Instrument(
        "camera", "pose", np.zeros((n, 3)), [POSITION, ANGLE], rotation=poses.rotation, frame=Sought(ELSEWHERE),
        target=target,
    )  # fmt: skip
    return Campaign(model, truth, poses, plan(model, poses, camera))


def point() -> Campaign:
    """A tracker follows one reflector, both in unknown places; some readings of it are missing."""
    model, truth, poses = _platform(80)
    values = np.zeros((80, 3))
    values[3, 1] = values[10:14] = np.nan
    tracker = Instrument(
        "tracker", "point", values, POSITION, frame=Sought(ELSEWHERE), point=Sought([0.05, 0.02, 0.03])
    )
    return Campaign(model, truth, poses, plan(model, poses, tracker))


def points() -> Campaign:
    """Three reflectors at known places; the tracker is set up anew in each of two sessions."""
    model, truth, poses = _platform(40)
    full = POSITION**2 * np.array([[1.0, 0.3, 0.0], [0.3, 2.0, 0.0], [0.0, 0.0, 1.0]])
    places = ([0.05, 0.02, 0.03], [-0.06, 0.03, 0.03], [0.0, -0.07, 0.04])
    frames = (Sought(ELSEWHERE, each_session=True), "p1", "p1")
    instruments = [
        Instrument(f"p{i + 1}", "point", np.zeros((40, 3)), full, point=place, frame=frames[i])
        for i, place in enumerate(places)
    ]
    return Campaign(model, truth, poses, plan(model, poses, *instruments, sessions=["Monday"] * 20 + ["Tuesday"] * 20))


def tilts() -> Campaign:
    """An inclinometer that is mounted somehow, and a reflector at a known place in the robot's frame."""
    model, truth, poses = _platform()
    n = len(poses.position)
    level = Instrument("level", "tilts", np.zeros((n, 2)), ANGLE, mount=Sought([0.8, 0.0, 0.0, 0.6]))
    tracker = Instrument("tracker", "point", np.zeros((n, 3)), POSITION, point=[0.05, 0.02, 0.03])
    return Campaign(model, truth, poses, plan(model, poses, level, tracker))


def heading() -> Campaign:
    """A planar robot: the heading from an unknown mark, and x and y of a point."""
    rng = np.random.default_rng(1)
    model = PlanarRRR()
    truth = model.nominal + rng.normal(0, 5e-4, 21)
    spread = rng.uniform(-1, 1, (60, 3)) * [0.06, 0.06, 0.0]
    R = exp(np.outer(rng.uniform(-0.4, 0.4, 60), [0, 0, 1]))
    poses = PlatformPoses(model.home(model.nominal).position[0] + spread, R)
    flat = np.zeros((60, 3))
    flat[:, 2] = np.nan
    compass = Instrument("compass", "heading", np.zeros(60), ANGLE, offset=Sought(2.5))
    tracker = Instrument("tracker", "point", flat, POSITION)
    return Campaign(model, truth, poses, plan(model, poses, compass, tracker))


def distance() -> Campaign:
    """Four wires from fixed points, one of them in an unknown place."""
    model, truth, poses = _printer()
    anchors = ([0.4, 0.0, 0.1], [-0.3, 0.3, 0.0], [-0.2, -0.4, 0.2], Sought([0.1, 0.3, 0.6]))
    wires = [Instrument(f"wire{i + 1}", "distance", np.zeros(60), POSITION, anchor=a) for i, a in enumerate(anchors)]
    return Campaign(model, truth, poses, plan(model, poses, *wires))


def apart() -> Campaign:
    """A printer: heights above its bed, and distances between printed points."""
    model, truth, poses = _printer(48)
    bed = Instrument("bed", "plane", np.zeros(48), POSITION, plane=[0.0, 0.0, 1.0, 0.0])
    pairs = np.array([[i, i + k] for i in range(0, 48, 4) for k in (1, 2, 3)])
    caliper = Instrument("caliper", "apart", np.zeros(len(pairs)), POSITION, pairs=pairs)
    return Campaign(model, truth, poses, plan(model, poses, bed, caliper), fixed=("angle_c",))


def plane() -> Campaign:
    """Contacts with three planes, two of them unknown."""
    model, truth, poses = _printer(90)
    p = poses.position.copy()
    p[:30, 2], p[30:60, 0], p[60:, 1] = 0.02, 0.09, -0.08
    p[30:60, 2] += 0.1 * p[30:60, 1]
    gaps = [np.where(np.arange(90) // 30 == k, 0.0, np.nan) for k in range(3)]
    tilted = np.array([1.0, 0.0, 0.0, 0.09])
    faces = (np.array([0.0, 0.0, 1.0, 0.02]), Sought(tilted), Sought(np.array([0.0, 1.0, 0.0, -0.08])))
    probes = [Instrument(f"face{k + 1}", "plane", gaps[k], POSITION, plane=face) for k, face in enumerate(faces)]
    return Campaign(
        model, truth, PlatformPoses(p, poses.rotation), plan(model, poses, *probes), fixed=("angle_c", "arm_*")
    )


def sphere() -> Campaign:
    """Contacts with two balls in unknown places, of known radius and of unknown radius, and with a known plane."""
    model, truth, poses = _printer(120)
    rng = np.random.default_rng(5)
    u = rng.normal(size=(120, 3))
    u[:, 2] = abs(u[:, 2])
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    centers, radii = np.array([[0.04, 0.02, 0.03], [-0.05, 0.03, 0.05]]), (0.04, 0.03)
    p = poses.position.copy()
    for k in range(2):
        p[40 * k : 40 * k + 40] = centers[k] + radii[k] * u[40 * k : 40 * k + 40]
    p[80:, 2] = 0.0
    gaps = [np.where(np.arange(120) // 40 == k, 0.0, np.nan) for k in range(3)]
    balls = [
        Instrument(f"ball{k + 1}", "sphere", gaps[k], POSITION, sphere=Sought([*centers[k], radii[k]]))
        for k in range(2)
    ]
    bed = Instrument("bed", "plane", gaps[2], POSITION, plane=[0.0, 0.0, 1.0, 0.0])
    return Campaign(
        model,
        truth,
        PlatformPoses(p, poses.rotation),
        plan(model, poses, *balls, bed),
        fixed=("angle_c", "arm_*", "ball1.radius"),
    )


def image() -> Campaign:
    """A camera with a distorting lens sees nine dots of a target, both in unknown places; some dots are hidden."""
    model, truth, poses = _nearest_platform(40)
    sheet = np.array([[x, y, 0.0] for x in (-0.03, 0.0, 0.03) for y in (-0.03, 0.0, 0.03)])
    pixels = np.zeros((40, 18))
    pixels[4, 2:8] = pixels[9] = np.nan
    sees = Instrument(
        "camera", "image", pixels, PIXEL, points=sheet, camera=[2000.0, 2010.0, 640.0, 480.0, -0.1, 0.05, 1e-3, -1e-3],
        frame=Sought(Placement([0.02, -0.01, 1.2], [0.0, 1.0, 0.02, 0.01])),
        target=Sought(Placement([0.01, 0.02, 0.03], [0.8, 0.0, 0.0, 0.6])),
    )  # fmt: skip
    return Campaign(model, truth, poses, plan(model, poses, sees))


CAMPAIGNS: dict[str, Callable[[], Campaign]] = {
    make.__name__: make for make in (pose, point, points, tilts, heading, distance, apart, plane, sphere, image)
}
