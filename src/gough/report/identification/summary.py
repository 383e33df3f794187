"""A report as plain data, for those who compute with it: every verdict and every number behind it, no curves."""

from typing import Any

import numpy as np

import gough
from gough.core.codec import encode
from gough.dynamics import Adequacy, Identified, Validation
from gough.report.identification.report import Report


def summary(report: Report) -> dict[str, Any]:
    """What report.json holds; numbers that JSON does not know are written "inf", "-inf" and "nan"."""
    found = report.identified
    motion = found.motion
    truth = report.truth
    data = {
        "title": report.title,
        "lead": list(report.lead),
        "written_by": f"gough {gough.__version__}",
        "robot": found.robot.name,
        "variant": getattr(found.robot, "variant", ""),
        "parameters": list(found.robot.names),
        "unknowns": list(found.problem.unknowns.names),
        "units": list(found.problem.unknowns.units),
        "truth": None if truth is None else truth,
        "fixed": dict(found.fixed),
        "reference": report.reference,
        "premises": list(found.premises),
        "verdicts": list(found.verdicts),
        "is_refuted": found.is_refuted,
        "methods": {
            label: {"claim": e.claim.name, "status": e.status.name, "method": e.method, "notes": list(e.notes)}
            for label, e in report.estimates.items()
        },
        "refused": dict(found.refused),
        "bounds": _bounds(found),
        "excitation": {
            "rank": found.found.rank,
            "condition": found.found.condition,
            "weakest_direction": found.found.weakest,
            "singular_values": report.excitation.singular_values,
            "own_part": dict(zip(report.excitation.names, report.excitation.own.tolist(), strict=True)),
        },
        "data": {
            "rate": motion.rate,
            "samples": motion.n_samples,
            "rows": motion.n_rows,
            "kept": dict(zip(motion.actuators, motion.kept.mean(axis=0).tolist(), strict=True)),
            "account": [{"step": s.step, "did": s.did, "samples": s.samples, "rows": s.rows} for s in motion.account],
        },
        "adequacy": None if found.adequacy is None else _adequacy(found.adequacy),
        "validation": None if found.validation is None else _validation(found.validation),
    }
    return {key: encoded(value) for key, value in data.items()}


def _bounds(found: Identified) -> dict[str, Any]:
    return {
        "actuators": list(found.motion.actuators),
        "units": list(found.motion.effort_units),
        "smallest": found.smallest_bound,
        "used": found.bound,
        "is_given": found.bound_is_given,
        "factor": [found.minimal.lower, found.minimal.upper],
        "rows": list(found.minimal.rows),
    }


def _adequacy(adequacy: Adequacy) -> dict[str, Any]:
    fields = (
        "variant",
        "adds",
        "n_parameters",
        "rank",
        "fitted_rms",
        "rms",
        "peak",
        "smallest_bound",
        "overall",
        "gain",
        "gain_sigma",
    )
    return {
        "finding": adequacy.finding.name,
        "used": adequacy.used,
        "recommended": adequacy.recommended,
        "held_out": adequacy.held_out,
        "verdict": adequacy.verdict,
        "unit": adequacy.unit,
        "models": [{field: getattr(fit, field) for field in fields} for fit in adequacy.fits],
        "general_terms": {
            "overall": adequacy.generic,
            "gain": adequacy.generic_gain,
            "gain_sigma": adequacy.generic_sigma,
        },
        "shifts": {name: list(pair) for name, pair in adequacy.shifts.items()},
    }


def _validation(validation: Validation) -> dict[str, Any]:
    exact = validation.exact
    return {
        "verdict": validation.verdict,
        "rows": validation.n_rows,
        "peak": validation.peak,
        "methods": {
            label: {
                "bounds": one.kind,
                "rms": one.rms,
                "relative_rms": one.relative_rms,
                "inside": one.covered,
                "should_be": one.expected,
            }
            for label, one in validation.predictions.items()
        },
        "exact": None if exact is None else {"samples": exact.samples, "inside": exact.covered, "rows": exact.n_rows},
    }


def encoded(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: encoded(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [encoded(value) for value in data]
    return encode(data.item() if isinstance(data, np.generic) else data)
