"""The equations of the planar five-bar, as expressions.

Motor i turns the proximal link A_i B_i by q_i from the x axis; the distal link B_i P joins elbow B_i to the end
point P. Link frames have their origin in the joint nearer to the motor, and their x axis along the link. In the
comments, e is the unit vector along a link, n = e turned by +90°, l and r are lengths of proximal and distal links.

    geometry = (base, l_1, l_2, r_1, r_2, side): motors at (∓base/2, 0); side is +1 if P lies left of the line from
    B_1 to B_2, else -1.
"""

from dataclasses import dataclass
from functools import cache

from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression

GEOMETRY = 6


@dataclass(frozen=True)
class Pose:
    """The mechanism at motor angles q."""

    proximal: tuple[Expression, Expression]
    """e of each proximal link."""
    distal: tuple[Expression, Expression]
    """e of each distal link."""
    elbows: tuple[Expression, Expression]
    end: Expression


def direction(angle: Expression) -> Expression:
    """The unit vector e at this angle."""
    return ex.vector(ex.cos(angle), ex.sin(angle))


def turned(v: Expression) -> Expression:
    """The plane vector v turned by +90°."""
    return ex.vector(-v[1], v[0])


def motors(geometry: Expression) -> tuple[Expression, Expression]:
    """The motor axes A_1 and A_2."""
    return ex.vector(-geometry[0] / 2, 0.0), ex.vector(geometry[0] / 2, 0.0)


def pose(q: Expression, geometry: Expression) -> Pose:
    """Forward kinematics: P is where the circles of radius r_i about the elbows meet, on the chosen side."""
    proximal = (direction(q[0]), direction(q[1]))
    a_1, a_2 = motors(geometry)
    b_1, b_2 = a_1 + geometry[1] * proximal[0], a_2 + geometry[2] * proximal[1]
    end = _meeting(b_1, b_2, geometry[3], geometry[4], geometry[5])
    return Pose(proximal, ((end - b_1) / geometry[3], (end - b_2) / geometry[4]), (b_1, b_2), end)


def _meeting(a: Expression, b: Expression, r_a: Expression, r_b: Expression, side: Expression) -> Expression:
    """The point at distances r_a from a and r_b from b, left (side = 1) or right (-1) of the line from a to b.

    Its foot on that line follows from the law of cosines in the triangle, its height from Pythagoras.
    """
    across = b - a
    squared = ex.dot(across, across)
    along = (squared + r_a**2 - r_b**2) / (2 * squared)
    height = ex.sqrt(r_a**2 / squared - along**2)
    return a + along * across + side * height * turned(across)


def closure(q: Expression, position: Expression, geometry: Expression) -> Expression:
    """The closure equations |P - B_i|² - r_i², zero where the mechanism is assembled."""
    a_1, a_2 = motors(geometry)
    d_1 = position - a_1 - geometry[1] * direction(q[0])
    d_2 = position - a_2 - geometry[2] * direction(q[1])
    return ex.vector(ex.dot(d_1, d_1) - geometry[3] ** 2, ex.dot(d_2, d_2) - geometry[4] ** 2)


def margin(q: Expression, geometry: Expression) -> Expression:
    """The sine of the angle between the distal links, or minus √|1 - cos²| where they cannot meet."""
    a_1, a_2 = motors(geometry)
    across = a_2 + geometry[2] * direction(q[1]) - a_1 - geometry[1] * direction(q[0])
    return _sine(geometry[3], geometry[4], ex.dot(across, across))


def _sine(a: Expression, b: Expression, c_squared: Expression) -> Expression:
    """The sine of the angle opposite side c in a triangle; negative, -√(cos² - 1), if a, b, c make no triangle."""
    cosine = (a**2 + b**2 - c_squared) / (2 * a * b)  # law of cosines
    squared = (1 - cosine) * (1 + cosine)
    return ex.sign(squared) * ex.sqrt(ex.absolute(squared))


def inverse(position: Expression, geometry: Expression, elbows: Expression) -> dict[str, Expression]:
    """Motor angles for an end point, elbow i left (+1) or right (-1) of the line from motor i to the end point.

    Also `reach`, for each chain the sine of the angle at its elbow (negative: out of reach), and `meeting`, the sine of
    the angle from the second distal link to the first, whose sign is the side on which P then lies.
    """
    angles, reaches, distal = [], [], []
    for i, motor in enumerate(motors(geometry)):
        length, rod = geometry[1 + i], geometry[3 + i]
        elbow = _meeting(motor, position, length, rod, elbows[i])
        chord = position - motor
        angles.append(ex.atan2(elbow[1] - motor[1], elbow[0] - motor[0]))
        reaches.append(_sine(length, rod, ex.dot(chord, chord)))
        distal.append((position - elbow) / rod)
    return {"q": ex.vector(*angles), "reach": ex.vector(*reaches), "meeting": ex.cross(distal[0], distal[1])}


def _distal_rates(of: Pose, geometry: Expression, w: Expression) -> Expression:
    """(x_1, x_2) with r_1 x_1 n_1 - r_2 x_2 n_2 = w: the closure equation, differentiated.

    Each unknown follows by projection on the other link. The denominator vanishes where the links are aligned.
    """
    e_1, e_2 = of.distal
    sine = ex.dot(turned(e_1), e_2)
    return ex.vector(ex.dot(w, e_2) / (geometry[3] * sine), ex.dot(w, e_1) / (geometry[4] * sine))


