"""Watching a running robot: events as soon as the identified model no longer holds, with proof where it is proof."""

from gough.watch.events import KINDS, Event
from gough.watch.journal import Journal
from gough.watch.model import WatchedModel
from gough.watch.session import Session
from gough.watch.sources import Channels, open_source
from gough.watch.watcher import Watcher, WatchOptions

__all__ = ["KINDS", "Channels", "Event", "Journal", "Session", "WatchOptions", "WatchedModel", "Watcher", "open_source"]
