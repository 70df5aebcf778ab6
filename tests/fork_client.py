#!/usr/bin/python3 -SI
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stands for ffmpeg or ffprobe where a program that is tested starts it, and runs it in a fork; see
forked.Broker."""
import os
import signal
import socket
import sys


def request(words):
    """What tests/programs/fork_server.cpp reads: the folder, the number of arguments, these, and the
    environment."""
    return b"".join(os.fsencode(str(word)) + b"\0" for word in words)


def send(words, streams):
    """The status of the run, as of waitpid()."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as broker:
        broker.connect("\0" + os.environ["DNN_TORCH_FORK_BROKER"])
        ours, theirs = socket.socketpair()
        socket.send_fds(broker, [request(words)], [*streams, theirs.fileno()])
    theirs.close()
    return int(ours.recv(64))


def end(status):
    """As the run ended."""
    if os.WIFSIGNALED(status):
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    arguments = [os.environ["DNN_TORCH_FORK_" + os.path.basename(sys.argv[0]).upper()], *sys.argv[1:]]
    # A fork gets the standard streams alone.
    if any(word.startswith("pipe:") and word > "pipe:2" for word in arguments):
        os.execvp(arguments[0], arguments)
    end(send([os.getcwd(), len(arguments), *arguments,
              *(f"{name}={value}" for name, value in os.environ.items())], (0, 1, 2)))
