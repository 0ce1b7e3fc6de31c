"""A headless Chromium driven by its DevTools protocol over a pipe: opens pages, clicks, and notes what goes wrong."""

import base64
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
SECONDS = 60
Json = dict[str, Any]


def find_chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page. faults: errors on the console and of scripts; requested: the address of every request."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._held = b""
        self._last = 0
        self._loaded = 0
        self._session: str | None = None
        self.faults: list[str] = []
        self.requested: list[str] = []

    def start(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Json:
        self._last += 1
        message: Json = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                assert "error" not in answer, f"{method}: {answer['error']}"
                found: Json = answer["result"]
                return found

    def _read(self) -> Json:
        while b"\0" not in self._held:
            ready, _, _ = select.select([self._from], [], [], SECONDS)
            assert ready, "the browser says nothing"
            read = os.read(self._from, 1 << 16)
            assert read, "the browser has ended"
            self._held += read
        line, _, self._held = self._held.partition(b"\0")
        message: Json = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, parameters: Json) -> None:
        if event == "Page.loadEventFired":
            self._loaded += 1
        elif event == "Network.requestWillBeSent":
            self.requested.append(parameters["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.faults.append(str(parameters["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and parameters["type"] in {"error", "warning", "assert"}:
            self.faults.append(str(parameters["args"]))
        elif event == "Log.entryAdded" and parameters["entry"]["level"] in {"error", "warning"}:
            self.faults.append(str(parameters["entry"]))

    def open(self, address: str) -> None:
        before = self._loaded
        self.call("Page.navigate", url=address)
        self._wait(before)

    def _wait(self, before: int) -> None:
        while self._loaded == before:
            self._read()

    def evaluate(self, script: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, text: str, *, within: str = "body") -> None:
        """Clicks the first link or button with a text, and waits for the page it leads to."""
        before = self._loaded
        wanted = json.dumps(text)
        found = self.evaluate(
            f"(() => {{ const one = [...document.querySelectorAll({json.dumps(within)} + ' :is(a, button)')]"
            f".find(e => e.textContent.includes({wanted})); if (one) one.click(); return !!one; }})()"
        )
        assert found, f"no link or button {text!r} on {self.evaluate('location.href')}"
        self._wait(before)

    def fill(self, name: str, value: str) -> None:
        self.evaluate(f"document.querySelector('main [name={name}]').value = {json.dumps(value)}")

    @property
    def text(self) -> str:
        return str(self.evaluate("document.body.innerText"))

    def resize(self, width: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=1200, deviceScaleFactor=1, mobile=width < 600
        )

    def screenshot(self, file: Path) -> None:
        shown = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)
        file.write_bytes(base64.b64decode(shown["data"]))

    def too_wide(self) -> int:
        """By how many pixels the page is wider than the window."""
        return int(self.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def accessibility_faults(self) -> list[str]:
        """What axe-core finds."""
        self.evaluate(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8") + "; 0")
        found = self.evaluate("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations)")
        return [f"{one['id']}: {one['help']} {[node['html'][:200] for node in one['nodes'][:3]]}" for one in found]


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A browser with a profile of its own, which ends with the block."""
    program = find_chromium()
    assert program
    ours_in, theirs_out = os.pipe()
    theirs_in, ours_out = os.pipe()
    script = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
    command = ["bash", "-c", script, "bash", program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    with (profile.parent / "chromium.log").open("wb") as log:
        process = subprocess.Popen(command, pass_fds=(theirs_in, theirs_out), stdout=log, stderr=log)
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        browser = Browser(ours_out, ours_in)
        browser.start()
        yield browser
    finally:
        process.kill()
        process.wait()
        os.close(ours_in)
        os.close(ours_out)
