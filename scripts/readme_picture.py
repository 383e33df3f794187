"""Draw docs/images/five-bar.png, the picture of the README, by the code that `gough demo` runs.

python scripts/readme_picture.py
"""

from io import BytesIO
from pathlib import Path

from PIL import Image
from rich.progress import Progress

from gough.cli.demo import REFERENCE, Done, run
from gough.experiments.demos import DEMOS
from gough.report.drawing import SERIES, Drawing, blank, style
from gough.report.figures import draw_fit, draw_parameters
from gough.report.identification import by_sample
from gough.report.labels import short_labels

TARGET = Path(__file__).parents[1] / "docs" / "images" / "five-bar.png"


def picture(done: Done) -> Drawing:
    """Estimates against the truth on the left, torques and residuals on the right."""
    report = done.report
    labels = short_labels(report.problem.unknowns.names)
    residuals = by_sample(report.problem, report.problem.residuals(report.chosen.value))[:1000]
    measured = by_sample(report.problem, report.problem.y)[:1000]
    times = done.experiment.motion.sample(done.experiment.rate).times
    with style():
        figure = blank(10.5, 4.6)
        left, right = figure.subfigures(1, 2, width_ratios=[1, 1.1])
        axes = left.subplots()
        draw_parameters(axes, report.estimates, report.truth, report.chosen.region.sigma)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_title(f"{len(labels)} base parameters: distance from the truth, in σ", loc="left")
        left.legend(loc="outside lower center", ncols=4, columnspacing=1.0, handletextpad=0.2)
        panels = right.subplots(4, 1, sharex=True, height_ratios=[2.2, 1, 2.2, 1])
        for g, name in enumerate(report.problem.groups.names):
            draw_fit(
                (panels[2 * g], panels[2 * g + 1]), times, measured[:, g], (measured - residuals)[:, g], color=SERIES[2]
            )
            panels[2 * g].set_title(f"{name}: torque measured and predicted, N·m; residual", loc="left")
        panels[-1].set_xlabel("time, s")
    return Drawing("five-bar", figure, f"Parameters of a five-bar by {REFERENCE} and others.", "")


def main() -> None:
    done = run(DEMOS["five-bar"], seed=1, progress=Progress(disable=True))
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    image = Image.open(BytesIO(picture(done).png(dpi=120))).convert("RGB")
    image.quantize(64).save(TARGET, optimize=True)
    print(TARGET.relative_to(TARGET.parents[2]), TARGET.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
