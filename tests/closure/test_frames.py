"""Chains over rods from poses in an instrument's frame: held to exact simulations, without any tolerance."""

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from benchmarks.certified_chain import measured
from gough.checker.linear import NotProven
from gough.checker.raw_frames import matrix_of
from gough.checker.raw_numbers import Span, total
from gough.cli.app import run
from gough.closure import Tolerances, certified_chain, certify, quadratic_unknowns
from gough.closure.certification import SourceFiles, prepare
from gough.closure.fits import excess
from gough.core.errors import InputError
from gough.core.rotations import exp, log, nearest_rotation
from gough.data import Poses
from gough.geometry import Frames, Placement, RigidMotion, StatedFrames, calibrate
from gough.region import Box
from gough.report.certification import certification_documents
from gough.robots import GoughPlatform, H4Kinematics, LinearDelta, PlanarRRR
from gough.studies.calibration import CalibrationStudy
from tests.checker.runs import resealed
from tests.closure import framed

each_chain = pytest.mark.parametrize("chain", framed.CHAINS, ids=lambda chain: chain.family)
BLOCKS = {"position": 3, "chi": 3, "reading": 1, "omega": 3, "zeta": 3, "xi": 3}


def arguments(folder, chain, rng, *, exact=False, n=10, scale=1):
    """Poses of a chain in files, the arguments of `certify` about them, and the poses."""
    poses = [framed.pose(chain, rng, exact_frames=exact, scale=scale) for _ in range(n)]
    (folder / "poses.csv").write_text(framed.table(chain, poses))
    path = folder / "study.toml"
    path.write_text(framed.study(chain, exact=exact, scale=scale))
    study = CalibrationStudy.read(path)
    options = {
        "poses": study.poses(),
        "tolerances": study._tolerances(study.poses()),
        "around": 0.05,
        "chains": [1],
        "frames": study.frames,
        "sources": SourceFiles(path, folder / "poses.csv"),
    }
    return study.model, options, poses


def dot(row, x):
    return sum((Fraction(a) * b for a, b in zip(row.tolist(), x, strict=True)), Fraction(0))


@each_chain
@pytest.mark.parametrize(
    ("exact", "scale"), [(True, 1), (False, 1), (False, 200)], ids=["exact frames", "uncertain frames", "large errors"]
)
def test_the_equations_enclose_the_exact_poses(chain, exact, scale, tmp_path, rng):
    model, options, poses = arguments(tmp_path, chain, rng, exact=exact, scale=scale, n=6)
    (rod,) = prepare(model, **options).question.rods
    blocks = ["position", "reading"]
    blocks += ["omega"] if chain.turns else []
    if not exact:
        blocks = ["position", *(["chi"] if chain.turns else []), "reading"]
        blocks += ["omega", "zeta", "xi"] if chain.turns else ["zeta"]
    assert rod.tolerance.shape[1] == sum(BLOCKS[name] for name in blocks)
    told, largest = dict.fromkeys(blocks, False), Fraction(0)
    for k, pose in enumerate(poses):
        left = Fraction(rod.blur[k]) + dot(rod.bend[k], map(abs, chain.truth))
        d = [Fraction(rod.p[k, i]) + dot(rod.A[k, i], chain.truth) for i in range(3)]
        e = 0
        for name in blocks:
            for error in pose.errors[name]:
                assert abs(error) <= Fraction(rod.tolerance[k, e])
                moved = [error * (Fraction(rod.D[k, e, i]) + dot(rod.B[k, e, i], chain.truth)) for i in range(3)]
                d = [x + y for x, y in zip(d, moved, strict=True)]
                told[name] |= sum(x * x for x in moved) > left * left  # with its sign wrong, the last line would fail
                e += 1
        assert sum((x - y) ** 2 for x, y in zip(d, pose.rod, strict=True)) <= left * left
        largest = max(largest, sum((x - y) ** 2 for x, y in zip(d, pose.rod, strict=True)) / left**2)
    assert all(told.values()) or scale > 1
    assert scale == 1 or largest > Fraction(1, 30) ** 2  # what linear errors leave out is of the size of its bound


