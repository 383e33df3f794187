"""Images tested against the calibration of their camera: a confusion table from noisy centroids.

Each row: a case, its size, the number of images, and in how many of the runs it was found, with the right cause named.
Clean runs count false refusals of images and false contradictions of runs.
"""

import sys
from dataclasses import replace

import numpy as np

from benchmarks.lenses import FACING, NOISE, SIZE, STATED, TARGET, TRUTH, printed, views
from gough.core.rotations import exp
from gough.core.tables import table
from gough.core.threads import one_blas_thread
from gough.vision import ImageRefused, Sighting, calibrate_camera
from gough.vision.camera import expected
from gough.vision.image_tests import check_images
from gough.vision.pose import pose_of

LENS = TRUTH["tangential"]
WORDS = {
    "focal": "focal length", "center": "center", "distortion": "distortion", "turned": "turned", "rolling": "rolling",
}  # fmt: skip


class Bench:
    """A calibrated camera with its truth."""

    def __init__(self, seed, n=14):
        self.rng = np.random.default_rng(seed)
        self.sheet = printed(self.rng)
        found = calibrate_camera(views(self.rng, LENS, self.sheet, n), TARGET, SIZE, lens="tangential")
        self.camera, self.target = found.camera, found.target

    def sighting(self, truth, change=None, moving=0.0):
        while True:
            R = exp(self.rng.normal(0, 0.3, 3)) @ FACING
            t = self.rng.uniform([-0.05, -0.04, 0.32], [0.05, 0.04, 0.5])
            pixels = expected(truth, self.sheet, R, t)
            if moving:
                toward = exp([0, 0, self.rng.uniform(0, 2 * np.pi)])[:2, :2] @ [moving, 0.0]
                pixels = pixels + ((pixels[:, 1:] - SIZE[1] / 2) / SIZE[1]) * toward
            if ((pixels > 4) & (pixels < np.array(SIZE) - 5)).all():
                break
        pixels = pixels if change is None else change(pixels)
        return Sighting(
            np.arange(len(pixels)), pixels + self.rng.normal(0, NOISE, pixels.shape), np.full(len(pixels), STATED)
        )

    def run(self, count, truth=LENS, change=None, moving=0.0, file=None):
        camera, measured, refused = file or self.camera, [], []
        for _ in range(count):
            seen = self.sighting(truth, change, moving)
            try:
                measured.append(pose_of(seen, self.target, camera))
            except ImageRefused:
                refused.append(seen)
        return check_images(measured, self.target, camera, refused), len(refused)


def zeroed(bench, part):
    """The camera file with its distortion scaled."""
    camera = bench.camera
    return {"file": replace(camera, distortion=camera.distortion * part)}


CASES = (
    *(("distortion", f"distortion × {part}", lambda b, part=part: zeroed(b, part)) for part in (0.0, 0.5, 0.9)),
    ("turned", "turned by 180°", lambda _: {"change": lambda p: np.array(SIZE) - 1.0 - p}),
    *(
        ("center", f"region of interest {d} px aside", lambda _, d=d: {"change": lambda p: p + np.array([d, -0.5 * d])})
        for d in (4, 20, 100)
    ),
    *(("rolling", f"rolling shutter {d} px", lambda _, d=d: {"moving": d}) for d in (0.5, 2.0, 8.0)),
    *(
        ("focal", f"focus {100 * d:.1f} %", lambda _, d=d: {"truth": replace(LENS, focal=LENS.focal * (1 + d))})
        for d in (0.001, 0.002, 0.005, 0.02)
    ),
)


def named(check, cause):
    text = check.contradiction or " ".join(image.cause for image in check.images if image.cause)
    return WORDS[cause] in text.split(". Almost")[0]


def confusion(benches, runs, counts=(1, 5, 20)):
    rows = []
    for cause, name, make in CASES:
        cells = []
        for count in counts:
            found = right = 0
            for k in range(runs):
                bench = benches[k % len(benches)]
                check, refused = bench.run(count, **make(bench))
                is_found = bool(check.contradiction) or 2 * (len(check.rejected) + refused) > count
                found += is_found
                right += is_found and named(check, cause)
            cells += [f"{100 * found / runs:.0f}", f"{100 * right / runs:.0f}"]
        rows.append([name, *cells])
        print(rows[-1], flush=True)
    heads = ["case", *(f"{what}, {n} images" for n in counts for what in ("found %", "cause right %"))]
    print(table(heads, rows, "l" + "r" * (len(heads) - 1)))


def clean(benches, images, count=20):
    refused = contradicted = total = runs = 0
    while total < images:
        check, odd = benches[runs % len(benches)].run(count)
        refused += len(check.rejected) + odd
        contradicted += bool(check.contradiction)
        total, runs = total + count, runs + 1
        if runs % 25 == 0:
            print(total, refused, contradicted, flush=True)
    print(f"clean: {refused} of {total} images refused, {contradicted} of {runs} runs contradicted")


@one_blas_thread()
def main(seeds=10, runs=40, images=5000, first=0):
    """Clean runs and mistakes of cameras calibrated with the seeds from `first` on."""
    print("Images tested against the calibration of their camera\n")
    benches = [Bench(seed) for seed in range(first, first + seeds)]
    clean(benches, images)
    confusion(benches, runs)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
