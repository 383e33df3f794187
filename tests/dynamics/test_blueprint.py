"""The user's own values beside the estimates: those that differ are marked, and estimates do not depend on them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gough import InputError
from gough.dynamics import base_values, identify
from gough.dynamics.example import random_motion
from gough.report import documents, report_on
from gough.robots.mechanism import MechanismModel
from gough.studies import IdentificationStudy


@pytest.fixture(scope="module")
def answer():
    return identify(*random_motion(1), methods=["weighted"], compare=False)


def test_library_values_are_not_the_users_own(answer):
    assert answer.compared_with_blueprint is None


def test_stated_values_are_compared_where_all_of_a_combination_is_stated(answer):
    value = answer["fc_1"]
    interval = answer.interval("fc_1")
    near, far = value + 0.4 * (interval.upper - value), value + 2 * (interval.upper - value)
    stated = replace(answer, blueprint={"fc_1": near, "fc_2": far + answer["fc_2"], "m_4": 1.0})
    compared = stated.compared_with_blueprint
    names = list(answer.problem.unknowns.names)
    known = {name for name, each in zip(names, compared.values, strict=True) if np.isfinite(each)}
    assert known >= {"fc_1", "fc_2"}
    assert not any("m_4" in name and " " in name for name in known)
    assert [name for name, each in zip(names, compared.differs, strict=True) if each] == ["fc_2"]
    assert (stated["weighted"].value == answer["weighted"].value).all()
    assert str(stated.table()).count("≠") == 1
    assert "≠ marks those outside the interval by weighted." in str(stated)
    files = documents(report_on("t", (), stated))
    page = files["report.html"].decode()
    assert "≠ marks those outside the interval by weighted." in page
    assert "What each parameter is" in page
    assert "The five-bar at home with the numbers of its actuators." in page
    assert "figures/home.svg" in files
    report = json.loads(files["report.json"])
    assert report["blueprint"]["differs"] == ["fc_2"]
    assert report["blueprint"]["values"]["fc_1"] == near
    assert "Mass of the payload" in report["meanings"]["m_load"]


def test_nominal_values_of_a_mechanism_are_the_users_own():
    robot, motion = random_motion(1)
    mechanism = MechanismModel(robot.mechanism)
    found = identify(mechanism, replace(motion, actuators=mechanism.actuators), methods=["weighted"], compare=False)
    compared = found.compared_with_blueprint
    assert compared.values == pytest.approx(base_values(found.identifiability, mechanism.nominal), rel=1e-9, abs=1e-12)
    assert compared.method == "weighted"


def test_a_study_states_them_with_units(tmp_path):
    path = tmp_path / "study.toml"
    text = '[robot]\nfamily = "five-bar"\n[data]\nrecordings = [{ file = "r.csv" }]\n'
    text += "[unknowns.m_load]\nblueprint = VALUE\n"
    path.write_text(text.replace("VALUE", '"250 kg/1000"'))
    study = IdentificationStudy.read(path)
    assert study.blueprint() == {"m_load": 0.25}
    assert not study.has_prior
    path.write_text(text.replace("VALUE", '"250 mm"'))
    with pytest.raises(InputError, match=r"line 6, \[unknowns\.m_load\] blueprint"):
        IdentificationStudy.read(path)
