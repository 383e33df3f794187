"""Shooting a calibration: frames are judged, useful ones saved, and the next view is described and drawn."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.files import new_file
from gough.core.png import png_file
from gough.vision.detector import ImageRefused, Sighting, as_gray, find_target
from gough.vision.frames import Frame
from gough.vision.guidance import Guide, View
from gough.vision.marked import marked

PAGE = "live.html"
_EVERY = 15
"""Frames between two pictures of the page, where nothing else happens."""


@dataclass
class Shooting:
    """State of a shooting: what is saved, and what was said last."""

    folder: Path
    guide: Guide
    tell: Callable[[str], None]
    saved: list[str] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)
    """How often frames were not kept, by reason."""
    wanted: View | None = None
    before: Sighting | None = None
    said: str = ""

    @property
    def is_done(self) -> bool:
        """Whether the views so far reach the goal."""
        return self.guide.is_done


def shoot(frames: Iterable[Frame], shooting: Shooting, most: int) -> Shooting:
    """Judge frames until the goal is reached, enough are saved, or no frame is left."""
    for number, frame in enumerate(frames):
        if number == 0:
            _begin(shooting, frame)
        message, seen = _judged(shooting, frame)
        changed = _kind(message) != _kind(shooting.said)
        if changed:
            is_saved = message.startswith("saved") and not shooting.is_done
            shooting.tell(f"{message} {_following(shooting)}" if is_saved else message)
        if changed or number % _EVERY == 0:
            _show(shooting, frame, seen, message)
        shooting.said = message
        if shooting.is_done or len(shooting.saved) >= most:
            break
    return shooting


def _kind(message: str) -> str:
    """A message without its numbers, which change from frame to frame."""
    return message if message.startswith("saved") else re.sub(r"[\d.]+", "", message)


def _begin(shooting: Shooting, frame: Frame) -> None:
    height, width = frame.image.shape[:2]
    shooting.guide = Guide(shooting.guide.target, (width, height), shooting.guide.goal)
    shooting.wanted = shooting.guide.next_view()
    shooting.tell(_following(shooting))


def _following(shooting: Shooting) -> str:
    """The next view, in words."""
    return "" if shooting.wanted is None else f"Next: {shooting.wanted.words}."


def _judged(shooting: Shooting, frame: Frame) -> tuple[str, Sighting | None]:
    """What to say about a frame, and what is seen in it; a useful one is saved."""
    guide = shooting.guide
    if frame.image.shape[1::-1] != guide.size:
        return f"{frame.name}: it has another size than the first one", None
    try:
        seen = find_target(frame.image, guide.target)
    except ImageRefused as refused:
        shooting.before = None
        shooting.reasons[refused.cause or "other"] = shooting.reasons.get(refused.cause or "other", 0) + 1
        return f"not found: {refused}", None
    before, shooting.before = (None if frame.still else shooting.before), seen
    waits = not frame.still and before is None
    fault = "one frame to compare with" if waits else guide.fault(seen, before)
    if fault:
        cause = fault.split(",")[0].split(" by ")[0]
        if not waits:
            shooting.reasons[cause] = shooting.reasons.get(cause, 0) + 1
        return f"not saved, {fault}", seen
    name = f"view-{len(shooting.saved) + 1:03d}.png"
    with new_file(shooting.folder / name) as file:
        file.write(png_file(np.ascontiguousarray(as_gray(frame.image)).astype(np.uint8)))
    shooting.saved.append(name)
    shooting.guide = guide.add(seen)
    shooting.wanted = shooting.guide.next_view()
    error = f"The camera's errors are {shooting.guide.error:.3f} px, the goal is {guide.goal:g} px"
    return f"saved {name}: {len(seen)} points, edges {seen.edge:.1f} px. {error}.", seen


def _show(shooting: Shooting, frame: Frame, seen: Sighting | None, message: str) -> None:
    """Write the page: the frame with the points that are seen and the outline of the next view."""
    outline = None if shooting.wanted is None else _outline(shooting.guide, shooting.wanted)
    picture = b64encode(marked(frame.image, seen, outline)).decode()
    wanted = "The goal is reached." if shooting.is_done else _following(shooting)
    progress = f"{len(shooting.saved)} views, error {shooting.guide.error:.3f} px, goal {shooting.guide.goal:g} px"
    page = f"""<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="1">
<title>gough camera live</title><style>body{{font:18px sans-serif;margin:1em;max-width:60em}}img{{width:100%}}
.next{{font-size:1.4em}}.bar{{height:.6em;background:#ddd}}.bar div{{height:100%;background:#2a7}}</style>
<p class="next">{escape(wanted)}</p><p>{escape(message)}</p>
<div class="bar"><div style="width:{100 * min(1.0, shooting.guide.goal / shooting.guide.error):.0f}%"></div></div>
<p>{escape(progress)}. Match the target with the orange outline; green crosses are points that are seen.</p>
<img alt="The last frame with the points seen and the outline of the next view" src="data:image/jpeg;base64,{picture}">
</html>
"""
    with new_file(shooting.folder / PAGE, overwrite=True) as file:
        file.write(page.encode())


def _outline(guide: Guide, view: View) -> Any:
    """Corners (4, 2) of the sheet in a view, pixels; the first two are its upper edge."""
    w, h = guide.target.size[0] / 2, guide.target.size[1] / 2
    return guide.camera.project(
        view.rotation, view.position, np.array([[-w, h, 0], [w, h, 0], [w, -h, 0], [-w, -h, 0]])
    )
