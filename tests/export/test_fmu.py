"""FMUs: their own functions give the efforts of gough, and another importer accepts and runs them."""

import zipfile
from io import BytesIO

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.export.c_source import sections_of
from gough.export.exporting import export
from gough.robots import LinearDelta
from tests.compiler import needs_compiler
from tests.export.models import geometric_model, named_model


@needs_compiler
@pytest.mark.parametrize("key", ["h4", "five-bar"])
def test_the_functions_of_the_fmu_have_the_efforts_of_gough(key):
    done = export(named_model(key), "fmu", name="robot")
    assert {"robot_fmi3.fmu", "robot_fmi2.fmu"} <= set(done.files)
    assert [each.states for each in done.comparisons] == [1000, 1000]
    assert max(each.error for each in done.comparisons) < 2e-12


@needs_compiler
@pytest.mark.parametrize("version", [2, 3])
def test_fmpy_accepts_and_runs_them(version, tmp_path):
    fmpy = pytest.importorskip("fmpy")
    from fmpy.validation import validate_fmu

    model = named_model("five-bar")
    file = tmp_path / "bar.fmu"
    file.write_bytes(export(model, "fmu", name="bar").files[f"bar_fmi{version}.fmu"])
    assert validate_fmu(str(file)) == []
    vectors = sections_of(model, "bar")[0].vectors
    outputs = ["tau_q1", "tau_q2"]
    for k in range(3):
        inputs = {f"{d}q{i + 1}": vectors[f"{d}q"][k][i] for d in ("", "d", "dd") for i in range(2)}
        rows = fmpy.simulate_fmu(
            str(file), stop_time=0.01, output_interval=0.002, output=[*outputs, "status"], start_values=inputs
        )
        found = np.array([rows[-1][name] for name in outputs])
        assert np.abs(found - vectors["tau"][k]).max() < 1e-12 * vectors.scale("tau")
        assert rows[-1]["status"] < 16
    without = fmpy.simulate_fmu(
        str(file), stop_time=0.01, output=outputs, start_values={**inputs, "friction": False, "theta_m_load": 0.0}
    )
    assert abs(without[-1]["tau_q1"] - rows[-1]["tau_q1"]) > 1e-6


@needs_compiler
def test_equal_models_make_equal_archives_with_sources():
    first, second = (export(named_model("five-bar"), "fmu", verify=False).files["five_bar_fmi3.fmu"] for _ in range(2))
    assert first == second
    names = zipfile.ZipFile(BytesIO(first)).namelist()
    assert "modelDescription.xml" in names
    assert "sources/buildDescription.xml" in names
    assert any(name.startswith("binaries/") for name in names)


def test_without_a_compiler_there_are_sources_only(monkeypatch):
    monkeypatch.setenv("GOUGH_NO_COMPILER", "1")
    done = export(named_model("five-bar"), "fmu", verify=False)
    names = zipfile.ZipFile(BytesIO(done.files["five_bar_fmi2.fmu"])).namelist()
    assert not any(name.startswith("binaries/") for name in names)
    assert "no library" in done.notes[0]


def test_a_calibration_makes_no_fmu():
    model = geometric_model(LinearDelta(), np.array([[0.05] * 3, [0.2] * 3]))
    with pytest.raises(InputError, match="needs the results of gough identify"):
        export(model, "fmu", verify=False)
