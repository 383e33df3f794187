"""Noise above the band and steps of channels, against noise that was put in."""

import numpy as np
import pytest

from gough.data import Recording, default_steps, prepare
from gough.data.measurement_noise import Band, ChannelNoise, channel_noise, recorded_step

BAND = Band(20.0, 4, 1000.0)
TIMES = np.arange(20_000) / 1000.0
MOTION = np.sin(2 * np.pi * 0.7 * TIMES) + 0.3 * np.sin(2 * np.pi * 2.1 * TIMES)
SPEED = np.cos(2 * np.pi * 0.7 * TIMES)
STEP = 2 * np.pi / 4096


def of(x, turns=None):
    return channel_noise(x[:, None], BAND.low_passed(x[:, None]), BAND, None if turns is None else turns[:, None])


def test_white_noise_on_a_motion_is_measured_within_its_own_uncertainty():
    rng = np.random.default_rng(1)
    relative = []
    for _ in range(40):
        noise = of(MOTION + 0.05 * rng.normal(size=TIMES.size))
        assert noise.is_white[0]
        assert noise.step[0] == 0
        relative.append((noise.sigma[0] ** 2 / 0.05**2 - 1) / np.sqrt(2 / noise.dof[0]))
    assert abs(np.mean(relative)) < 3.3 / np.sqrt(40)
    assert 0.7 < np.std(relative) < 1.4


@pytest.mark.parametrize(
    "disturbance",
    [
        0.2 * np.sin(2 * np.pi * 50 * TIMES) + 0.2 * np.sin(2 * np.pi * 150 * TIMES),
        np.where(abs(TIMES % 2.0 - 1.0) < 0.002, 5.0, 0.0),
    ],
    ids=["mains hum", "blows"],
)
def test_lines_and_blows_do_not_count(disturbance):
    noise = of(MOTION + disturbance + 0.05 * np.random.default_rng(2).normal(size=TIMES.size))
    assert noise.sigma[0] == pytest.approx(0.05, rel=0.03)
    assert noise.is_white[0]


def test_jumps_of_dry_friction_are_left_out_where_the_joint_turns():
    x = MOTION + np.sign(SPEED) + 0.05 * np.random.default_rng(3).normal(size=TIMES.size)
    turns = np.append(False, np.diff(np.sign(SPEED)) != 0)
    assert of(x, turns).sigma[0] == pytest.approx(0.05, rel=0.02)
    assert of(x, turns).is_white[0]
    assert of(x).sigma[0] > 0.052


@pytest.mark.parametrize("kind", ["held over 4 samples", "through a sensor of 100 Hz", "interpolated", "none at all"])
def test_noise_that_is_not_white_is_called_so(kind):
    e = 0.05 * np.random.default_rng(4).normal(size=TIMES.size)
    e = {
        "held over 4 samples": np.repeat(e[::4], 4),
        "through a sensor of 100 Hz": Band(100.0, 2, 1000.0).low_passed(e[:, None])[:, 0],
        "interpolated": np.interp(TIMES, TIMES[::4], e[::4]),
        "none at all": 0 * e,
    }[kind]
    assert not of(MOTION + e).is_white[0]


def test_a_recording_that_is_too_short_or_too_slow_shows_no_noise():
    rng = np.random.default_rng(5)
    assert np.isnan(of(rng.normal(size=600)).density[0])
    slow = Band(20.0, 4, 60.0)
    x = rng.normal(size=(5000, 1))
    assert np.isnan(channel_noise(x, slow.low_passed(x), slow).density[0])


@pytest.mark.parametrize(
    ("x", "step"),
    [
        (np.round(MOTION / STEP) * STEP, STEP),
        (np.round(np.round(MOTION / STEP) * STEP, 5), STEP),  # as printed with five decimals
        (np.rad2deg(np.round(MOTION / STEP) * STEP), 360 / 4096),
        (np.round(MOTION, 6), 1e-6),
        (np.where(TIMES > 19.98, np.interp(TIMES, [19.98, 20], [0.1, 0.2]), np.round(MOTION / STEP) * STEP), STEP),
        (MOTION, 0.0),
        (0 * MOTION, 0.0),
        (np.random.default_rng(6).normal(size=3000), 0.0),
    ],
    ids=["encoder", "decimals", "degrees", "printed", "bridged", "continuous", "still", "noise"],
)
def test_steps_are_found(x, step):
    assert recorded_step(x) == pytest.approx(step, rel=1e-3)


def test_recordings_are_pooled_and_the_motion_has_their_noise():
    rng = np.random.default_rng(7)
    parts = [of(MOTION + s * rng.normal(size=TIMES.size)) for s in (0.04, 0.06)]
    pooled = ChannelNoise.pooled(parts)
    assert pooled.density == pytest.approx((parts[0].density + parts[1].density) / 2, rel=0.01)
    assert pooled.dof == pytest.approx(parts[0].dof + parts[1].dof)
    recordings = [
        Recording(
            ["q", "t"], ["rad", "N·m"], np.stack([MOTION, SPEED + 0.05 * rng.normal(size=TIMES.size)], 1), rate=1000.0
        )
        for _ in range(2)
    ]
    full = prepare(recordings, ["q"], {"motor": "t"}, default_steps(1000.0)).full_rate
    assert full.efforts_noise.sigma[0] == pytest.approx(0.05, rel=0.02)
    assert 0.3 < full.efforts_noise.dof[0] / pooled.dof[0] < 0.9  # without stretches that have a turn
