"""The five-bar against independent mechanics: finite differences, free-body diagrams, energy."""

import numpy as np
import pytest

from gough.core import intervals as iv
from gough.core.errors import InputError
from gough.core.intervals import Interval
from gough.robots import DynamicModel, FiveBar, efforts
from gough.simulate.trajectories import FourierSeries

ROBOTS = {
    "demo": FiveBar.demo(),
    "uneven": FiveBar(base=0.31, proximal=(0.22, 0.27), distal=(0.41, 0.36), gravity=(1.0, -9.0)),
    "downward": FiveBar(base=0.2, proximal=(0.25, 0.25), distal=(0.35, 0.35), side=-1, elbows=(-1, 1)),
    "coaxial": FiveBar(base=0.0, proximal=(0.2, 0.2), distal=(0.3, 0.3), gravity=(0.0, 0.0)),
}


@pytest.fixture(params=ROBOTS, ids=str)
def robot(request):
    return ROBOTS[request.param]


@pytest.fixture
def angles(robot, rng):
    """Motor angles well inside the working mode of the robot, mirrored if it hangs downward."""
    q = np.column_stack([rng.uniform(1.9, 2.5, 200), rng.uniform(0.6, 1.2, 200)])
    return q if robot.side > 0 else -q


@pytest.fixture
def parameters(robot, rng):
    """Random, physically possible parameters."""
    values = robot.nominal * rng.uniform(0.5, 2.0, len(robot.names))
    values[2:16:4] = rng.uniform(-0.02, 0.02, 4)
    values[3:16:4] *= 3
    return values


def _positions(robot, q):
    """Elbows and end point by complex numbers and the half-angle of the triangle: independent of the kernels."""
    q = np.asarray(q, dtype=np.longdouble)
    b = [(-1) ** (i + 1) * np.longdouble(robot.base) / 2 + robot.proximal[i] * np.exp(1j * q[..., i]) for i in range(2)]
    across = b[1] - b[0]
    r_1, r_2 = (np.longdouble(r) for r in robot.distal)
    angle = np.arccos((r_1**2 + np.abs(across) ** 2 - r_2**2) / (2 * r_1 * np.abs(across)))
    return b[0], b[1], b[0] + r_1 * across / np.abs(across) * np.exp(1j * robot.side * angle)


def _links(robot, q):
    """For each of the four links: origin and unit vector, as complex numbers."""
    b_1, b_2, p = _positions(robot, q)
    a_1, a_2 = -robot.base / 2 + 0 * b_1, robot.base / 2 + 0 * b_2
    ends = ((a_1, b_1), (a_2, b_2), (b_1, p), (b_2, p))
    return [(start, (end - start) / np.abs(end - start)) for start, end in ends], p


STEP = np.longdouble(2e-3)


def _derivatives(f, h=STEP):
    """f, f', f'' at 0 by central differences of sixth order."""
    at = {k: f(k * h) for k in range(-3, 4)}
    first = sum(c * (at[k] - at[-k]) for k, c in ((1, 45), (2, -9), (3, 1))) / (60 * h)
    second = (sum(c * (at[k] + at[-k]) for k, c in ((1, 270), (2, -27), (3, 2))) - 490 * at[0]) / (180 * h**2)
    return at[0], first, second


