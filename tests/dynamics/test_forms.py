"""Forms of an effect that are compared by sums over the rows, against least squares with all columns."""

import numpy as np
import pytest

from gough.dynamics.effect import Effect
from gough.dynamics.effects import catalogue
from gough.dynamics.forms import Forms
from gough.robots import FiveBar
from tests.dynamics.test_effects import excitation


@pytest.fixture(scope="module")
def motion():
    return excitation(FiveBar.demo(), recordings=2)


@pytest.fixture(scope="module")
def rows(motion):
    """Rows sample by sample, with weights, of a model with six columns: its basis, what it leaves, groups, weights."""
    rng = np.random.default_rng(3)
    n = len(motion.q)
    group = np.tile([0, 1], n)
    friction = np.zeros((n, 2, 2))
    friction[:, [0, 1], [0, 1]] = np.sign(motion.dq)
    basis = np.linalg.qr(np.column_stack([friction.reshape(-1, 2), rng.normal(size=(2 * n, 4))]))[0]
    y = rng.normal(size=2 * n) + np.sign(motion.dq).ravel()
    return basis, y - basis @ (basis.T @ y), group, np.array([2.0, 0.5])


def forms_of(motion, rows):
    basis, residuals, group, weight = rows
    scaled = lambda values, actuators: [values[:, k] * weight[g] for k, g in enumerate(actuators)]  # noqa: E731
    return Forms(basis, residuals, group, np.array([100.0, 150.0]), motion, scaled, 1e-4)


def scanned() -> dict[str, Effect]:
    """Effects of the catalogue whose forms have a number for each actuator, with unequal ones."""
    of = excitation(FiveBar.demo())
    found = {}
    for name, effect in catalogue().items():
        form = next((each for each in effect.alternatives(of) if each.numbers and each.nearer()), None)
        if form is not None:
            found[name] = form.nearer()[1]
    return found


@pytest.mark.parametrize("name", ["cogging", "hysteresis", "stribeck"])
def test_products_give_what_least_squares_gives(name, motion, rows):
    basis, residuals, group, weight = rows
    effect = scanned()[name] if name != "cogging" else catalogue()["cogging"].with_waves((31.0, 17.0))
    columns = effect.columns(motion)
    E = np.zeros((len(group), len(columns.names)))
    for k, g in enumerate(columns.actuators):
        E[group == g, k] = columns.values[:, k] * weight[g]
    theta = np.linalg.lstsq(np.column_stack([basis, E]), residuals, rcond=None)[0]
    after = residuals - np.column_stack([basis, E]) @ theta
    sums = [np.bincount(group, r**2) for r in (residuals, after)]
    forms = forms_of(motion, rows)
    forms.fits(effect.nearer()[1:] or [effect])  # what is known already is used again
    (found,) = forms.fits([effect])
    assert found.values == pytest.approx(theta[6:], rel=1e-9, abs=1e-12)
    assert found.ratio == pytest.approx(np.array([100.0, 150.0]) @ np.log(sums[0] / sums[1]), rel=1e-9)


def test_every_effect_that_is_scanned_has_numbers_and_columns_that_agree(motion):
    """`nearer` without `numbers` would never be compared; columns are those of each actuator by itself."""
    for name, effect in catalogue().items():
        for form in effect.alternatives(motion):
            assert bool(form.nearer()) <= bool(form.numbers), name
            if not form.numbers:
                continue
            columns = form.columns(motion)
            each = [form.of_actuator(motion, i, value) for i, value in enumerate(form.numbers)]
            expected = np.stack(each, axis=2).reshape(len(motion.q), -1)  # the first of all actuators, then the second
            assert columns.values == pytest.approx(expected, abs=0.0), name
            assert columns.actuators == tuple(range(motion.n)) * each[0].shape[1]


def test_a_form_that_the_model_absorbs_is_none(motion, rows):
    _, residuals, group, weight = rows
    effect = scanned()["stribeck"]
    columns = effect.columns(motion)
    E = np.zeros((len(group), 2))
    for k in range(2):
        E[group == k, k] = columns.values[:, k] * weight[k]
    basis = np.linalg.qr(E)[0]
    absorbing = (basis, residuals - basis @ (basis.T @ residuals), group, weight)
    assert forms_of(motion, absorbing).fits([effect]) == [None]
