"""Certificates of probed heights: what is true holds; what is false or tighter by one last digit does not."""

import json
from dataclasses import replace
from fractions import Fraction
from math import inf, nextafter

import numpy as np
import pytest

from gough.checker.height_check import check_heights
from gough.checker.height_equations import HeightEquations, height_space, point_spans
from gough.checker.height_proofs import HeightEmpty, HeightWitness, height_certificate, load_heights, render_heights
from gough.checker.linear import NotProven
from gough.checker.raw_printer import exact_printer
from gough.cli.app import run
from gough.closure import ProbedHeights, height_tolerance
from gough.closure.height_certificates import height_certificates
from gough.core.errors import BeyondLimit, InputError
from gough.core.sealed import sealed, unsealed
from gough.data import read_klipper
from gough.geometry import calibrate_printer
from gough.robots import LinearDelta

DELTA = LinearDelta(radius=0.16, angle=np.radians([210.0, 330.0, 90.0]))
OFF = 0.1
"""mm by which a height between middle and rim is wrong, which no geometry explains."""


def configuration(off=OFF):
    ring = np.arange(6) * np.pi / 3
    p = 0.09 * np.column_stack([np.cos(ring), np.sin(ring), np.zeros(6)])
    p = np.vstack([p, [0.0, 0.0, 0.0], [0.05, 0.01, 0.0]])
    steps = DELTA.inverse(DELTA.nominal, p) * 1e3 * 3200 / 40
    lines = ["[include parts/*.cfg]", "[printer]", "kinematics: delta", "delta_radius: 160"]
    for tower in "abc":
        lines += [f"[stepper_{tower}]", "microsteps: 16", "position_endstop: 400", "arm_length: 345"]
    lines += ["#*# [delta_calibrate]"]
    for i, each in enumerate(steps):
        lines += [f"#*# height{i} = {off * (i == 7)}", f"#*# height{i}_pos = {','.join(f'{s:.3f}' for s in each)}"]
    belts = "\n".join(f"[stepper_{tower}]\nrotation_distance: 40 ; GT2, 20 teeth" for tower in "abc")
    return {"printer.cfg": "\n".join(lines).encode(), "parts/belts.cfg": belts.encode()}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files, certificates and the folder of a configuration."""
    folder, files = tmp_path_factory.mktemp("printer"), configuration()
    (folder / "parts").mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    calibrated = calibrate_printer(read_klipper(folder / "printer.cfg"))
    problem = ProbedHeights(calibrated.probes, calibrated.parameters, 1e-3, 0.0)
    return files, height_certificates(problem, height_tolerance(problem, width=2e-5), files), folder


def test_both_ends_hold_and_survive_their_files(made, tmp_path):
    files, certificates, _ = made
    assert set(certificates.texts) == {"epsilon-lower.json", "epsilon-upper.json"}
    for name, text in certificates.texts.items():
        (tmp_path / name).write_text(text)
        loaded = load_heights(tmp_path / name)
        assert render_heights(loaded) == text
        assert check_heights(loaded, files)
    assert 2e-5 < certificates.lower.proof.epsilon < certificates.upper.proof.epsilon < 6e-5


def test_a_bound_tighter_by_one_unit_in_the_last_place_does_not_hold(made):
    files, certificates, _ = made
    witness, empty = certificates.upper.proof, certificates.lower.proof
    less = replace(witness, epsilon=nextafter(witness.epsilon, 0))
    assert "not within ε" in check_heights(height_certificate(files, less), files).reason
    first = empty.links[0]
    for k in (0, len(first.cuts) // 2, len(first.cuts) - 1):
        cut = first.cuts[k]
        tighter = nextafter(cut.bound, inf if cut.side == "lower" else -inf)
        stage = replace(first, cuts=(*first.cuts[:k], replace(cut, bound=tighter), *first.cuts[k + 1 :]))
        verdict = check_heights(height_certificate(files, replace(empty, links=(stage, *empty.links[1:]))), files)
        assert not verdict
        assert "its rows prove" in verdict.reason
    narrow = replace(first, radius=(nextafter(first.radius[0], 0), *first.radius[1:]))
    verdict = check_heights(height_certificate(files, replace(empty, links=(narrow, *empty.links[1:]))), files)
    assert "does not cover" in verdict.reason


def test_false_statements_do_not_hold(made):
    files, certificates, _ = made
    witness, empty = certificates.upper.proof, certificates.lower.proof
    true = configuration(off=0.0)  # a printer explains these
    for claim in (
        replace(empty, epsilon=2 * witness.epsilon),
        replace(empty, links=empty.links[:1]),
        replace(empty, lower=tuple(x - 0.02 for x in empty.lower)),
    ):
        assert not check_heights(height_certificate(files, claim), files)
    assert not check_heights(height_certificate(true, empty), true)
    for claim in (
        replace(witness, radius=1e-20),
        replace(witness, points=witness.points[:-1]),
        replace(witness, geometry=(witness.geometry[0] + 1e-4, *witness.geometry[1:])),
        replace(witness, geometry=(*witness.geometry[:3], 0.4, *witness.geometry[4:])),  # longer than the arms
        replace(witness, points=tuple((x, y, z + 1.0) for x, y, z in witness.points)),
    ):
        assert not check_heights(height_certificate(files, claim), files)


def test_other_files_do_not_hold(made):
    files, certificates, _ = made
    changed = files | {"parts/belts.cfg": files["parts/belts.cfg"].replace(b"40", b"41")}
    assert "was changed" in check_heights(certificates.lower, changed).reason
    assert "is missing" in check_heights(certificates.lower, {"printer.cfg": files["printer.cfg"]}).reason
    only = {"printer.cfg": files["printer.cfg"]}  # a forger leaves the included file out
    verdict = check_heights(height_certificate(only, certificates.lower.proof), only)
    assert "lacks 'rotation_distance'" in verdict.reason


def written(pre="", a="", b="", saved=""):
    """A configuration with one probed height."""
    lines = [pre, "[stepper_a]", "arm_length: 345", "rotation_distance: 40", "microsteps: 16", a, "[stepper_b]"]
    lines += ["rotation_distance: 40", "microsteps: 16", b, "[stepper_c]", "rotation_distance: 40", "microsteps: 16"]
    lines += ["[delta_calibrate]", "height0: 0.1", "height0_pos: 800,1600,2400", saved]
    return "\n".join(lines).encode()


def arm(tower, length):
    return f"[stepper_{tower}]\narm_length: {length}"


@pytest.mark.parametrize(
    ("text", "others", "arms", "steps"),
    [
        (written(saved="#*# <--- SAVE_CONFIG --->\n#*# [stepper_a]\n#*# arm_length = 300"), {}, (345,) * 3, (80,) * 3),
        (written(saved="#*# [stepper_b]\n#*# arm_length = 300"), {}, (345, 300, 345), (80,) * 3),
        (written("[stepper_a]\narm_length: 1\n[include x.cfg]"), {"x.cfg": arm("a", 2)}, (345,) * 3, (80,) * 3),
        (written("[include x.cfg]"), {"x.cfg": "#*# [stepper_b]\n#*# arm_length: 2"}, (345,) * 3, (80,) * 3),
        (written("[include *.inc]"), {".x.inc": arm("b", 2)}, (345,) * 3, (80,) * 3),
        (written("[include */x.cfg]"), {"p/x.cfg": arm("b", 2), "p-1/x.cfg": arm("b", 1)}, (345, 2, 345), (80,) * 3),
        (written().replace(b"[stepper_b]", b"[stepper_b]\n  arm_length: 340"), {}, (345, 340, 345), (80,) * 3),
        (written(b="arm_length: 340#mm"), {}, (345, 340, 345), (80,) * 3),
        (written(b="# was\u2028arm_length: 300"), {}, (345,) * 3, (80,) * 3),
        (written(a="gear_ratio: 2:1,\n  3:1\nfull_steps_per_rotation: 400"), {}, (345,) * 3, (960, 80, 80)),
    ],
)  # fmt: skip
def test_keys_count_as_for_klipper(text, others, arms, steps):
    printer = exact_printer({"printer.cfg": text} | {name: content.encode() for name, content in others.items()})
    assert printer.arm == tuple(Fraction(each, 1000) for each in arms)
    assert printer.readings[0] == tuple(Fraction(n, 1000 * s) for n, s in zip((800, 1600, 2400), steps, strict=True))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (written("[include printer.cfg]"), "includes itself"),
        (written("[a]\n  [include x.cfg]"), "indented"),
        (written("arm_length: 3"), "no configuration that Klipper reads"),
        (written(a="arm_length: -345"), "not positive"),
        (written(a="arm_length: 345." + 4500 * "0"), "not a decimal"),
        (b"\xff" + written(), "not UTF-8"),
    ],
)
def test_what_klipper_refuses_is_not_proven(text, words):
    with pytest.raises(NotProven, match=words):
        exact_printer({"printer.cfg": text})


def test_a_statement_names_what_its_sources_lack(made):
    """Whoever leaves out an included file must not make a statement about the whole configuration."""
    files, certificates, _ = made
    odd = {**files, "printer.cfg": b"[include /etc/*.cfg]\n[include lost.cfg]\n" + files["printer.cfg"]}
    verdict = check_heights(height_certificate(odd, certificates.upper.proof), odd)
    assert verdict
    assert verdict.statement[0].startswith("if what [include /etc/*.cfg], [include lost.cfg] reads")
    assert check_heights(certificates.upper, files).statement[0].startswith("some printer")


def test_files_that_a_forger_left_out_are_found(made, tmp_path, capsys):
    files, certificates, _ = made
    text, override = files["printer.cfg"] + b"\n[include more.cfg]\n", b"[stepper_a]\narm_length: 300\n"
    ours = {**files, "printer.cfg": text}
    forged = render_heights(height_certificate(ours, certificates.upper.proof))
    for place in (tmp_path / "own", tmp_path / "certificates" / "sources"):
        (place / "parts").mkdir(parents=True)
        for name, content in ours.items():
            (place / name).write_bytes(content)
    (tmp_path / "certificates" / "epsilon-upper.json").write_text(forged)
    own = tmp_path / "own" / "printer.cfg"
    commands = (["certificates", "--study", str(own)], ["certificates/epsilon-upper.json", str(own)])
    for code in (0, 1):
        for first, *rest in commands:
            assert run(["check", str(tmp_path / first), *rest]) == code
            assert ("more.cfg is included" in capsys.readouterr().out) == bool(code)
        own.with_name("more.cfg").write_bytes(override)


def test_many_points_are_beyond_a_limit(made, monkeypatch):
    _, certificates, _ = made
    monkeypatch.setattr("gough.checker.limits.WORK", 10**8)  # the limit itself would take 30 s
    more = "\n".join(f"height{i}: 0\nheight{i}_pos: 1,2,3" for i in range(1, 40))
    files = {"printer.cfg": written(saved=more)}
    with pytest.raises(BeyondLimit, match="more work"):
        check_heights(height_certificate(files, certificates.lower.proof), files)


def test_a_box_that_is_assumed_is_printed_rounded_inward(made):
    files, certificates, _ = made
    empty = certificates.lower.proof
    for line, low, high in zip(
        check_heights(certificates.lower, files).statement[1:], empty.lower, empty.upper, strict=True
    ):
        first, _, last = line.removesuffix(" m").split(" ≤ ")
        assert Fraction(low) <= Fraction(first) < Fraction(last) <= Fraction(high)


def test_malformed_files_are_refused(made, tmp_path):
    _, certificates, _ = made
    text, path = certificates.texts["epsilon-upper.json"], tmp_path / "forged.json"
    data = json.loads(text)
    for change in (
        {"version": 2}, {"kind": "HeightBound"}, {"more": 1}, {"epsilon": -1e-6}, {"epsilon": "1/3"}, {"radius": 0.0},
        {"sources": [["../printer.cfg", data["sources"][0][1]]]}, {"sources": [["\ud800.cfg", data["sources"][0][1]]]},
        {"sources": [["a\nb.cfg", data["sources"][0][1]]]}, {"sources": []}, {"points": [[0.0, 0.0]]},
        {"geometry": {"radius": 0.1}},
    ):  # fmt: skip
        body = json.dumps({k: v for k, v in (data | change).items() if k != "seal"}, indent=1).removesuffix("\n}")
        path.write_text(sealed(body))
        with pytest.raises(InputError):
            load_heights(path)
    path.write_text(text.replace("HeightWitness", "HeightWitnes"))
    with pytest.raises(InputError):
        load_heights(path)
    path.write_text(unsealed(text))
    with pytest.raises(InputError):
        load_heights(path)


def test_points_lie_where_the_checker_seeks_them(made, rng):
    """Towers anywhere in their box, heights anywhere within ε: the point that has these is in its span."""
    files, certificates, _ = made
    printer, empty = exact_printer(files), certificates.lower.proof
    low, high = ([Fraction(x) for x in side] for side in (empty.lower, empty.upper))
    arm = np.array([float(x) for x in printer.arm])
    for k in range(8):
        spans = point_spans(printer, k, Fraction(empty.epsilon), low, high)
        reading = np.array([float(x) for x in printer.readings[k]])
        for _ in range(30):
            T = rng.uniform(empty.lower, empty.upper).reshape(3, 3) - np.outer(reading, [0, 0, 1])
            x, point = T[:, :2], np.array([0.0, 0.0, 0.0])
            for _ in range(30):  # Newton on the three spheres
                d = point - T
                point = point - np.linalg.solve(2 * d, (d**2).sum(axis=1) - arm**2)
            z = float(printer.heights[k]) + empty.epsilon * rng.uniform(-1, 1)
            T[:, 2] += z - point[2]  # the same towers, carriages moved so that the height is met
            inside = np.all(T + np.outer(reading, [0, 0, 1]) >= np.reshape(empty.lower, (3, 3))) and np.all(
                T + np.outer(reading, [0, 0, 1]) <= np.reshape(empty.upper, (3, 3))
            )
            if inside:
                assert spans[0].low <= Fraction(point[0]) <= spans[0].high
                assert spans[1].low <= Fraction(point[1]) <= spans[1].high
            assert x.shape == (3, 2)


def test_exact_rows_are_those_of_interval_arithmetic(made, rng):
    """Two derivations: this one in whole numbers, and the method's in outward rounded doubles."""
    files, certificates, folder = made
    calibrated = calibrate_printer(read_klipper(folder / "printer.cfg"))
    problem = ProbedHeights(calibrated.probes, calibrated.parameters, 1e-3, certificates.lower.proof.epsilon)
    box = problem.unknowns.bounds
    center, radius = box.center, np.abs(rng.normal(size=len(box))) * box.width
    relaxed = problem.relaxation(center, radius)
    equations = HeightEquations(exact_printer(files))
    rows = height_space(equations.printer, 1e-5, box.lower[:9].tolist(), box.upper[:9].tolist()).rows(
        center.tolist(), radius.tolist(), None
    )
    for k in (0, 4, 20, 24, 25, 26, 27, 30, 53):
        row, _ = rows._row(k)
        A = np.array(row.coefficients, dtype=float) * 2.0**row.exponent
        assert pytest.approx(A, abs=1e-14) == relaxed.A[k]
        assert row.side * 2.0**row.exponent == pytest.approx(relaxed.b[k], abs=1e-14)