@each_chain
def test_the_true_chain_is_in_the_certified_box(chain, tmp_path, rng):
    model, options, _ = arguments(tmp_path, chain, rng, n=7)
    answer = certify(model, **options)
    (found,) = answer.chains
    assert found.finding.value != "refuted"
    for low, high, x in zip(found.box.lower.tolist(), found.box.upper.tolist(), chain.truth, strict=True):
        assert Fraction(low) <= x <= Fraction(high)
    assert {"chain-1-box.json", "chain-1-fits.json"} <= {file.name for file in answer.files}
    assert all(file.holds for file in answer.files)
    assert not any("is not checked" in note for note in answer.notes)  # derived from the files, in exact arithmetic


def write(folder, answer):
    """The certificates of an answer, as `gough certify` writes them."""
    for name, content in certification_documents("frames", (), answer, folder).items():
        if name.startswith("certificates/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Certificates of a planar chain in uncertain frames."""
    folder = tmp_path_factory.mktemp("frames")
    model, options, _ = arguments(folder, framed.CHAINS[-1], np.random.default_rng(3), n=6)
    write(folder, certify(model, **options))
    return folder


def test_the_statement_says_how_poses_were_moved(made, capsys):
    assert run(["check", str(made / "certificates"), "--study", str(made / "study.toml")]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "the base is, in the instrument's frame, at (1250, -2500, 750) mm" in out
    assert "the quaternion, scalar first, (0.6, 0.64, -0.48, 0) (position ± 0.01 mm; orientation ± 0.02 mrad)" in out
    assert "The platform is, in the target's frame, at (30, -20, 100) mm" in out
    assert "Errors of the frames are within their half-widths in each pose, and may differ from pose to pose." in out
    assert "orientations ± 0.2 mrad (left rotation vector)" in out
    assert "Derived from the sources in exact arithmetic" in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("study.toml", "position = [1.25,", "position = [1.250001,"), "do not enclose"),
        (("study.toml", "quaternion = [0.6, 0.64,", "quaternion = [0.6, 0.640001,"), "do not enclose"),
        (("study.toml", "quaternion = [0.6, 0.64,", "quaternion = [0.6, -0.64,"), "tilted in the robot's frame"),
        (("study.toml", "quaternion = [0.6,", "quaternion = [0.7,"), "has not the length 1"),
        (("study.toml", "position = [0.03,", "position = [0.030001,"), "do not enclose"),
        (("study.toml", '"0.01 mm"', '"0.0101 mm"'), "half-width is larger"),
        (("study.toml", '"0.03 mm"', '"0.031 mm"'), "half-width is larger"),
        (("study.toml", "orientation_tolerance = 0.00002", "orientation_tolerance = 0.00003"), "half-width is larger"),
        (("study.toml", "orientation_tolerance = 0.00004", "orientation_tolerance = 0.00005"), "half-width is larger"),
        (("study.toml", "orientation_tolerance = 0.00004", "orientation_tolerance = 0"), "are not those of chain 1"),
        (("study.toml", "orientation = 0.0002", "orientation = 0.0003"), "half-width is larger"),
        (
            ("study.toml", 'frames = "instrument"', 'frames = "robot"'),
            "not that the poses are in an instrument's frame",
        ),
        (("study.toml", "[frames.base]", "[frames.bass]"), "does not know what 'bass'"),
        (("study.toml", "[frames.platform]", "[output]"), ""),
        (("poses.csv", "-2.", "-2.0"), "do not enclose"),
    ],
)
def test_changed_frames_poses_and_half_widths_are_refuted(made, change, message, tmp_path, capsys):
    name, old, new = change
    folder = Path(shutil.copytree(made / "certificates", tmp_path / "certificates"))
    path = folder / "sources" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    resealed(folder)  # as a forger would, who makes every seal and digest fit
    assert run(["check", str(folder / "chain-1-box.json")]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "does not follow from the sources" in out
    assert message in out


def test_frames_that_mean_the_same_hold(made, tmp_path, capsys):
    folder = Path(shutil.copytree(made / "certificates", tmp_path / "certificates"))
    path = folder / "sources" / "study.toml"
    text = path.read_text()
    path.write_text(text.replace("[0.6, 0.64, -0.48, 0]", "[-0.6, -0.64, 0.48, 0]").replace("1.25,", '"125 cm",'))
    resealed(folder)
    assert run(["check", str(folder)]) == 0
    assert "Derived from the sources" in capsys.readouterr().out
    assert run(["check", str(folder), "--study", str(made / "study.toml")]) == 1  # but it is another file


GOOD = "[frames.base]\nposition = [1, 2, 3]\nquaternion = [1, 0, 0, 0]\n"


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        (GOOD.replace("[1, 0, 0, 0]", "[1, 1, 0, 0]"), r"line \d+.*length 1, but has 1.414"),
        (GOOD.replace("[1, 0, 0, 0]", "[0, 0, 0, 0]"), r"length 1, but has 0"),
        (GOOD.replace("[1, 0, 0, 0]", "[1, 0, 0]"), r"line \d+.*quaternion"),
        (GOOD.replace("[1, 0, 0, 0]", "[1, nan, 0, 0]"), r"line \d+.*quaternion"),
        (GOOD.replace("[1, 2, 3]", "[1, nan, 3]"), r"line \d+.*position.*finite"),
        (GOOD.replace("[1, 2, 3]", "[1, inf, 3]"), r"line \d+.*position.*finite"),
        (GOOD.replace("[1, 2, 3]", "[1, 2]"), r"line \d+.*position"),
        (GOOD.replace("[1, 2, 3]", '[1, "2 deg", 3]'), r"line \d+.*position.*measures rad"),
        (GOOD.replace("[1, 2, 3]", "[1, 2, 3e9]"), r"pose 0 is 3.000e\+09 m away from the base: check the units"),
        (GOOD.replace("position = [1, 2, 3]\n", ""), r"line \d+.*position"),
        (GOOD.replace("quaternion = [1, 0, 0, 0]\n", ""), r"line \d+.*quaternion"),
        (GOOD.replace("quaternion", "matrix"), r"line \d+.*matrix"),
        (GOOD + 'position_tolerance = "-1 mm"\n', r"line \d+.*position_tolerance"),
        (GOOD + 'orientation_tolerance = ["1 deg", "1 deg"]\n', r"line \d+.*each of three axes"),
        (GOOD.replace("base", "platform"), r"\[frames\] base: this key is required"),
        (GOOD + GOOD.replace("base", "platform"), r"line \d+.*does not turn.*leave out the frame of the platform"),
    ],
)
def test_frames_that_cannot_be_are_refused_with_their_line(frames, message, tmp_path, capsys):
    (tmp_path / "poses.csv").write_text("x,y,z,l1,l2,l3\n1,2,3.1,0.3,0.3,0.3\n1,2.1,3.1,0.3,0.3,0.3\n")
    path = tmp_path / "study.toml"
    head = '[robot]\nfamily = "linear-delta"\n[poses]\nfile = "poses.csv"\n[calibration]\nframes = "instrument"\n'
    path.write_text(f'{head}{frames}[certify]\nposition = 1e-4\nreadings = 1e-5\ncenter = "blueprint"\n')
    with pytest.raises(InputError, match=f"(?s){message}"):
        CalibrationStudy.read(path).certify()
    assert run(["certify", str(path)]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_frames_need_poses_in_an_instruments_frame(tmp_path):
    (tmp_path / "poses.csv").write_text("x,y,z,l1,l2,l3,l4,l5,l6\n1,2,3.1,0.3,0.3,0.3,0.3,0.3,0.3\n")
    path = tmp_path / "study.toml"
    path.write_text(f'[robot]\nfamily = "linear-delta"\n[poses]\nfile = "poses.csv"\n{GOOD}')
    with pytest.raises(InputError, match=r'line 5.*state \[calibration\] frames = "instrument"'):
        CalibrationStudy.read(path).calibrate()
    path.write_text(f'[robot]\nfamily = "gough"\nblueprint = "deltalab"\n[poses]\nfile = "poses.csv"\n{GOOD}'
                    '[calibration]\nframes = "instrument"\n')  # fmt: skip
    with pytest.raises(InputError, match=r"Gough platform.*leave the frames out"):
        CalibrationStudy.read(path).certify()


def test_a_left_handed_matrix_is_no_frame():
    mirror = RigidMotion(np.diag([1.0, 1.0, -1.0]), np.zeros(3))
    with pytest.raises(InputError, match="left-handed"):
        Placement.of(mirror)
    with pytest.raises(InputError, match="not orthogonal"):
        Placement.of(mirror._replace(R=np.diag([1.0, 1.0, 2.0])))
    with pytest.raises(InputError, match="left-handed"):
        StatedFrames.of(Frames(mirror, mirror))
    with pytest.raises(InputError, match="must be finite"):
        Placement([np.nan, 0.0, 0.0])
    with pytest.raises(InputError, match="4 components"):
        Placement(quaternion=[1.0, 0.0, 0.0])
    with pytest.raises(InputError, match="not negative"):
        Placement(position_tolerance=-1.0)


def problem(model, poses, frames, orientation=1e-4):
    truth = quadratic_unknowns(model, model.nominal, 1)
    return certified_chain(model, poses, 1, Box.around(truth, 0.05), Tolerances(1e-4, 1e-5, orientation), frames=frames)


def test_poses_that_the_robot_cannot_have_are_refused():
    tilted = StatedFrames(Placement(quaternion=[0.96, 0.28, 0.0, 0.0]))
    upright = Poses([[0.0, 0.0, -0.4]], exp(np.array([[0.0, 0.0, 0.2]])), np.zeros((1, 4)))
    with pytest.raises(InputError, match="only headings about z"):
        problem(H4Kinematics(), upright, tilted)
    leaning = replace(upright, rotation=exp(np.array([[0.02, 0.0, 0.2]])))
    with pytest.raises(InputError, match=r"tilted by 31.* in pose 0, but this robot turns about z only"):
        problem(H4Kinematics(), leaning, tilted)
    with pytest.raises(InputError, match="the poses have no z"):
        problem(PlanarRRR(), replace(upright, position=[[0.1, 0.0, 0.0]], readings=np.zeros((1, 3))), tilted)
    with pytest.raises(InputError, match=r"known to about ± 0\.1 rad"):
        problem(H4Kinematics(), leaning, StatedFrames(Placement()), orientation=0.1)
    robot, seen = GoughPlatform.deltalab(), Poses([[0.0, 0.0, 0.35]], np.eye(3)[None], np.zeros((1, 6)))
    with pytest.raises(InputError, match="leave the frames out"):
        certify(robot, seen, Tolerances(1e-4, 1e-5, 1e-4), frames=StatedFrames(Placement()))


def test_arrays_in_an_instruments_frame(rng):
    printer, frames = LinearDelta(), StatedFrames(Placement([1.0, 2.0, 3.0], [0.6, 0.64, -0.48, 0.0]))
    p = rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.1], (12, 3))
    seen = Poses(frames.base.motion.of(p), None, printer.inverse(printer.nominal, p))
    answer = certify(printer, seen, Tolerances(1e-4, 3e-5), around=0.02, chains=[1, 3], frames=frames)
    for chain in answer.chains:
        assert quadratic_unknowns(printer, printer.nominal, chain.chain) in chain.box
    assert answer.joint.finding.value == "fits"
    assert any("moved from the instrument's frame" in note for note in answer.notes)
    elsewhere = replace(frames, base=replace(frames.base, quaternion=np.array([0.64, 0.6, -0.48, 0.0])))
    assert certify(printer, seen, Tolerances(1e-4, 3e-5), around=0.02, chains=[1], frames=elsewhere).refuted


