# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs ffmpeg and model-tool in forks of a process that has loaded LibTorch already.

Loading, and taking it back at the end, are nine tenths of what a test's run costs.  Each run is a
process of its own, with its own arguments, environment, folder, streams and exit code.  What
happens while a program is loaded and after its exit() is for the suites that meson does not set
DNN_TORCH_FORKED for.
"""
import atexit
import collections
import os
import socket
import subprocess
import threading

# Variables that nothing reads while libraries are loaded.  Others have servers of their own.
READ_LATER = {"DNN_TORCH_CACHE", "HOME", "TMPDIR", "XDG_CACHE_HOME", "COLUMNS",
              "PYTEST_CURRENT_TEST"}


def is_wanted():
    return "DNN_TORCH_FORKED" in os.environ and "DNN_TORCH_NO_FORKS" not in os.environ


def engine_of(environment, modules):
    """What a run loads for itself otherwise; "" with an engine that loads quickly."""
    folder = environment.get("DNN_TORCH_MODULE_PATH")
    return os.path.join(modules, "engine-torch.so") if modules and not folder else ""


servers, requests = {}, collections.Counter()


def server(program, environment, modules):
    """Of the program with the filters from `modules`, or as it is.  None for the first run in an
    environment: many have no second one."""
    key = (program, modules, *sorted(item for item in environment.items() if item[0] not in READ_LATER))
    requests[key] += 1
    if requests[key] > 1 and key not in servers:
        servers[key] = Server(program, environment, modules)
    return servers.get(key)


class Server:
    """Starts one program again and again."""

    def __init__(self, program, environment, modules):
        self.lock = threading.Lock()
        self.requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        preloaded = [os.environ["DNN_TORCH_FORKED"]]
        preloaded += [os.path.join(modules, "libdnn_torch_preload.so")] if modules else []
        variables = {**environment, "LD_PRELOAD": ":".join(preloaded),
                     "DNN_TORCH_FORK_SERVER": str(theirs.fileno()),
                     "DNN_TORCH_FORK_ENGINE": engine_of(environment, modules)}
        self.process = subprocess.Popen([program], env=variables, pass_fds=[theirs.fileno()],
                                        stdin=subprocess.DEVNULL)
        theirs.close()
        atexit.register(self.close)

    def close(self):
        self.requests.close()
        self.process.wait()

    def start(self, arguments, environment, folder, streams):
        """The connection of a run that has begun."""
        ours, theirs = socket.socketpair()
        with theirs, self.lock:
            socket.send_fds(self.requests, [b"run"], [theirs.fileno()])
        words = [str(folder or os.getcwd()), str(len(arguments)), *arguments,
                 *(f"{name}={value}" for name, value in environment.items())]
        data = b"".join(os.fsencode(word) + b"\0" for word in words)
        sent = socket.send_fds(ours, [data[:4096]], streams)
        ours.sendall(data[sent:])
        ours.shutdown(socket.SHUT_WR)
        return ours


class Process:
    """What support.finish() needs of subprocess.Popen."""

    def __init__(self, args, server, arguments, environment, has_input, folder):
        self.args, self.returncode = args, None
        self.pipes = {}
        theirs = [os.open(os.devnull, os.O_RDONLY)]
        if has_input:
            os.close(theirs[0])
            theirs[0], self.pipes["stdin"] = os.pipe()
        for name in ("stdout", "stderr"):
            self.pipes[name], other = os.pipe()
            theirs.append(other)
        try:
            self.connection = server.start(arguments, environment, folder, theirs)
        finally:
            for stream in theirs:
                os.close(stream)

    def kill(self):
        self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()

    def communicate(self, data=None, timeout=None):
        outputs = {}

        def read(name):
            with open(self.pipes[name], "rb") as stream:
                outputs[name] = stream.read()

        def write():
            try:
                with open(self.pipes["stdin"], "wb") as stream:
                    stream.write(data or b"")
            except BrokenPipeError:
                pass

        if not hasattr(self, "threads"):
            actions = [(read, ("stdout",)), (read, ("stderr",))]
            actions += [(write, ())] if "stdin" in self.pipes else []
            self.threads = [threading.Thread(target=each, args=given, daemon=True)
                            for each, given in actions]
            self.outputs = outputs
            for thread in self.threads:
                thread.start()
        if self.connection.fileno() >= 0:
            self.connection.settimeout(timeout)
            try:
                status = self.connection.recv(64)
            except socket.timeout:
                raise subprocess.TimeoutExpired(self.args, timeout) from None
            self.connection.close()
            self.returncode = os.waitstatus_to_exitcode(int(status))
        for thread in self.threads:
            thread.join(timeout)
        return self.outputs.get("stdout", b""), self.outputs.get("stderr", b"")
