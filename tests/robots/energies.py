"""The Delta family from first principles: positions of all bodies, their energies, and Lagrange's equations.

Independent of the library: inverse kinematics by the law of cosines, velocities by automatic differentiation of
positions, rods as uniform rods between two moving ends, torques from d/dt ∂T/∂ẋ - ∂T/∂x + ∂V/∂x = (∂q/∂x)ᵀ τ.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from gough.robots import H4, Delta, Par4

MASSES = {"motor": 0.009, "arm": 0.31, "rod": 0.057, "bar": 0.23, "cross": 0.61, "spin": 0.0013}
"""motor: inertia of the first rotor, each next has 10 % more; arm and rod: uniform; bar: a lateral bar, or half 2."""


@dataclass(frozen=True)
class Mechanism:
    """A robot at the symbolic pose x: where its points are."""

    robot: object
    x: ca.SX
    motors: list
    ends: list

    @property
    def angles(self):
        """Motor angles by the law of cosines in the triangle motor, elbow, end of the rods seen in the arm's plane."""
        geometry = self.robot.geometry
        found = []
        for P, A, alpha in zip(self.motors, self.ends, geometry.alpha, strict=True):
            r = (A - P)[0] * np.cos(alpha) + (A - P)[1] * np.sin(alpha)
            beside = -(A - P)[0] * np.sin(alpha) + (A - P)[1] * np.cos(alpha)
            z = (A - P)[2]
            rod_in_plane = geometry.rod**2 - beside**2
            distance = ca.sqrt(r**2 + z**2)
            at_motor = ca.acos((geometry.arm**2 + distance**2 - rod_in_plane) / (2 * geometry.arm * distance))
            found.append(ca.atan2(-z, r) - at_motor)
        return ca.vertcat(*found)

    @property
    def elbows(self):
        l, q = self.robot.geometry.arm, self.angles
        return [
            P + l * ca.vertcat(ca.cos(q[i]) * np.cos(alpha), ca.cos(q[i]) * np.sin(alpha), -ca.sin(q[i]))
            for i, (P, alpha) in enumerate(zip(self.motors, self.robot.geometry.alpha, strict=True))
        ]


def mechanism(robot):
    """The mechanism of a robot, from the words of its geometry."""
    of = robot.geometry
    x = ca.SX.sym("x", len(robot.home))
    p = x[:3]
    if isinstance(robot, H4):
        crossbar = of.h * ca.vertcat(ca.cos(x[3]), ca.sin(x[3]), 0)
        at = [(1, 1), (-1, 1), (-1, -1), (1, -1)]  # which end of the crossbar, which end of the lateral bar
        ends = [p + side * crossbar + ca.vertcat(0, end * of.d, 0) for side, end in at]
        still = [np.array([side * of.h, end * of.d, 0.0]) for side, end in at]
    elif isinstance(robot, Par4):
        bar = of.h * ca.vertcat(-ca.sin(x[3]), ca.cos(x[3]), 0)
        at = [(1, 1), (1, -1), (0, -1), (0, 1)]  # on half 2 or not, which end of the half
        ends = [p + half * bar + ca.vertcat(end * of.d, 0, 0) for half, end in at]
        still = [np.array([end * of.d, (half - 0.5) * of.h, 0.0]) for half, end in at]
    else:
        radial = [np.array([np.cos(a), np.sin(a), 0.0]) for a in of.alpha]
        ends = [p + of.platform * r for r in radial]
        motors = [of.base * r for r in radial]
        return Mechanism(robot, x, motors, ends)
    motors = [place + of.base * np.array([np.cos(a), np.sin(a), 0.0]) for place, a in zip(still, of.alpha, strict=True)]
    return Mechanism(robot, x, motors, ends)