@pytest.mark.parametrize("form", ["matrix", "vector", "heading"])
def test_orientations_in_any_form(form, tmp_path, rng):
    """What the command reads and what the checker reads are the same poses, whatever form orientations have."""
    level = form == "heading"
    frames = StatedFrames(
        Placement([1.0, 2.0, 3.0], [0.6, 0.0, 0.0, 0.8] if level else [0.6, 0.64, -0.48, 0.0]),
        Placement([0.03, -0.02, 0.1], [0.8, 0.0, 0.0, 0.6] if level else [0.8, 0.36, 0.0, -0.48]),
    )
    p, R = rng.uniform(-0.05, 0.05, (4, 3)), exp(rng.uniform(-0.3, 0.3, (4, 1)) * [0.0, 0.0, 1.0])
    A = frames.base.motion.R @ R @ frames.platform.motion.R.T
    a = frames.base.motion.of(p) - A @ frames.platform.position
    parts = {
        "matrix": (A.reshape(-1, 9), [f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]),
        "vector": (log(A), ["rx", "ry", "rz"]),
        "heading": (log(A)[:, 2:], ["rz"]),
    }
    turned, heads = parts[form]
    readings = PlanarRRR().inverse(PlanarRRR().nominal, p * [1, 1, 0], R)
    rows = np.hstack([a, turned.round(5 if form == "matrix" else 12), readings])  # such matrices are not orthogonal
    lines = [",".join(["x", "y", "z", *heads, "l1", "l2", "l3"]), *(",".join(map(repr, row)) for row in rows.tolist())]
    (tmp_path / "poses.csv").write_text("\n".join(lines))
    text = "".join(
        f"[frames.{name}]\nposition = {each.position.tolist()}\nquaternion = {each.quaternion.tolist()}\n"
        for name, each in (("base", frames.base), ("platform", frames.platform))
    )
    head = '[robot]\nfamily = "3-rrr"\n[poses]\nfile = "poses.csv"\n[calibration]\nframes = "instrument"\n'
    path = tmp_path / "study.toml"
    path.write_text(
        f'{head}{text}[certify]\nposition = 1e-3\norientation = 1e-3\nreadings = 1e-3\ncenter = "blueprint"\n'
    )
    study = CalibrationStudy.read(path)
    poses = study.poses()
    sources = SourceFiles(path, tmp_path / "poses.csv")
    prepared = prepare(study.model, poses, Tolerances(1e-3, 1e-3, 1e-3), frames=study.frames, sources=sources)
    assert prepared.stated.raw is not None  # derived, and contained in the question
    moved = np.array([[float(x.low) for x in pose.position] for pose in prepared.stated.raw.seen])
    assert abs(moved - p).max() < 1e-5
    assert prepared.question.rods[0].blur.max() < 1e-6