@dataclass(frozen=True)
class Motion:
    """First and second derivatives of a pose; matrices have a column per motor."""

    elbow_jacobians: tuple[Expression, Expression]
    elbow_accelerations: tuple[Expression, Expression]
    turning_jacobians: tuple[Expression, Expression]
    """Gradients by q of the angle of each distal link."""
    turning_rates: Expression
    turning_accelerations: Expression
    end_jacobian: Expression
    end_acceleration: Expression


def motion(at: Pose, dq: Expression, ddq: Expression, geometry: Expression) -> Motion:
    """Velocities and accelerations of all links, by differentiating B_1 + r_1 e_1 = B_2 + r_2 e_2 twice in time."""
    zero = ex.vector(0.0, 0.0)
    lengths = (geometry[1], geometry[2])
    tangents = [length * turned(e) for length, e in zip(lengths, at.proximal, strict=True)]
    J_1, J_2 = ex.matrix(tangents[0], zero), ex.matrix(zero, tangents[1])
    accelerations = [
        tangents[i] * ddq[i] - lengths[i] * at.proximal[i] * dq[i] ** 2 for i in range(2)
    ]  # centripetal and tangential acceleration on a circle
    by_motor = [_distal_rates(at, geometry, (J_2 - J_1)[:, i]) for i in range(2)]
    turning = (ex.vector(by_motor[0][0], by_motor[1][0]), ex.vector(by_motor[0][1], by_motor[1][1]))
    rates = ex.vector(ex.dot(turning[0], dq), ex.dot(turning[1], dq))
    e_1, e_2 = at.distal
    centripetal = geometry[3] * rates[0] ** 2 * e_1 - geometry[4] * rates[1] ** 2 * e_2
    spins = _distal_rates(at, geometry, accelerations[1] - accelerations[0] + centripetal)
    n_1 = turned(e_1)
    return Motion(
        elbow_jacobians=(J_1, J_2),
        elbow_accelerations=(accelerations[0], accelerations[1]),
        turning_jacobians=turning,
        turning_rates=rates,
        turning_accelerations=spins,
        end_jacobian=J_1 + geometry[3] * n_1 @ turning[0].T,
        end_acceleration=accelerations[0] + geometry[3] * (spins[0] * n_1 - rates[0] ** 2 * e_1),
    )


def regressor(q: Expression, dq: Expression, ddq: Expression, geometry: Expression, gravity: Expression) -> Expression:
    """Torques per unit of each parameter, by the principle of virtual power (d'Alembert, Jourdain).

    Columns: (m, mx, my, I) of proximal links 1 and 2 and distal links 1 and 2, the payload's mass, and for each motor
    viscous and dry friction.
    """
    at = pose(q, geometry)
    moving = motion(at, dq, ddq, geometry)
    still = ex.matrix(ex.vector(0.0, 0.0), ex.vector(0.0, 0.0))
    units = (ex.vector(1.0, 0.0), ex.vector(0.0, 1.0))
    columns = []
    for i in range(2):
        columns += _body(still, -gravity, at.proximal[i], turning=units[i], rate=dq[i], spin=ddq[i])
    for i in range(2):
        columns += _body(
            moving.elbow_jacobians[i],
            moving.elbow_accelerations[i] - gravity,
            at.distal[i],
            turning=moving.turning_jacobians[i],
            rate=moving.turning_rates[i],
            spin=moving.turning_accelerations[i],
        )
    columns.append(moving.end_jacobian.T @ (moving.end_acceleration - gravity))
    for i in range(2):
        columns += [units[i] * dq[i], units[i] * ex.sign(dq[i])]
    return ex.matrix(*columns)


def _body(
    J: Expression, a: Expression, e: Expression, *, turning: Expression, rate: Expression, spin: Expression
) -> list[Expression]:
    """The columns of mass, first moments (mx, my) and moment of inertia about the origin of a body's frame.

    A point ρ of the body moves by δr = J δq + Sρ (turning · δq) and accelerates by a + spin Sρ - rate² ρ, where J and
    a - gravity (here `a`) belong to the frame's origin and S turns by 90°. Summing acceleration · δr over the body's
    mass, with Sρ · ρ = 0, leaves the terms below.
    """
    n = turned(e)
    return [
        J.T @ a,
        J.T @ (spin * n - rate**2 * e) + turning * ex.dot(a, n),
        J.T @ (-spin * e - rate**2 * n) - turning * ex.dot(a, e),
        turning * spin,
    ]


def _jacobian(q: Expression, geometry: Expression) -> Expression:
    return motion(pose(q, geometry), ex.vector(0.0, 0.0), ex.vector(0.0, 0.0), geometry).end_jacobian


def _forward(q: Expression, geometry: Expression) -> dict[str, Expression]:
    at = pose(q, geometry)
    return {"position": at.end, "elbows": ex.matrix(*at.elbows).T}


@cache
def kernels() -> dict[str, Kernel]:
    """The equations, traced once for all five-bars: the geometry is an input."""
    shape = {"geometry": GEOMETRY}
    return {
        "forward": trace(_forward, name="five_bar_forward", inputs={"q": 2, **shape}),
        "inverse": trace(inverse, name="five_bar_inverse", inputs={"position": 2, **shape, "elbows": 2}),
        "closure": trace(closure, name="five_bar_closure", inputs={"q": 2, "position": 2, **shape}),
        "margin": trace(margin, name="five_bar_margin", inputs={"q": 2, **shape}),
        "jacobian": trace(_jacobian, name="five_bar_jacobian", inputs={"q": 2, **shape}),
        "regressor": trace(
            regressor, name="five_bar_regressor", inputs={"q": 2, "dq": 2, "ddq": 2, **shape, "gravity": 2}
        ),
    }
