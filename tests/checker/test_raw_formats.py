"""Every way in which poses may be written: what the readers took contains what the decimals say, without tolerance."""

from copy import copy
from dataclasses import replace
from fractions import Fraction
from math import factorial
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.certified_chain import measured
from gough.checker import witness_certificate
from gough.checker.linear import NotProven
from gough.checker.raw_chains import FAMILIES
from gough.checker.raw_containment import require_contained, require_exhibited
from gough.checker.raw_data import NotDerived, RawTable, poses_of
from gough.checker.raw_numbers import Span
from gough.closure import quadratic_unknowns
from gough.closure.certification import SourceFiles, derived
from gough.core.errors import InputError
from gough.core.rotations import log, to_quaternion
from gough.data import Poses, write_poses
from gough.region import Box
from gough.robots import LinearDelta
from gough.studies.calibration import CalibrationStudy
from gough.studies.calibration_schema import KinematicRobotTable
from gough.studies.robots import kinematic_model
from tests.cli.test_certify import STUDY, prepared, write
from tests.methods.legs import extremal_poses

HEAD = "x [mm],y [mm],z [mm],{turn},l1 [mm],l2 [mm],l3 [mm],l4 [mm],l5 [mm],l6 [mm]"


def derived_anew(study, before):
    """What the files state now about a question that was made before."""
    files = SourceFiles(study.path, study.path.with_name("poses.csv"))
    return derived(before.question, files.read(before.given)).raw


@pytest.fixture(scope="module")
def table():
    """Positions and readings in mm with a few decimals, and rotations, of twelve poses."""
    robot, poses = extremal_poses()
    some = np.random.default_rng(3).permutation(64)[:12]
    p, R = poses.position[some], poses.rotation[some]
    return (1e3 * p).round(4), R, (1e3 * robot.inverse(robot.nominal, p, R)).round(4)


def turns(R, form):
    if form == "deg":
        return "rx [deg],ry [deg],rz [deg]", np.degrees(log(R)).round(5)
    if form == "rad":
        return "rx,ry,rz", log(R).round(7)
    if form == "matrix":
        return ",".join(f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)), R.reshape(-1, 9).round(6)
    q = to_quaternion(R).round(6)
    return ("q1,q2,q3,q4", np.roll(q, -1, axis=1)) if form == "xyzw" else ("qw,qx,qy,qz", q)


def write_table(folder, table, form, separator=",", study=STUDY):
    p, R, readings = table
    head, turned = turns(R, form)
    rows = [",".join(format(x, ".10g") for x in row) for row in np.hstack([p, turned, readings])]
    text = "\n".join([HEAD.format(turn=head), *rows]) + "\n"
    if separator == ";":
        text = text.replace(",", ";").replace(".", ",")
    (folder / "poses.csv").write_text(text)
    path = folder / "study.toml"
    path.write_text(study)
    return path


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("form", ["deg", "rad", "matrix", "wxyz", "xyzw"])
def test_notations(tmp_path, table, form, separator):
    study = CalibrationStudy.read(write_table(tmp_path, table, form, separator))
    before = prepared(study)
    raw = before.stated.raw
    assert raw is not None
    assert len(raw.poses) == 12
    data = SimpleNamespace(**before.question.arrays())
    stated = [Fraction(text) * 3 / 1000 for text in ("0.0633", "0.023", "0.0608")]
    for k in range(12):
        for i in range(3):
            exact = Fraction(format(table[0][k, i], ".10g")) / 1000
            near, half = (Fraction(x) for x in (data.position[k, i], data.position_tolerance[k, i]))
            assert near - half <= exact - stated[i]
            assert exact + stated[i] <= near + half
            assert half < stated[i] * (1 + Fraction(1, 10**10))
        for column, (leg, sigma) in enumerate(((2, "0.0127"), (5, "0.0118"))):
            exact = Fraction(format(table[2][k, leg - 1], ".10g")) / 1000
            near, half = (Fraction(x) for x in (data.readings[k, column], data.reading_tolerance[k, column]))
            wide = Fraction(sigma) * 3 / 1000
            assert near - half <= exact - wide
            assert exact + wide <= near + half


def stated_by(study):
    """What the sources of a study state, which the question contains."""
    return prepared(study).stated.raw


