"""Noise that may have been stated too small: an error is accused only if no growth of the noise explains it as well.

Standard deviations of positions, orientations and readings may each be larger than stated, by factors that the
residuals show only roughly. An alternative is tested with each mixture of factors that the residuals which it leaves do
not make improbable (restricted likelihood), and with the size of the noise taken from these (F test). The largest p
counts. The true mixture is among them with or without the mistake, so that p is valid whatever the factors are.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.text import listed, number
from gough.geometry.nested import NestedTests, Test, dense, restricted_likelihood, roots
from gough.geometry.outlying_poses import choices, confirmed, of_poses

_FACTORS = (1.0, 3.0, 10.0)
"""Ratios of the factors by which components of the noise are larger than stated."""
_PLAUSIBLE = 3.0
"""Mixtures whose log-likelihood is lower than the largest by more are improbable."""
_SHOWN = 256
"""Poses from which the mixtures are judged."""
_ALIKE = 1.0
"""By so much the likelihood must be larger for components to be told apart …"""
_LARGER = 2.0
"""… and those are named whose factor is larger than this whatever the others are."""
_COMPONENTS = {"position": "positions", "orientation": "orientations", "reading": "readings"}


class _Mixture(NamedTuple):
    """Noise whose components are larger than stated."""

    factors: Array
    """Of the standard deviations of each component."""
    value: float
    """Logarithm of the restricted likelihood."""


class LargerNoise:
    """Tests of a calibration, by noise that may be larger than stated."""

    def __init__(self, tests: NestedTests) -> None:
        self._tests = tests

    def held(self, test: Test, level: float) -> Test | None:
        """A test with its largest p under any plausible noise; None where that is not below the level.

        Of poses, those that all others do not predict under any of them.
        """
        p, poses = test.p, test.poses
        for tests in self._tests_with(test):
            if poses:
                poses = confirmed(tests, poses, level)
                if not poses:
                    return None
            p = max(p, _chance(tests, test._replace(poses=poses)))
            if p >= level:
                return None
        return (of_poses(self._tests, test, poses) if poses else test)._replace(p=p)

    def words(self) -> str:
        """By how much the noise is larger than stated, as the residuals show it best: a clause."""
        mixtures = self._mixtures(self._tests)
        best = max(mixtures, key=lambda each: each.value)
        alike = next((each for each in mixtures if np.ptp(each.factors) == 0), None)
        if alike is not None and alike.value > best.value - _ALIKE:
            return f"all standard deviations are about {number(float(alike.factors[0]), digits=2)} times those stated"
        least = np.min([each.factors for each in mixtures], axis=0)
        larger = [
            f"of {_COMPONENTS[name]} about {number(float(factor), digits=2)} times"
            for name, factor, certain in zip(self._components, best.factors, least, strict=True)
            if certain > _LARGER or factor == best.factors.max()
        ]
        return f"the standard deviations are {listed(larger)} those stated"

    def _tests_with(self, test: Test) -> Iterator[NestedTests]:
        """The tests by each noise that is plausible if the test's alternative is true."""
        whole = np.arange(len(self._tests.residuals))
        for each in self._mixtures(_allowing(self._tests, test)):
            yield replace(self._tests, whitener=roots(self._covariances(each.factors, whole)), is_stated=False)

    @cached_property
    def _components(self) -> tuple[str, ...]:
        poses = self._tests.fitted.poses
        size = 0 if poses.covariance is None else poses.covariance.shape[-1]
        names = [*(["position"] if size else []), *(["orientation"] if size > 3 else [])]
        return (*names, *(["reading"] if poses.reading_sigma is not None else []))

    def _covariances(self, factors: Array, rows: Integers) -> Array:
        """(rows, chains, chains) of closure errors, with the components of the noise so many times as large."""
        fitted = self._tests.fitted
        poses, n = fitted.poses, fitted.n
        by_name = dict(zip(self._components, factors.tolist(), strict=True))
        S = np.zeros((len(rows), n, n))
        if poses.covariance is not None:
            size = poses.covariance.shape[-1]
            scale = np.repeat([by_name["position"], by_name.get("orientation", 1.0)], 3)[:size]
            J = fitted.by_pose[rows][..., :size] * scale
            C = np.broadcast_to(poses.covariance, (len(fitted.by_pose), size, size))[rows]
            S += J @ C @ np.swapaxes(J, 1, 2)
        if poses.reading_sigma is not None:
            sigma = np.broadcast_to(poses.reading_sigma, fitted.by_reading.shape)[rows]
            S[:, range(n), range(n)] += (fitted.by_reading[rows] * sigma * by_name["reading"]) ** 2
        return S

    def _mixtures(self, tests: NestedTests) -> list[_Mixture]:
        """Those that the residuals do not make improbable."""
        kept = tests.kept
        rows = kept[np.unique(np.linspace(0, len(kept) - 1, min(len(kept), _SHOWN)).astype(int))]
        J = dense(tests.own[rows], tests.fitted.model.columns, len(tests.fitted.model.names))[..., tests.free]
        J = np.concatenate([J, tests.common[rows], *(each[rows] for each in tests.added)], axis=2)
        every = np.array(list(product(_FACTORS, repeat=len(self._components))))
        found: list[_Mixture] = []
        for factors in every[every.min(axis=1) == 1.0]:
            root = roots(self._covariances(factors, rows))
            value, left, spare = restricted_likelihood(root, J, tests.residuals[rows])
            unit = float(np.sqrt(left / max(spare, 1)))
            if unit > 0:
                found.append(_Mixture(unit * factors, value))
        best = max((each.value for each in found), default=0.0)
        return [each for each in found if each.value > best - _PLAUSIBLE]


def _allowing(tests: NestedTests, test: Test) -> NestedTests:
    """The tests of a model that contains an alternative."""
    if test.alternative is None:
        return tests.without(np.array(test.poses))
    return replace(tests, added=(*tests.added, test.columns(len(tests.residuals))))


def _chance(tests: NestedTests, test: Test) -> float:
    """Probability that any of the alternatives that were tried removes as much as this one."""
    (before, spare), (left, rest) = tests.squares, _allowing(tests, test).squares
    if spare <= rest:
        return 1.0
    trials = float(test.trials)
    if test.alternative is None:
        trials = float(np.exp(min(choices(len(tests.kept), len(test.poses)), 600.0)))
    return min(1.0, trials * tests.chance(max(before - left, 0.0), spare - rest, left, rest))