def test_configurations_are_read_exactly():
    printer = exact_printer(configuration())
    assert printer.heights[7] == Fraction(1, 10_000)
    assert printer.arm == (Fraction(345, 1000),) * 3
    assert float(printer.readings[0][0]) == pytest.approx(
        DELTA.inverse(DELTA.nominal, [[0.09, 0.0, 0.0]])[0, 0], abs=1e-8
    )
    odd = configuration()
    odd["printer.cfg"] = odd["printer.cfg"].replace(b"345", b"3_45")
    with pytest.raises(NotProven, match="not a decimal"):
        exact_printer(odd)
    with pytest.raises(NotProven, match="no configuration"):
        exact_printer({})


def test_commands(made, tmp_path, capsys):
    files, certificates, folder = made
    place = tmp_path / "certificates"
    (place / "sources" / "parts").mkdir(parents=True)
    for name, content in files.items():
        (place / "sources" / name).write_bytes(content)
    for name, text in certificates.texts.items():
        (place / name).write_text(text)
    assert run(["check", str(tmp_path), "--study", str(folder / "printer.cfg")]) == 0
    assert "2 of 2 certificates hold" in capsys.readouterr().out
    assert run(["check", str(place / "epsilon-upper.json"), str(folder / "printer.cfg")]) == 0
    assert run(["check", str(place / "epsilon-lower.json")]) == 0
    capsys.readouterr()
    (place / "sources" / "extra.cfg").write_text("")
    assert run(["check", str(place)]) == 1
    assert "extra.cfg is not named" in capsys.readouterr().out
    (place / "sources" / "extra.cfg").unlink()
    (place / "epsilon-lower.json").unlink()
    assert run(["check", str(place)]) == 0
    assert "NOT CERTIFIED  a lower end of ε above 0" in capsys.readouterr().out
    (place / "sources" / "printer.cfg").write_bytes(files["printer.cfg"] + b"\n")
    assert run(["check", str(place)]) == 1
    assert run(["check", str(place / "epsilon-upper.json"), str(tmp_path / "none.cfg")]) == 2
    assert run(["check", "--verified", str(place)]) == 2
    (place / "epsilon-upper.json").write_text(certificates.texts["epsilon-upper.json"].replace("1e-12", "1e-11"))
    assert run(["check", str(place / "epsilon-upper.json")]) == 2  # cannot be read
    assert run(["check", str(place)]) == 1  # not as it was written


def test_types_are_those_of_the_format():
    with pytest.raises(InputError, match="at least one box"):
        HeightEmpty(1e-5, (0.0,) * 9, (1.0,) * 9, ())
    with pytest.raises(InputError, match="6 parameters"):
        HeightWitness(1e-5, (0.0,), (), 1e-9)