def bodies_of_platform(robot, mech):
    """Point masses (mass, place) of the platform, and moments of inertia (inertia, angle)."""
    p = mech.x[:3]
    if isinstance(robot, H4):
        hinges = [(mech.ends[0] + mech.ends[3]) / 2, (mech.ends[1] + mech.ends[2]) / 2]
        bars = [(MASSES["bar"], place) for place in hinges]
        return [(MASSES["cross"], p), *bars], [(MASSES["spin"], mech.x[3])]
    if isinstance(robot, Par4):
        half_2 = (mech.ends[0] + mech.ends[1]) / 2
        return [(MASSES["cross"], p), (MASSES["bar"], half_2)], []
    return [(MASSES["cross"], p)], []


def energies(robot):
    """x, ẋ, q(x), T(x, ẋ) and V(x) without friction."""
    mech = mechanism(robot)
    x = mech.x
    dx = ca.SX.sym("dx", x.numel())
    q = mech.angles
    dq = ca.jtimes(q, x, dx)

    def velocity(place):
        return ca.jtimes(place, x, dx)

    l, arm, rod = robot.geometry.arm, MASSES["arm"], MASSES["rod"]
    T = V = ca.SX(0)
    for i in range(q.numel()):
        T += 0.5 * (MASSES["motor"] * (1 + 0.1 * i) + arm * l**2 / 3) * dq[i] ** 2
        V += arm * robot.gravity * (mech.motors[i][2] + mech.elbows[i][2]) / 2
        A, B = mech.ends[i], mech.elbows[i]
        a, b = velocity(A), velocity(B)
        T += 2 * rod / 6 * (ca.dot(a, a) + ca.dot(a, b) + ca.dot(b, b))  # two uniform rods
        V += 2 * rod * robot.gravity * (A[2] + B[2]) / 2
    masses, inertias = bodies_of_platform(robot, mech)
    for mass, place in masses:
        T += 0.5 * mass * ca.dot(velocity(place), velocity(place))
        V += mass * robot.gravity * place[2]
    for inertia, angle in inertias:
        T += 0.5 * inertia * velocity(angle) ** 2
    return x, dx, q, T, V


def lagrange(robot):
    """The motor torques as a function of (x, ẋ, ẍ)."""
    x, dx, q, T, V = energies(robot)
    ddx = ca.SX.sym("ddx", x.numel())
    momentum = ca.gradient(T, dx)
    force = ca.jtimes(momentum, x, dx) + ca.jtimes(momentum, dx, ddx) - ca.gradient(T, x) + ca.gradient(V, x)
    return ca.Function("torque", [x, dx, ddx], [ca.solve(ca.jacobian(q, x).T, force)])


def lumped(robot):
    """The parameters of variant "rods" of the same robot, by the tables in the docstrings; no friction."""
    of, m = robot.geometry, MASSES
    n = len(robot.actuators)
    inertias = [m["motor"] * (1 + 0.1 * i) + m["arm"] * of.arm**2 / 3 + m["rod"] * of.arm**2 for i in range(n)]
    first_moment = m["arm"] * of.arm / 2 + m["rod"] * of.arm
    values = dict.fromkeys(robot.names, 0.0) | {"m_rod": m["rod"]}
    if isinstance(robot, H4):
        values |= {f"I_mot{i + 1}": inertias[i] for i in range(n)}
        values["M_nac"] = m["cross"] + 2 * m["bar"] + 4 * m["rod"]
        values["I_bc"] = m["spin"] + 2 * m["bar"] * of.h**2 + 4 * m["rod"] * of.h**2
        values["S_arm"] = first_moment
    else:
        values |= {f"i_act{i + 1}": inertias[i] for i in range(n)}
        values |= {f"gS_arm{i + 1}": robot.gravity * first_moment for i in range(n)}
    if isinstance(robot, Par4):
        values |= {"m_1": m["cross"] + 2 * m["rod"], "m_2": m["bar"] + 2 * m["rod"]}
    if isinstance(robot, Delta):
        values["m_plate"] = m["cross"] + 3 * m["rod"]
    return np.array(list(values.values()))
