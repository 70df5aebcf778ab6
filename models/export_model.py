#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a PyTorch model as a file that dnn_torch runs, and tries it there and then.

    export_model.py --from net.py:Net --weights net.pth --out net.pt
    export_model.py --from package.module:make_net --argument scale=2 --script --out net.pt
    export_model.py --from net.py:Net --weights net.pth --aoti --out net.pt2

What was written is read back and compared with the model in Python, at several
sizes.  docs/models.md says what the filter expects of a model.
"""
import argparse
import ast
import copy
import importlib
import importlib.util
import json
import keyword
import logging
import os
import pathlib
import platform
import re
import sys
import warnings
import zipfile

# oneDNN dies of AMX that a hypervisor promises and has not.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
import torch
from torch import nn

# Where checkpoints keep the weights, besides at the top.
WEIGHT_KEYS = ("params_ema", "params", "state_dict", "model_state_dict", "model")

# How far a result may be from PyTorch's own, of 1.0: by other sums, and by
# weights and layers of fewer bits.
TOLERANCE = {None: 1e-4, "float16": 0.02, "bfloat16": 0.06}


class Failure(Exception):
    """Its text is all that the user needs."""


def say(text):
    print(text, flush=True)


def warn(text):
    print(f"WARNING: {text}", file=sys.stderr, flush=True)


# ---- the model in Python -----------------------------------------------------


def import_source(source):
    """A module by its name, or by the path of its file."""
    if not source.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(source)
    path = pathlib.Path(source).resolve()
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    # TorchScript looks the classes of a model up by their module.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def make_model(where, arguments):
    """The module that FILE.py:NAME or MODULE:NAME is, or makes when it is called."""
    source, colon, name = where.rpartition(":")
    if not colon:
        raise Failure(f"--from {where}: write FILE.py:NAME or MODULE:NAME")
    try:
        found = getattr(import_source(source), name)
    except (ImportError, OSError, AttributeError) as error:
        raise Failure(f"--from {where}: {error}") from error
    try:
        made = found(**arguments) if callable(found) and not isinstance(found, nn.Module) else found
    except Exception as error:
        raise Failure(f"--from {where}: {type(error).__name__}: {error}") from error
    if not isinstance(made, nn.Module):
        raise Failure(f"--from {where}: gives a {type(made).__name__} and no torch.nn.Module")
    return made


def find_weights(loaded, key):
    """The state_dict in what a checkpoint holds."""
    if isinstance(loaded, nn.Module):
        return loaded.state_dict()
    for name in [key] if key else WEIGHT_KEYS:
        if isinstance(loaded.get(name), dict):
            return loaded[name]
    if key:
        raise Failure(f"--weights-key {key}: there are only {', '.join(map(str, loaded))}")
    return loaded


def load_weights(model, path, key):
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
        weights = find_weights(loaded, key)
        # DataParallel puts this before each name.
        model.load_state_dict({name.removeprefix("module."): w for name, w in weights.items()})
    except Failure:
        raise
    except Exception as error:
        raise Failure(f"--weights {path}: {error}") from error


# ---- half precision ------------------------------------------------------------


class In16Bits(nn.Module):
    """Gets and gives float32, as the filter does; what is between has 16 bits."""

    def __init__(self, model, dtype):
        super().__init__()
        self.model = model.to(dtype)
        self.is_bfloat16 = dtype == torch.bfloat16

    def forward(self, x):
        x = x.to(torch.bfloat16) if self.is_bfloat16 else x.to(torch.float16)
        return self.model(x).to(torch.float32)


# ---- trying --------------------------------------------------------------------


def picture(channels, size, batch=1):
    width, height = size
    generator = torch.Generator().manual_seed(width * height + batch)
    return torch.rand(batch, channels, height, width, generator=generator)


def picture_of(returned):
    """The tensor that the filter takes, without output=, of what forward() returned."""
    if isinstance(returned, dict):
        returned = list(returned.values())
    while isinstance(returned, (list, tuple)) and returned:
        returned = returned[0]
    if not isinstance(returned, torch.Tensor):
        raise Failure(f"forward() returns {type(returned).__name__}; the filter needs a tensor")
    return returned


def last_line(error):
    """What went wrong; before it, TorchScript says where."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def run(model, x):
    with torch.no_grad():
        return picture_of(model(x))


