"""Mistakes in a study file get a message with file, line and key."""

import re
from pathlib import Path

import pytest

from gough import InputError
from gough.core.toml_places import line_of, where
from gough.studies import IdentificationStudy, study_text
from gough.studies.quantities import quantity

GOOD = """\
[robot]
family = "h4"

[data]
rate = "1 kHz"

[[data.recordings]]
file = "a.csv"

[[data.recordings]]
file = "b.csv"
"""


def read(tmp_path: Path, text: str) -> IdentificationStudy:
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    return IdentificationStudy.read(path)


def test_a_study_needs_no_more_than_a_robot_and_a_recording(tmp_path):
    study = read(tmp_path, GOOD)
    assert study.robot.name == "H4"
    assert study.table.data.rate == 1000.0
    assert study.prior().upper.tolist() == [float("inf")] * 16


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("family", "famly"), "study.toml, line 2, [robot] famly: there is no such key; did you mean 'family'?"),
        (('"h4"', '"h5"'), "study.toml, line 1, robot: no robot is called 'h5' (known: h4, par4"),
        (('"h4"', "h4"), "study.toml is not valid TOML: Invalid value (at line 2, column 10)"),
        (('"h4"', "4"), "study.toml, line 2, [robot] family: must be a valid string, but is 4"),
        (('"1 kHz"', '"1 kg"'), "study.toml, line 5, [data] rate: '1 kg': 'kg' cannot become 'Hz'"),
        (('"1 kHz"', '"1 kHertz"'), "study.toml, line 5, [data] rate: '1 kHertz': 'kHertz' is not a unit"),
        (('"1 kHz"', "0"), "study.toml, line 5, [data] rate: must be greater than 0, but is 0"),
        (('"1 kHz"', "true"), "study.toml, line 5, [data] rate: must be a number in Hz"),
        (('"1 kHz"', "inf"), "study.toml, line 5, [data] rate: must be a finite number, but is inf"),
        (('file = "b.csv"', 'flie = "b.csv"'), "study.toml, line 11, [data.recordings] flie: there is no such key"),
        (("[data]", "[dat]"), "study.toml, line 4, dat: there is no such key; did you mean 'data'?"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_its_line(tmp_path, change, said):
    with pytest.raises(InputError) as refused:
        read(tmp_path, GOOD.replace(*change))
    assert said in str(refused.value).replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[robot.geometry]\narm = "-260 mm"', "arm must be a positive length in m, but it is -0.26"),
        ('[robot.geometry]\nrods = "260 mm"', "no dimension of h4 is called 'rods'; did you mean 'rod'?"),
        ('[robot.geometry]\narm = "90 deg"', "arm: '90 deg': 'deg' cannot become 'm'"),
        ('[robot.geometry]\narm = "480 mm"\nrod = "260 mm"', "cannot be assembled"),
        ("[unknowns.M_nak]\nlower = 0", "[unknowns] M_nak: the robot has no parameter 'M_nak'; did you mean 'M_nac'?"),
        ("[unknowns.M_nac]\nlower = 2\nupper = 1", "[unknowns] M_nac: lower = 2 exceeds upper = 1"),
        ("[unknowns.M_nac]\nlower = 2\nfixed = 1", "[unknowns] M_nac: give either fixed, or lower and upper"),
        ("[unknowns.M_nac]\nlower = nan", "[unknowns.M_nac] lower: must be a finite number, but is nan"),
        ("[noise]\nbound = -1", "[noise] bound: must be greater than 0, but is -1"),
        ("[preparation]\norder = 0", "[preparation] order: must be at least 1, but is 0"),
        ("[preparation]\norder = 2.5", "[preparation] order: must be a valid integer, but is 2.5"),
        ("[preparation.reversals]\nwithin = [1]", "[preparation.reversals] within: must be a number in s"),
    ],
)
def test_what_cannot_be_is_refused_before_any_file_is_read(tmp_path, table, said):
    with pytest.raises(InputError) as refused:
        read(tmp_path, f"{GOOD}\n{table}\n")
    assert said in str(refused.value)


def test_all_mistakes_are_told_at_once_but_not_a_hundred(tmp_path):
    wrong = "\n".join(f"wrong{i} = {i}" for i in range(9))
    with pytest.raises(InputError) as refused:
        read(tmp_path, GOOD.replace('rate = "1 kHz"', wrong))
    assert str(refused.value).count("there is no such key") == 5
    assert str(refused.value).endswith("… and 4 more")


