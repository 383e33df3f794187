"""The files of a report on an identification: one page, its figures, every estimate, and all verdicts as data."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

import gough
from gough.core.arrays import Array
from gough.core.codec import encode
from gough.dynamics import Adequacy, BenchmarkVerdict, Identified, IdentifiedRepeats, Validation
from gough.dynamics.cause import Cause
from gough.dynamics.named import ByMethod
from gough.dynamics.results import VERDICT
from gough.dynamics.verdict import Verdict
from gough.export import model_files
from gough.methods.noise.repeats import RepeatNoise
from gough.report.base.page import Page
from gough.report.identification.page import identification_page
from gough.report.identification.repeated import RepeatedReport, repeated_page
from gough.report.identification.report import Report
from gough.robots.meanings import parameter_meanings

POSSIBLE = "possible-bodies.json"
"""File of the complete parameters of a robot that can exist."""


def report_on(
    title: str, lead: tuple[str, ...], identified: Identified | IdentifiedRepeats, truth: Array | None = None
) -> Report | RepeatedReport:
    """The report on an identification, of the kind that suits it.

    Examples:
        >>> from gough.dynamics import identify
        >>> from gough.dynamics.example import random_motion
        >>> identified = identify(*random_motion(1), methods=["weighted"], compare=False)
        >>> report = report_on("A five-bar", (), identified)
        >>> list(documents(report))[:5]
        ['estimate.json', 'report.json', 'model.json', 'report.html', 'figures/parameters.svg']
    """
    if isinstance(identified, IdentifiedRepeats):
        return RepeatedReport(title, lead, identified, truth)
    return Report(title, lead, identified, truth)


def documents(report: Report | RepeatedReport) -> dict[str, bytes]:
    """The files by name: estimate.json (estimates and verdict), report.json, model.json, report.html, figures/*."""
    data = _repeated_summary(report) if isinstance(report, RepeatedReport) else _summary(report)
    short = {key: data[key] for key in ("is_refuted", "recommended") if key in data}
    verdict = {**short, **(data["verdict"] or {}), "paragraphs": data["verdicts"]}
    estimates = {**report.identified.to_dict(), VERDICT: verdict}
    files = {"estimate.json": _json(estimates), "report.json": _json(data)}
    if report.identified.possible is not None:
        files[POSSIBLE] = _json(report.identified.possible.to_dict())
    certified = report.identified.certified
    if certified is not None:
        files |= certified.files()
    return files | model_files(report.identified) | _page(report).files()


def to_html(report: Report | RepeatedReport) -> str:
    """The page: complete, self-contained, and readable without its script."""
    return _page(report).html()


def _page(report: Report | RepeatedReport) -> Page:
    return repeated_page(report) if isinstance(report, RepeatedReport) else identification_page(report)


def _json(data: object) -> bytes:
    return (json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def _common(report: Report | RepeatedReport, unknowns: gough.Unknowns) -> dict[str, Any]:
    identified = report.identified
    certified = identified.certified
    return {
        "title": report.title,
        "lead": list(report.lead),
        "written_by": f"gough {gough.__version__}",
        "robot": identified.robot.name,
        "variant": getattr(identified.robot, "variant", ""),
        "parameters": list(identified.robot.names),
        "meanings": dict(parameter_meanings(identified.robot)),
        "unknowns": list(unknowns.names),
        "units": list(unknowns.units),
        "truth": report.truth,
        "blueprint": _blueprint(identified, unknowns.names),
        "fixed": dict(identified.fixed),
        "premises": list(identified.premises),
        "verdicts": list(identified.verdicts),
        "is_refuted": identified.is_refuted,
        "physics": None if identified.physics is None else identified.physics.to_dict(),
        "possible": None if identified.possible is None else identified.possible.to_dict(),
        "certified": None if certified is None else certified.to_dict(),
        "refused": ByMethod(identified.refused).keyed(),
        "left_out": list(getattr(identified, "left_out", ())),
    }


def _blueprint(identified: Identified | IdentifiedRepeats, names: Sequence[str]) -> dict[str, Any] | None:
    """The user's own values by name, and whether each differs from the estimate; None where the user stated none."""
    compared = identified.compared_with_blueprint
    if compared is None:
        return None
    known = {name: float(value) for name, value in zip(names, compared.values, strict=True) if np.isfinite(value)}
    return {
        "values": known,
        "differs": [name for name, differs in zip(names, compared.differs, strict=True) if differs],
        "compared_with": compared.method,
    }


def _summary(report: Report) -> dict[str, Any]:
    """Contents of report.json; infinite numbers and NaN are the texts "inf", "-inf" and "nan"."""
    identified = report.identified
    motion = identified.motion
    methods = ByMethod(
        {
            label: {
                "title": label,
                "claim": e.claim.name,
                "status": e.status.name,
                "method": e.method,
                "notes": list(e.notes),
            }
            for label, e in report.estimates.items()
        }
    ).keyed()
    data = {
        **_common(report, identified.problem.unknowns),
        "reference": next((key for key, each in methods.items() if each["title"] == report.reference), ""),
        "recommended": _recommended(identified, methods),
        "methods": methods,
        "bounds": _bounds(identified),
        "excitation": {
            "rank": identified.identifiability.rank,
            "condition": identified.identifiability.condition,
            "weakest_direction": identified.identifiability.weakest,
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
        "verdict": None if identified.verdict is None else _verdict(identified.verdict),
        "noise_level": None if identified.noise_level is None else identified.noise_level.to_dict(),
        "adequacy": None if identified.adequacy is None else _adequacy(identified.adequacy),
        "validation": None if identified.validation is None else _validation(identified.validation),
    }
    return {key: _encoded(value) for key, value in data.items()}


def _recommended(identified: Identified, methods: dict[str, Any]) -> dict[str, Any]:
    """The recommended method by its ASCII name, and how each method predicts held-out data."""
    keys = {each["title"]: key for key, each in methods.items()}
    recommendation = identified.recommendation
    scores = recommendation.scores if recommendation is not None else {}
    return {
        "method": keys.get(identified.recommended, ""),
        "held_out": "" if recommendation is None else recommendation.held_out,
        "worse_than_least_squares": [] if recommendation is None else [keys[label] for label in recommendation.worse],
        "text": " ".join(identified.on_methods),
        "methods": {
            keys[label]: {
                "relative_rms": one.relative_rms,
                "fitted_relative_rms": one.fitted_rms,
                "overall": one.overall,
                "ratio": one.ratio,
                "ratio_p": one.ratio_p,
                "covered": one.covered,
                "expected": one.expected,
                "covered_p": one.covered_p,
            }
            for label, one in scores.items()
        },
    }


def _bounds(identified: Identified) -> dict[str, Any]:
    return {
        "actuators": list(identified.motion.actuators),
        "units": list(identified.motion.effort_units),
        "smallest": identified.smallest_bound,
        "used": identified.bound,
        "is_given": identified.bound_is_given,
        "factor": [identified.minimal.lower, identified.minimal.upper],
        "rows": list(identified.minimal.rows),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    causes = verdict.causes
    return {
        "finding": verdict.finding.name,
        "cause": None if verdict.cause is None else verdict.cause.effect.name,
        "size": "" if verdict.cause is None else verdict.cause.size,
        "not_distinguished": [rival.effect.name for rival in verdict.rivals],
        "mistake": verdict.mistake,
        "dropouts": [{**each._asdict(), "words": each.words} for each in verdict.dropouts],
        "headline": verdict.headline,
        "text": verdict.text,
        "evidence": [
            {"about": sign.about, "against": sign.against, "statistic": sign.statistic, "p": sign.p}
            for sign in verdict.signs
        ],
        "effects": [] if causes is None else [_cause(cause) for cause in causes.ranked],
        "effects_not_excluded": [] if causes is None else [asdict(one) for one in causes.hidden],
        "effects_one_after_another": [] if causes is None else [cause.effect.name for cause in causes.steps],
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "effect": cause.effect.name,
        "title": cause.effect.title,
        "is_present": cause.is_present,
        "log_likelihood_ratio": cause.ratio / 2,
        "dof": cause.dof,
        "p": cause.p,
        "removes": cause.removes,
        "caveat": cause.caveat,
        "parameters": {
            name: {"value": value, "sigma": sigma, "unit": unit}
            for name, unit, value, sigma in zip(
                cause.names, cause.units, cause.values.tolist(), cause.sigma.tolist(), strict=True
            )
        },
        "shifts_in_sigma": {name: sigmas for name, (_, sigmas) in cause.shifts.items()},
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
        "methods": ByMethod(
            {
                label: {
                    "bounds": one.kind,
                    "rms": one.rms,
                    "relative_rms": one.relative_rms,
                    "inside": one.covered,
                    "should_be": one.expected,
                }
                for label, one in validation.predictions.items()
            }
        ).keyed(),
        "exact": None if exact is None else {"samples": exact.samples, "inside": exact.covered, "rows": exact.n_rows},
    }


def _encoded(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _encoded(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_encoded(value) for value in data]
    return encode(data.item() if isinstance(data, np.generic) else data)


def _repeated_summary(report: RepeatedReport) -> dict[str, Any]:
    """Contents of report.json for an identification from repeats."""
    identified, motion = report.identified, report.identified.motion
    data = {
        **_common(report, identified.likeliest.unknowns),
        "verdict": _verdict(identified.verdict),
        "regrouping": identified.regroupings,
        "data": {
            "rate": motion.rate,
            "period": motion.period,
            "repeats": motion.n_repeats,
            "samples": motion.n_samples,
            "channels": list(motion.channels),
        },
        "methods": ByMethod(
            {
                label: {
                    "title": label,
                    "status": e.status.name,
                    "method": e.method,
                    "notes": list(e.notes),
                    "chance_of_distance": identified.disagreement[label],
                }
                for label, e in identified.estimates.items()
            }
        ).keyed(),
        "order": {
            "chosen": identified.order.order,
            "reason": identified.order.reason,
            "is_refuted": identified.order.is_refuted,
            "tried": [row._asdict() for row in identified.order.rows],
            "bic_of_positions": {str(order): value for order, value in identified.by_positions.items()},
        },
        "covariance": identified.covariance,
        "noise": None if identified.noise is None else _noise(identified.noise),
        "benchmarks": {name: _benchmark(verdict) for name, verdict in identified.benchmarks.items()},
    }
    return {key: _encoded(value) for key, value in data.items()}


def _noise(noise: RepeatNoise) -> dict[str, Any]:
    tests = {"gaussian": noise.gaussian, "white": noise.white, "alike": noise.alike}
    return {
        "channels": list(noise.names),
        "sigma": noise.sigma,
        "sigma_interval": list(noise.sigma_interval()),
        "covariance": noise.covariance,
        "covariance_sigma": noise.covariance_sigma,
        "dof": noise.dof,
        "memory": noise.memory,
        **{
            name: [{"statistic": t.what, "value": t.statistic, "p": t.p, "is_refuted": t.is_refuted} for t in test]
            for name, test in tests.items()
        },
    }


def _benchmark(verdict: BenchmarkVerdict) -> dict[str, Any]:
    return {
        "actuators": list(verdict.actuators),
        "units": list(verdict.effort_units),
        "order": verdict.order,
        "model_variance": verdict.model_variance,
        "measurement_variance": verdict.measurement_variance,
        "residual_variance": verdict.residual_variance,
        "expected_variance": verdict.expected_variance,
        "p": verdict.p,
        "bias": [bias.name for bias in verdict.bias],
        "is_unbiased": verdict.is_unbiased,
        "verdicts": list(verdict.verdicts),
    }