def check_result(x, result):
    shapes = f"forward() makes {list(result.shape)} of {list(x.shape)}"
    if result.dim() != 4 or len(result) != len(x):
        raise Failure(f"{shapes}; the filter needs [batch, channels, height, width]")
    if result.shape[1] != x.shape[1]:
        raise Failure(f"{shapes}; the filter needs as many channels out as in")
    if not result.is_floating_point():
        raise Failure(f"forward() returns {result.dtype}; the filter needs floats from 0 to 1")
    low, high = float(result.min()), float(result.max())
    if low < -1 or high > 2:
        warn(f"samples from 0 to 1 become {low:.3g} to {high:.3g}, and the filter cuts off what is "
             "beyond 0 and 1: does this model want another range?")  # fmt: skip


def fault_of(reference, result, tolerance):
    """How the result is not the model's own; and the largest difference, of 1.0."""
    if reference.shape != result.shape:
        return f"{list(result.shape)} instead of {list(reference.shape)}", 0.0
    gap = float((reference.float() - result.float()).abs().max())
    # Sums of large samples are no more exact than their size allows.
    if gap <= tolerance * max(1.0, float(reference.abs().max())):
        return None, gap
    return f"samples are off by up to {gap * 255:.3g} of 255", gap


class Trial:
    """File and model at one size: what one of them `refused`, or the file's `fault`."""

    def __init__(self, model, written, x, tolerance):
        self.text = f"{x.shape[3]}x{x.shape[2]}" + (" in a batch of 2" if len(x) > 1 else "")
        self.refused = self.fault = None
        try:
            reference = run(model, x)
        except Exception as error:
            self.refused = f"the model itself refuses: {last_line(error)}"
            return
        self.compare(reference, written, x, tolerance)

    def compare(self, reference, written, x, tolerance):
        try:
            result = run(written, x)
        except Failure as failure:
            self.refused = str(failure)
            return
        except Exception as error:
            self.fault = last_line(error)
            return
        self.fault, gap = fault_of(reference, result, tolerance)
        if not self.fault:
            self.text += f" -> {result.shape[3]}x{result.shape[2]}"
        codes = gap * 255
        self.good = "as in PyTorch" + (f", within {codes:.2g} of 255" if codes > 0.01 else "")

    def __str__(self):
        if self.refused:
            return f"{self.text}: {self.refused}"
        return f"{self.text}: " + (f"NOT THE SAME: {self.fault}" if self.fault else self.good)


def other_sizes(size):
    """One that divides alike, and an odd one: rounding that a trace has fixed shows there."""
    width, height = size
    alike = (height, width) if width != height else (2 * width, height)
    return [alike, (width + 11, height + 5)]


def warn_of_sizes(size, others, traced):
    if any(trial.fault for trial in others):
        warn(f"the file is the model at {size}, but not at every size. "
             + ("A trace fixes what forward() makes of sizes: try --script. " if traced else "")
             + "Otherwise export it with the --size of the video, or scale to this one: "
             f"-vf scale={size},dnn_torch=...")  # fmt: skip
    elif all(trial.refused for trial in others):
        warn(f"the model's size is fixed: it took {size} and neither of two others. "
             f"Scale to it: -vf scale={size},dnn_torch=...")  # fmt: skip
    elif any(trial.refused for trial in others):
        warn("the model does not take every size; ffmpeg will tell where one does not fit")


# ---- exporting -----------------------------------------------------------------


def exported(model, x, script):
    try:
        with torch.no_grad():
            if script:
                return torch.jit.script(model)
            # Not checked here: Trial does, at more sizes.
            return torch.jit.trace(model, x, strict=False, check_trace=False)
    except Exception as error:
        how, other = ("--script", "--trace") if script else ("--trace", "--script")
        text = str(error).strip() if script else last_line(error)
        hint = "" if isinstance(model, In16Bits) else f" ({other} may)"
        raise Failure(f"{how} cannot take this model{hint}: {text}") from error