def test_files_that_are_no_studies(tmp_path):
    with pytest.raises(InputError, match="cannot be read: there is no such file"):
        IdentificationStudy.read(tmp_path / "none.toml")
    with pytest.raises(InputError, match="is a folder: give a file"):
        IdentificationStudy.read(tmp_path)
    (tmp_path / "latin.toml").write_bytes("title = 'Größe'".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        IdentificationStudy.read(tmp_path / "latin.toml")
    with pytest.raises(InputError, match="robot: this key is required"):
        read(tmp_path, "")


def test_dimensions_may_stand_in_a_file_of_their_own(tmp_path):
    (tmp_path / "my-h4.toml").write_text('arm = "250 mm"\n')
    study = read(tmp_path, GOOD.replace('family = "h4"', 'family = "h4"\ngeometry = "my-h4.toml"'))
    assert study.robot.geometry.arm == 0.25
    with pytest.raises(InputError, match=r"line 3, \[robot\] geometry: .*none.toml cannot be read"):
        read(tmp_path, GOOD.replace('family = "h4"', 'family = "h4"\ngeometry = "none.toml"'))


@pytest.mark.parametrize("family", ["h4", "par4", "delta", "five-bar"])
def test_the_study_that_gough_writes_is_one_that_it_reads(tmp_path, family):
    study = read(tmp_path, study_text(family))
    assert study.table.robot.family == family
    assert study.table.efforts.gain == [1.0]


@pytest.mark.parametrize("family", ["h4", "par4", "delta", "five-bar"])
def test_every_default_that_the_written_study_shows_is_valid(tmp_path, family):
    lines = []
    for line in study_text(family).splitlines():
        bare = line.removeprefix("# ")
        shown = line.startswith("# ") and (bare.startswith("[") or " = " in bare.split("#")[0])
        lines.append(bare if shown and not bare.startswith("known") else line)
    study = read(tmp_path, "\n".join(lines))
    assert len(study.table.preparation.mask) == 1


def test_lines_are_found_through_lists_quotes_and_dots():
    text = 'a = 1\n[x."y z"]\nb.c = 2\n[[l]]\nk=1\n[[l]]\n[l.m]\nk=3\n'
    assert line_of(text, ("x", "y z", "b", "c")) == 3
    assert line_of(text, ("l", 1, "m", "k")) == 8
    assert line_of(text, ("l", 0, "k")) == 5
    assert line_of(text, ("nothing",)) is None
    assert where(text, Path("s.toml"), ("x", "y z", "q")) == "s.toml, line 2, [x.y z] q"


@pytest.mark.parametrize("family", ["five-bar", "h4", "par4", "delta"])
def test_lines_that_are_commented_out_are_defaults_or_marked_as_examples(tmp_path, family):
    text = study_text(family)
    in_force, in_example = [], False
    for line in text.splitlines():
        in_example = (in_example and bool(line)) or ("xample" in line and not re.match(r"# \w+ = ", line))
        is_default = re.match(r"# \w+ = ", line) and not in_example and "example" not in line
        in_force.append(line.removeprefix("# ") if is_default else line)
    assert sum(a != b for a, b in zip(in_force, text.splitlines(), strict=True)) >= 6
    plain, spelled = tmp_path / "plain.toml", tmp_path / "spelled.toml"
    plain.write_text(text, encoding="utf-8")
    spelled.write_text("\n".join(in_force), encoding="utf-8")
    one, other = IdentificationStudy.read(plain), IdentificationStudy.read(spelled)
    assert one.robot.names == other.robot.names
    without = {"robot": None}
    assert one.table.model_copy(update=without) == other.table.model_copy(update=without)


def test_bounds_and_limits_may_have_units(tmp_path):
    file = tmp_path / "study.toml"
    text = study_text("five-bar").replace('# bound = "0.5 N·m"', 'bound = ["50 mNm", 0.1]')
    file.write_text(f'{text}\n[unknowns.m_1]\nlower = "1 kg/2"\nupper = 2\n[unknowns.I_1]\nfixed = "100 kg*cm^2"\n')
    study = IdentificationStudy.read(file)
    assert study.bound() == [0.05, 0.1]
    prior, names = study.prior(), study.robot.names
    assert [prior.lower[names.index("m_1")], prior.upper[names.index("m_1")]] == [0.5, 2.0]
    assert prior.lower[names.index("I_1")] == prior.upper[names.index("I_1")] == pytest.approx(0.01, rel=1e-15)


@pytest.mark.parametrize(("text", "unit"), [("0.081", "m"), (" 90", "rad"), ("1e3", "Hz"), ("-2.5", "N·m")])
def test_text_without_a_unit_is_refused(text, unit):
    number = text.strip()
    with pytest.raises(InputError) as caught:
        quantity(text, unit)
    assert (
        str(caught.value) == f"'{text}' has no unit: write \"{number} {unit}\", or {number} without quotes for {unit}"
    )
    assert quantity(float(text), unit) == quantity(f"{number} {unit}", unit) == quantity(text, unit, bare=True)


def test_zero_and_pure_numbers_need_no_unit():
    assert (quantity("0", "m"), quantity("0.0", "rad"), quantity("0.5", ""), quantity("0.5", "1")) == (
        0.0,
        0.0,
        0.5,
        0.5,
    )