def _free_bodies(robot, parameters, q, dq, ddq):
    """Motor torques of one sample from Newton's and Euler's equations of the four links and the payload.

    Unknown: the force on each link at its origin, the forces of the payload on the distal links, and the torques.
    """

    def path(t):
        links, p = _links(robot, q + dq * t + ddq * t**2 / 2)
        return np.array([x for link in links for x in link] + [p])

    value, _, second = _derivatives(path)
    rate, spin = [], []
    for k in range(4):
        e, de, dde = (d[2 * k + 1] for d in _derivatives(path))
        rate.append((de / e).imag)
        spin.append((dde / e).imag)
    g = complex(*robot.gravity)
    A, b = np.zeros((14, 14)), np.zeros(14)
    place = {("origin", k): 2 * k for k in range(4)} | {("load", 2): 8, ("load", 3): 10}
    outer = {0: [("origin", 2, -1)], 1: [("origin", 3, -1)], 2: [("load", 2, 1)], 3: [("load", 3, 1)]}
    for k in range(4):
        m, mx, my, inertia = parameters[4 * k : 4 * k + 4]
        e = value[2 * k + 1]
        center = complex(mx, my) / m * e
        a = second[2 * k] + (1j * spin[k] - rate[k] ** 2) * center
        rows = slice(3 * k, 3 * k + 3)
        length = (robot.proximal + robot.distal)[k] * e
        forces = [("origin", k, 1, -center)] + [(*f, length - center) for f in outer[k]]
        for kind, of, sign, arm in forces:
            column = place[kind, of]
            A[rows, column : column + 2] += sign * np.array([[1, 0], [0, 1], [-arm.imag, arm.real]], dtype=float)
        if k < 2:
            A[3 * k + 2, 12 + k] = 1
        force = m * (a - g)
        b[rows] = [force.real, force.imag, (inertia - m * abs(center) ** 2) * spin[k]]
    load = parameters[16] * (second[8] - g)
    A[12:14, 8:10] = A[12:14, 10:12] = -np.eye(2)
    b[12:14] = [load.real, load.imag]
    friction = parameters[[17, 19]] * dq + parameters[[18, 20]] * np.sign(dq)
    return np.linalg.solve(A, b)[12:] + friction


def test_it_is_a_dynamic_model(robot):
    assert isinstance(robot, DynamicModel)
    assert len(robot.names) == len(set(robot.names)) == len(robot.units) == len(robot.nominal) == 21
    assert robot.names[:4] == ("m_1", "mx_1", "my_1", "I_1")
    assert robot.names[16:] == ("m_load", "fv_1", "fc_1", "fv_2", "fc_2")


def test_nominal_bodies_are_physically_possible(robot):
    for k in range(4):
        m, mx, my, inertia = robot.nominal[4 * k : 4 * k + 4]
        assert m > 0
        assert inertia * m > mx**2 + my**2
    assert (robot.nominal[16:] > 0).all()


def test_forward_kinematics_match_an_independent_computation(robot, angles):
    b_1, b_2, p = _positions(robot, angles)
    end, elbows = robot.forward(angles), robot.elbow_positions(angles)
    for got, wanted in ((end, p), (elbows[:, 0], b_1), (elbows[:, 1], b_2)):
        np.testing.assert_allclose(got, np.column_stack([wanted.real, wanted.imag]).astype(float), atol=1e-14)


def test_closure_vanishes(robot, angles):
    assert np.abs(robot.closure(angles, robot.forward(angles))).max() < 1e-14
    assert np.abs(robot.closure(angles, robot.forward(angles) + 0.01)).min() > 1e-6


def test_inverse_undoes_forward(robot, angles):
    np.testing.assert_allclose(robot.inverse(robot.forward(angles)), angles, atol=1e-13)


@pytest.mark.parametrize("elbows", [(1, -1), (1, 1), (-1, -1)])
def test_forward_undoes_inverse_in_each_working_mode(elbows, rng):
    robot = FiveBar(base=0.2, proximal=(0.2, 0.2), distal=(0.4, 0.4), elbows=elbows)
    position = np.column_stack([rng.uniform(-0.05, 0.05, 50), rng.uniform(0.45, 0.5, 50)])
    np.testing.assert_allclose(robot.forward(robot.inverse(position)), position, atol=1e-13)


def test_jacobian_matches_finite_differences(robot, angles):
    h = 1e-6
    columns = [(robot.forward(angles + step) - robot.forward(angles - step)) / (2 * h) for step in h * np.eye(2)]
    np.testing.assert_allclose(robot.jacobian(angles), np.stack(columns, axis=-1), atol=1e-8)


def test_margin_is_the_sine_between_distal_links(robot, angles):
    links, _ = _links(robot, angles)
    sine = (np.conj(links[2][1]) * links[3][1]).imag
    np.testing.assert_allclose(robot.margin(angles), np.abs(sine).astype(float), atol=1e-13)


def test_regressor_matches_free_bodies(robot, angles, parameters, rng):
    """Newton-Euler with all joint forces solved for; accelerations by sixth-order differences, hence the tolerance."""
    dq, ddq = rng.normal(size=(2, 200, 2)) * [[[3.0]], [[20.0]]]
    torque = efforts(robot, parameters, angles, dq, ddq)
    wanted = [_free_bodies(robot, parameters, angles[k], dq[k], ddq[k]) for k in range(0, 200, 5)]
    np.testing.assert_allclose(torque[::5], wanted, rtol=1e-6, atol=1e-6)


