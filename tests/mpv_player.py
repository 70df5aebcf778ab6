# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An mpv that is told what to do through its socket."""
import json
import socket
import time

import support


class Player:
    """An mpv with a fake engine.  A test has to close() it."""

    def __init__(self, mpv, clip, folder, *options):
        self.address = folder / "mpv.socket"
        self.log = folder / "mpv.log"
        self.requests = 0
        command = [mpv, "--no-config", "--vo=null", "--ao=null", "--msg-level=all=warn,ffmpeg=v"]
        command += [f"--input-ipc-server={self.address}", *options, clip]
        with self.log.open("w") as log:
            self.process = support.start(
                support.launched(*command), fake_engine=True, stdout=log, stderr=log
            )
        self.socket = self.connect()
        self.lines = self.socket.makefile("r")
        self.wait_for("time-pos")

    def connect(self):
        deadline = time.monotonic() + support.TIME_LIMIT
        while time.monotonic() < deadline and self.process.poll() is None:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(str(self.address))
                connection.settimeout(support.TIME_LIMIT)
                return connection
            except OSError:
                connection.close()
                time.sleep(0.02)
        raise AssertionError(f"no mpv to talk to\n{self.logged()}")

    def read(self):
        try:
            return json.loads(self.lines.readline())
        except (OSError, ValueError):
            raise AssertionError(f"mpv does not answer\n{self.logged()}") from None

    def ask(self, *words):
        self.requests += 1
        request = {"command": words, "request_id": self.requests}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        answer = {}
        while answer.get("request_id") != self.requests:
            answer = self.read()
        return answer

    def tell(self, *words):
        answer = self.ask(*words)
        assert answer["error"] == "success", f"{words}: {answer}\n{self.logged()}"
        return answer.get("data")

    def wait_for(self, what, holds=lambda found: True):
        """Until the property is what holds() accepts; which it is in the end."""
        deadline = time.monotonic() + support.TIME_LIMIT
        found = None
        while time.monotonic() < deadline:
            found = self.ask("get_property", what).get("data")
            if found is not None and holds(found):
                return found
            time.sleep(0.02)
        raise AssertionError(f"{what} stays {found}\n{self.logged()}")

    def wait_for_line(self, text):
        deadline = time.monotonic() + support.TIME_LIMIT
        while text not in self.logged():
            assert time.monotonic() < deadline, f"no {text!r} in\n{self.logged()}"
            time.sleep(0.02)

    def wait_to_go_on(self):
        """A frame is shown that comes after this one."""
        start = self.wait_for("time-pos")
        self.wait_for("time-pos", lambda position: position > start)

    def seek(self, seconds):
        """Goes to that time, and waits until it is there."""
        self.tell("seek", seconds, "absolute+exact")
        for event in ("seek", "playback-restart"):
            while self.read().get("event") != event:
                pass

    def end(self):
        """Of a player that ends by itself, or that was told to; the log."""
        status = self.process.wait(support.TIME_LIMIT)
        assert status == 0, f"exit {status}\n{self.logged()}"
        return self.logged()

    def logged(self):
        return self.log.read_text()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.socket.close()
