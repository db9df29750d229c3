"""A headless Chromium for tests, driven through chromedriver's own protocol, which is plain HTTP and JSON."""

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any

import axe_core_python

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars",
]  # fmt: skip


def available() -> bool:
    return all(shutil.which(program) for program in ("chromium", "chromedriver"))


class Browser:
    """One window. `close` ends the browser and its driver."""

    def __init__(self, profile: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._address = f"http://127.0.0.1:{port}"
        try:
            self._wait_for_driver()
            options = {"args": [*FLAGS, f"--user-data-dir={profile}"], "binary": shutil.which("chromium")}
            logs = {"browser": "ALL", "performance": "ALL"}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": logs}
            found = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        except BaseException:
            self._end_driver()
            raise
        self._session = f"/session/{found['sessionId']}"

    def close(self) -> None:
        try:
            self._call("DELETE", self._session)
        finally:
            self._end_driver()

    def open(self, page: Path | str, width: int = 1280, height: int = 900, scheme: str = "light") -> None:
        """Open a file or an address at a size of the window and in the reader's colour scheme."""
        self.logs("performance")
        self.logs("browser")
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.command(
            "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
        )
        self._call(
            "POST",
            f"{self._session}/url",
            {"url": page if isinstance(page, str) else page.resolve().as_uri()},
        )

    def evaluate(self, code: str, *values: Any) -> Any:
        """The value that the body of a function, ``code``, returns in the page."""
        return self._call("POST", f"{self._session}/execute/sync", {"script": code, "args": list(values)})

    def audit(self) -> list[str]:
        """What axe-core holds against the page as it stands, with the elements that it is about."""
        self.evaluate(_axe())
        found = "return (await axe.run()).violations"
        return self.evaluate(
            f"{found}.map(v => `${{v.id}}: ${{v.nodes.map(n => n.html.slice(0, 150)).join(' | ')}}`)"
        )

    def wait_for(self, code: str) -> None:
        """Wait until ``code`` returns true, half a minute at most."""
        for _ in range(600):
            if self.evaluate(code):
                return
            time.sleep(0.05)
        raise AssertionError(f"never true: {code}")

    def press(self, key: str, control: bool = False) -> None:
        """Press and release one key, by its name in the DOM (``Tab``, ``ArrowRight``), the control key held or not."""
        codes = {
            "Tab": 9,
            "Enter": 13,
            "Escape": 27,
            "End": 35,
            "Home": 36,
            " ": 32,
            "ArrowLeft": 37,
            "ArrowRight": 39,
        }
        for kind in ("rawKeyDown", "keyUp"):
            self.command(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=codes[key],
                modifiers=2 * control,
            )

    def point_at(self, x: float, y: float) -> None:
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def command(self, name: str, **parameters: Any) -> Any:
        """One command of the Chrome DevTools Protocol."""
        return self._call("POST", f"{self._session}/goog/cdp/execute", {"cmd": name, "params": parameters})

    def logs(self, kind: str) -> list[dict[str, Any]]:
        """What was logged since the last call: ``browser`` (the console) or ``performance``."""
        return self._call("POST", f"{self._session}/se/log", {"type": kind})

    def requests(self) -> list[str]:
        """The addresses asked for since the page was opened."""
        messages = [json.loads(entry["message"])["message"] for entry in self.logs("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def picture(self, path: Path) -> None:
        """A PNG of the whole page."""
        width, height = self.evaluate("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        found = self.command("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(found["data"]))

    def _wait_for_driver(self) -> None:
        for _ in range(200):
            try:
                with urllib.request.urlopen(f"{self._address}/status", timeout=5):
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("chromedriver does not answer")

    def _end_driver(self) -> None:
        self._driver.terminate()
        self._driver.wait()

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]


@cache
def _axe() -> str:
    return (Path(axe_core_python.__file__).parent / "axe.min.js").read_text("utf-8")
