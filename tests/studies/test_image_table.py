"""Tables of readings: units, names of columns and numbers are kept, and nothing is lost silently."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data import Poses, read_poses, write_poses
from gough.studies.image_table import read_table

NAMES = ["c1-r0.png", "c2-r0.png"]


def table(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("heads", "unit", "factor"),
    [
        ("l1,l2", "", 1.0),
        ("l1 [mm],l2 [mm]", "m", 1e-3),
        ("leg1 [mm],leg2 [mm]", "m", 1e-3),
        ("Leg 1 (in),Leg 2 (in)", "m", 0.0254),
        ("motor_1 [deg],motor_2 [deg]", "rad", np.pi / 180),
    ],
)
def test_units_and_names_of_readings(heads, unit, factor, tmp_path):
    known = read_table(table(tmp_path, f"image,{heads}\nc1-r0.png,100,110\nc2-r0.png,120,130\n"), NAMES)
    configuration, run, readings = known.of(NAMES)
    assert known.unit == unit
    assert readings == pytest.approx(factor * np.array([[100, 110], [120, 130]]))
    assert configuration.tolist() == [1, 2]  # of the names: the table has no such column
    assert run.tolist() == [0, 0]


def test_columns_in_any_order_with_semicolons_and_other_ones(tmp_path):
    text = "leg2; Config;temperature;File;leg1\n2;7.0;20;c2-r0.png;1\n4;8;21;c1-r0.png;3\n"
    known = read_table(table(tmp_path, text), NAMES)
    configuration, _, readings = known.of(NAMES)
    assert configuration.tolist() == [8, 7]
    assert readings.tolist() == [[3, 4], [1, 2]]
    notes = " ".join(known.notes)
    assert "leg1, leg2 of" in notes
    assert "not used: temperature" in notes
    assert "states no unit" in notes


def test_stated_columns(tmp_path):
    path = table(tmp_path, "image,a1,a2,b1,b2\nc1-r0.png,1,2,3,4\nc2-r0.png,5,6,7,8\n")
    assert read_table(path, NAMES, ["b2", "b1"]).of(NAMES)[2].tolist() == [[4, 3], [8, 7]]
    with pytest.raises(InputError, match=r"which columns are the readings.*--readings"):
        read_table(path, NAMES)
    with pytest.raises(InputError, match="no column 'b3'"):
        read_table(path, NAMES, ["b3"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image,l1 [mm],l2\nc1-r0.png,1,2\nc2-r0.png,1,2\n", "one unit"),
        ("image,l1 [mmm],l2 [mmm]\nc1-r0.png,1,2\nc2-r0.png,1,2\n", "'mmm' is not a unit"),
        ("image,l1,l2\nc1-r0.png,1,x\nc2-r0.png,1,2\n", "line 2, column 'l2' must be a number, but is 'x'"),
        ("image,l1,l2\nc1-r0.png,1,2\n", "does not name 1 of the images: c2-r0.png"),
        ("image,l1,l2\nc1-r0.png,1,2\nc1-r0.png,1,2\nc2-r0.png,1,2\n", "line 3: .* stands in line 2 too"),
        ("image,configuration,l1\nc1-r0.png,a,2\nc2-r0.png,1,2\n", "column 'configuration' must be a number"),
        ("image,configuration,l1\nc1-r0.png,1.5,2\nc2-r0.png,1,2\n", "must be a whole number"),
        ("name of it,l1\nc1-r0.png,1\n", "has no column 'image'"),
        ("image,l1\nc1-r0.png\n", "line 2 has 1 cells"),
        ("", "is empty"),
    ],
)
def test_refusals_name_line_and_column(text, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read_table(table(tmp_path, text), NAMES)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz", "mat"])
def test_poses_with_names_of_images_and_units_are_read_back(suffix, tmp_path):
    poses = Poses(
        [[0.0, 0.0, 0.3], [0.0, 0.01, 0.3]], [np.eye(3)] * 2, [[0.1, 0.2], [0.3, 0.4]], configuration=np.array([1, 2])
    )
    path = tmp_path / f"poses.{suffix}"
    write_poses(path, poses, reading_unit="m" if suffix != "mat" else "", images=["a, b.png", "c.png"])
    back = read_poses(path, chains=2, exclude=[0])
    assert back.readings.tolist() == [[0.3, 0.4]]
    assert back.configuration.tolist() == [2]
    if suffix == "csv":
        assert path.read_text().splitlines()[0].endswith("image")
        in_mm = read_poses(path, chains=2, reading_unit="mm")
        assert in_mm.readings[0] == pytest.approx([100, 200])
        with pytest.raises(InputError, match="cannot become"):
            read_poses(path, chains=2, reading_unit="rev")
