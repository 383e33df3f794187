"""The map of a calibrated workspace: against Monte Carlo, and against formulas of a printer."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import log
from gough.data import Poses
from gough.geometry import calibrate
from gough.geometry.workspace_map import workspace_map
from gough.region import Box
from gough.report.calibration.figures import map_data, map_figure, slices
from gough.robots import LinearDelta, PlanarRRR, PlatformPoses
from tests.geometry.simulated import EXTREMAL, ROBOT, measured, truth


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(5)
    return calibrate(ROBOT, measured(truth(rng), EXTREMAL, rng)[1])


def test_the_map_is_what_monte_carlo_propagation_scatters(found, rng):
    """Parameters drawn from the estimate's covariance, poses found anew from the same readings."""
    shown = workspace_map(found, "xz", resolution=7)
    inside = np.argwhere(np.isfinite(shown.position))[::4]
    position = np.repeat(shown.at.position, len(inside), axis=0)
    for column, axis in enumerate(("x", "z")):
        position[:, "xyz".index(axis)] = shown.grid[column][inside[:, column]]
    where = PlatformPoses(position, np.repeat(shown.at.rotation, len(inside), axis=0))
    readings = ROBOT.inverse(found.parameters, *where)
    region = found.estimate.region
    n = 300
    drawn = found.parameters + rng.normal(size=(n, 42)) @ np.linalg.cholesky(region.covariance).T
    scatter = [ROBOT.forward(theta, readings, where) for theta in drawn]
    far = np.array([np.linalg.norm(each.position - where.position, axis=1) for each in scatter])
    turned = np.array(
        [np.linalg.norm(log(each.rotation @ np.swapaxes(where.rotation, 1, 2)), axis=1) for each in scatter]
    )
    place = tuple(inside.T)
    for errors, sigma in ((far, shown.position[place]), (turned, shown.orientation[place])):
        ratio = np.sqrt((errors**2).mean(axis=0)) / sigma
        assert (abs(ratio - 1) < 0.15).all()  # 300 draws of about two free components: 3 % of standard deviation
        assert abs(ratio.mean() - 1) < 0.06


def test_what_is_not_measured_is_left_white(found):
    shown = workspace_map(found, resolution=15)
    white = np.isnan(shown.position)
    assert 0.1 < white.mean() < 0.9
    assert (white == np.isnan(shown.orientation)).all()
    i, j = np.argwhere(white)[0]
    pose = shown.at.position + 0.0
    pose[0, :2] = shown.grid[0][i], shown.grid[1][j]
    readings = ROBOT.inverse(found.parameters, pose, shown.at.rotation)
    seen = found.poses.readings
    assert ((readings < seen.min(axis=0)) | (readings > seen.max(axis=0))).any()
    worst, at = shown.worst
    assert worst == np.nanmax(shown.position)
    assert set(at) == {"x", "y"}


def test_figure_and_data(found):
    maps = slices(found)
    assert [each.axes for each in maps] == [("x", "y"), ("x", "z")]
    data = json.loads(map_data(found, maps))
    assert data["slices"][0]["at"].keys() == {"z"}
    assert np.array(data["volume"]["position_sigma"], dtype=float).shape == (9, 9, 9)
    drawing = map_figure(found, maps)
    page = drawing.html()
    assert "var(--series-1)" in page
    assert len(page) < 300_000
    assert "mm at x" in drawing.caption


def test_a_printer_and_a_planar_machine(rng):
    printer = LinearDelta()
    p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (40, 3))
    seen = Poses(p + rng.normal(0, 1e-5, p.shape), None, printer.inverse(printer.nominal, p)).with_noise(1e-5)
    by_endstops = calibrate(printer, seen, fixed=[n for n in printer.names if not n.startswith("endstop")])
    shown = workspace_map(by_endstops, at=[0.0, 0.0, 0.05], resolution=3)
    # all endstops up by δ lift the nozzle by δ everywhere: the mean of three is as uncertain as z in the middle
    S = np.linalg.cholesky(by_endstops.estimate.region.covariance)
    up = np.linalg.norm(S.T @ np.full(3, 1 / 3))
    assert shown.position[1, 1] > up
    assert shown.orientation is None
    robot = PlanarRRR()
    q = np.column_stack([rng.uniform(-0.08, 0.08, (40, 2)), np.zeros(40)])
    R = np.repeat(np.eye(3)[None], 40, axis=0)
    flat = Poses(q, R, robot.inverse(robot.nominal, q, R)).with_noise(1e-5, 1e-4)
    only = calibrate(robot, flat, fixed=[n for n in robot.names if not n.startswith("zero")])
    assert len(slices(only)) == 1
    assert map_figure(only, slices(only)).svg()


def test_refusals(found):
    with pytest.raises(InputError, match="some of x, y, z"):
        workspace_map(found, "xw")
    with pytest.raises(InputError, match="each once"):
        workspace_map(found, "xx")
    with pytest.raises(InputError, match="at least 2"):
        workspace_map(found, resolution=1)
    boxed = replace(found, estimate=replace(found.estimate, region=Box(found.parameters - 1, found.parameters + 1)))
    with pytest.raises(InputError, match="needs a covariance"):
        workspace_map(boxed)
    assert slices(boxed) == ()
