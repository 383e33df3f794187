"""The box of a finding contains what its certificate proves, and gains of legs can be certified."""

import numpy as np

from gough.closure import Finding, Tolerances, certify
from gough.core.rotations import exp
from gough.data import Poses
from gough.robots import GoughPlatform, LinearDelta


def test_no_printed_box_is_narrower_than_its_certificate():
    """Weights of certificates have 13 digits, so that they prove a little less than the method found."""
    printer, rng = LinearDelta(), np.random.default_rng(1)
    p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.1], (14, 3))
    poses = Poses(p, None, printer.inverse(printer.nominal, p))
    answer = certify(printer, poses, Tolerances(1e-5, 1e-6), around=0.02, chains=[1])
    for chain in answer.chains:
        proven = next(file.box for file in chain.files if file.name.endswith("-box.json"))
        assert (chain.box.lower <= proven.lower).all()
        assert (chain.box.upper >= proven.upper).all()


def test_legs_with_unknown_gains_are_certified_from_read_only_parameters():
    blueprint, rng = GoughPlatform.deltalab(), np.random.default_rng(1)
    robot = GoughPlatform(blueprint.base, blueprint.platform, blueprint.length, 0.07, gains=True, reading_unit="rev")
    p, R = rng.normal([0, 0, 0.35], 0.03, (12, 3)), exp(rng.normal(0, 0.15, (12, 3)))
    poses = Poses(p, R, robot.inverse(robot.nominal, p, R))
    calibrated = robot.nominal.copy()
    calibrated.setflags(write=False)
    for center in ("blueprint", "calibrated"):
        answer = certify(
            robot, poses, Tolerances(1e-5, 1e-4, 1e-5), around=0.002, center=center, calibrated=calibrated, chains=[1]
        )
        assert answer.chains[0].finding is Finding.FITS
    assert any("Gains of legs are taken as calibrated" in note for note in answer.notes)
