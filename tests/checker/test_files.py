"""Certificates on disk: exact, sealed, and refused clearly; no edit that claims more survives the check."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gough import Bounded, InputError, LinearProblem, Unknowns
from gough.checker import Bound, Certificate, Empty, Step, Witness, check, load, save
from tests.checker.documents import accepted, at, changed, document, leaves, write

ZERO = "sha256:" + 64 * "0"
HUGE = Fraction(3**5000, 7**4000)


@pytest.mark.parametrize(
    "proof",
    [
        Witness({"a": 0.1, "β": Fraction(1, 10), "c": -5e-324, "d": 1.7976931348623157e308, "e": 0, "f": 10**400}),
        Bound([Step({"a": 1}, 1e300, {0: Fraction(-1, 3), 10**7: 0.1}), Step({"a": -1, "b": HUGE}, -HUGE)]),
        Empty([Step({}, Fraction(1, 10**500), {3: 2.0})]),
    ],
    ids=lambda proof: type(proof).__name__,
)
def test_every_number_returns_exactly(proof, tmp_path):
    certificate = Certificate(ZERO, proof)
    save(certificate, tmp_path / "c.json")
    assert load(tmp_path / "c.json") == certificate
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]


def test_nothing_is_overwritten_unasked(tmp_path):
    first, second = Certificate(ZERO, Witness({"a": 1})), Certificate(ZERO, Witness({"a": 2}))
    save(first, tmp_path / "c.json")
    with pytest.raises(InputError, match="exists"):
        save(second, tmp_path / "c.json")
    assert load(tmp_path / "c.json") == first
    save(second, tmp_path / "c.json", overwrite=True)
    assert load(tmp_path / "c.json") == second
    with pytest.raises(InputError, match="no folder"):
        save(first, tmp_path / "nowhere" / "c.json")


def test_every_edited_byte_is_noticed(tmp_path, square, thirds):
    direction, weights, best = thirds
    path = tmp_path / "c.json"
    save(Certificate.of(square, Bound([Step(direction, best, weights)])), path)
    whole = path.read_bytes()
    for place in range(len(whole)):
        for flip in (1, 2, 0x20, 0x80):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :])
            with pytest.raises(InputError):
                load(path)


def test_every_truncation_is_noticed(tmp_path):
    path = tmp_path / "c.json"
    save(Certificate(ZERO, Witness({"a": 1})), path)
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError, match=r"c\.json"):
            load(path)


def test_a_broken_seal_says_so(tmp_path):
    path = tmp_path / "c.json"
    save(Certificate(ZERO, Witness({"a": 1})), path)
    path.write_text(path.read_text().replace('"a": 1.0', '"a": 1.00'))
    with pytest.raises(InputError, match="changed after it was saved"):
        load(path)


BOUND = Certificate(ZERO, Bound([Step({"a": 1}, 1.5, {2: 0.5})]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 5}, "newer gough"),
        ({"version": 3}, "know no kind Bound"),
        ({"version": "1"}, "version"),
        ({"version": True}, "version"),
        ({"kind": "Bounds"}, "did you mean 'Bound'"),
        ({"kind": []}, "unknown kind"),
        ({"gough": "estimate"}, "not a certificate"),
        ({"stepps": []}, "did you mean 'steps'"),
        ({"problem": "sha256:12"}, "digest"),
        ({"steps": []}, "at least one step"),
        ({"steps": 3}, "steps must be a list"),
        ({"steps": [3]}, "step 1 must be an object"),
        ({"steps": [{"direction": {"a": 1}, "value": 1}]}, "lacks 'weights'"),
        ({"steps": [{"direction": {"a": 1}, "values": 1, "weights": []}]}, "did you mean 'value'"),
        ({"steps": [{"direction": [], "value": 1, "weights": []}]}, "direction must be an object"),
        ({"steps": [{"direction": {"a": True}, "value": 1, "weights": []}]}, "'a' must be a number"),
        ({"steps": [{"direction": {"a": "1/0"}, "value": 1, "weights": []}]}, "denominator 0"),
        ({"steps": [{"direction": {"a": "012/7"}, "value": 1, "weights": []}]}, "cannot|can be read"),
        ({"steps": [{"direction": {"a": 1}, "value": "0.5", "weights": []}]}, "value must be a number"),
        ({"steps": [{"direction": {"a": 1}, "value": 1, "weights": {"2": 1}}]}, "pairs"),
        ({"steps": [{"direction": {"a": 1}, "value": 1, "weights": [[-1, 1]]}]}, "counted from 0"),
        ({"steps": [{"direction": {"a": 1}, "value": 1, "weights": [[1.0, 1]]}]}, "counted from 0"),
        ({"steps": [{"direction": {"a": 1}, "value": 1, "weights": [[1, 1], [1, 2]]}]}, "more than once"),
        ({"steps": [{"direction": {"a": 1}, "value": 1, "weights": [[1, None]]}]}, "weight of row 1"),
        ({"steps": [{"direction": {"a": 1}, "value": float("nan"), "weights": []}]}, "NaN"),
        ({"steps": [{"direction": {"a": 1}, "value": float("-inf"), "weights": []}]}, "Infinity"),
    ],
)
def test_malformed_content_is_refused_in_words(change, message, tmp_path):
    path = write(tmp_path / "c.json", {**document(BOUND), **change})
    with pytest.raises(InputError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a complete JSON"),
        ("[]", "not a certificate"),
        ("[" * 200_000, "nested|complete"),
        ('{"gough": "certificate", "gough": "certificate"}', "more than once"),
        ('{"gough": 1e400}', "larger than any double"),
        ('{"gough": 1e-400}', "smaller than any double"),
        ('{"gough": ' + "9" * 5000 + "}", "not a certificate"),
    ],
)
def test_text_that_is_no_certificate(text, message, tmp_path):
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        load(tmp_path / "missing.json")
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "b.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not text"):
        load(tmp_path / "b.json")


# tampering with the seal put right: only exact arithmetic stands in the way


def mutations(value):
    if isinstance(value, str):
        top, bottom = map(int, value.split("/"))
        return [f"{top + 1}/{bottom}", f"{top - 1}/{bottom}", f"{top}/{bottom + 1}", f"-{top}/{bottom}"]
    if isinstance(value, int):
        return [value + 1, value - 1] if value else [value + 1]
    return [float(np.nextafter(value, np.inf)), float(np.nextafter(value, -np.inf)), -value]


def tampered(certificate):
    """Each number changed in turn: where, the old one, the new one, the document."""
    original = document(certificate)
    for leaf in leaves(original):
        old = at(original, leaf)
        for new in mutations(old):
            yield leaf, old, new, changed(original, leaf, new)


def require_no_survivor(path, certificate, problem, least=0):
    """A smaller value is a weaker statement, which the same evidence proves as well; nothing else may hold."""
    assert check(certificate, problem)
    tried = 0
    for leaf, old, new, data in tampered(certificate):
        weaker = leaf[-1] == "value" and least < Fraction(new) <= Fraction(old)
        assert (accepted(path, data, problem) is not None) == weaker, (leaf, old, new)
        tried += not weaker
    assert tried >= 6


def test_no_changed_number_of_a_tight_bound_survives(tmp_path, square):
    steps = [
        Step({"a": 1, "b": 2}, 3.0, {0: 1.5, 1: -0.5}),
        Step({"a": 1}, Fraction(19, 12), {2: Fraction(1, 3)}),
    ]
    require_no_survivor(tmp_path / "c.json", Certificate.of(square, Bound(steps)), square, least=-(10**9))


def test_no_changed_number_of_a_tight_contradiction_survives(tmp_path, square):
    # rows 0 and 1 say 3a ≤ 9/2, against row 2: 3a ≥ 19/4
    problem = replace(square, y=np.array([2.0, 0.0, 5.0]))
    empty = Certificate.of(problem, Empty([Step({}, 0.25, {0: -1.5, 1: -1.5, 2: 1.0})]))
    require_no_survivor(tmp_path / "c.json", empty, problem)


def test_no_changed_number_of_a_cornered_witness_survives(tmp_path):
    problem = LinearProblem([[1.0, 1.0], [1.0, -3.0]], [0.5, 0.25], Unknowns(["a", "b"]), Bounded(0.0))
    witness = Certificate.of(problem, Witness({"a": 0.4375, "b": 0.0625}))
    require_no_survivor(tmp_path / "c.json", witness, problem)


def test_the_digits_of_a_fraction_and_of_a_double_differ(tmp_path):
    """0.1 in the file is the double; "1/10" is the rational."""
    data = document(Certificate(ZERO, Witness({"a": 1})))
    read = [load(write(tmp_path / "c.json", {**data, "theta": {"a": x}})).proof.theta[0][1] for x in (0.1, "1/10")]
    assert read == [Fraction(0.1), Fraction(1, 10)]
