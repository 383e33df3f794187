"""Exported bounds of efforts contain those of every model of the set: by exact rationals, without tolerance."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from gough.dynamics.validation import quantile
from gough.export.bounds import covering_factor, radius_of
from gough.export.c_source import sections_of
from gough.region import Box, ConfidenceEllipsoid, Ellipsoid
from gough.robots import ROBOTS
from tests.compiler import needs_compiler
from tests.export.models import Compiled, dynamic_model

SEEN = """void gx_seen_columns(const gx_real *s, const gx_real *dq, const gx_real *ddq, gx_real *W)
{
    gx_columns(s, dq, ddq, W);
}
"""
FACTORS = (1.0, 0.0, 1e-30, 1e-200, 1e8, 1e14, -3e-7)
KINDS = ("box", "ellipsoid", "both", "confidence")
FLOAT, CONTRACTED = ("-DGX_FLOAT",), ("-O3", "-ffp-contract=fast", "-march=native")


@cache
def model_of(kind):
    return dynamic_model(ROBOTS["five-bar"](), kind, fixed=("m_1", "fv_2"))


@cache
def code_of(kind):
    """Header and source in one file, without test vectors."""
    section = sections_of(model_of(kind), "gx")[0]
    return f"{section.header()}\n#include <math.h>\n{section.code()}"


def hostile_states(rng, count=40):
    """States of the robot with motions of very different sizes, on each actuator its own."""
    home = model_of("box").dynamics.robot.controller_equations().home
    for _ in range(count):
        s = home + np.append([0, 0], rng.uniform(-0.3, 0.3, 2))
        rates = rng.choice(FACTORS, size=(2, 2)) * rng.normal(size=(2, 2))
        yield s, rates[0], rates[1]


def exact(values):
    return [Fraction(float(value)) for value in values]


def are_outward(region, w, known, lower, upper):
    """Whether efforts w θ + known of all θ in each set of the region are at least `lower`, and at most `upper`."""
    box = getattr(region, "box", region if isinstance(region, Box) else None)
    ellipsoid = getattr(region, "ellipsoid", region)
    if isinstance(region, ConfidenceEllipsoid):
        ellipsoid = Ellipsoid(region.center, quantile(region) ** 2 * region.covariance)
    below, above = [], []
    if box is not None:
        ends = [sorted((a * c, a * d)) for a, c, d in zip(w, exact(box.lower), exact(box.upper), strict=True)]
        below.append(lower <= known + sum(end[0] for end in ends))
        above.append(known + sum(end[1] for end in ends) <= upper)
    if isinstance(ellipsoid, Ellipsoid):
        middle = known + sum(a * c for a, c in zip(w, exact(ellipsoid.center), strict=True))
        S = [exact(row) for row in ellipsoid.shape]
        square = sum(w[j] * S[j][k] * w[k] for j in range(len(w)) for k in range(len(w)))
        below.append(lower <= middle and (middle - lower) ** 2 >= square)
        above.append(middle <= upper and (upper - middle) ** 2 >= square)
    # of an intersection, the range is inside that of each set: the larger of two lower bounds is one
    return any(below), any(above)


def outward_bounds(kind, options, folder, code=""):
    """For each finite bound at hostile states, whether it is outward."""
    compiled = Compiled({"gx.c": code or code_of(kind)}, "gx", folder, SEEN, options)
    real = np.float32 if options == FLOAT else np.float64
    dynamics, n, found = model_of(kind).dynamics, 2, []
    region, fixed = dynamics.estimate_of()[1].region, exact(dynamics.fixed.values())
    count = len(dynamics.columns) + len(fixed)
    for state in hostile_states(np.random.default_rng(4)):
        s, dq, ddq = (np.ascontiguousarray(part, dtype=real) for part in state)
        W, lower, upper = np.zeros(n * count, real), np.zeros(n, real), np.zeros(n, real)
        compiled("seen_columns", s, dq, ddq, W)
        status = compiled("torque_bounds", s, dq, ddq, 1, lower, upper)
        fast = (np.abs(dq) > dynamics.seen.dq[1]).any(), (np.abs(ddq) > dynamics.seen.ddq[1]).any()
        assert status in ((2 * fast[0] + 4 * fast[1], 16) if np.isfinite(W).all() else (16,))
        assert np.isfinite([lower, upper]).all() if status < 16 else np.isnan([lower, upper]).all()
        for i in range(n if status < 16 else 0):
            row = exact(W[i * count : (i + 1) * count])
            w, known = row[: -len(fixed)], sum(a * b for a, b in zip(row[-len(fixed) :], fixed, strict=True))
            found += are_outward(region, w, known, Fraction(float(lower[i])), Fraction(float(upper[i])))
    return found


@needs_compiler
@pytest.mark.parametrize(
    ("kind", "options"), [*((kind, options) for kind in KINDS for options in ((), FLOAT)), ("both", CONTRACTED)]
)
def test_bounds_contain_the_exact_range(kind, options, tmp_path):
    found = outward_bounds(kind, options, tmp_path)
    assert len(found) > 80
    assert all(found)


@needs_compiler
@pytest.mark.parametrize("options", [(), FLOAT])
def test_without_the_slack_they_do_not(options, tmp_path):
    code = code_of("box").replace("#define GX_SLACK ", "#define GX_SLACK GX_C(0) * ")
    assert code != code_of("box")
    assert not all(outward_bounds("box", options, tmp_path, code))


@pytest.mark.parametrize("condition", [1.0, 1e-8, 1e-15])
def test_covering_factors_contain_the_ellipsoid(condition):
    """|Lᵀ w|² − wᵀ S w is never negative, along the smallest axes too, where rounding is largest."""
    rng, n = np.random.default_rng(3), 9
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    units = 10.0 ** rng.uniform(-6, 6, n)
    S = (Q * np.geomspace(1, condition, n)) @ Q.T * np.outer(units, units)
    S = (S + S.T) / 2
    L = covering_factor(Ellipsoid(np.zeros(n), S))
    rows, shape = [exact(row) for row in L], [exact(row) for row in S]
    for w in [*(Q / units[:, None]).T, *rng.normal(size=(20, n))]:
        v = exact(w)
        outer = sum(sum(rows[j][k] * v[j] for j in range(n)) ** 2 for k in range(n))
        inner = sum(v[j] * shape[j][k] * v[k] for j in range(n) for k in range(n))
        assert outer >= inner
    assert np.abs((L @ L.T - S) / np.outer(units, units)).max() < 1e-13


def test_flat_ellipsoids_stay_flat():
    L = covering_factor(Ellipsoid([0.0, 1.0, 2.0], np.diag([4.0, 0.0, 9.0])))
    assert (L[1] == 0).all()
    assert (covering_factor(Ellipsoid([1.0], [[0.0]])) == 0).all()


def test_radii_are_rounded_up():
    rng = np.random.default_rng(2)
    lower = rng.normal(size=200) * 10.0 ** rng.uniform(-9, 9, 200)
    box = Box(lower, lower + rng.uniform(size=200) * 10.0 ** rng.uniform(-9, 9, 200))
    for c, r, a, b in zip(*map(exact, (box.center, radius_of(box), box.lower, box.upper)), strict=True):
        assert c - r <= a
        assert b <= c + r
