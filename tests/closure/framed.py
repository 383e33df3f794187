"""Exact poses of one chain, as an instrument in another place measures them: rational numbers, written as decimals.

Errors of poses, readings and frames are at the ends of their half-widths. Only cosines, sines and the rotation vectors
of errors are irrational; they have 60 digits, and errors of positions stay 1e-40 m within their ends.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import flint

INSIDE = Fraction(1, 10**40)
POSITION, READING, ORIENTATION = Fraction(2, 10**4), Fraction(3, 10**5), Fraction(2, 10**4)
BASE_POSITION, BASE_TURN = Fraction(1, 10**5), Fraction(2, 10**5)
PLATFORM_POSITION, PLATFORM_TURN = Fraction(3, 10**5), Fraction(4, 10**5)
Z = tuple(map(Fraction, ("0.6", "0.64", "-0.48", "0")))
X = tuple(map(Fraction, ("0.8", "0.36", "0", "-0.48")))
T_Z = tuple(map(Fraction, ("1.25", "-2.5", "0.75")))
T_X = tuple(map(Fraction, ("0.03", "-0.02", "0.1")))


def vector(*texts):
    return tuple(map(Fraction, texts))


@dataclass(frozen=True)
class Chain:
    """A chain whose parameters are short decimals that satisfy its conditions."""

    family: str
    truth: tuple[Fraction, ...]
    """Its quadratic unknowns."""
    turns: bool
    planar: bool = False
    chains: int = 4


def arm(length, heading, zero):
    """U and V of an arm on a level axis, exactly: the tangents of half of its angles are given."""
    (c, s), (level, down) = (((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)) for t in (heading, zero))
    u = (length * level * c, length * level * s, -length * down)
    return (*u, -length * down * c, -length * down * s, -length * level)


_HEADING = Fraction(1, 30)
_RADIAL = ((1 - _HEADING**2) / (1 + _HEADING**2), 2 * _HEADING / (1 + _HEADING**2))
_ARM = arm(Fraction("0.262"), _HEADING, Fraction(1, 50))
CHAINS = (
    Chain("linear-delta", vector("-0.14", "-0.081", "0.705", "0.345"), turns=False, chains=3),
    Chain(
        "rotary-delta",
        (*(Fraction("0.102") * x for x in _RADIAL), Fraction("0.003"), *_ARM, Fraction("0.7")),
        turns=False,
        chains=3,
    ),
    Chain("h4", (*vector("0.2", "0.01", "0.03"), *_ARM, *vector("0.06", "0.004", "0.48")), turns=True),
    Chain(
        "3-rrr", vector("0.001", "0.449", "0.3", "0.002", "0.001", "0.121", "0.301"), turns=True, planar=True, chains=3
    ),
)


def times(a, b):
    """The product of two quaternions."""
    w, x, y, z = a
    s, i, j, k = b
    return (w*s - x*i - y*j - z*k, w*i + x*s + y*k - z*j, w*j - x*k + y*s + z*i, w*k + x*j - y*i + z*s)  # fmt: skip


def conjugate(q):
    return (q[0], -q[1], -q[2], -q[3])


def rotated(q, v):
    """The rotation of a quaternion of any length, of a vector."""
    size = sum(x * x for x in q)
    return tuple(x / size for x in times(times(q, (Fraction(0), *v)), conjugate(q))[1:])


def plus(*vectors):
    return tuple(sum(parts) for parts in zip(*vectors, strict=True))


def minus(v):
    return tuple(-x for x in v)


def turn(v):
    """The rotation vector of the quaternion (1, v): no component exceeds 2 |v_i|."""
    if not any(v):
        return v
    length = ball(sum(x * x for x in v)).sqrt()
    return tuple(fraction(2 * length.atan() / length * ball(x)) for x in v)


def ball(x):
    return flint.arb(flint.fmpq(x.numerator, x.denominator))


def fraction(x):
    """The middle of a ball, whose radius is far below 1e-60."""
    assert x.rad() < 1e-60
    mantissa, exponent = x.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def cosine_sine(angle):
    return fraction(ball(angle).cos()), fraction(ball(angle).sin())


def corner(rng, half, count=3):
    return tuple(half * int(sign) for sign in rng.choice([-1, 1], count))


def short(x):
    """A random number as a short decimal."""
    return Fraction(round(float(x), 4)).limit_denominator(10**4)


@dataclass(frozen=True)
class Measured:
    """What was measured of one pose, and the errors that it has."""

    position: tuple[Fraction, ...]
    quaternion: tuple[Fraction, ...] | None
    reading: Fraction
    errors: dict[str, tuple[Fraction, ...]]
    """True less measured: of the position with that of the base, of orientations as rotation vectors."""
    rod: tuple[Fraction, ...]
    """The vector d of the chain, which is as long as its rod to 50 digits."""


def pose(chain, rng, *, exact_frames, scale=1):
    """A pose that the chain closes in, measured with errors at the ends of their half-widths, times a scale."""
    flint.ctx.prec = 260
    one, none = (Fraction(1),), (Fraction(0),) * 3
    q = short(rng.uniform(-0.5, 0.5))
    d = direction(chain, rng)
    t = short(rng.uniform(-0.3, 0.3)) if chain.turns else Fraction(0)
    heading = (*one, Fraction(0), Fraction(0), t)
    p = plus(d, swung(chain, q), minus(rotated(heading, joint(chain))))
    if chain.planar:
        p = (*p[:2], short(rng.uniform(-0.1, 0.1)))
    zeta, xi, omega = (
        corner(rng, scale * half / 2) if used else none
        for half, used in (
            (BASE_TURN, not exact_frames),
            (PLATFORM_TURN, chain.turns and not exact_frames),
            (ORIENTATION, chain.turns),
        )
    )
    tau, chi = (
        corner(rng, scale * half) if used else none
        for half, used in ((BASE_POSITION, not exact_frames), (PLATFORM_POSITION, chain.turns and not exact_frames))
    )
    base = times((*one, *zeta), Z)
    platform = times((*one, *xi), X)
    target = times(times(base, heading), conjugate(platform))
    place = plus(T_X, chi) if chain.turns else none
    a = plus(rotated(base, p), T_Z, tau, minus(rotated(target, place)))
    delta = tuple(x - INSIDE if x > 0 else x + INSIDE for x in corner(rng, scale * POSITION))
    (eta,) = corner(rng, scale * READING, 1)
    seen = times((*one, *minus(omega)), target) if chain.turns else None  # (1, v) turns back what (1, −v) turns
    if seen is not None:
        unit = Fraction(1, 1000) * round(1000 / float(sum(x * x for x in seen)) ** 0.5)
        seen = tuple(unit * x for x in seen)
    errors = {
        "position": plus(delta, minus(tau)),
        "chi": chi,
        "omega": turn(omega),
        "zeta": turn(zeta),
        "xi": turn(xi),
        "reading": (eta,),
    }
    return Measured(tuple(map(rounded, plus(a, minus(delta)))), seen, q - eta, errors, d)


def rounded(x):
    return Fraction(round(x * 10**50), 10**50)


def direction(chain, rng):
    """A vector as long as the rod, from which chains may hang."""
    s, t = (short(rng.uniform(-0.6, 0.6)) for _ in range(2))
    l = chain.truth[-1]
    if chain.planar:
        return rotated((Fraction(1), Fraction(0), Fraction(0), s), (l, Fraction(0), Fraction(0)))
    return rotated((Fraction(1), s, t, Fraction(0)), (Fraction(0), Fraction(0), -l))


def swung(chain, q):
    """Where the arm puts the end of the rod: P + cos q U + sin q V, or what stands in its place."""
    x = chain.truth
    if chain.family == "linear-delta":
        return plus(x[:3], (Fraction(0), Fraction(0), -q))
    c, s = cosine_sine(q)
    if chain.planar:
        return (x[0] + c * x[2] - s * x[3], x[1] + s * x[2] + c * x[3], Fraction(0))
    return plus(x[:3], tuple(c * u for u in x[3:6]), tuple(s * v for v in x[6:9]))


def joint(chain):
    return (*chain.truth[-3:-1], Fraction(0)) if chain.turns else (Fraction(0),) * 3


def decimals(x):
    with localcontext() as context:
        context.prec = 120
        return f"{Decimal(x.numerator) / x.denominator:f}"


def table(chain, poses):
    """The poses as CSV; chains but the first have no meaning."""
    heads = [
        "x",
        "y",
        "z",
        *(["qw", "qx", "qy", "qz"] if chain.turns else []),
        *(f"l{i + 1}" for i in range(chain.chains)),
    ]
    rows = [
        [*each.position, *(each.quaternion or ()), each.reading, *([Fraction(1, 10)] * (chain.chains - 1))]
        for each in poses
    ]
    return "\n".join([",".join(heads), *(",".join(map(decimals, row)) for row in rows)]) + "\n"


def frames(chain, *, exact, scale=1):
    """The tables [frames] that state them."""
    halves = {"base": (BASE_POSITION, BASE_TURN), "platform": (PLATFORM_POSITION, PLATFORM_TURN)}
    text = ""
    for name, place, q in (("base", T_Z, Z), ("platform", T_X, X)):
        if name == "platform" and not chain.turns:
            continue
        text += f"[frames.{name}]\nposition = [{', '.join(map(decimals, place))}]\n"
        text += f"quaternion = [{', '.join(map(decimals, q))}]\n"
        if not exact:
            moved, turned = (scale * half for half in halves[name])
            text += f'position_tolerance = "{decimals(1000 * moved)} mm"\n'
            text += f"orientation_tolerance = {decimals(turned)}\n"
    return text


def study(chain, *, exact, scale=1):
    unit = 'mm"' if chain.family == "linear-delta" else 'mrad"'
    turned = f"orientation = {decimals(scale * ORIENTATION)}\n" if chain.turns else ""
    return f"""[robot]
family = "{chain.family}"
[poses]
file = "poses.csv"
[calibration]
frames = "instrument"
{frames(chain, exact=exact, scale=scale)}
[certify]
position = {decimals(scale * POSITION)}
readings = "{decimals(1000 * scale * READING)} {unit}
{turned}around = "50 mm"
center = "blueprint"
chains = [1]
"""
