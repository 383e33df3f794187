"""Headless Chromium by its DevTools protocol over a pipe, with nothing but the standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
_PATIENCE = 30.0
_READY = """document.readyState === "complete"
    && (!document.getElementById("figures") || document.documentElement.dataset.live !== undefined)"""


class Browser:
    """A running browser; `open` makes pages in it."""

    def __init__(self, profile: Path) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # the protocol is spoken on descriptors 3 and 4, which the shell sets up
        command = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, "bash", CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = ours_in, ours_out
        self._rest = b""
        self._last = 0
        self.events = []

    def close(self) -> None:
        try:
            self.call("Browser.close")
        except (OSError, RuntimeError):
            self.process.kill()
        self.process.wait(10)
        os.close(self._in)
        os.close(self._out)

    def call(self, method: str, session: str | None = None, **parameters):
        """Ask for something and wait for the answer; what happens meanwhile is kept in `events`."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(method)
            if answer.get("id") != self._last:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def _next(self, what: str) -> dict:
        end = time.monotonic() + _PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise RuntimeError(f"the browser did not answer to {what} in {_PATIENCE:g} s")
            read = os.read(self._in, 1 << 20)
            if not read:
                raise RuntimeError("the browser has gone")
            self._rest += read
        first, _, self._rest = self._rest.partition(b"\0")
        return json.loads(first)

    @contextmanager
    def open(
        self, path: Path, *, width: int = 1280, dark: bool = False, touch: bool = False, script: bool = True,
        complete: bool = True,
    ):  # fmt: skip
        """A page, with every figure drawn as for printing where it shall be `complete`."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        page("Page.enable")
        page("Runtime.enable")
        page("Log.enable")
        page("Network.enable")
        page("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=touch)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page("Emulation.setEmulatedMedia", features=[scheme])
        if not script:
            page("Emulation.setScriptExecutionDisabled", value=True)
        page("Page.navigate", url=path.as_uri())
        page.wait_for(_READY if script else None)
        if script and complete:
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
        try:
            yield page
        finally:
            self.call("Target.closeTarget", targetId=target)


class Page:
    """One page: evaluate, press, drag, look."""

    def __init__(self, browser: Browser, session: str) -> None:
        self.browser, self.session = browser, session

    def __call__(self, method: str, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression: str):
        """The value of a JavaScript expression; promises are waited for."""
        answer = self("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", expression))
        return answer["result"].get("value")

    def wait_for(self, expression: str | None, patience: float = 15.0) -> None:
        end = time.monotonic() + patience
        while time.monotonic() < end:
            time.sleep(0.02)
            if expression is None:
                with suppress(RuntimeError):  # while it changes from one page to the next
                    self("Page.getNavigationHistory")
                if any(event["method"] == "Page.loadEventFired" for event in self._own()):
                    return
            elif self.evaluate(expression):
                return
        raise RuntimeError(f"waited in vain for {expression}")

    def frame(self) -> None:
        """Wait until what was asked for is drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def place(self, selector: str, across: float = 0.5, down: float = 0.5) -> tuple[float, float]:
        """A place in an element, after it is brought into view."""
        box = self.evaluate(
            f"(e => {{ e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect();"
            f" return [b.left, b.top, b.width, b.height] }})(document.querySelector({json.dumps(selector)}))"
        )
        return box[0] + across * box[2], box[1] + down * box[3]

    def mouse(self, kind: str, x: float, y: float, *, buttons: int = 0, clicks: int = 0, **more) -> None:
        button = "left" if kind in {"mousePressed", "mouseReleased"} or buttons else "none"
        self("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, clickCount=clicks, **more)

    def hover(self, x: float, y: float) -> None:
        self.mouse("mouseMoved", x, y)
        self.frame()

    def click(self, x: float, y: float, clicks: int = 1) -> None:
        for count in range(1, clicks + 1):
            self.mouse("mousePressed", x, y, buttons=1, clicks=count)
            self.mouse("mouseReleased", x, y, clicks=count)
        self.frame()

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 4) -> None:
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, buttons=1, clicks=1)
        for k in range(1, steps + 1):
            at = [a + (b - a) * k / steps for a, b in zip(start, end, strict=True)]
            self.mouse("mouseMoved", *at, buttons=1)
        self.mouse("mouseReleased", *end, clicks=1)
        self.frame()

    def wheel(self, x: float, y: float, turn: float) -> None:
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=turn)
        self.frame()

    def touch(self, kind: str, *points: tuple[float, float]) -> None:
        touches = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        self("Input.dispatchTouchEvent", type=kind, touchPoints=touches)

    def key(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        self("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.frame()

    def screenshot(self, *, whole: bool = True) -> bytes:
        return base64.b64decode(self("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

    @property
    def complaints(self) -> list[str]:
        """Exceptions, console errors and warnings, and refused requests."""
        self("Runtime.evaluate", expression="1")
        found = []
        for event in self._own():
            method, data = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(str(data["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and data["type"] in {"error", "warning", "assert"}:
                found.append(str(data["args"]))
            elif method == "Log.entryAdded" and data["entry"]["level"] in {"error", "warning"}:
                found.append(str(data["entry"]))
        return found

    @property
    def requests(self) -> list[str]:
        """Addresses that the page asked for."""
        self("Runtime.evaluate", expression="1")
        return [e["params"]["request"]["url"] for e in self._own() if e["method"] == "Network.requestWillBeSent"]

    def _own(self) -> list[dict]:
        return [e for e in self.browser.events if e.get("sessionId") == self.session and "method" in e]