def test_the_nearest_rotation_is_enclosed(rng):
    for R in exp(rng.normal(size=(5, 3))):
        rough = (R + rng.uniform(-0.005, 0.005, (3, 3))).round(4)
        found = matrix_of([Span.at(Fraction(str(x))) for x in rough.ravel().tolist()])
        assert abs(np.array([[float(x.low) for x in row] for row in found]) - nearest_rotation(rough)).max() < 1e-14
        for i, j in ((0, 0), (0, 1), (1, 2), (2, 2)):
            product = total(found[k][i] * found[k][j] for k in range(3))
            assert product.low <= (i == j) <= product.high
            assert product.high - product.low < Fraction(1, 2**190)
    with pytest.raises(NotProven, match="no rotation"):
        matrix_of([Span.at(x) for x in (1, 0, 0, 0, 1, 0, 0, 0, -1)])


@pytest.mark.parametrize("model", [LinearDelta(), H4Kinematics()], ids=lambda model: model.name)
def test_frames_that_calibrate_estimates_can_be_certified_with(model, rng):
    seen, own = instrument_poses(model, rng)
    found = calibrate(model, seen, frames="instrument", validation=instrument_poses(model, rng)[0].select(range(4)))
    assert found.rms[1] < 1e-6
    assert found.validation.position_after.max() < 1e-6
    stated = found.to_dict()["frames"]
    assert ("platform" in stated) == model.has_orientation
    frames = StatedFrames(**{name: Placement(**each) for name, each in stated.items()})
    assert abs(frames.moved(seen).position - own.position).max() < 1e-6
    again = calibrate(model, seen, frames=frames)
    assert abs(again.parameters - found.parameters).max() < 1e-6
    truth = quadratic_unknowns(model, model.nominal, 1)
    orientation = 1e-4 if model.has_orientation else 0.0
    box = Box(np.append(truth[:-1] - 0.02, 0.2), truth + 0.3)
    problem = certified_chain(model, seen, 1, box, Tolerances(1e-4, 1e-5, orientation), frames=frames)
    assert excess(problem, truth).max() <= 0


def instrument_poses(model, rng):
    """Poses of the nominal robot, of a target beside its platform in a frame far away, and in the robot's frame."""
    own = measured(model, rng, 20)
    own = replace(own, readings=model.inverse(model.nominal, own.position, own.rotation))
    R, t, offset = exp(np.array([0.4, -1.0, 0.3])), np.array([1.0, 2.0, 3.0]), np.array([0.03, -0.02, 0.0])
    mark = exp(np.array([0.0, 0.0, 0.5]))
    shift = own.rotation @ offset if model.has_orientation else 0.0
    position = (own.position + shift) @ R.T + t
    rotation = R @ own.rotation @ mark if model.has_orientation else None
    return Poses(position, rotation, own.readings), own
