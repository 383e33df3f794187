"""What each parameter of a robot is, in one sentence: for tables and pages that people read."""

import re
from collections.abc import Mapping
from typing import Any

from gough.core.text import listed
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.mechanism.parameters import Parameter

_MOST = 3
"""Bodies of a group that are named."""
_DRIVES = {
    "r": "Dry friction of {}: an effort against the motion that does not depend on its speed.",
    "v": "Viscous friction of {}: effort against the motion per unit of speed.",
    "o": "Constant effort of {}, such as an offset of its measurement.",
    "J": "Inertia of the rotor of {}, as its coordinate feels it, beyond that of the bodies.",
}
_ARM = "about the motor's axis, with half of both rods of its chain at the elbow"
_OWN: tuple[tuple[str, str], ...] = (
    (r"I_mot(\d)", f"Moment of inertia of motor {{0}} with its arm {_ARM}."),
    (r"i_act(\d?)", f"Moment of inertia of motor{{space}}{{0}}, gear and arm {_ARM}."),
    (r"M_nac", "Mass of the platform: crossbar, both lateral bars and half of the eight rods."),
    (r"I_bc", "Moment of inertia of the crossbar about z, with lateral bars and half of the rods at its ends."),
    (r"m_plate", "Mass of the platform with its payload and half of the six rods."),
    (r"m_([12])", "Mass of half {0} of the platform, with half of both bars and half of the rods of its two chains."),
    (r"S_arm", "First moment of an arm: its mass times the lever of its center, with half of both rods at the elbow."),
    (r"gS_arm(\d?)", "Weight of arm{space}{0} times the lever of its center, with half of both rods at the elbow."),
    (r"m_rod", "Mass of one rod, two in each chain: the inertia of a rod beyond that of its halves at both ends."),
    (r"(?:F_v|f_v|fv_)(\d?)", "Viscous friction of motor{space}{0}: torque against the motion per unit of speed."),
    (r"(?:F_c|f_c|fc_)(\d?)", "Dry friction of motor{space}{0}: a torque against the motion at any speed."),
)
_LINKS = ("proximal link of motor 1", "proximal link of motor 2", "distal link of elbow 1", "distal link of elbow 2")
_FIVE_BAR = {
    "m": "Mass of the {}.",
    "mx": "First moment of the {} along itself: mass times the distance of its center from its inner joint.",
    "my": "First moment of the {} across itself, as seen from its inner joint.",
    "I": "Moment of inertia of the {} about its inner joint.",
}


def parameter_meanings(robot: Any) -> Mapping[str, str]:
    """A sentence for each parameter of a robot, by name; parameters that are not known are left out.

    Examples:
        >>> from gough.robots import H4
        >>> parameter_meanings(H4())["M_nac"]
        'Mass of the platform: crossbar, both lateral bars and half of the eight rods.'
    """
    own = getattr(robot, "robot", robot)
    if isinstance(own, ClosedChain):
        return {parameter.name: meaning(parameter) for parameter in own.parameters}
    found = {name: _own(name, own.name) for name in own.names}
    return {name: text for name, text in found.items() if text}


def meaning(parameter: Parameter) -> str:
    """A sentence on a parameter of a mechanism."""
    of, term = _members(parameter.members), parameter.term
    if term == "m":
        return f"Mass of {of}."
    if term.startswith("s") and len(term) == 2:
        return f"First moment of {of}: mass times the {term[1]} coordinate of its center, in the frame of its joint."
    if term.startswith("I") and len(term) == 3 and term[1] == term[2]:
        return f"Moment of inertia of {of} about the {term[1]} axis of the frame of its joint."
    if term.startswith("I"):
        return f"Product of inertia of {of}, −∫ {term[1]} {term[2]} dm, in the frame of its joint."
    if term in {"cos", "sin"}:
        return f"Cogging of {of}: amplitude of the {'co' * (term == 'cos')}sine part, {term}({parameter.wave:.4g}·q)."
    return _DRIVES[term].format(of)


def _members(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    more = [f"{len(names) - _MOST} more"] if len(names) > _MOST + 1 else []
    return f"each of {listed([*(names[:_MOST] if more else names), *more])}"


def _own(name: str, robot: str) -> str:
    """A sentence on a parameter of a robot with equations of its own."""
    if "five-bar" in robot.lower():
        if name == "m_load":
            return "Mass of the payload at the end point."
        match = re.fullmatch(r"(mx|my|m|I)_?([1-4])", name)
        if match:
            rotor = ", with the rotor" if match[1] == "I" and match[2] in "12" else ""
            return _FIVE_BAR[match[1]].format(_LINKS[int(match[2]) - 1]).replace(".", f"{rotor}.")
    for pattern, text in _OWN:
        match = re.fullmatch(pattern, name)
        if match:
            number = match[1] if match.groups() else ""
            return text.format(number, space=" " if number else "").replace("motor,", "a motor,")
    return ""