def test_degrees_are_not_radians(tmp_path, table):
    study = CalibrationStudy.read(write_table(tmp_path, table, "deg"))
    before = prepared(study)
    text = (tmp_path / "poses.csv").read_text()
    (tmp_path / "poses.csv").write_text(text.replace("[deg]", "[rad]"))
    with pytest.raises(InputError, match=r"orientation|larger than 60 rad"):
        derived_anew(study, before)


def test_rows_that_differ_beyond_double_precision(tmp_path, table):
    path = write_table(tmp_path, table, "wxyz")
    text = (tmp_path / "poses.csv").read_text()
    row = text.splitlines()[3]
    (tmp_path / "poses.csv").write_text(f"{text}{row}\n{row.replace(',', '0000000000000000001,', 1)}\n")
    with pytest.raises(
        InputError,
        match=r"poses 2 \(line 4\) and 12 \(line 15\) are equal in double precision but differ in later digits",
    ):
        stated_by(CalibrationStudy.read(path))
    (tmp_path / "poses.csv").write_text(f"{text}{row}\n")
    assert stated_by(CalibrationStudy.read(path)).poses.copies == 1


def test_units_that_contradict_a_head(tmp_path, table):
    path = write_table(tmp_path, table, "wxyz", study=STUDY.replace("[poses]", '[poses]\nunits = {position = "m"}'))
    with pytest.raises(InputError, match=r"column 'x \[mm\]' is in mm by its head, but units state 'm'"):
        prepared(CalibrationStudy.read(path))
    raw = RawTable.of_csv((tmp_path / "poses.csv").read_bytes())
    unknown = replace(raw, heads=("x [furlong]", *raw.heads[1:]))

    def x_of(unit, table=raw):
        return poses_of(table, {"poses": {"units": {"position": unit}}}, 6, "m", planar=False).position[0][0]

    assert x_of("mm") == x_of("0.001 m") == x_of("mm", replace(raw, heads=("x", *raw.heads[1:])))
    with pytest.raises(NotProven, match=r"'x \[mm\]' is in mm by its head, but the study states 'm'"):
        x_of("m")
    with pytest.raises(NotProven, match="the unit of position is not text"):
        x_of(1)
    with pytest.raises(NotDerived, match=r"'x \[furlong\]' states what the checker does not know"):
        x_of("mm", unknown)


@pytest.mark.parametrize(
    "more",
    [
        'position = "0.1 mm"\norientation = "1 arcmin"\nreadings = ["10 um", 2e-5, 2e-5, 2e-5, "0.002 cm", 2e-5]\n',
        "position = [0, 1e-4, 1_0e-5]\norientation = 0\nreadings = 0\n",
        """sigmas = 2.5
around = ['3 mm', 2e-3, '0.1 in']
[certify.model_error]
constant = '0.01 mm'
reading = 1e-3
position = 2e-4
orientation = '0 mm/rad'
""",
    ],
)
def test_tolerances_and_priors(tmp_path, table, more):
    text = STUDY if "around" not in more else STUDY.replace('around = "3 mm"\n', "")
    study = CalibrationStudy.read(write_table(tmp_path, table, "wxyz", study=text + more))
    assert stated_by(study) is not None


def test_covariances_in_the_file_and_a_geometry_in_the_study(tmp_path, table):
    rows = 1e3 * extremal_poses()[0].nominal.reshape(6, 7)
    points, joints = (
        [", ".join(f'"{x:.4f} mm"' for x in row) for row in rows[:, columns]] for columns in (slice(3), slice(3, 6))
    )
    listed = [f"[{', '.join(f'[{row}]' for row in rows)}]" for rows in (points, joints)]
    geometry = f"[robot.geometry]\nbase = {listed[0]}\nplatform = {listed[1]}\nlength = '345 mm'\n"
    study = STUDY.replace('blueprint = "deltalab"\n', geometry)
    study = study.replace("position = [", "# [").replace("orientation = [", "# [")
    path = write_table(tmp_path, table, "wxyz", study=study)
    names = [f"c{i}{j}" for i in range(1, 7) for j in range(i, 7)]
    head, *rows = (tmp_path / "poses.csv").read_text().splitlines()
    values = ["2.5e-9" if name[1] == name[2] else "0" for name in names]
    lines = [",".join([head, *names]), *(",".join([row, *values]) for row in rows)]
    (tmp_path / "poses.csv").write_text("\n".join(lines) + "\n")
    read = CalibrationStudy.read(path)
    before = prepared(read)
    assert before.given.center == ""
    raw = before.stated.raw
    assert raw is not None
    half = raw.position[0][0]
    assert half.low**2 <= Fraction("2.5e-9") * 9 <= half.high**2
    assert raw.center[0][0].low == Fraction("223.1792") / 1000