def test_power_is_the_rate_of_energy(robot, parameters):
    """Without friction dE/dt = torque · dq; the energy is periodic and differentiated by its Fourier series."""
    parameters[17:] = 0
    center = np.array([2.2, 0.9]) * robot.side
    path = FourierSeries.random(np.random.default_rng(3), offset=center, amplitude=0.25, frequency=1.0, n_harmonics=3)
    motion = path.sample(rate=256.0)
    g = complex(*robot.gravity)
    energy = np.zeros(256)
    for k in range(5):

        def place(t, k=k):
            links, p = _links(robot, motion.q + motion.dq * t)
            return np.array(links[k] if k < 4 else (p, 1 + 0 * p))

        (origin, e), (d_origin, de), _ = _derivatives(place)
        m, mx, my, inertia = (*parameters[4 * k : 4 * k + 4],) if k < 4 else (parameters[16], 0, 0, 0)
        c, rate = complex(mx, my) * e, (de / e).imag
        energy += 0.5 * m * np.abs(d_origin) ** 2 + (np.conj(d_origin) * 1j * rate * c).real + 0.5 * inertia * rate**2
        energy -= (np.conj(g) * (m * origin + c)).real
    spectrum = np.fft.rfft(energy.astype(float))
    power = np.fft.irfft(2j * np.pi * np.arange(129) * spectrum)
    torque = efforts(robot, parameters, motion.q, motion.dq, motion.ddq)
    np.testing.assert_allclose((torque * motion.dq).sum(axis=1), power, atol=1e-9 * np.abs(power).max())


def test_gravity_is_the_gradient_of_potential_energy(robot, angles, parameters):
    """At rest, the torque is ∂V/∂q."""
    g = complex(*robot.gravity)

    def potential(q):
        links, p = _links(robot, q)
        total = -parameters[16] * np.conj(g) * p
        for k, (origin, e) in enumerate(links):
            m, mx, my, _ = parameters[4 * k : 4 * k + 4]
            total = total - np.conj(g) * (m * origin + complex(mx, my) * e)
        return total.real

    still = np.zeros_like(angles)
    torque = efforts(robot, parameters, angles, still, still)
    for i in range(2):
        slope = _derivatives(lambda t, i=i: potential(angles + t * np.eye(2)[i]))[1]
        np.testing.assert_allclose(torque[:, i], slope.astype(float), atol=1e-11)


def test_compiled_replayed_and_enclosed_regressors_agree(robot, angles, rng):
    dq, ddq = rng.normal(size=(2, 200, 2))
    kernel = robot.regressor_kernel()
    value = robot.regressor(angles, dq, ddq)
    np.testing.assert_allclose(kernel(angles, dq, ddq), value, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.replay(angles, dq, ddq)["five_bar_regressor"], value, rtol=1e-12, atol=1e-12)
    points = kernel.enclose(angles, dq, ddq)["five_bar_regressor"]
    assert points.wid.max() < 1e-11
    boxes = kernel.enclose(*(Interval(x - 1e-5, x + 1e-5) for x in (angles, dq, ddq)))["five_bar_regressor"]
    assert iv.is_subset(points, boxes).all()


def test_missing_samples_stay_missing(rng):
    robot = FiveBar.demo()
    q = np.array([[2.0, 1.0], [np.nan, 1.0], [2.1, 0.9]])
    value = robot.regressor(q, np.ones((3, 2)), np.ones((3, 2)))
    assert np.isnan(value[1]).all()
    assert np.isfinite(value[[0, 2]]).all()


def test_near_singular_poses_are_refused():
    """The distal links of the demo robot are stretched at q = (π, 0)."""
    robot = FiveBar.demo()
    q = np.array([[2.0, 1.0], [np.pi, 0.0], [np.pi - 1e-9, 1e-9], [np.pi - 0.1, 0.1]])
    margin = robot.margin(q)
    assert (margin[[1, 2]] < 1e-3).all()
    assert (margin[[0, 3]] > 1e-3).all()
    for call in (robot.forward, robot.jacobian, lambda q: robot.regressor(q, 0 * q, 0 * q)):
        with pytest.raises(InputError, match=r"sample 1: the distal links are aligned.*\(2 of 4 samples\)"):
            call(np.where(margin[:, None] < 0, [[np.pi - 1e-9, 1e-9]], q))
        assert np.isfinite(call(q[[0, 3]])).all()


