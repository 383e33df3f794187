"""What the rounds of an ellipsoid rest on, in the units of the problem."""

from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.evidence import EllipsoidRound
from gough.methods.ellipsoids.proof import ProvedEllipsoid
from gough.methods.ellipsoids.strips import Integers, Strips
from gough.region import Box


class ProvedRound(NamedTuple):
    """Strips with their multipliers, and the ellipsoid that was proved of them."""

    used: Integers
    """Numbers of the strips."""
    mid: Array
    half: Array
    weights: Array
    ellipsoid: ProvedEllipsoid


def proved_round(strips: Strips, weights: Array, proved: ProvedEllipsoid) -> ProvedRound:
    """The round of strips with positive multipliers; those so small that no proof uses them are left out."""
    used = np.flatnonzero(weights > 2.0**-160 * weights.max(initial=0.0))
    return ProvedRound(used, strips.mid[used], strips.half[used], weights[used], proved)


def rounds_in_units(box: Box, strips: Strips, rounds: tuple[ProvedRound, ...]) -> tuple[EllipsoidRound, ...]:
    """The rounds as evidence; nothing where their numbers do not fit into floating point."""
    result = tuple(in_units(strips, one, box.lower) for one in rounds)
    return result if all(is_finite(one) for one in result) else ()


def in_units(strips: Strips, one: ProvedRound, center: Array) -> EllipsoidRound:
    """A round in the units of its matrix; `center` says where the unknowns are that have no strips: the fixed ones."""
    side, p = one.used < strips.n_axes, strips.n_axes
    axis, row = np.where(side, one.used, 0), np.where(side, 0, one.used - p)
    exponent = np.where(side, strips.columns[axis], -strips.rows[row] if len(strips.rows) else 0)
    center, factor = center.copy(), np.zeros((len(center), p))
    with np.errstate(all="ignore"):
        middle, half = np.ldexp(one.mid, exponent), np.ldexp(one.half, exponent)
        weights = np.ldexp(one.weights, -2 * exponent)
        center[strips.free] = np.ldexp(one.ellipsoid.center, strips.columns)
        factor[strips.free] = np.ldexp(one.ellipsoid.inner_factor(), strips.columns[:, None])
    numbers = np.where(side, -1 - strips.free[axis], row)
    return EllipsoidRound(tuple(numbers.tolist()), middle, half, weights, center, factor)


def is_finite(one: EllipsoidRound) -> bool:
    """Is every number of it a number?"""
    return all(np.isfinite(values).all() for values in (one.middle, one.half, one.weights, one.center, one.factor))
