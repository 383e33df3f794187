"""Verdicts in sentences, for the terminal and the page alike."""

from collections.abc import Sequence

import numpy as np

from gough.core.arrays import Array
from gough.estimate import Estimate
from gough.methods.identifiability import Identifiability
from gough.region import ConfidenceEllipsoid
from gough.report.labels import short_labels


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    Examples:
        >>> listed(["m_1", "m_2", "m_3"])
        'm_1, m_2 and m_3'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def determined(found: Identifiability) -> tuple[str, ...]:
    """What the data can and cannot tell apart.

    Examples:
        >>> import gough
        >>> from gough.methods import identifiability
        >>> problem = gough.LinearProblem([[1.0, 2.0], [2.0, 4.0]], [0, 0], gough.Unknowns(["m_1", "m_2"]))
        >>> determined(identifiability(problem))[0]
        'Of 2 parameters, the data determine 1 combination: none by itself, 1 only together with others (marked *).'
    """
    n = len(found.names)
    if found.is_full_rank:
        sentences = [f"The data determine every one of the {n} parameters by itself."]
    else:
        alone = n - len(found.not_identifiable)
        together = found.rank - alone
        many = f"{found.rank} combination{'s' * (found.rank != 1)}"
        by_themselves = f"{alone or 'none'} by {'themselves' if alone > 1 else 'itself'}"
        sentences = [
            f"Of {n} parameters, the data determine {many}: {by_themselves}, "  # noqa: ISC004 - one sentence
            f"{together} only together with others (marked *)."
        ]
    if found.without_effect:
        sentences.append(f"These data cannot show {listed(found.without_effect)}: no effect on them at all.")
    if np.isfinite(found.condition):
        sentences.append(
            f"What the motion shows worst, it shows {found.condition:.3g} times less than what it shows best "
            "(condition number)."
        )
    return tuple(sentences)


def in_sigma(estimate: Estimate, truth: Array) -> Array:
    """(value − truth)/σ of each unknown."""
    return np.asarray((estimate.value - truth) / _belief(estimate).sigma)


def against_truth(label: str, estimate: Estimate, truth: Array) -> str:
    """How many true values the intervals hold, and the worst of all errors."""
    region = _belief(estimate)
    box = region.interval()
    inside = int(((box.lower <= truth) & (truth <= box.upper)).sum())
    errors = in_sigma(estimate, truth)
    worst = int(abs(errors).argmax())
    return (
        f"{label[:1].upper()}{label[1:]}: {inside} of {len(truth)} true values in their {region.level:.0%} interval, "
        f"worst {abs(errors[worst]):.1f} σ ({short_labels(estimate.unknowns.names)[worst]})."
    )


def near_zero(estimate: Estimate) -> str:
    """Which unknowns might as well be zero, or an empty string."""
    box = _belief(estimate).interval()
    labels = short_labels(estimate.unknowns.names)
    hidden = [label for label, a, b in zip(labels, box.lower, box.upper, strict=True) if a <= 0 <= b]
    return f"Too small to be told from zero in these data: {listed(hidden)}." if hidden else ""


def _belief(estimate: Estimate) -> ConfidenceEllipsoid:
    assert isinstance(estimate.region, ConfidenceEllipsoid)
    return estimate.region
