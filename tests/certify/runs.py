"""Small runs of `gough certify` for tests."""

from gough.cli.app import run
from tests.cli.test_certify import STUDY, write

ONE_LEG = STUDY.replace("legs = [2, 5]", "legs = [2]")


def leg_run(folder, text=ONE_LEG, **poses):
    """The folder of certificates of a run about legs of the DeltaLab platform; twelve poses unless asked otherwise."""
    path = write(folder, text, **{"n": 12, **poses})
    assert run(["certify", str(path), "--json"]) in {0, 1}
    return folder / "results-certified" / "certificates"