def degrees(x):
    return f'"{x} deg"'


def test_joints_on_circles(tmp_path, table):
    angles = {"base": [-145.7, -34.3, -25.7, 85.7, 94.3, -154.3], "platform": [-95.9, -84.1, 24.1, 35.9, 144.1, 155.9]}
    lines = [f"{what}_angles = [{', '.join(map(degrees, each))}]" for what, each in angles.items()]
    geometry = [
        "[robot.geometry]",
        *lines,
        'base_radius = "270 mm"',
        "platform_radius = 0.195",
        'length = "345 mm"',
        "",
    ]
    path = write_table(tmp_path, table, "wxyz", study=STUDY.replace('blueprint = "deltalab"\n', "\n".join(geometry)))
    study = CalibrationStudy.read(path)
    before = prepared(study)
    raw = before.stated.raw
    assert raw is not None
    assert before.given.center == ""
    x, y, z = raw.center[0][:3]
    assert x.low**2 + y.high**2 <= Fraction(27, 100) ** 2 <= x.high**2 + y.low**2
    assert z == Span.at(0)
    wrong = (tmp_path / "study.toml").read_text().replace("-34.3 deg", "-34.2999999 deg")
    (tmp_path / "study.toml").write_text(wrong)
    with pytest.raises(InputError, match="the prior of a2x"):
        derived_anew(study, before)


def test_decimals_that_the_reader_takes_are_taken_by_the_checker(tmp_path):
    path = write(tmp_path, n=12)
    lines = [line.split(",") for line in path.with_name("poses.csv").read_text().splitlines()]
    x = [f"{float(cells[0]):.12f}" for cells in lines[1:]]
    forms = ["{}", "{}" + "1" * 400, "{}e0", "{}000E+00", "{}0e-0000"]
    cells = [forms[k % 5].format(each if each[0] == "-" or k % 2 else f"+{each}") for k, each in enumerate(x)]
    nearest = min(range(12), key=lambda k: abs(float(x[k])))
    cells[nearest] = "1e-400"
    for row, cell in enumerate(cells, start=1):
        lines[row][0] = cell
    path.with_name("poses.csv").write_text("\n".join(map(",".join, lines)) + "\n")
    raw = stated_by(CalibrationStudy.read(path))
    assert [position[0].low for position in raw.poses.position[: len(cells)]] == [Fraction(cell) for cell in cells]


@pytest.mark.parametrize("cell", ["1_0", "", "0,1", "1e999", "0x1p-3", "٣", "1e-6000"])
def test_decimals_that_are_refused(tmp_path, cell):
    path = write(tmp_path, n=12)
    lines = path.with_name("poses.csv").read_text().splitlines()
    lines[3] = ",".join([cell, *lines[3].split(",")[1:]])
    path.with_name("poses.csv").write_text("\n".join(lines) + "\n")
    study = CalibrationStudy.read(path)
    with pytest.raises(InputError):
        stated_by(study)


def rods_case(folder, family, more=""):
    """The question of two chains of a robot, and the sources that state it."""
    model = kinematic_model(KinematicRobotTable(family=family))
    poses = measured(model, np.random.default_rng(3), 14)
    write_poses(folder / "poses.csv", poses if model.has_orientation else replace(poses, rotation=None))
    unit = "mm" if model.reading_unit == "m" else "mrad"
    turn = 'orientation = "0.01 deg"\n' if model.has_orientation else ""
    certify = f'[certify]\nposition = "0.1 mm"\nreadings = "0.03 {unit}"\n{turn}around = "50 mm"\n'
    path = folder / "study.toml"
    path.write_text(f'[robot]\nfamily = "{family}"\n[poses]\nfile = "poses.csv"\n{certify}chains = [1, 2]\n')
    both = prepared(CalibrationStudy.read(path))
    study = both.source.study
    content = study.content + more.replace("UNIT", unit).encode()
    return both.question, both.source._replace(study=study._replace(content=content))


def chain_case(folder, family):
    """The question of chain 2 of a robot, and what its sources state."""
    question, source = rods_case(folder, family)
    return question.only(2), source.raw(question.only(2), place=1)


