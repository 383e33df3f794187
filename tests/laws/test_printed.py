"""Every printed set contains the returned one, as read back in exact fractions, and is hardly wider."""

import ast
import re
from dataclasses import MISSING, fields
from fractions import Fraction
from html import unescape
from io import StringIO
from math import inf, nextafter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

import gough
from gough import (
    AssumptionError,
    Box,
    Claim,
    Ellipsoid,
    Estimate,
    InputError,
    Intersection,
    Status,
    Unknowns,
    estimate,
)
from gough.checker import Bound, Inside, certificate_of, check
from gough.checker.raw import _decimal as decimal
from gough.checker.raw import _near as near
from gough.checker.raw import _one_for_all as one_for_all
from gough.checker.raw_numbers import Span
from gough.checker.steps import steps_of
from gough.checker.words import bound, tolerance_condition
from gough.closure.findings import (
    Bracket,
    Certification,
    ChainFinding,
    Finding,
    JointFinding,
    ParameterRange,
    WithoutPoses,
)
from gough.core.outward import DEGREES
from gough.core.tables import Table, html_table
from gough.core.text import signs
from gough.dynamics import gain_from_static_tests, identify
from gough.dynamics.example import random_motion
from gough.dynamics.tables import parameter_table
from gough.estimates import Stats
from gough.methods import MinimalBound, minimal_bound, sweep
from gough.papers.reproduction import set_text
from gough.region import Interval
from gough.report.base.curves import Curves
from gough.report.base.intervals import interval_figure
from gough.report.base.terminal import print_table
from gough.report.calibration.tables import certified_table
from gough.report.certification import box_tables
from gough.report.identification.tables import bound_table
from gough.report.poses.words import excess_percent
from tests.laws.problems import SET_METHODS, bounded_problem

SOURCE = Path(gough.__file__).parent
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
MILLI = Fraction(1000)


def number(text):
    """A printed number: exact, or an infinite double."""
    text = text.strip().replace("−", "-")
    return {"∞": inf, "-∞": -inf}.get(text) or Fraction(text)


def read(text):
    """Ends of "a … b", "[a, b]", "c ± r", "≤ b", "≥ a" or "unbounded"."""
    text = text.strip()
    if text == "unbounded":
        return -inf, inf
    if text.startswith("≤"):
        return -inf, number(text[1:])
    if text.startswith("≥"):
        return number(text[1:]), inf
    if "±" in text:
        center, radius = map(number, text.split("±"))
        return center - radius, center + radius
    lower, upper = map(number, re.split("…|, ", text.strip("[]")))
    return lower, upper


def isinf(x):
    """Of doubles and fractions, also such as are too large for a double."""
    return not isinstance(x, Fraction) and abs(x) == inf


def exact(x):
    return float(x) if isinf(x) else Fraction(float(x))


def require_outward(printed, lower, upper, *, digits=15, times=1):
    """The printed interval holds [lower, upper], and exceeds it by 2 % of its width or two units of the last digit."""
    a, b = printed
    lower, upper = (end if isinf(end) else Fraction(end) * times for end in (lower, upper))
    assert a <= lower
    assert upper <= b
    if isinf(lower) or isinf(upper):
        assert (a == -inf, b == inf) == (lower == -inf, upper == inf)
        assert isinf(a) or lower - a <= abs(lower) / 1000
        assert isinf(b) or b - upper <= abs(upper) / 1000
        return
    room = max((upper - lower) / 50, 2 * max(abs(lower), abs(upper)) / 10**digits)
    assert (lower - a) + (b - upper) <= room


def require_at_most(text, value, *, digits):
    """The printed number is not below the value, and exceeds it by a unit of its last digit at most."""
    assert value <= number(text) <= value + abs(value) / 10 ** (digits - 1)


def cells(row):
    return [unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]


def html_rows(table):
    """Rows that have cells, without heads."""
    return [found for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL) if (found := cells(row))]


def printed_table(answer):
    for line in str(answer).splitlines()[3 : 3 + len(answer.unknowns)]:
        *_, value, plus, lower, upper = line.split()
        yield f"{value} ± {plus}"
        yield f"{lower} … {upper}"


def notebook(answer):
    for *_, value, plus, lower, upper in html_rows(answer._repr_html_()):
        yield f"{value} ± {plus}"
        yield f"{lower} … {upper}"


def one_interval(answer):
    return [str(answer.interval(name)) for name in answer.unknowns.names]


