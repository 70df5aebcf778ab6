# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Chromium under chromedriver, by the WebDriver protocol: https://www.w3.org/TR/webdriver2/."""
import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess

# By which the protocol marks an element among values.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Shift": "\ue008",
    "PageUp": "\ue00e",
    "PageDown": "\ue00f",
    "End": "\ue010",
    "Home": "\ue011",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}
START_SECONDS = 30
REPLY_SECONDS = 30


class Failure(Exception):
    """What the driver or the page refused, in its words."""


def programs():
    """The paths of chromium and of its driver; None for each that is not installed."""
    return shutil.which("chromium"), shutil.which("chromedriver")


class Browser:
    """One browser without a window; close() ends it and its driver."""

    def __init__(self, folder):
        chromium, driver = programs()
        # In a session of its own, so that nothing of it is left when it hangs.
        self._driver = subprocess.Popen(
            [driver, "--port=0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "HOME": str(folder), "TMPDIR": str(folder)},
            start_new_session=True,
        )
        self._session = None
        try:
            self._connection = http.client.HTTPConnection(
                "127.0.0.1", self._port(), timeout=START_SECONDS
            )
            self._session = self._begin(chromium)
        except BaseException:
            self.close()
            raise

    def _port(self):
        for line in self._driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
        raise Failure("chromedriver ended before it began")

    def _begin(self, chromium):
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        arguments += ["--disable-background-networking", "--disable-component-update"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": chromium, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        reply = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._connection.sock.settimeout(REPLY_SECONDS)
        return reply["sessionId"]

    def _ask(self, method, path, values=None):
        body = None if values is None else json.dumps(values)
        self._connection.request(method, path, body, {"Content-Type": "application/json"})
        reply = self._connection.getresponse()
        value = json.loads(reply.read())["value"]
        if reply.status != 200:
            raise Failure(f"{value['error']}: {value['message']}")
        return value

    def _tell(self, command, **values):
        return self._ask("POST", f"/session/{self._session}/{command}", values)

    def close(self):
        with contextlib.suppress(Exception):
            if self._session:
                self._ask("DELETE", f"/session/{self._session}")
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._driver.pid, signal.SIGKILL)
        self._driver.wait()
        self._driver.stdout.close()

    # ---- the page ----

    def open(self, path):
        self._tell("url", url=path.as_uri())

    def run(self, script, *arguments):
        """What a function of this body returns; elements are Element."""
        return self._tell("execute/sync", script=script, args=list(arguments))

    def find(self, selector):
        return self._tell("element", using="css selector", value=selector)

    def find_all(self, selector):
        return self._tell("elements", using="css selector", value=selector)

    def click(self, selector):
        element = self.find(selector)[ELEMENT]
        self._tell(f"element/{element}/click")

    def developer(self, command, **parameters):
        """A command of the Chrome DevTools protocol."""
        return self._tell("goog/cdp/execute", cmd=command, params=parameters)

    def resize(self, width, height, scale=1):
        self.developer(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def prefer(self, **features):
        """Media features as the user's wishes: prefer(color_scheme="dark")."""
        wishes = [
            {"name": "prefers-" + name.replace("_", "-"), "value": value}
            for name, value in features.items()
        ]
        self.developer("Emulation.setEmulatedMedia", features=wishes)

    def log(self, kind):
        """The entries of "browser" or "performance" since the last call."""
        return self._tell("se/log", type=kind)

    def screenshot(self, path):
        shown = self._ask("GET", f"/session/{self._session}/screenshot")
        path.write_bytes(base64.b64decode(shown))

    # ---- the user ----

    def press(self, *keys):
        """Keys one after another: names of KEYS or characters."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self._tell("actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def drag(self, *points, kind="mouse"):
        """Presses at the first point of the window, goes to the others and lets go."""
        self.drag_fingers(points, kind=kind)

    def drag_fingers(self, *paths, kind="touch"):
        """As drag(), with one finger for each path, at the same time."""
        fingers = []
        for number, (first, *others) in enumerate(paths):
            actions = [move(first), {"type": "pointerDown", "button": 0}]
            actions += [move(point, 50) for point in others]
            actions.append({"type": "pointerUp", "button": 0})
            fingers.append(
                {
                    "type": "pointer",
                    "id": f"{kind}{number}",
                    "parameters": {"pointerType": kind},
                    "actions": actions,
                }
            )
        self._tell("actions", actions=fingers)

    def wheel(self, point, amount):
        """Turns the wheel at a point of the window; a positive amount scrolls down."""
        x, y = map(round, point)
        turn = {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": amount, "duration": 0}
        self._tell("actions", actions=[{"type": "wheel", "id": "wheel", "actions": [turn]}])


def move(point, milliseconds=0):
    x, y = map(round, point)
    return {"type": "pointerMove", "duration": milliseconds, "x": x, "y": y}