def changed(values, by):
    """One of the numbers that are not 0 is changed."""
    result = values.copy()
    place = tuple(np.argwhere(values)[len(np.argwhere(values)) // 2])
    result[place] += by * (1 if result[place] > 0 else -1)
    return result


RODS = [family for family in FAMILIES if family != "gough"]


def with_rod(question, **changes):
    (rod,) = question.equations
    return replace(question, equations=(replace(rod, **changes),))


@pytest.mark.parametrize("family", RODS)
def test_equations_of_other_machines_enclose_the_raw_poses(tmp_path, family):
    question, raw = chain_case(tmp_path, family)
    turned, (rod,) = family != "linear-delta", question.equations
    forged = {"p": changed(rod.p, 1e-12), "A": changed(rod.A, 1e-12)}
    forged |= {"D": changed(rod.D, 1e-12), "tolerance": changed(rod.tolerance, -1e-12)}
    forged["blur"] = np.zeros_like(rod.blur)
    if turned:
        forged |= {"B": changed(rod.B, 1e-12), "bend": changed(rod.bend, -1e-12)}
    for name, values in forged.items():
        with pytest.raises(NotProven, match=r"pose \d+"):
            require_contained(with_rod(question, **{name: values}), raw)
    lower, upper = question.prior.lower, question.prior.upper
    for prior in (Box(changed(lower, 0) + 1e-12, upper), Box(lower, upper - 1e-12)):
        with pytest.raises(NotProven, match="the prior of"):
            require_contained(replace(question, prior=prior), raw)
    with pytest.raises(NotProven, match="not those of chain 2"):
        require_contained(replace(question, chains=(1,)), raw)
    others = [{"reading_unit": "rad" if not turned else "m"}, {"reading": 0}]
    others += [{"conditions": rod.conditions[:-1]}, {"conditions": ()}] if rod.conditions else []
    others.append({"conditions": (*rod.conditions, ((0, 0, 1.0),))})
    for change in others:
        with pytest.raises(NotProven):
            require_contained(with_rod(question, **change), raw)


@pytest.mark.parametrize("family", ["rotary-delta", "h4", "3-rrr"])
def test_coefficients_contain_cosines_of_the_decimals(tmp_path, family):
    """Against sums of Taylor's series in fractions, at zero tolerance."""
    question, raw = chain_case(tmp_path, family)
    place = (0, 2) if family == "3-rrr" else (0, 3)
    (rod,) = question.equations
    for k in range(rod.n_poses):
        q = raw.poses.readings[k][1].low
        cos = sum((-1) ** i * q ** (2 * i) / factorial(2 * i) for i in range(30))
        rest = q**60 / factorial(60)
        room = Fraction(float(rod.bend[k, place[1]]))
        assert abs(-cos - Fraction(float(rod.A[k][place]))) + rest <= room


MODEL_ERRORS = {
    "constant": '[certify.model_error]\nconstant = "0.01 UNIT"\n',
    "reading": "[certify.model_error]\nreading = 1e-3\n",
    "position": '[certify.model_error]\nposition = "0.1 UNIT/m"\n',
}


def added(stated, raw):
    """What a model error adds to each reading's half-width (N, chains), in doubles."""
    readings = np.array([[float(x.low) for x in row] for row in raw.readings])
    p = np.array([[float(x.low) for x in row] for row in raw.poses.position])
    middle, center = ((x.min(axis=0) + x.max(axis=0)) / 2 for x in (readings, p))
    return {
        "constant": np.full(readings.shape, 1e-5),
        "reading": 1e-3 * abs(readings - middle),
        "position": np.broadcast_to(1e-4 * np.linalg.norm(p - center, axis=1)[:, None], readings.shape),
    }[stated]


@pytest.mark.parametrize("family", RODS)
def test_chains_together_are_contained_and_what_is_changed_in_one_is_noticed(tmp_path, family):
    question, source = rods_case(tmp_path, family)
    raw = source.raw(question)
    require_contained(question, raw)
    words = " ".join(source.words(raw))
    assert "readings: chain 1 ± 0.03" in words
    assert "Chains fit together if in each pose the same errors of p" in words
    first, second = question.rods
    for name in ("p", "A", "tolerance"):
        spoilt = replace(second, **{name: changed(getattr(second, name), -1e-12 if name == "tolerance" else 1e-12)})
        lie = copy(question)  # other tolerances of shared errors are refused by the constructor already
        object.__setattr__(lie, "equations", (first, spoilt))
        with pytest.raises(NotProven, match=r"pose \d+"):
            require_contained(lie, raw)
    with pytest.raises(NotProven, match="not those of chain 1, 2"):
        require_contained(replace(question, chains=(2, 1)), raw)


@pytest.mark.parametrize("stated", MODEL_ERRORS)
@pytest.mark.parametrize("family", ["linear-delta", "3-rrr"])
def test_model_errors_widen_the_readings_of_chains(tmp_path, family, stated):
    """The question must be wider by what the model adds, and by no more."""
    question, source = rods_case(tmp_path, family, MODEL_ERRORS[stated])
    raw = source.raw(question)
    with pytest.raises(NotProven, match="a stated half-width is larger"):
        require_contained(question, raw)
    more = added(stated, raw)

    def wider(by):
        rods = []
        for i, rod in enumerate(question.rods):
            tolerance, bend = rod.tolerance.copy(), rod.bend.copy()
            tolerance[:, rod.reading] += more[:, i] + by
            before = rod.tolerance[:, rod.reading]
            for j in rod.turned:
                bend[:, j] += (tolerance[:, rod.reading] ** 2 - before**2) / 2 + 1e-18
            rods.append(replace(rod, tolerance=tolerance, bend=bend))
        return replace(question, equations=tuple(rods))

    require_contained(wider(1e-15), raw)
    with pytest.raises(NotProven, match="a stated half-width is larger"):
        require_contained(wider(-1e-12), raw)


def test_model_errors_that_grow_with_the_turn_are_not_derived(tmp_path):
    question, source = rods_case(tmp_path, "h4", '[certify.model_error]\norientation = "1 mrad/rad"\n')
    with pytest.raises(NotDerived, match=r"model_error\.orientation"):
        source.raw(question)


def exact_delta(folder):
    """Two chains of a linear delta whose poses have no errors, and the sources."""
    model = LinearDelta()
    p = np.random.default_rng(2).integers(-80, 80, (6, 3)) / 1024 + [0, 0, 0.125]
    write_poses(folder / "poses.csv", Poses(p, None, model.inverse(model.nominal, p)))
    certify = '[certify]\nposition = "0.1 mm"\nreadings = "0.03 mm"\naround = "5 mm"\n'
    path = folder / "study.toml"
    path.write_text(f'[robot]\nfamily = "linear-delta"\n[poses]\nfile = "poses.csv"\n{certify}chains = [1, 2]\n')
    both = prepared(CalibrationStudy.read(path))
    values = [x for chain in (1, 2) for x in quadratic_unknowns(model, model.nominal, chain).tolist()]
    return both.question, both.source, values


def test_chains_that_are_exhibited_together_fit_the_raw_data(tmp_path):
    """Errors beyond the stated half-widths are moved to their ends, and the chains must fit there."""
    question, source, values = exact_delta(tmp_path)
    raw, still = source.raw(question), ((0.0,) * 3,) * question.n_poses
    fits = witness_certificate(question, values, still)
    require_exhibited(fits, question, raw)
    edge = tuple(question.equations[0].shared_tolerance[0].tolist())  # rounded outward, so a hair beyond 0.1 mm
    assert Fraction(edge[0]) > Fraction(1, 10_000)
    few = replace(fits, proof=replace(fits.proof, errors=(edge, *still[1:]), left_out=(0,)))
    require_exhibited(few, question, raw)
    higher = replace(fits.proof, values=(*values[:2], values[2] + 2.9e-5, *values[3:]))  # as the reading is lower
    require_exhibited(replace(fits, proof=higher), question, raw)
    for proof, message in (
        (replace(fits.proof, values=(*values[:2], values[2] + 3.2e-5, *values[3:])), "the exhibited rod is too"),
        (
            replace(fits.proof, values=(*values[:2], values[2] + 5.1e-3, *values[3:])),
            "carriage_1 is outside",
        ),
        (replace(fits.proof, errors=(tuple(9 * e for e in edge), *still[1:])), "the exhibited rod is too"),
    ):
        with pytest.raises(NotProven, match=message):
            require_exhibited(replace(fits, proof=proof), question, raw)
    narrow = source._replace(study=source.study._replace(content=source.study.content.replace(b"0.03 mm", b"0.02 mm")))
    with pytest.raises(NotProven, match="the exhibited rod is too"):
        require_exhibited(replace(fits, proof=higher), question, narrow.raw(question))
    with pytest.raises(NotProven, match="more than 1 m"):
        require_exhibited(replace(fits, more=1.5), question, raw)
    require_exhibited(replace(fits, chains=(2,), proof=replace(fits.proof, values=tuple(values[4:]))), question, raw)
