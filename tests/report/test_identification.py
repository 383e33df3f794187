"""The report: complete, self-contained, safe, repeatable."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import gough
from gough.core.errors import InputError
from gough.methods import LeastSquares
from gough.report import Identification, documents, to_html
from gough.report.identification import by_sample

from .conftest import HOSTILE, make_report


class Page(HTMLParser):
    """Elements, identifiers and addresses of a page."""

    VOID = frozenset({"meta"})

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags, self.ids, self.addresses, self.open = [], [], [], []
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for key, value in attrs:
            if key == "id":
                self.ids.append(value)
            if key in {"src", "href", "xlink:href", "action", "data", "poster", "srcset"}:
                self.addresses.append(value)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def files():
    return documents(make_report())


@pytest.fixture(scope="module")
def source(files):
    return files["report.html"].decode()


def test_the_page_asks_the_network_for_nothing(source):
    page = Page(source)
    assert all(address.startswith("#") for address in page.addresses)
    assert "://" not in source
    assert "@import" not in source
    assert not {"script", "link", "iframe", "object", "embed", "base", "img"} & set(page.tags)
    assert not re.search(r"url\((?!#)", source)


def test_every_element_is_closed_and_every_identifier_is_unique(source):
    page = Page(source)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert {address[1:] for address in page.addresses} <= set(page.ids)


def test_hostile_names_stay_text():
    source = to_html(make_report(HOSTILE))
    page = Page(source)
    assert "script" not in page.tags
    assert "<script" not in source
    assert HOSTILE in page.text


def test_a_screen_reader_finds_its_way(source):
    page = Page(source)
    assert '<html lang="en">' in source
    assert 'name="viewport"' in source
    assert page.tags.count("h1") == 1
    assert page.tags.count("figure") == page.tags.count("figcaption") == source.count('role="img" aria-label="') == 5
    assert page.tags.count("table") == source.count('role="region" aria-label="') == 2


def test_same_input_same_bytes(files):
    assert documents(make_report()) == files


def test_the_files_of_a_report(report, files):
    names = {
        f"figures/{n}.{end}" for n in ("parameters", "fit", "memory", "correlation", "pair") for end in ("svg", "png")
    }
    assert set(files) == {"report.html", "estimate.json"} | names
    read = {label: gough.Estimate.from_dict(data) for label, data in json.loads(files["estimate.json"]).items()}
    assert read == dict(report.estimates)
    assert len(files["report.html"]) < 1_000_000


def test_values_errors_and_combinations_are_in_the_page(source):
    text = Page(source).text
    for words in ("I_1 + 0.25·m_3", "I_1*", " σ", "χ²/dof", "Too small to be told from zero in these data: fv."):
        assert words in text


def test_a_report_without_truth_or_identifiability(report):
    plain = replace(report, truth=None, found=None)
    text = Page(to_html(plain)).text
    assert "the truth" not in text
    assert "What the data can show" not in text


def test_a_single_unknown_has_no_pair_to_show():
    problem = gough.LinearProblem(np.ones((20, 1)), np.arange(20.0), gough.Unknowns(["mass"]))
    one = Identification("One", (), problem, {"plain": gough.estimate(problem, LeastSquares())}, "plain")
    assert [drawing.name for drawing in one.drawings] == ["parameters", "fit", "memory"]
    assert "What is hard to tell apart" not in to_html(one)


def test_missing_rows_leave_gaps(report):
    chosen = np.ones(400, dtype=bool)
    chosen[7] = False
    fewer = report.problem.select(chosen)
    grid = by_sample(fewer, fewer.y)
    assert grid.shape == (200, 2)
    assert np.argwhere(np.isnan(grid)).tolist() == [[3, 1]]
    estimates = {"plain": gough.estimate(fewer, LeastSquares())}
    assert "report" in to_html(replace(report, problem=fewer, estimates=estimates, reference="plain")).lower()


def test_estimates_of_other_unknowns_are_refused(report):
    other = {"Gauss–Markov": report.chosen.marginal("fv")}
    with pytest.raises(InputError, match="other unknowns"):
        replace(report, estimates=other)
    with pytest.raises(InputError, match="no estimate is called 'robust'"):
        replace(report, reference="robust")