def scaled(unit):
    """The factor of a unit such as 10⁻³ m."""
    power = re.match(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", unit)
    return Fraction(10) ** int(power[1].translate(RAISED)) if power else Fraction(1)


def identification(answer):
    for _, unit, text in parameter_table(answer.unknowns, {"set": answer}).texts:
        yield text, scaled(unit)


def page(answer):
    rows = html_table(parameter_table(answer.unknowns, {"set": answer}))
    units = [
        re.search("<small>(.*?)</small>|$", row)[1] or "" for row in re.findall(r"<tbody>.*", rows)[0].split("</tr>")
    ]
    for unit, row in zip(units, html_rows(rows), strict=False):
        yield row[0].partition("<small")[0], scaled(unit)


def hover(answer):
    for item in interval_figure({"set": answer}).live(Curves())["items"]:
        lower, upper, _ = item["rows"][0]["printed"]
        yield f"{lower} … {upper}"


def terminal(answer):
    console = Console(width=400, file=StringIO())
    print_table(console, parameter_table(answer.unknowns, {"set": answer}))
    for line in console.file.getvalue().splitlines()[2:]:
        name, rest = line.split(maxsplit=1)
        unit = re.match(r"(10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+\s+)?", rest)
        assert name in answer.unknowns.names
        yield rest[unit.end() :], scaled(unit[0])


RENDERERS = {
    "str": printed_table,
    "notebook": notebook,
    "interval(name)": one_interval,
    "identification table": identification,
    "page": page,
    "hover": hover,
    "terminal": terminal,
}
"""What prints an estimate: texts for each unknown, in order, with the factor of the unit where it is not 1."""


def require_all_outward(answer, renderers=RENDERERS):
    """Each renderer prints each unknown outward; JSON and repr are exact."""
    hull = answer.region.hull()
    for name, render in renderers.items():
        shown = list(render(answer))
        per = len(shown) // len(hull)
        assert per * len(hull) == len(shown) > 0, name
        for i, one in enumerate(shown):
            text, factor = one if isinstance(one, tuple) else (one, Fraction(1))
            ends = [end if isinf(end) else end * factor for end in read(text)]
            lower, upper = (exact(side[i // per]) for side in (hull.lower, hull.upper))
            if text.strip() == "unbounded":
                assert isinf(lower) or isinf(upper)
            elif "±" not in text:
                require_outward(ends, lower, upper)
            elif isinf(lower) or isinf(upper):
                assert ends == [-inf, inf]
            else:  # around the value, which need not be in the middle
                assert ends[0] <= lower <= upper <= ends[1], (name, text)
                value = exact(answer.value[i // per])
                reach = max(upper - value, value - lower)
                middle, radius = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
                room = max((upper - lower) / 50, 2 * max(abs(lower), abs(upper)) / 10**15)
                assert radius <= reach + room, (name, text)
                assert abs(middle - value) <= room, (name, text)
    assert Estimate.from_json(answer.to_json()) == answer
    known = {"Box": Box, "Ellipsoid": Ellipsoid, "Intersection": Intersection, "inf": inf}
    assert eval(repr(answer.region), known) == answer.region


@pytest.mark.parametrize("method", SET_METHODS, ids=repr)
def test_answers_of_every_method_are_printed_outward(method, rng):
    tried = 0
    for _ in range(8):
        problem, _ = bounded_problem(rng)
        try:
            answer = estimate(problem, method, strict=False)
        except InputError:  # ellipsoids of units so far apart have no squares
            continue
        assert answer.claim >= Claim.ENCLOSURE
        if not answer.region.hull().is_empty:
            require_all_outward(answer)
            tried += 1
    assert tried > 3


@pytest.mark.parametrize("method", [m for m in SET_METHODS if not repr(m).startswith("Fixpoint")], ids=repr)
def test_statements_of_certificates_are_printed_outward(method, rng):
    """Bounds stay true as read from the statement, and lose nothing but what 17 digits lose."""
    certified = 0
    for _ in range(4):
        problem, _ = bounded_problem(rng, p=2, n_rows=8, spread=0)
        try:
            certificate = certificate_of(problem, estimate(problem, method, strict=False))
        except AssumptionError:
            continue
        verdict = check(certificate, problem)
        assert verdict.holds
        if isinstance(certificate.proof, Bound | Inside):
            certified += 1
            _require_statement(verdict.statement, certificate.proof)
    assert certified > 0 or "radius" in repr(method) or "RelaxedHull" in repr(method)


def _require_statement(lines, proof):
    said = dict(re.findall(r"^(\w+ [≥≤=]) (.*)$", "\n".join(lines), re.MULTILINE))
    strongest = {}
    for step in steps_of(proof.steps):
        strongest[step.direction] = max(step.value, strongest.get(step.direction, step.value))
    for direction, value in strongest.items():
        ((name, c),) = [(name, c) for name, c in direction if c]
        printed = Fraction(said[f"{name} {'≥' if c > 0 else '≤'}"]) * c
        assert abs(c) == 1
        assert printed <= value <= printed + abs(value) / 10**16
    if isinstance(proof, Inside):
        for (name, center), row in zip(proof.ellipsoid.center, proof.ellipsoid.shape, strict=True):
            lower, upper = read(said[f"{name} ="])
            reach = min(center - lower, upper - center)
            assert reach >= 0
            assert row[-1] <= reach**2 <= row[-1] * Fraction(103, 100) ** 2


ENDS = st.one_of(st.floats(allow_nan=False), st.floats(-1e3, 1e3), st.sampled_from([0.0, -0.0, 5e-324, 0.1, 1e308]))


@st.composite
def hostile_boxes(draw):
    sides = [sorted((draw(ENDS), draw(ENDS))) for _ in range(draw(st.integers(1, 3)))]
    lower, upper = (np.array(side) for side in zip(*sides, strict=True))
    return Box(np.where(lower == inf, -inf, lower), np.where(upper == -inf, inf, upper))


def made(region, claim=Claim.PROOF):
    names = [f"p_{i}" for i in range(len(region.center))]
    return Estimate(region, claim, Status.OK, Unknowns(names), "Made()", Stats(1))


@settings(max_examples=60)
@given(hostile_boxes())
@example(Box([1.0, 5e-324], [1.0, 5e-324]))
@example(Box([-1.7976931348623157e308], [1.7976931348623157e308]))
@example(Box([0.1], [nextafter(0.1, 1)]))
def test_any_box_is_printed_outward(box):
    drawn = {name: render for name, render in RENDERERS.items() if name != "hover"}  # drawing takes long
    with np.errstate(all="ignore"):
        require_all_outward(made(box), drawn)


@settings(max_examples=30)
@given(st.floats(-1e9, 1e9), st.floats(1e-9, 1e9), st.floats(-1, 1), st.floats(0, 1))
def test_any_ellipsoid_and_cut_ellipsoid_are_printed_outward(center, reach, shift, half):
    drawn = {name: render for name, render in RENDERERS.items() if name != "hover"}
    ellipsoid = Ellipsoid([center, 0.1], [[reach**2, 0], [0, 1e-4]])
    require_all_outward(made(ellipsoid), drawn)
    middle = center + shift * reach
    lens = Intersection(Box([middle - half * reach, -inf], [middle + half * reach, 0.105]), ellipsoid)
    if not lens.hull().is_empty:
        require_all_outward(made(lens, Claim.ENCLOSURE), drawn)


def test_what_is_empty_has_no_ends():
    answer = made(Box.empty(1))
    assert str(answer).splitlines()[3].split() == ["p_0", "—", "—", "—", "—"]
    assert str(answer.interval("p_0")) == "empty"


LENGTHS = st.floats(1e-9, 1e3)
BRACKETS = st.tuples(st.one_of(LENGTHS, LENGTHS.map(lambda x: -x), st.just(-inf)), LENGTHS).map(sorted)


@given(BRACKETS)
@example([0.01235, nextafter(0.01235, 1)])
def test_brackets_of_epsilon(ends):
    lower, upper = ends
    bracket = Bracket(lower, upper, 0.0)
    require_outward(read(bracket.words), lower, upper, times=MILLI)
    box, zeros = Box([0.0, 0.0], [0.1, upper]), np.zeros(2)
    leg = ChainFinding(1, Finding.OPEN, ("a", "b"), zeros, box, 1, 0.0, bracket, None, zeros, (), None, ())
    _, _, widths, epsilon, *_ = certified_table([leg]).texts[0]
    require_outward(read(epsilon), lower, upper, times=MILLI)
    for text, width in zip(widths.split(" … "), sorted((0.1, upper)), strict=True):
        require_at_most(text, Fraction(width) * MILLI, digits=2)
    assert f"ε {bracket.words} mm" in WithoutPoses(1, 1, (), (3,), bracket).words()
    if lower > -inf:
        require_at_most(bracket.width, (Fraction(upper) - Fraction(lower)) * 10**6, digits=3)


@given(LENGTHS)
def test_where_nothing_more_is_needed_the_bracket_says_so(size):
    assert Bracket(-inf, -size, 0.0).words == Bracket(-2 * size, -size, 0.0).words == "≤ 0"


@given(st.floats(-1.0, 1.0).filter(bool))
@example(0.01235)
@example(nextafter(0.01235, 1))
@example(-0.01235)
def test_conditions_of_leg_certificates(more):
    """A smaller tolerance for "no leg fits", a larger one for "some leg fits": both are weaker than what is proven."""
    for exhibits in (True, False):
        (words,) = tolerance_condition(more, "mm", exhibits=exhibits, least=1.0)
        size, which = re.search(r"off by (\S+) mm (more|less) than", words).groups()
        said = number(size) if which == "more" else -number(size)
        tolerance = Fraction(more) * 1000
        assert (said >= tolerance) if exhibits else (said <= tolerance)
        assert abs(said - tolerance) <= abs(tolerance) / 1000


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(Fraction), st.fractions()))
def test_bounds_in_statements(value):
    below, above = (Fraction(bound(value, upper=upper)) for upper in (False, True))
    assert below <= value <= above
    assert above - below <= abs(value) / 10**16


@given(st.floats(1e-300, 1e300), st.floats(1, 1 + 1e-3))
def test_the_smallest_factor(lower, more):
    found = MinimalBound(lower, lower * more, np.zeros(1), (0,), ())
    (text,) = re.findall("lies in (.*?);", str(found))
    require_outward(read(text), found.lower, found.upper, digits=5)


def test_the_smallest_factor_of_a_problem(rng):
    tried = 0
    while tried < 5:
        found = minimal_bound(bounded_problem(rng, spread=0)[0])
        if 0 < found.lower <= found.upper < inf:
            (text,) = re.findall("lies in (.*?);", str(found))
            require_outward(read(text), found.lower, found.upper, digits=5)
            tried += 1


def test_a_sweep(rng):
    for _ in range(10):
        found = sweep(bounded_problem(rng, spread=0)[0], [1.0, 1.7, 3.1])
        heads, _, _, *lines = str(found).splitlines()
        assert [float(x) for x in heads.split()[1:]] == found.factors.tolist()
        for i, line in enumerate(lines[: len(found.names)]):
            for k, text in enumerate(line.split()[-3:]):
                lower, upper = found.lower[k, i], found.upper[k, i]
                if text == "—":
                    assert lower > upper
                elif text == "∞":
                    assert isinf(upper - lower)
                else:
                    require_at_most(text, Fraction(upper) - Fraction(lower), digits=3)


@pytest.mark.parametrize("given_bound", [None, 0.1, 0.06])
def test_sentences_and_tables_about_the_smallest_bound(given_bound):
    found = identify(*random_motion(1), methods=["hull"], bound=given_bound, compare=True)
    minimal = found.minimal
    lower, upper = ([Fraction(f) * Fraction(s) for s in found.scale] for f in (minimal.lower, minimal.upper))
    words = " ".join(found.on_bound)
    said = [number(text) for text in re.search(r"below ε\* = (.*?) N·m", words)[1].split(", ")]
    for one, least in zip(said if len(said) > 1 else said * len(lower), lower, strict=True):
        assert least * Fraction(97, 100) < one <= least
    if given_bound is not None:
        (text,) = re.findall(r"given error bound of (.*?) N·m", words)
        assert text == str(given_bound)
    for i, (*_, epsilon, used, _) in enumerate(bound_table(found).texts):
        require_outward(read(epsilon), lower[i], upper[i], digits=3)
        if given_bound is not None:
            assert used == str(given_bound)
            continue
        assert Fraction(found.bound[i]) * Fraction(999, 1000) <= number(used) <= Fraction(found.bound[i])
    nested = found.adequacy.table()
    assert "ε*" not in f"{nested}{html_table(nested)}"  # that is another one
    *lines, general = str(nested).splitlines()[2:]
    assert general.startswith("with general terms")
    for fit, line in zip(found.adequacy.fits, lines, strict=True):
        require_at_most(line.split()[-1], Fraction(fit.smallest_bound.max()), digits=3)
        assert line.split()[-1] in html_table(nested)


def test_a_gain_that_is_certain():
    tests = gain_from_static_tests([-2, -1, 0, 1, 2], [-8.1, -3.9, 0.1, 4.1, 7.9], lever=0.25, resolution=0.2)
    (text,) = re.findall(r"it lies in (\[.*?\]) for certain", tests.verdict)
    box = tests.hull.region.hull()
    require_outward(read(text), float(box.lower[0]), float(box.upper[0]))


@settings(max_examples=30)
@given(st.tuples(LENGTHS, LENGTHS).map(sorted), BRACKETS)
def test_pages_of_certifications(sides, bracket):
    low, high = sides
    epsilon, box, zeros = Bracket(*bracket, 0.0), Box([low, -high], [high, low]), np.zeros(2)
    own = (ParameterRange("gain", "m", low, high),)
    leg = ChainFinding(1, Finding.OPEN, ("a", "b"), zeros, box, 1, 0.0, epsilon, low, zeros, (), None, (), own)
    joint = JointFinding(Finding.OPEN, epsilon, box, (), (3,), high)
    blank = dict.fromkeys((each.name for each in fields(Certification) if each.default is MISSING), ())
    found = Certification(**blank | {"poses": 1, "chains": (leg,), "joint": joint})
    a, b, gain, *together = html_rows(
        "".join(html_table(block) for block in box_tables(found) if isinstance(block, Table))
    )
    for x, y in ((a, b), together):
        require_outward(tuple(map(number, x[-3:-1])), low, high, times=MILLI)
        require_outward(tuple(map(number, y[-3:-1])), -high, low, times=MILLI)
        assert number(x[-1]) == number(x[-2]) - number(x[-3]) >= (Fraction(high) - Fraction(low)) * MILLI
    assert gain[0] == "1"  # the chain
    require_outward(tuple(map(number, gain[1:3])), low, high, times=MILLI)
    assert signs(epsilon.words) in html_table(found.table())
    assert epsilon.words in str(found)
    require_at_most(leg.needed_by_least_squares, Fraction(low) * MILLI, digits=3)
    require_at_most(re.search("off by (.*?) mm more", found.verdicts[-1])[1], Fraction(high) * MILLI, digits=4)


@given(st.floats(1e-12, 1e6), st.floats(1e-12, 1e6))
def test_single_numbers_and_intervals(one, other):
    lower, upper = sorted((one, other))
    require_outward(read(str(Interval(lower, upper))), lower, upper)
    require_outward(read(set_text(lower, upper)), lower, upper)
    require_at_most(excess_percent(one), max(Fraction(one), Fraction(1, 1000)) * 100, digits=2)


@given(st.fractions(), st.fractions(), st.sampled_from(["mm", "deg"]))
def test_premises_of_certificates(one, other, unit):
    """Half-widths and centers without rounding, or as intervals that hold them."""
    low, high = sorted((one, other))
    small, large = (
        read(text.strip("()")) if "…" in text else (Fraction(text),) * 2 for text in map(decimal, (low, high))
    )
    assert small[0] <= low <= small[1]
    assert large[0] <= high <= large[1]
    sign, text = near(Span(low, high)).split()
    if sign == "=":
        assert Fraction(text) == 1000 * low == 1000 * high
    else:
        assert abs(Fraction(text) - 500 * (low + high)) <= abs(500 * (low + high)) / 10**8
    halves = [Span(abs(one), abs(one)), Span(abs(other), abs(other))]
    ends = [abs(one), abs(other)]
    shown = one_for_all(halves, DEGREES if unit == "deg" else 1000, unit).removesuffix(f" {unit}").strip("()")
    first, last = read(shown) if "…" in shown else (Fraction(shown),) * 2
    factors = (1000, 1000) if unit == "mm" else (DEGREES.lower, DEGREES.upper)
    assert first <= min(ends) * factors[0]
    assert max(ends) * factors[1] <= last


EXAMINED = {
    "estimates.py": "str, notebook",
    "region.py": "interval(name), test_single_numbers_and_intervals",
    "checker/raw.py": "test_premises_of_certificates",
    "checker/words.py": "test_statements_of_certificates…, test_conditions…, test_bounds_in_statements",
    "dynamics/identify.py": "a speed in a refusal, which is no set",
    "dynamics/adequacy.py": "test_sentences_and_tables…",
    "dynamics/bodies/certified.py": "dynamics/test_bodies.py::test_printed_intervals_hold_the_proven_ones",
    "dynamics/bodies/possible.py": "dynamics/test_bodies.py::test_printed_margins_are_not_above_the_proven_ones",
    "dynamics/gain.py": "test_a_gain…",
    "dynamics/results.py": "test_sentences_and_tables…",
    "dynamics/tables.py": "identification table, page, terminal",
    "dynamics/text.py": "test_sentences_and_tables…",
    "methods/bounded/minimal_bound.py": "test_the_smallest_factor",
    "methods/bounded/sweep.py": "test_a_sweep",
    "report/calibration/page.py": "at_most of ChainFinding.epsilon, as in test_brackets…",
    "report/calibration/tables.py": "test_brackets_of_epsilon",
    "report/certification.py": "test_pages_of_certifications",
    "closure/findings.py": "test_brackets_of_epsilon, test_pages_of_certifications",
    "report/identification/efforts.py": "ε* by at_most; bands in report/test_charts.py",
    "report/base/intervals.py": "hover",
    "report/poses/words.py": "test_single_numbers_and_intervals",
    "report/identification/page.py": "numbers of bound_table and on_bound",
    "report/identification/tables.py": "test_sentences_and_tables…",
    "watch/watcher.py": "watch/test_events.py::test_a_window_of_a_contradiction…; sets on the page by outward.between",
    "papers/reproduction.py": "test_single_numbers_and_intervals",
    "control/enclosure.py": "control/test_control.py, test_statements_about_drives…",
    "control/study.py": "control/test_control.py, test_statements_about_drives…",
    "report/control.py": "control/test_control.py, test_printed_numbers_for_drives…",
}
"""Modules that print by `core.outward`, and what reads their text here."""

PAPERS = "papers/"
"""Tables of a paper hold single texts of `core.outward`, `set_text` and `bracket_words`."""

STATED = "limits that a user stated"
TO_NEAREST = {
    "data/steps.py": (r"self\.(lower|upper)", STATED),
    "dynamics/bodies/certified.py": (r"\(upper - lower\) / \(other\.upper - other\.lower\)", "a ratio of widths"),
    "designs/excitation/problem.py": (r"channel\.(lower|upper)", STATED),
    "designs/excitation/result.py": (r"one\.(lower|upper)", STATED),
    "closure/findings.py": (r"chain\.seconds \+ chain\.epsilon\.seconds", "processor time"),
    "robots/mechanism/examination.py": (r"r\.(lower|upper)", "a range found by continuation, nothing is claimed"),
    "robots/mechanism/parts.py": (r"self\.(lower|upper)", STATED),
    "papers/h4/interval.py": (r"change\['hull'\]", "a median of ratios of widths"),
    "studies/identification.py": (r"(lower|upper)\[i\]", STATED),
}
"""What is formatted to nearest though its name is one of `ENDS_OF_SETS`, and why it may be."""

ENDS_OF_SETS = re.compile(r"\b(lower|upper|hull|bracket|epsilon|smallest_bound|proved_bound|minimal)\b")


def modules(*words):
    """Name and syntax tree of the modules in which one of these words occurs."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            yield path.relative_to(SOURCE).as_posix(), ast.parse(text)


def imports_outward(node):
    if not isinstance(node, ast.ImportFrom):
        return False
    names = {alias.name for alias in node.names}
    return node.module == "gough.core.outward" or (node.module == "gough.core" and "outward" in names)


def test_every_module_that_prints_sets_is_examined():
    using = {name for name, tree in modules("outward") if any(map(imports_outward, ast.walk(tree)))}
    assert {name for name in using if name not in EXAMINED and not name.startswith(PAPERS)} == set()
    assert set(EXAMINED) <= using


def test_no_end_of_a_set_is_rounded_to_nearest():
    """Whoever formats something called lower, upper, hull, … prints it by `core.outward`, or says why not."""
    found = {}
    for name, tree in modules("lower", "upper", "hull", "bracket", "epsilon", "_bound", "minimal"):
        for node in ast.walk(tree):
            value = ""
            if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
                spec = "".join(part.value for part in node.format_spec.values if isinstance(part, ast.Constant))
                value = ast.unparse(node.value) if spec.endswith(("g", "f", "e", "%")) else ""
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"number", "_three"}:
                value = ast.unparse(node.args[0])
            if ENDS_OF_SETS.search(value):
                found.setdefault(name, set()).add(value)
    for name, values in found.items():
        allowed, _ = TO_NEAREST.get(name, ("", ""))
        assert not {value for value in values if not re.fullmatch(allowed, value)}, name
    assert set(found) == set(TO_NEAREST)
