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
import contextlib
import functools
import os
import pathlib
import socket
import subprocess
import tempfile
import threading

import fork_client

CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fork_client.py")

# Variables that nothing reads while libraries are loaded.  Others have servers of their own.
READ_LATER = {"DNN_TORCH_CACHE", "HOME", "TMPDIR", "XDG_CACHE_HOME", "COLUMNS",
              "PYTEST_CURRENT_TEST"}


def is_wanted():
    return "DNN_TORCH_FORKED" in os.environ and "DNN_TORCH_NO_FORKS" not in os.environ


def engine_of(environment, modules):
    """What a run loads for itself otherwise; "" with an engine that loads quickly."""
    folder = environment.get("DNN_TORCH_MODULE_PATH")
    return os.path.join(modules, "engine-torch.so") if modules and not folder else ""


@functools.cache
def empty_libraries(modules):
    """A folder with the empty libraries that engine-host opens for OpenCV's: ffmpeg uses none of
    these either."""
    folder = tempfile.TemporaryDirectory()
    for path in pathlib.Path(modules, "engine-torch-unused").glob("libopencv_*"):
        pathlib.Path(folder.name, path.name).symlink_to(path.resolve())
    return folder


servers, requests = {}, collections.Counter()


def server(program, environment, modules, fewest=2):
    """Of the program with the filters from `modules`, or as it is.  None before this many runs in an
    environment: many have no second one."""
    read_early = {name: value for name, value in environment.items() if name not in READ_LATER}
    key = (program, modules, *sorted(read_early.items()))
    requests[key] += 1
    if requests[key] >= fewest and key not in servers:
        servers[key] = Server(program, environment, modules)
    return servers.get(key)


class Server:
    """Starts one program again and again."""

    def __init__(self, program, environment, modules):
        self.requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        preloaded = [os.environ["DNN_TORCH_FORKED"]]
        preloaded += [os.path.join(modules, "libdnn_torch_preload.so")] if modules else []
        variables = {**environment, "LD_PRELOAD": ":".join(preloaded),
                     "DNN_TORCH_FORK_SERVER": str(theirs.fileno()),
                     "DNN_TORCH_FORK_ENGINE": engine_of(environment, modules)}
        if modules:
            paths = [empty_libraries(modules).name, environment.get("LD_LIBRARY_PATH")]
            variables["LD_LIBRARY_PATH"] = ":".join(filter(None, paths))
        self.process = subprocess.Popen([program], env=variables, pass_fds=[theirs.fileno()],
                                        stdin=subprocess.DEVNULL)
        theirs.close()
        atexit.register(self.close)

    def close(self):
        self.requests.close()
        self.process.wait()

    def start(self, arguments, environment, folder, streams):
        """The connection of a run that has begun."""
        words = [folder or os.getcwd(), len(arguments), *arguments,
                 *(f"{name}={value}" for name, value in environment.items())]
        ours, theirs = socket.socketpair()
        with theirs:
            self.forward(fork_client.request(words), [*streams, theirs.fileno()])
        return ours

    def forward(self, request, files):
        socket.send_fds(self.requests, [request], files)


class Broker(threading.Thread):
    """Forks for programs that start ffmpeg and ffprobe themselves: fork_client.py, which they start
    instead, asks for them.  `programs` are those by their names."""

    def __init__(self, programs, modules):
        super().__init__(daemon=True)
        self.modules = modules
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.variables = {"DNN_TORCH_FORK_BROKER": f"dnn-torch-forks-{os.getpid()}",
                          **{f"DNN_TORCH_FORK_{name.upper()}": path for name, path in programs.items()}}
        self.socket.bind("\0" + self.variables["DNN_TORCH_FORK_BROKER"])
        self.socket.listen()
        self.start()

    def run(self):
        while True:
            client, _ = self.socket.accept()
            with client:
                request, files, _, _ = socket.recv_fds(client, 1 << 18, 4)
            self.pass_on(request, files)

    def pass_on(self, request, files):
        words = [os.fsdecode(word) for word in request.split(b"\0")[:-1]]
        count = int(words[1])
        environment = dict(word.split("=", 1) for word in words[2 + count:])
        with_filters = "libdnn_torch_preload.so" in environment.pop("LD_PRELOAD", "")
        server(words[2], environment, self.modules if with_filters else None, fewest=1).forward(request, files)
        for each in files:
            os.close(each)


class Process:
    """What support.finish() needs of subprocess.Popen."""

    def __init__(self, args, server, arguments, environment, has_input, folder):
        self.args, self.returncode = args, None
        self.outputs, self.threads = {}, []
        if has_input:
            stdin, self.stdin = os.pipe()
        else:
            stdin, self.stdin = os.open(os.devnull, os.O_RDONLY), None
        pipes = {name: os.pipe() for name in ("stdout", "stderr")}
        theirs = [stdin, *(written for _, written in pipes.values())]
        try:
            self.connection = server.start(arguments, environment, folder, theirs)
        finally:
            for stream in theirs:
                os.close(stream)
        for name, (read, _) in pipes.items():
            self.run(self.read, name, read)

    def run(self, action, *arguments):
        self.threads.append(threading.Thread(target=action, args=arguments, daemon=True))
        self.threads[-1].start()

    def read(self, name, pipe):
        with open(pipe, "rb") as stream:
            self.outputs[name] = stream.read()

    def write(self, pipe, data):
        with contextlib.suppress(BrokenPipeError), open(pipe, "wb") as stream:
            stream.write(data)

    def kill(self):
        self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()

    def communicate(self, data=None, timeout=None):
        if self.stdin is not None:
            self.run(self.write, self.stdin, data or b"")
            self.stdin = None
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
