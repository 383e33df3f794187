"""Effects that a recording does not distinguish are named together; those that it does, and larger ones, are not."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from gough.dynamics import causes_of, verdict_of
from gough.dynamics.effect import Columns, Effect
from tests.dynamics.test_verdict import ROBOT, measured, moved, torques


@dataclass(frozen=True, eq=False)
class Waves(Effect):
    """Efforts of the first motor that are given functions of its position."""

    name: str
    shapes: tuple[Callable, ...]
    advice = "Look at the first motor."
    sizes = ()
    size_unit = ""

    @property
    def title(self) -> str:
        return f"waves called {self.name}"

    def columns(self, excitation):
        values = np.stack([shape(excitation.q[:, 0]) for shape in self.shapes], axis=1)
        n = values.shape[1]
        return Columns(tuple(f"{self.name}_{k}" for k in range(n)), ("N·m",) * n, values, (0,) * n)

    def plant(self, truth, size, rng):
        return None


def wave(q):
    return np.sin(40 * q)


def similar(q):
    return np.sin(40 * q) + 0.3 * np.cos(23 * q)


def other(q):
    return np.cos(23 * q)


A, SIMILAR = Waves("a", (wave,)), Waves("similar", (similar,))
LARGER, DIFFERENT = Waves("larger", (wave, other)), Waves("different", (other,))
EVERY = (A, SIMILAR, LARGER, DIFFERENT)


@pytest.fixture(scope="module")
def motion():
    return moved(1)


def found(motion, size, effects=EVERY):
    fault = np.zeros_like(motion.q)
    fault[:, 0] = size * wave(motion.q[:, 0])
    return causes_of(ROBOT, measured(motion.q, torques(motion) + fault, 3), effects=effects)


def test_a_small_effect_has_its_imitation_as_rival_and_not_the_larger_one(motion):
    """With `similar` in the model, `a` adds little: that is the definition, here by the ratio of both together."""
    causes = found(motion, 0.004)
    both = {causes.likeliest.effect.name, *(rival.effect.name for rival in causes.rivals)}
    assert both == {"a", "similar"}
    joint = found(motion, 0.004, (LARGER,)).ranked[0]  # the columns of both effects
    gain = joint.ratio - next(cause.ratio for cause in causes.ranked if cause.effect.name == "similar")
    assert 0 <= gain < 10.8  # χ² at the level 0.001 with one degree of freedom


def test_a_large_effect_has_no_rival(motion):
    causes = found(motion, 0.1)
    assert causes.likeliest.effect.name == "a"
    assert any(cause.is_present for cause in causes.ranked[1:])
    assert causes.rivals == ()


def test_a_verdict_names_both_with_their_sizes(motion):
    causes = found(motion, 0.004)
    verdict = verdict_of(None, causes, ())
    first, (second,) = causes.likeliest, causes.rivals
    assert verdict.headline == (
        f"The model is NOT ADEQUATE; the likely cause is {first.effect.title}, or else {second.effect.title}: "
        "these data do not distinguish them."
    )
    labelled = dict(verdict.outline)
    assert labelled["Or else"] in verdict.text
    assert second.size in labelled["Or else"]
    assert f"in a model with it, {first.effect.name} is not significant" in labelled["Or else"]


def test_one_effect_alone_has_no_rival(motion):
    assert found(motion, 0.004, (A,)).rivals == ()
    assert found(motion, 0.0).rivals == ()