def in_16_bits(model, name, x):
    """Refuses what could not be tried."""
    wrapped = In16Bits(model, getattr(torch, name))
    try:
        run(wrapped, x)
    except Exception as error:
        raise Failure(f"--half {name}: this PyTorch cannot run the model so: {last_line(error)}; "
                      "leave --half out, and try the filter's own precision=bf16")  # fmt: skip
    return wrapped


# ---- AOTInductor -----------------------------------------------------------------

# Height and width are multiples of a step from the least size on: what is tried, the most general first.
SIZES = ((1, 2), (1, 16), (2, 16), (4, 16), (8, 16), (16, 32), (32, 32), (64, 64))
LARGEST = 8192


def exported_program(model, x, sizes):
    """For `sizes` of height and width, or for those of x alone; None if PyTorch cannot do that."""
    try:
        with torch.no_grad():
            return torch.export.export(model, (x,), dynamic_shapes=sizes and ({2: sizes, 3: sizes},))
    except Exception as error:
        if sizes:
            return None
        raise Failure(f"--aoti cannot take this model (--trace may): {last_line(error)}") from error


def points(guards, step, least):
    """Sizes that show whether the guards hold everywhere: small and large ones, flat and high ones,
    neighbours of the constants in the guards, and each remainder of a division."""
    constants = {int(atom) for guard in guards for atom in guard.atoms() if atom.is_Integer}
    near = {c + d for c in constants for d in (-step, 0, step)} | {c // step * step for c in constants}
    line = {least + step * i for i in range(17)} | near | {640, 1088, LARGEST}
    line = sorted({n // step * step for n in line if least <= n // step * step and n <= LARGEST})
    few = sorted({line[0], line[1], line[len(line) // 2], 640, 1088, LARGEST})
    usual = 64 * max(step // 64, 1)
    return {(a, b) for a in few for b in few} | {(a, usual) for a in line} | {(usual, a) for a in line}


def holds(guard, sizes):
    try:
        return bool(guard.subs(sizes))
    except Exception:  # it depends on something else
        return False


def symbol_of(size, program):
    """The symbol in a size, and the size in units of the symbol: (s, 4) for 4 * s; or None."""
    found = getattr(getattr(size, "node", None), "expr", None)
    if found is None or len(found.free_symbols) != 1:
        return None
    (symbol,) = found.free_symbols
    factor = found / symbol
    return (symbol, int(factor), program.range_constraints[symbol]) if factor.is_Integer else None


def decides_alike(program, step, least):
    """Whether forward() takes the same branches at all such sizes: what it decided by the size of
    the example is in the code, which does not check it again."""
    (name,) = program.graph_signature.user_inputs
    (node,) = (each for each in program.graph.nodes if each.name == name)
    extents = [symbol_of(size, program) for size in node.meta["val"].shape[2:]]
    if None in extents or extents[0][0] == extents[1][0]:
        return False
    for _, factor, bounds in extents:
        if step % factor or bounds.lower > -(-least // step) * step // factor or bounds.upper < LARGEST // factor:
            return False
    shapes = node.meta["val"].fake_mode.shape_env
    guards = [guard.expr.xreplace(shapes.replacements) for guard in shapes.guards]
    (height, down, _), (width, across, _) = extents
    return all(holds(guard, {height: h // down, width: w // across})
               for h, w in points(guards, step, least) for guard in guards)


def programs(model, x):
    """What may be compiled, the most general first: (program, step, least size), without the last
    two for the size of x alone."""
    general = exported_program(model, x, torch.export.Dim.AUTO)
    for step, least in SIZES:
        fits = all(size % step == 0 and size >= least for size in x.shape[2:])
        if general and fits and decides_alike(general, step, least):
            yield general, step, least
            break
    yield exported_program(model, x, None), None, None


def plain_names(names):
    """As the engine takes them: names of Python's in ASCII, different ones."""
    made = []
    for name in names:
        name = re.sub(r"\W", "_", str(name), flags=re.ASCII)[:50]
        if not name or name[0].isdigit() or keyword.iskeyword(name):
            name = "_" + name
        while name in made:
            name += "_"
        made.append(name)
    return made


def output_names(result):
    if isinstance(result, torch.Tensor):
        return ["out"]
    names = list(result) if isinstance(result, dict) else [f"out{i}" for i in range(len(result))]
    values = list(result.values()) if isinstance(result, dict) else result
    if not all(isinstance(each, torch.Tensor) for each in values) or not 0 < len(names) <= 100:
        raise Failure("--aoti takes models that return a tensor, or a tuple, list or dict of them")
    return plain_names(names)


# Of those that /proc/cpuinfo names, what a compiler may use for numbers.
COMPUTING = r"(ssse3|sse4|avx|amx|fma|f16c|bmi|movbe|popcnt|abm|gfni|vaes|asimd|sve|sme|i8mm|bf16|f.*mm)"


def instructions_here():
    with open("/proc/cpuinfo") as about:
        for line in about:
            if line.startswith(("flags", "Features")):
                return {word for word in line.split() if re.match(COMPUTING, word)}
    return set()


def instructions():
    """What AOTInductor's code needs of the processor.  PyTorch's own builds compile for the
    processor that they run on, Debian's for any."""
    from torch._inductor import cpp_builder, cpu_vec_isa
    chosen = cpu_vec_isa.pick_vec_isa()
    flags = " ".join(f"-{flag}" for flag in cpp_builder.CppTorchOptions(chosen).get_cflags())
    used = set(re.findall(r"(?<!\S)-m([\w=.+-]+)", f"{chosen.build_arch_flags()} {flags}"))
    return sorted({flag for flag in used if "=" not in flag}
                  | (instructions_here() if any("=" in flag for flag in used) else set()))


def expect_told(path, told):
    """Compares the commands that compiled the code with what is `told` of it."""
    used = set()
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            if name.endswith(".cpp"):
                used |= set(re.findall(r" -m([\w=.+-]+)(?=\s)", package.read(name).decode()))
    if {flag for flag in used if "=" not in flag} - set(told) or (used and not told):
        raise Failure(f"--aoti: the code was compiled for other instructions than PyTorch says: {used}")


def compile_program(program, facts, path):
    try:
        torch._inductor.aoti_compile_and_package(
            program, package_path=str(path),
            inductor_configs={"aot_inductor.metadata": {"dnn_torch": json.dumps(facts)},
                              "cpp.dynamic_threads": True})  # fmt: skip
    except Exception as error:
        return str(error).partition("\n")[0] or type(error).__name__
    return None


def write_package(model, x, path, candidates=None):
    """Compiles the model, with what the engine must know about the code and cannot read in it."""
    with torch.no_grad():
        outputs = output_names(model(x))
    told = instructions()
    for program, step, least in candidates or programs(model, x):
        if program.graph_signature.buffers_to_mutate:
            raise Failure("--aoti cannot take this model: forward() changes it; use --script")
        (name,) = plain_names(program.graph_signature.user_inputs)
        shape, symbols = list(x.shape), {}
        if step:
            shape[2:] = [{"symbol": symbol, "times": step} for symbol in ("height", "width")]
            symbols = dict.fromkeys(("height", "width"), [-(-least // step), LARGEST // step])
        facts = {"libtorch": re.match(r"\d+\.\d+\.\d+", torch.__version__)[0],
                 "machine": platform.machine(), "instructions": told, "symbols": symbols,
                 "inputs": [{"name": name, "type": "float32", "shape": shape}], "outputs": outputs}
        fault = compile_program(program, facts, path)
        if not fault:
            expect_told(path, told)
            return facts
    raise Failure(f"--aoti: PyTorch cannot compile this model: {fault}")


class Package:
    """The compiled model; it takes the sizes that it was compiled for, and no others."""

    def __init__(self, path, facts):
        self.run = torch._inductor.aoti_load_package(str(path))
        self.facts = facts

    def takes(self, shape):
        for extent, size in zip(self.facts["inputs"][0]["shape"], shape):
            if isinstance(extent, int):
                if extent != size:
                    return False
                continue
            symbol, rest = divmod(size, extent["times"])
            least, most = self.facts["symbols"][extent["symbol"]]
            if rest or not least <= symbol <= most:
                return False
        return True

    def __call__(self, x):
        if not self.takes(x.shape):
            raise Failure("not compiled for that")
        return self.run(x)


def try_out(options, reference, written):
    """Says at which sizes the file is the model."""
    tolerance = TOLERANCE[options.half]

    def trial(size, batch=1):
        x = picture(options.channels, size, batch)
        return Trial(reference, written, x, tolerance)

    first, batch = trial(options.size), trial(options.size, 2)
    others = [trial(size) for size in other_sizes(options.size)]
    for each in (first, *others, batch):
        say(f"  {each}")
    # A package says which sizes it takes; it must be the model at all of them.
    if first.fault or (options.aoti and any(trial.fault for trial in others)):
        raise Failure("the exported model does not give the model's own results; not written")
    warn_of_sizes("{}x{}".format(*options.size), others, not options.script and not options.aoti)
    if batch.fault or batch.refused:
        warn("it takes one picture at a time: leave batch_size at 1")


def export(options, model):
    x = picture(options.channels, options.size)
    try:
        result = run(model, x)
    except Failure:
        raise
    except Exception as error:
        raise Failure("the model fails at {}x{}; name a size that it takes with --size: ".format(
            *options.size) + last_line(error)) from error  # fmt: skip
    check_result(x, result)
    # The comparison is with full precision, so that it tells what 16 bits cost.
    reference = copy.deepcopy(model) if options.half else model
    wrapped = in_16_bits(model, options.half, x) if options.half else model
    part = options.out.with_name(f"{options.out.stem}.part{options.out.suffix}")
    try:
        if options.aoti:
            facts = write_package(wrapped, x, part)
            try_out(options, reference, Package(part, facts))
        else:
            torch.jit.save(exported(wrapped, x, options.script), str(part))
            try_out(options, reference, torch.jit.load(part, map_location="cpu"))
        part.replace(options.out)
    finally:
        part.unlink(missing_ok=True)


# ---- the command line ------------------------------------------------------------


def parse_size(text):
    width, height = map(int, text.split("x"))
    if width < 1 or height < 1:
        raise ValueError
    return width, height


def parse_argument(text):
    """NAME=VALUE, a number or whatever else Python writes so; a string otherwise."""
    name, value = text.split("=", 1)
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def parse_command_line():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--from", dest="source", required=True, metavar="WHERE:NAME",
        help="a class, a function or a module: FILE.py:NAME or MODULE:NAME")
    add("--argument", type=parse_argument, action="append", default=[], metavar="NAME=VALUE",
        help="what the class or function is called with; may be repeated")
    add("--weights", metavar="FILE", help="a state_dict, or a checkpoint that holds one")
    add("--weights-key", metavar="KEY", help="under which key the checkpoint has it")
    add("--channels", type=int, choices=(1, 3), default=3, help="3: RGB (default); 1: luma")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--trace", dest="script", action="store_false",
                     help="record one run; the default")
    how.add_argument("--script", action="store_true", help="translate forward() itself")
    how.add_argument("--aoti", action="store_true",
                     help="compile it with AOTInductor (PyTorch 2.6 or later; a .pt2): code for this "
                     "PyTorch and this processor, which runs with allow=compiled_code")
    add("--half", nargs="?", const="float16", choices=("float16", "bfloat16"),
        help="weights and layers of 16 bits")
    add("--size", type=parse_size, default=(64, 48), metavar="WxH",
        help="of the pictures to trace and to try with (64x48)")
    add("--out", type=pathlib.Path, required=True, help="the file to write")
    parser.set_defaults(script=False)
    return parser.parse_args()  # fmt: skip


def main():
    options = parse_command_line()
    if options.aoti and options.out.suffix != ".pt2":
        print("export_model.py: --out: the name of such a package ends with .pt2", file=sys.stderr)
        return 1
    # PyTorch's are about how it was asked; whether the file is good is found out here.
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    try:
        model = make_model(options.source, dict(options.argument))
        if options.weights:
            load_weights(model, options.weights, options.weights_key)
        export(options, model.float().eval().requires_grad_(False))
    except Failure as failure:
        print(f"export_model.py: {failure}", file=sys.stderr)
        return 1
    count = sum(parameter.numel() for parameter in model.parameters())
    say(f"{options.out}: {count} parameters, {options.out.stat().st_size} bytes. To use it:")
    allow = ":allow=compiled_code" if options.aoti else ""
    say(f"  dnn-torch run ffmpeg -i in.mp4 -vf dnn_torch={options.out}{allow} out.mp4")
    return 0


if __name__ == "__main__":
    sys.exit(main())
