"""Images of a target by a path tracer: run by an interpreter that has mitsuba, with a file of scenes; writes arrays.

    python render_scenes.py scenes.json images.npz

It imports nothing of gough: the scene is discs and a sheet as geometry before a pinhole camera.
"""

import json
import sys
from pathlib import Path

import mitsuba as mi
import numpy as np

FLIPPED = np.diag([-1.0, -1.0, 1.0])  # mitsuba's camera has x left and y up


def placed(R, t, local, size):
    """Transform of a unit shape to a place on the sheet, which is at (R, t) before the camera (x right, y down)."""
    M = np.eye(4)
    M[:3, :3] = FLIPPED @ R @ np.diag([*size, 1.0])
    M[:3, 3] = FLIPPED @ (R @ local + t)
    return mi.ScalarTransform4f(M)


def surface(level, gloss):
    color = {"type": "rgb", "value": level}
    if gloss is None:
        return {"type": "diffuse", "reflectance": color}
    return {"type": "roughplastic", "diffuse_reflectance": color, "alpha": gloss, "int_ior": 1.49}


def scene(what, R, t):
    width, height = what["size"]
    made = {
        "type": "scene",
        "integrator": {"type": "path", "max_depth": 4},
        "sensor": {
            "type": "perspective",
            "fov": float(np.degrees(2 * np.arctan(width / 2 / what["focal"]))),
            "fov_axis": "x",
            "near_clip": 0.01,
            "film": {"type": "hdrfilm", "width": width, "height": height, "pixel_format": "luminance",
                     "rfilter": {"type": "box"}},
            "sampler": {"type": "multijitter", "sample_count": what["samples"]},
        },
        "sheet": {"type": "rectangle", "to_world": placed(R, t, np.zeros(3), np.array(what["sheet"]) / 2),
                  "bsdf": surface(0.06, what["gloss"])},
    }  # fmt: skip
    for k, point in enumerate(what["points"]):
        place = np.add(point, [0.0, 0.0, 1e-6])
        made[f"dot{k}"] = {"type": "disk", "to_world": placed(R, t, place, (what["radius"],) * 2),
                           "bsdf": surface(0.75, what["gloss"])}  # fmt: skip
    if what["sky"]:
        made["sky"] = {"type": "constant", "radiance": {"type": "rgb", "value": what["sky"]}}
    if what["lamp"]:
        made["lamp"] = {"type": "point", "position": (FLIPPED @ np.array(what["lamp"])).tolist(),
                        "intensity": {"type": "rgb", "value": 1.0}}  # fmt: skip
    return mi.load_dict(made)


def main(scenes, out):
    what = json.loads(Path(scenes).read_text(encoding="utf-8"))
    mi.set_variant(what["variant"])
    images = {}
    for k, each in enumerate(what["scenes"]):
        R, t = np.array(each["rotation"]), np.array(each["position"])
        image = np.array(mi.render(scene(each, R, t), seed=what["seed"] + k))
        images[str(k)] = image.reshape(image.shape[0], image.shape[1])
    np.savez(out, **images)


if __name__ == "__main__":
    main(*sys.argv[1:])
