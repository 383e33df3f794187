"""The state of the floating-point unit is detected for real, in processes whose state is spoilt."""

import importlib.util
import platform
from pathlib import Path

import pytest

from gough.core import floating

_spec = importlib.util.spec_from_file_location("environments", Path(__file__).with_name("environments.py"))
environments = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(environments)

REPORT = """
from gough.core import floating
{change}
print(not floating.defect(), floating.defect(), sep="|")
"""


def report(change):
    ieee, reason = environments.run(REPORT.format(change=change)).split("|")
    assert (ieee == "True") == (reason == "")
    return reason


def test_this_process_is_sound():
    assert not floating.defect()
    assert floating.defect() == ""


@pytest.mark.parametrize("direction", ["upward", "downward", "toward zero"])
def test_rounding_mode_is_detected(direction):
    assert f"rounds {direction}" in report(f"round_({direction!r})")


def test_restored_rounding_is_sound():
    assert report("round_('upward'); round_('to nearest')") == ""


def test_flush_to_zero_is_detected(tmp_path):
    library = environments.shared_library(tmp_path)
    assert "subnormal" in report(f"ctypes.CDLL({str(library)!r}).flush()")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has separate bits")
@pytest.mark.parametrize(("bits", "reason"), [("0x8000", "flushes"), ("0x0040", "takes subnormal")])
def test_each_half_of_flushing_is_detected(tmp_path, bits, reason):
    library = environments.shared_library(tmp_path, bits=bits)
    assert reason in report(f"ctypes.CDLL({str(library)!r}).flush()")


def test_loading_a_fast_math_library_is_detected(tmp_path):
    library = environments.shared_library(tmp_path, "-ffast-math")
    loads = environments.run(f"ctypes.CDLL({str(library)!r}); print(np.float64(2.0**-1022) * np.float64(0.5) == 0)")
    if loads != "True":
        pytest.skip("this gcc links no crtfastmath.o into shared libraries")
    assert "subnormal" in report(f"ctypes.CDLL({str(library)!r})")