def test_poses_that_cannot_be_assembled_are_refused():
    wide = FiveBar(base=0.5, proximal=(0.25, 0.25), distal=(0.35, 0.35))
    q = np.array([[1.3, 1.8], [np.pi, 0.0]])
    assert wide.margin(q)[1] < 0
    with pytest.raises(InputError, match=r"sample 1: the distal links cannot meet.*\(1 of 2 samples\)"):
        wide.regressor(q, q, q)
    with pytest.raises(InputError, match=r"^the distal links cannot meet"):
        wide.forward(q[1])


def test_coincident_elbows_are_singular():
    robot = FiveBar(base=0.0, proximal=(0.2, 0.2), distal=(0.3, 0.3))
    with pytest.raises(InputError, match="aligned"):
        robot.forward([1.0, 1.0])


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ([0.0, 0.8], "out of reach of motor 1"),
        ([0.65, 0.0], "out of reach of motor 1"),
        ([-0.1, 0.0], "out of reach of motor 1"),
    ],
)
def test_end_points_out_of_reach_are_refused(position, message):
    robot = FiveBar.demo()
    with pytest.raises(InputError, match=message):
        robot.inverse(position)
    with pytest.raises(InputError, match=f"sample 1: .*{message}"):
        robot.inverse([[0.0, 0.4], position])


def test_an_end_point_of_the_other_assembly_mode_is_refused():
    """With both elbows inward they cross, and the end point comes to lie right of the line between them."""
    crossed = FiveBar(base=0.2, proximal=(0.25, 0.25), distal=(0.35, 0.35), elbows=(-1, 1))
    with pytest.raises(InputError, match="other assembly mode"):
        crossed.inverse([0.0, 0.45])
    other = FiveBar(base=0.2, proximal=(0.25, 0.25), distal=(0.35, 0.35), elbows=(-1, 1), side=-1)
    np.testing.assert_allclose(other.forward(other.inverse([0.0, 0.45])), [0.0, 0.45], atol=1e-14)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base": -0.1}, "base must be"),
        ({"base": np.nan}, "base must be"),
        ({"base": 5.0}, "cannot be assembled"),
        ({"proximal": (0.2, 0.0)}, "must be positive"),
        ({"distal": (0.2, np.inf)}, "must be positive"),
        ({"distal": (0.2,)}, "distal must be a tuple of two"),
        ({"proximal": [0.2, 0.2]}, "proximal must be a tuple of two"),
        ({"side": 0}, "side must be"),
        ({"elbows": (1, 2)}, "elbows must be"),
        ({"gravity": (0.0, np.nan)}, "gravity must be"),
        ({"least_margin": 0.0}, "least_margin"),
    ],
)
def test_impossible_robots_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        FiveBar(**({"base": 0.2, "proximal": (0.2, 0.2), "distal": (0.3, 0.3)} | change))


def test_wrong_shapes_name_the_input():
    robot = FiveBar.demo()
    with pytest.raises(InputError, match="input 'q'"):
        robot.regressor(np.ones((3, 3)), np.ones((3, 2)), np.ones((3, 2)))
    with pytest.raises(InputError, match=r"input 'ddq'.*has 2 samples, but 'q' has 3"):
        robot.regressor([[2.0, 1.0]] * 3, np.ones((3, 2)), np.ones((2, 2)))
    with pytest.raises(InputError, match="parameters must be 21 numbers"):
        efforts(robot, np.ones(20), [2.0, 1.0], [0.0, 0.0], [0.0, 0.0])


def test_single_sample_and_no_sample():
    robot = FiveBar.demo()
    assert robot.regressor([2.0, 1.0], [0.0, 0.0], [0.0, 0.0]).shape == (2, 21)
    none = np.zeros((0, 2))
    assert robot.regressor(none, none, none).shape == (0, 2, 21)
    assert efforts(robot, robot.nominal, none, none, none).shape == (0, 2)


def test_torque_model_exports_to_c(tmp_path):
    source, header = FiveBar.demo().regressor_kernel().export_c(tmp_path)
    assert "void five_bar_regressor(const double q[2], const double dq[2], const double ddq[2]" in header.read_text()
    assert source.exists()
