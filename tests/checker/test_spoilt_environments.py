"""The checker is right in every rounding mode and under flush-to-zero; files are refused there, not misread."""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("environments", Path(__file__).parents[1] / "core" / "environments.py")
environments = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(environments)

CHILD = """
from fractions import Fraction
from gough import Bounded, Box, GoughError, LinearProblem, Unknowns
from gough.checker import (Bound, Certificate, Empty, Inside, Reach, RelaxedBound, RelaxedStep, Round, Split, Step,
    Strip, Violated, Witness, check, save, load)
tiny = 5e-324
third, below = Fraction(1, 3), Fraction(1, 2**1080)
unknowns = Unknowns(["a", "b"], prior=Box([0, -np.inf], [tiny, np.inf]))
problem = LinearProblem([[tiny, 3.0], [1.0, 0.0]], [tiny, tiny], unknowns, Bounded([0.0, tiny]))
b = Fraction(tiny) / 3
edge = b - Fraction(tiny) ** 2 / 3
proofs = [
    (True, Witness({{"a": 0, "b": b}})),
    (True, Witness({{"a": Fraction(tiny), "b": edge}})),
    (False, Witness({{"a": 0, "b": b + below}})),
    (False, Witness({{"a": Fraction(tiny) + below, "b": edge}})),
    (True, Bound([Step({{"b": 1}}, edge, {{0: third}})])),
    (False, Bound([Step({{"b": 1}}, b, {{0: third}})])),
    (False, Bound([Step({{"b": 1}}, edge, {{0: 0.1}})])),
    (False, Empty([Step({{}}, below, {{1: 1}})])),
    (True, Bound([Split("a", 0, [], []), Reach({{"b": 1}}, {{"b": {{0: third}}}}), Step({{"b": 1}}, -1)])),
    (False, Bound([Reach({{"b": b}}, {{"b": {{0: third}}}}), Step({{"b": 1}}, -1)])),
    (True, RelaxedBound(0, [RelaxedStep({{"b": 1}}, edge, [{{0: third}}])])),
    (False, RelaxedBound(0, [RelaxedStep({{"b": 1}}, edge + below, [{{0: third}}])])),
    (False, RelaxedBound(1, [RelaxedStep({{"b": 1}}, edge, [{{0: third}}])])),
    (False, Violated(1, 1, [0], [{{0: 1}}])),
]
# |a − tiny/2| ≤ tiny/2 by the prior, b by row 0 with a in it: half of each weight
half, middle = Fraction(tiny) / 2, (edge + b) / 2
strips = [Strip("a", half, half, 1 / (2 * half**2)), Strip("b", middle, (b - edge) / 2, 2 / (b - edge) ** 2)]
bounds = [Step({{"b": 1}}, edge, {{0: third}}), Step({{"b": -1}}, -b, {{0: -third}})]
for expected, slack in ((True, 1), (False, 1 - below)):
    shape = [[2 * half**2 * slack], [0, (b - edge) ** 2 / 2]]
    proofs.append((expected, Inside(bounds, [Round({{"a": half, "b": middle}}, shape, strips)])))
certificates = [(expected, Certificate.of(problem, proof)) for expected, proof in proofs]
save(certificates[0][1], {folder!r} + "/c.json")
{spoil}
for expected, certificate in certificates:
    assert check(certificate, problem).holds == expected, certificate
try:
    load({folder!r} + "/c.json")
except GoughError as error:
    print(error)
"""


@pytest.mark.parametrize("state", ["upward", "downward", "toward zero", "flush to zero"])
def test_check_is_exact_in_any_state_of_the_processor(state, tmp_path):
    spoil = f"round_({state!r})"
    if state == "flush to zero":
        spoil = f"ctypes.CDLL({str(environments.shared_library(tmp_path))!r}).flush()"
    answer = environments.run(CHILD.format(folder=str(tmp_path), spoil=spoil))
    assert answer.startswith("certificates cannot be read or written exactly here, because the processor")
