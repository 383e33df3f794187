"""Noise that is not stated: the maximum of the restricted likelihood, honest intervals, and clear refusals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from gough.core.errors import InputError
from gough.geometry.instruments import (
    Instrument,
    Measurements,
    Sought,
    calibrate_by_instruments,
    calibrate_nested,
    foresee,
    simulated,
)
from gough.robots import LinearDelta
from tests.geometry.instruments.campaigns import CAMPAIGNS, POSITION, READING

PRINTER = LinearDelta()


def wires(rng, n=25):
    """A printer that four wires of unknown noise measure; what they measured, and where it was."""
    truth = PRINTER.nominal + rng.normal(0, 1e-3, 10)
    p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.15], (n, 3))
    anchors = ([0.4, 0.0, 0.1], [-0.3, 0.3, 0.0], [-0.2, -0.4, 0.2], [0.1, 0.3, 0.6])
    readings = PRINTER.inverse(truth, p) + rng.normal(0, READING, (n, 3))
    seen = [np.linalg.norm(p - a, axis=1) + rng.normal(0, POSITION, n) for a in anchors]
    instruments = [
        Instrument(f"w{k}", "distance", d, None, anchor=a) for k, (d, a) in enumerate(zip(seen, anchors, strict=True))
    ]
    return truth, p, anchors, Measurements(readings, None, instruments)


def test_the_estimate_maximizes_the_restricted_likelihood(rng):
    """Against the determinants of the whole dense problem, with derivatives by finite differences."""
    _, _, anchors, data = wires(rng)
    answer = calibrate_by_instruments(PRINTER, data)
    assert [each.name for each in answer.noise.components] == ["readings", "w0", "w1", "w2", "w3"]
    p = answer.poses.position
    n = len(p)

    def predicted(z):
        at = z[10:].reshape(-1, 3)
        return np.concatenate([PRINTER.inverse(z[:10], at).ravel(), *(np.linalg.norm(at - a, axis=1) for a in anchors)])

    z = np.concatenate([answer.parameters, p.ravel()])
    h = 1e-6
    J = np.column_stack([(predicted(z + h * e) - predicted(z - h * e)) / (2 * h) for e in np.eye(len(z))])
    y = np.concatenate([data.readings.ravel(), *(one.values[:, 0] for one in data.instruments)]) - predicted(z)
    group = np.repeat([0, 1, 2, 3, 4], [3 * n, n, n, n, n])

    def cost(logs):
        w = np.exp(-logs[group])
        H = J.T @ (w[:, None] * J)
        left = y - J @ np.linalg.solve(H, J.T @ (w * y))
        return logs[group].sum() + np.linalg.slogdet(H)[1] + (w * left**2).sum()

    logs = 2 * np.log(answer.noise.sigma)
    best = minimize(cost, logs, method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-6, "maxfev": 4000})
    assert cost(logs) - best.fun < 1e-4
    assert abs(best.x - logs).max() < 2e-2
    steps = 0.05 * np.eye(5)
    curvature = [
        [(cost(logs + a + b) - cost(logs + a - b) - cost(logs - a + b) + cost(logs - a - b)) / 0.02 for b in steps]
        for a in steps
    ]
    # Fisher's information is the mean of half of this curvature: the same size, not the same number
    observed = np.sqrt(np.linalg.inv(curvature).diagonal() * 2) / 2
    assert np.allclose(answer.noise.relative, observed, rtol=0.5)


def test_intervals_are_wider_by_students_quantiles(rng):
    truth, _, _, data = wires(rng, 40)
    answer = calibrate_by_instruments(PRINTER, data)
    assert 20 < answer.estimate.region.dof < 200
    assert answer.estimate.stats.chi_squared is None
    assert not answer.refuted
    away = abs(answer.parameters - truth) / answer.estimate.region.sigma
    assert away.max() < 4.5
    assert "Noise that is not stated is estimated from the residuals: readings 0.0" in answer.verdicts[0]
    assert " mm, w0 " in answer.verdicts[0]
    assert answer.to_dict()["noise"][0]["unit"] == "m"
    sigma = answer.noise.sigma
    again = replace(
        data,
        reading_sigma=sigma[0],
        instruments=tuple(replace(one, sigma=s) for one, s in zip(data.instruments, sigma[1:], strict=True)),
    )
    stated = calibrate_by_instruments(PRINTER, again)
    assert np.allclose(stated.estimate.region.covariance, answer.estimate.region.covariance, rtol=1e-6)
    assert stated.estimate.stats.chi_squared == pytest.approx(1.0, abs=1e-2)


def test_position_and_orientation_have_noise_of_their_own(rng):
    campaign = CAMPAIGNS["pose"]()
    data = campaign.drawn(rng)
    (camera,) = data.instruments
    blind = replace(data, instruments=(replace(camera, sigma=None),))
    answer = calibrate_by_instruments(campaign.model, blind)
    assert [each.name for each in answer.noise.components] == ["camera, lengths", "camera, angles"]
    assert np.allclose(answer.noise.sigma, [2e-5, 5e-5], rtol=4 * answer.noise.relative.max())


def test_an_instrument_without_redundancy_is_asked_for_its_noise(rng):
    """Three distances determine an unknown anchor, and leave nothing for their noise."""
    _, p, _, data = wires(rng, 40)
    seen = np.full(len(p), np.nan)
    seen[:3] = np.linalg.norm(p[:3] - [0.3, 0.3, 0.3], axis=1)
    more = Instrument("tape", "distance", seen, None, anchor=Sought([0.31, 0.3, 0.3]))
    with pytest.raises(InputError, match="do not determine the noise of tape, which is not stated: state its sigma"):
        calibrate_by_instruments(PRINTER, replace(data, instruments=(*data.instruments, more)))


def test_noise_that_is_needed_is_asked_for(rng):
    truth, p, _, data = wires(rng)
    with pytest.raises(InputError, match="planned measurements need the noise to expect: state sigma of readings, w0"):
        foresee(PRINTER, data)
    with pytest.raises(InputError, match="nested models are tested with the noise"):
        calibrate_nested(PRINTER, data, {"arms": ["arm_*"]})
    poses = PRINTER.forward(truth, PRINTER.inverse(truth, p))
    with pytest.raises(InputError, match="noise cannot be drawn"):
        simulated(PRINTER, truth, poses, data, rng)
    assert simulated(PRINTER, truth, poses, data).reading_sigma is None


def test_noise_of_many_poses_is_estimated_from_some(rng):
    _, _, _, data = wires(rng, 9000)
    answer = calibrate_by_instruments(PRINTER, data)
    assert np.allclose(answer.noise.sigma, [READING] + [POSITION] * 4, rtol=0.06)
