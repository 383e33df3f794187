"""Several cameras: places found, poses fused, mistakes named."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from gough.cli.app import run
from gough.core.errors import InputError
from gough.core.png import png_file
from gough.core.rigid import RigidMotion
from gough.core.rotations import exp, log
from gough.data import read_poses
from gough.studies.rig import described_rig, measure_rig
from gough.studies.rig_frames import read_frames
from gough.vision import (
    Camera,
    CircleGrid,
    Rig,
    RigCamera,
    RigTarget,
    Sightings,
    design_target,
    fit_rig,
    read_rig,
    render,
    rig_text,
    simulate_sightings,
)
from gough.vision import poses as poses_module
from gough.vision.camera import camera_toml, expected
from gough.vision.pose import _PREDICTED, _variance_factor, measure_pose
from gough.vision.rig_adjustment import adjust_rig, chain_slopes
from gough.vision.rig_start import first_places
from gough.vision.rig_tests import retaken
from gough.vision.targets import target_text

FACING = np.diag([1.0, -1.0, -1.0])
SHEET, FLOOR = design_target(0.2, 0.2), design_target(0.16, 0.2)
LEFT = Camera((1024, 768), [672.0, 672.0], [511.5, 383.5], [-0.12, 0.03])
RIGHT = Camera((1024, 768), [690.0, 690.0], [505.0, 380.0], [-0.10, 0.02])
ASIDE = RigidMotion(exp([0.0, -0.6, 0.05]), np.array([0.5, 0.0, 0.15]))
HOME = RigidMotion(np.eye(3), np.zeros(3))
NOISE = 0.01


def two_cameras(*targets):
    return Rig(
        (RigCamera("left", LEFT), RigCamera("right", RIGHT, world=ASIDE)), targets or (RigTarget("plate", SHEET),)
    )


def unplaced(rig):
    cameras = tuple(replace(each, world=HOME) for each in rig.cameras)
    return Rig(cameras, tuple(replace(each, place=HOME) for each in rig.targets))


def motion(count, seed=1):
    rng = np.random.default_rng(seed)
    return [
        RigidMotion(exp(rng.normal(0, 0.2, 3)) @ FACING, rng.uniform([-0.05, -0.05, 0.72], [0.05, 0.05, 0.82]))
        for _ in range(count)
    ]


def seen_by(rig, poses, seed=2, **more):
    return simulate_sightings(rig, poses, NOISE, np.random.default_rng(seed), **more)


def off(fused, poses):
    true = [poses[int(name[1:])] for name in fused.names]
    parts = zip(fused.position, fused.rotation, true, strict=True)
    return np.array([np.concatenate([p - G.t, log(R @ G.R.T)]) for p, R, G in parts])


@pytest.fixture(scope="module")
def clean():
    truth, poses = two_cameras(), motion(10)
    return truth, poses, seen_by(truth, poses)


@pytest.fixture(scope="module")
def fused(clean):
    return fit_rig(unplaced(clean[0]), clean[2])


def test_places_and_poses_are_found_within_their_deviations(clean, fused):
    _, poses, _ = clean
    assert not fused.contradiction
    assert fused.test.probability > 1e-3
    C = fused.rig.covariance[fused.rig.layout.camera[1], fused.rig.layout.camera[1]]
    X = fused.rig.cameras[1].world
    error = np.concatenate([X.t - ASIDE.t, log(X.R @ ASIDE.R.T)])
    assert error @ np.linalg.solve(C, error) < 22.5  # χ² of 6 at 0.999
    square = [e @ np.linalg.solve(D, e) for e, D in zip(off(fused, poses), fused.budget()["total"], strict=True)]
    assert max(square) < 30
    assert 2.5 < np.mean(square) < 11


def test_information_of_cameras_adds_up(clean, fused):
    """With known places, the information of a fused pose is the sum of those of single cameras."""
    _, _, sightings = clean
    state, scale = fused.adjustment.state, fused.adjustment.scale
    total = np.zeros((6, 6))
    for each in sightings.of_frame[0]:
        cost, freedom = (each.pose.residuals**2).sum() / NOISE**2, each.pose.residuals.size - 6
        own = np.sqrt(_variance_factor(cost, freedom, _PREDICTED))
        by_G = chain_slopes(*state.expected(each))[1]
        C = each.pose.covariance * (scale[each.camera] / own) ** 2  # the noise of all its images
        total += by_G.T @ np.linalg.solve(C, by_G)
    ratio = np.linalg.inv(total).diagonal() / fused.own[0].diagonal()
    assert np.allclose(ratio, 1, atol=2e-3)


def test_slopes_of_the_chain_are_those_of_finite_differences():
    rng = np.random.default_rng(1)
    X, G, Y = (RigidMotion(exp(rng.normal(size=3)), rng.normal(size=3)) for _ in range(3))
    Z = X @ G @ Y
    for k, slope in enumerate(chain_slopes(Z, X, G, Y)):
        for axis in range(6):
            ends = []
            for h in (1e-6, -1e-6):
                parts = [X, G, Y]
                parts[k] = parts[k].stepped(h * np.eye(6)[axis])
                ends.append(parts[0] @ parts[1] @ parts[2])
            numeric = np.concatenate([ends[0].t - ends[1].t, log(ends[0].R @ ends[1].R.T)]) / 2e-6
            assert np.allclose(numeric, slope[:, axis], atol=1e-8)


def test_the_minimum_is_that_of_scipy(clean, fused):
    """Another optimizer finds no lower sum of squares of the pixels."""
    rig, sightings = unplaced(clean[0]), Sightings(clean[2].frames[:3], tuple(s for s in clean[2].seen if s.frame < 3))
    places, usable, _ = first_places(rig, sightings)
    ours = adjust_rig(rig, places.known, usable.of_frame)
    state = ours.state

    def residuals(x):
        moved = dict(state.places)
        moved["camera", 1, -1] = moved["camera", 1, -1].stepped(x[:6])
        for k in range(3):
            moved["platform", -1, k] = moved["platform", -1, k].stepped(x[6 + 6 * k : 12 + 6 * k])
        other = replace(state, places=moved)
        rows = []
        for s in usable.seen:
            Z = other.expected(s)[0]
            pixels = expected(rig.cameras[s.camera].camera, SHEET, Z.R, Z.t)
            rows.append(
                ((s.pose.pixels - pixels[s.pose.which]) / (s.pose.weight[:, None] * ours.scale[s.camera])).ravel()
            )
        return np.concatenate(rows)

    answer = least_squares(residuals, np.full(24, 1e-5), x_scale=1e-4, xtol=1e-14, ftol=1e-14)
    assert 2 * answer.cost == pytest.approx(ours.cost, rel=1e-7)
    sigma = np.sqrt(ours.covariance.diagonal()[rig.layout.camera[1]])
    assert (abs(answer.x[:6]) < 2e-2 * sigma).all()


def test_a_rig_file_keeps_everything(tmp_path, fused):
    (tmp_path / "rig.toml").write_text(rig_text(fused.rig), encoding="utf-8")
    again = read_rig(tmp_path / "rig.toml")
    assert again.layout.names == fused.rig.layout.names
    size = np.sqrt(fused.rig.covariance.diagonal()) + 1e-300
    assert np.allclose(again.covariance / size / size[:, None], fused.rig.covariance / size / size[:, None], atol=1e-8)
    assert np.allclose(again.cameras[1].world.t, fused.rig.cameras[1].world.t, atol=0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("quaternion = [", "quaternion = [2.0, "), "quaternion must be 4 finite numbers"),
        (("[uncertainty]", "[uncertain]"), "did you mean 'uncertainty'"),
        (('"right.rz"', '"right.rw"'), "no parameter 'right.rw'"),
        (("moving = false", "moving = 0"), "must be true or false"),
        (("sigma = [", "sigma = [-1.0, "), "sigma must be"),
        (('name = "right"', 'name = "left"'), "is used twice"),
    ],
)
def test_damaged_rig_files_are_refused(tmp_path, fused, change, words):
    text = rig_text(fused.rig)
    assert change[0] in text
    (tmp_path / "rig.toml").write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_rig(tmp_path / "rig.toml")


def test_a_known_rig_is_the_prior_of_later_runs(clean, fused):
    poses = motion(3, seed=7)
    later = fit_rig(fused.rig, seen_by(clean[0], poses, seed=8, known=fused.rig))
    assert not later.contradiction
    assert later.test.freedom == 6 * 6 - 6 * 3
    square = [e @ np.linalg.solve(D, e) for e, D in zip(off(later, poses), later.budget()["total"], strict=True)]
    assert max(square) < 30


def test_a_rig_that_moved_since_is_contradicted(clean, fused):
    knocked = replace(clean[0].cameras[1], world=ASIDE.stepped(np.array([1e-3, 0, 0, 0, 0, 0])))
    truth = Rig((clean[0].cameras[0], knocked), clean[0].targets)
    later = fit_rig(fused.rig, seen_by(truth, motion(4, seed=7), known=fused.rig))
    assert "is not where the rig has it" in later.contradiction
    assert "1 mm" in later.contradiction


def test_a_knocked_camera_is_named_with_its_frame(clean):
    truth, poses, _ = clean
    third = RigCamera("third", LEFT, world=RigidMotion(exp([0.0, 0.5, 0.0]), np.array([-0.4, 0.0, 0.1])))
    cameras = (*truth.cameras, third)
    before = seen_by(Rig(cameras, truth.targets), poses)
    knocked = (cameras[0], replace(cameras[1], world=ASIDE.stepped(np.full(6, 4e-4))), third)
    after = seen_by(Rig(knocked, truth.targets), poses, seed=5)
    seen = [s for s in before.seen if s.frame < 6] + [s for s in after.seen if s.frame >= 6]
    answer = fit_rig(unplaced(Rig(cameras, truth.targets)), replace(before, seen=tuple(seen)))
    assert answer.contradiction.startswith("camera right moved by")
    assert "before frame c006" in answer.contradiction


def test_exchanged_images_of_a_frame_are_named(clean):
    rig = unplaced(clean[0])
    seen = [retaken(rig, s, 1 - s.camera) if s.frame == 3 else s for s in clean[2].seen]
    answer = fit_rig(rig, replace(clean[2], seen=tuple(seen)))
    assert not answer.contradiction
    assert answer.rejected == (("c003", "the images of cameras left and right are exchanged"),)
    assert len(answer) == 9


def test_frames_that_are_late_by_one_are_named(clean):
    seen = [replace(s, frame=s.frame + 1) if s.camera == 1 else s for s in clean[2].seen]
    answer = fit_rig(unplaced(clean[0]), replace(clean[2], seen=tuple(s for s in seen if s.frame < 10)))
    assert "belong 1 frame" in answer.contradiction


def test_a_camera_that_moves_measures_relative_to_the_base():
    """One hand-held camera sees a target at the base and one on the platform."""
    floor = RigTarget("floor", FLOOR, is_fixed=True)
    rig = Rig((RigCamera("hand", LEFT, is_moving=True),), (RigTarget("plate", SHEET), floor))
    rng = np.random.default_rng(3)
    poses = [RigidMotion(exp(rng.normal(0, 0.1, 3)), np.array([0.21, 0.0, 0.05])) for _ in range(4)]
    worlds = {
        (0, k): RigidMotion(exp([0.5 + 0.1 * k, 0.2, 0.1]) @ FACING, np.array([-0.1, 0.02 * k, 0.75])) for k in range(4)
    }
    sightings = seen_by(rig, poses, moving=worlds)
    assert len(sightings.seen) == 8
    answer = fit_rig(rig, sightings)
    assert answer.rig.world == "target floor"
    square = [e @ np.linalg.solve(D, e) for e, D in zip(off(answer, poses), answer.budget()["total"], strict=True)]
    assert max(square) < 30


def test_cameras_without_a_common_target_are_placed_by_the_motion():
    back = RigTarget("back", FLOOR, place=RigidMotion(FACING, np.array([0.0, 0.0, -0.01])))
    behind = RigidMotion(FACING, np.array([0.0, 0.0, 1.55]))  # looks at the platform from the other side
    rig = Rig((RigCamera("front", LEFT), RigCamera("rear", RIGHT, world=behind)), (RigTarget("plate", SHEET), back))
    poses = motion(12, seed=4)
    sightings = seen_by(rig, poses)
    assert {(s.camera, s.target) for s in sightings.seen} == {(0, 0), (1, 1)}
    answer = fit_rig(unplaced(rig), sightings)
    X = answer.rig.cameras[1].world
    C = answer.rig.covariance[answer.rig.layout.camera[1], answer.rig.layout.camera[1]]
    error = np.concatenate([X.t - behind.t, log(X.R @ behind.R.T)])
    assert error @ np.linalg.solve(C, error) < 22.5


def test_what_is_not_connected_is_named(clean):
    rig = unplaced(clean[0])
    seen = [s for s in clean[2].seen if (s.frame < 5) == (s.camera == 0)]
    with pytest.raises(InputError, match="camera right shares no frame with the others"):
        fit_rig(rig, replace(clean[2], seen=tuple(seen)))
    with pytest.raises(InputError, match="camera right saw no target in any frame"):
        fit_rig(rig, replace(clean[2], seen=tuple(s for s in clean[2].seen if s.camera == 0)))


def test_impossible_rigs_are_refused():
    hand = RigCamera("hand", LEFT, is_moving=True)
    with pytest.raises(InputError, match="all cameras move"):
        Rig((hand,), (RigTarget("plate", SHEET),))
    with pytest.raises(InputError, match="needs a target on the platform"):
        Rig((RigCamera("left", LEFT),), (RigTarget("floor", FLOOR, is_fixed=True),))
    with pytest.raises(InputError, match="target grid"):
        Rig((RigCamera("left", LEFT),), (RigTarget("grid", CircleGrid(5, 4, 0.03, 0.006)),))


def test_one_camera_gives_its_own_poses(clean):
    rig = Rig((RigCamera("left", LEFT),), (RigTarget("plate", SHEET),))
    seen = tuple(s for s in clean[2].seen if s.camera == 0)
    answer = fit_rig(rig, replace(clean[2], seen=seen))
    assert answer.test.freedom == 0
    for k, each in enumerate(seen):
        assert np.allclose(answer.position[k], each.pose.position, atol=1e-9)


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    """Rendered images of two cameras, and their files."""
    folder = tmp_path_factory.mktemp("rig")
    small = [Camera((480, 360), [336.0, 336.0], [240.0, 180.0]), Camera((480, 360), [345.0, 345.0], [238.0, 181.0])]
    C = np.diag([0.02, 0.02, 0.02, 0.02, 1e-4, 0.0, 0.0, 0.0, 0.0]) ** 2
    aside = RigidMotion(exp([0.0, -0.6, 0.05]), np.array([0.34, 0.0, 0.1]))
    rng, poses = np.random.default_rng(5), []
    for name, camera in zip(("left", "right"), small, strict=True):
        (folder / "shots" / name).mkdir(parents=True)
        text = f"{camera_toml(replace(camera, covariance=C))}[target]\n{target_text(SHEET)}"
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    for k in range(3):
        turn = exp(rng.normal(0, 0.15, 3)) @ exp([0.0, 0.3, 0.0]) @ FACING
        G = RigidMotion(turn, rng.uniform([-0.02, -0.02, 0.46], [0.02, 0.02, 0.5]))
        poses.append(G)
        for name, camera, X in zip(("left", "right"), small, (HOME, aside), strict=True):
            Z = X @ G
            image = render(camera, SHEET, Z.R, Z.t, rng=rng).image
            (folder / "shots" / name / f"c{k:03d}.png").write_bytes(png_file(image))
    rows = [f"c{k:03d}.png,{k},{100 + k},{200 + k}" for k in range(3)]
    (folder / "readings.csv").write_text("\n".join(["image,configuration,l1 [mm],l2 [mm]", *rows]), encoding="utf-8")
    return folder, poses


def test_images_become_a_rig_and_then_poses(shots, tmp_path, capsys):
    folder, poses = shots
    cameras = ["--camera", str(folder / "left.toml"), "--camera", str(folder / "right.toml")]
    table, images = ["--table", str(folder / "readings.csv")], str(folder / "shots")
    assert run(["camera", "rig", images, *cameras, "--out", str(tmp_path / "rig"), "--json", *table]) == 0
    stated = json.loads(capsys.readouterr().out)
    assert stated["measured"] == 3
    assert stated["sightings"] == [[3], [3]]
    assert stated["world"] == "camera left"
    measure = ["poses", "measure", images, "--rig", str(tmp_path / "rig" / "rig.toml"), "--out"]
    out = tmp_path / "measured"
    assert run([*measure, str(out), *table]) == 0
    assert "agree with one another and with the rig" in capsys.readouterr().out
    measured = read_poses(out / "poses.csv", chains=2)
    assert measured.common is not None
    assert np.allclose(measured.readings[:, 0], [0.1, 0.101, 0.102])
    for k, G in enumerate(poses):
        e = np.concatenate([measured.position[k] - G.t, log(measured.rotation[k] @ G.R.T)])
        assert e @ np.linalg.solve(measured.total_covariance[k], e) < 30
    assert {"poses.csv", "poses.json", "report.html"} <= {each.name for each in out.iterdir()}
    for more, words in (
        (["--bound", "0.05"], "proven for one camera"),
        (["--camera", str(folder / "left.toml")], "not both"),
        (["--size-sigma", "0.001"], "with gough camera rig"),
    ):
        assert run([*measure, str(tmp_path / "b"), *more]) == 2
        assert words in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "b").exists()


def test_rigs_resume_from_their_ledger(shots, tmp_path, monkeypatch):
    """Images that were read are not read again, a new one is; without any target nothing is left in the folder."""
    folder, _ = shots
    mine, out = tmp_path / "shots", tmp_path / "rig"
    shutil.copytree(folder / "shots", mine)
    (mine / "left" / "c002.png").rename(tmp_path / "later.png")
    cameras = [f"--camera={folder}/{name}.toml" for name in ("left", "right")]
    assert run(["camera", "rig", str(mine), *cameras, "--out", str(out), "--workers", "1"]) == 0
    first = (out / "poses.csv").read_bytes()
    read = []
    monkeypatch.setattr(poses_module, "measure_pose", lambda *given: read.append(given) or measure_pose(*given))
    assert run(["camera", "rig", str(mine), *cameras, "--out", str(out)]) == 0
    assert not read
    assert (out / "poses.csv").read_bytes() == first
    (tmp_path / "later.png").rename(mine / "left" / "c002.png")
    assert run(["camera", "rig", str(mine), *cameras, "--out", str(out)]) == 0
    assert len(read) == 1
    for file in mine.glob("*/*.png"):
        file.write_bytes(b"no image")
    assert run(["camera", "rig", str(mine), *cameras, "--out", str(tmp_path / "none")]) == 2
    assert not (tmp_path / "none").exists()


def test_frames_are_matched_by_names_and_by_tables(tmp_path):
    for name in ("left", "right"):
        (tmp_path / name).mkdir()
        for k in range(2):
            (tmp_path / name / f"{name}_{k:03d}.png").write_bytes(b"")
    found = read_frames(tmp_path, ["left", "right"])
    assert found.names == ("000", "001")
    assert [sorted(each) for each in found.images] == [["left", "right"]] * 2
    table = tmp_path / "frames.csv"
    table.write_text("frame,left,right,l1\na,left_000.png,right_001.png,1\nb,left_001.png,,2\n", encoding="utf-8")
    found = read_frames(tmp_path, ["left", "right"], table)
    assert found.images[0]["right"].name == "right_001.png"
    assert set(found.images[1]) == {"left"}
    table.write_text("frame,left,right\na,left_000.png,nothing.png\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2, column 'right': there is no image nothing.png"):
        read_frames(tmp_path, ["left", "right"], table)
    with pytest.raises(InputError, match=r"no folder .*third.* it has left and right"):
        read_frames(tmp_path, ["left", "third"])
    (tmp_path / "right" / "right_000.png").rename(tmp_path / "right" / "a.png")
    (tmp_path / "right" / "right_001.png").rename(tmp_path / "right" / "b.png")
    with pytest.raises(InputError, match="no two images have the same name"):
        read_frames(tmp_path, ["left", "right"])


def test_bad_descriptions_of_rigs_are_refused(shots, tmp_path):
    folder, _ = shots
    left, right = str(folder / "left.toml"), str(folder / "right.toml")
    with pytest.raises(InputError, match="no camera is called middle"):
        described_rig([left, right], [], [], ["middle"])
    with pytest.raises(InputError, match="is used twice"):
        described_rig([left, left], [], [], [])
    other = tmp_path / "other.toml"
    other.write_text((folder / "right.toml").read_text().split("[target]")[0] + f"[target]\n{target_text(FLOOR)}")
    with pytest.raises(InputError, match="different targets"):
        described_rig([left, f"right={other}"], [], [], [])
    empty = tmp_path / "shots"
    for name in ("left", "right"):
        (empty / name).mkdir(parents=True)
        shutil.copy(folder / "left.toml", empty / name / "c000.png")
    with pytest.raises(InputError, match=r"no image of .* shows a target(.|\n)*left/c000.png"):
        measure_rig(empty, described_rig([left, right], [], [], []))
