# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A net in another runtime, without a video: one line of JSON with its rate and its start.

peer.py KIND NET HEIGHT WIDTH WORKERS THREADS SECONDS FILE

KIND is onnxruntime or aotinductor.  FILE has the exported or compiled net; if there is none, it is
made, and nothing is measured.  Every worker runs the same frame in a loop, on threads of its own.
"""
import contextlib
import json
import os
import pathlib
import resource
import sys
import threading
import time
import warnings

from settings import NETS

OPSET = 17
warnings.filterwarnings("ignore")


def fail(words):
    sys.exit(f"peer: {words}")


def imported(name, package):
    try:
        return __import__(name)
    except ImportError:
        return fail(f"{package} is not installed")


def export_to_onnx(net, picture, path):
    imported("onnxruntime", "python3-onnxruntime")
    import torch

    options = {"opset_version": OPSET, "input_names": ["x"], "output_names": ["y"]}
    if int(torch.__version__.split(".")[0]) >= 2:
        imported("onnx", "python3-onnx, which the export needs,")
        options["dynamo"] = False
    torch.onnx.export(net, (picture,), path, **options)


def onnxruntime_runs(picture, path, workers, threads):
    """A function for each worker, which runs the net once."""
    runtime = imported("onnxruntime", "python3-onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    samples = {"x": picture.numpy()}
    sessions = [
        runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        for _ in range(workers)
    ]
    return [lambda s=session: s.run(None, samples) for session in sessions]


def inductor():
    import torch

    with contextlib.suppress(ImportError):
        import torch._inductor

        if hasattr(torch._inductor, "aoti_compile_and_package"):
            return torch._inductor
    return fail(f"PyTorch {torch.__version__} has no AOTInductor that makes packages")


def compile_with_inductor(net, picture, path):
    """For this size, with what the filter must know about it."""
    inductor()
    folder = pathlib.Path(__file__).resolve().parent.parent / "models"
    sys.path.insert(0, str(folder))
    import export_model

    program = export_model.exported_program(net, picture, None)
    export_model.write_package(net, picture, path, [(program, None, None)])


def aotinductor_runs(picture, path, workers, _threads):
    import torch

    loaded = [inductor().aoti_load_package(path) for _ in range(workers)]

    def run(compiled):
        with torch.no_grad():
            return compiled(picture)

    return [lambda c=compiled: run(c) for compiled in loaded]


KINDS = {
    "onnxruntime": (export_to_onnx, onnxruntime_runs),
    "aotinductor": (compile_with_inductor, aotinductor_runs),
}


def rate_of(runs, seconds, threads):
    """Frames a second of all workers together, after each has warmed up."""
    counts = [0] * len(runs)
    start = threading.Barrier(len(runs) + 1)
    ended = threading.Event()

    def work(number):
        import torch

        torch.set_num_threads(threads)
        for _ in range(2):
            runs[number]()
        start.wait()
        while not ended.is_set():
            runs[number]()
            counts[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(len(runs))]
    for worker in workers:
        worker.start()
    start.wait()
    started = time.monotonic()
    time.sleep(seconds)
    ended.set()
    for worker in workers:
        worker.join()  # what was begun counts, and its time too
    return sum(counts) / (time.monotonic() - started)


def make(kind, name, picture, path):
    """Under its name when it is complete."""
    import torch

    import make_models

    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name("part-" + path.name)
    with torch.no_grad():
        KINDS[kind][0](make_models.build(name), picture, str(part))
    part.rename(path)


def main():
    kind, name, *numbers, seconds, path = sys.argv[1:]
    height, width, workers, threads = map(int, numbers)
    os.environ["OMP_NUM_THREADS"] = str(threads)
    torch = imported("torch", "python3-torch")
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    picture = torch.rand(1, NETS[name].channels, height, width)
    if not pathlib.Path(path).exists():
        return make(kind, name, picture, pathlib.Path(path))
    started = time.monotonic()
    runs = KINDS[kind][1](picture, path, workers, threads)
    runs[0]()
    first_run_s = time.monotonic() - started  # without the imports
    fps = rate_of(runs, float(seconds), threads)
    kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"fps": fps, "mib": kib / 1024, "first_run_s": first_run_s}))
    return None


if __name__ == "__main__":
    main()
