# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Model files that nobody should open, made byte by byte.

write_all(FOLDER) makes them, and FOLDER/expected.txt: a line for each with its
name and, behind tabs, what the refusal must say; "ok" where there is none.
The pickles and the code are in the form in which PyTorch writes them but for
the one thing that is wrong.
"""
import pathlib
import struct
import zipfile

# ---- pickles ------------------------------------------------------------------


def text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def integer(value: int) -> bytes:
    return b"\x8a\x08" + struct.pack("<q", value)


def integers(values) -> bytes:
    return b"(" + b"".join(integer(value) for value in values) + b"t"


def tensor(sizes=(1,), strides=(1,), offset=0, count=1, key="0", kind="FloatStorage") -> bytes:
    storage = b"(" + text("storage") + b"ctorch\n" + kind.encode() + b"\n" + text(key) + text("cpu")
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + integer(count) + b"tQ" + integer(offset)
        + integers(sizes) + integers(strides) + b"\x89ccollections\nOrderedDict\n)RtR"
    )


def instance(name: str, **attributes: bytes) -> bytes:
    items = b"".join(text(key) + value for key, value in attributes.items())
    return b"c__torch__\n" + name.encode() + b"\n)\x81}(" + items + b"ub"


def pickled(value: bytes) -> bytes:
    return b"\x80\x02" + value + b"."


ONE_WEIGHT = pickled(instance("M", weight=tensor()))
NO_CONSTANTS = pickled(b")")

# ---- code ---------------------------------------------------------------------


def module(*body: str, attributes: str = "", head: str = "x: Tensor", name: str = "M") -> str:
    statements = "".join(f"    {line}\n" for line in body)
    return (
        f"class {name}(Module):\n"
        '  __parameters__ = ["weight", ]\n  __buffers__ = []\n  weight : Tensor\n'
        f"{attributes}"
        f"  def forward(self: __torch__.{name},\n    {head}) -> Tensor:\n{statements}"
    )


SCALE = "return torch.mul(x, self.weight)"

# ---- files --------------------------------------------------------------------


def records(code=module(SCALE), data=ONE_WEIGHT, constants=NO_CONSTANTS, **more: bytes):
    code = code if isinstance(code, bytes) else code.encode()
    all_records = {
        "data.pkl": data,
        "code/__torch__.py": code,
        "constants.pkl": constants,
        "version": b"3\n",
        "data/0": struct.pack("<f", 2.0),
    }
    for name, content in more.items():
        all_records[name.replace("__", "/")] = content
    return {name: content for name, content in all_records.items() if content is not None}


def write(path: pathlib.Path, *pairs, comment=b"", compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.comment = comment
        for name, content in pairs:
            archive.writestr(f"m/{name}", content)


# What stands between a name and the others is what the refusal must say.
DEEP = 100000


def chain(length: int) -> str:
    return "".join(
        f"def f{i}(x: Tensor) -> Tensor:\n  return torch.neg(__torch__.f{i + 1}(x))\n"
        for i in range(length)
    ) + f"def f{length}(x: Tensor) -> Tensor:\n  return torch.neg(x)\n"


def nested_classes(count: int) -> str:
    return "".join(
        f"class C{i}(Module):\n  __parameters__ = []\n  a : __torch__.C{i + 1}\n" for i in range(count)
    ) + f"class C{count}(Module):\n  __parameters__ = []\n  a : int\n"


def nested_objects(count: int) -> bytes:
    value = instance(f"C{count}", a=integer(1))
    for i in reversed(range(count)):
        value = instance(f"C{i}", a=value)
    return value

CASES = {
    "plain": (records(), "ok"),
    # ---- values
    "tensor_size": (records(data=pickled(instance("M", weight=tensor((1000000,))))), "beyond its storage"),
    "tensor_offset": (records(data=pickled(instance("M", weight=tensor(offset=1)))), "beyond its storage"),
    "tensor_before": (records(data=pickled(instance("M", weight=tensor(offset=-1)))), "beyond its storage"),
    "tensor_stride": (records(data=pickled(instance("M", weight=tensor((2,), (-1,))))), "beyond its storage"),
    "tensor_overflow": (
        records(data=pickled(instance("M", weight=tensor((1 << 40, 1 << 40), (1 << 40, 1))))),
        "beyond its storage",
    ),
    "tensor_without_end": (
        records(data=pickled(instance("M", weight=tensor((1 << 40, 1 << 40), (0, 0))))),
        "beyond its storage",
    ),
    "tensor_short_record": (records(data=pickled(instance("M", weight=tensor(count=1000)))), "more or fewer numbers"),
    "tensor_no_record": (records(data=pickled(instance("M", weight=tensor(key="1")))), "record of numbers is missing"),
    "tensor_other_record": (records(data=pickled(instance("M", weight=tensor(key="../version")))), "record of numbers is missing"),
    "tensor_quantised": (records(data=pickled(instance("M", weight=tensor(kind="QInt8Storage")))), "quantised"),
    "pickle_calls": (records(data=pickled(b"cos\nsystem\n" + text("id") + b"\x85R")), "os.system"),
    "pickle_calls_zero": (records(data=pickled(b"cos\nsys\0tem\n" + text("id") + b"\x85R")), "PyTorch does not write"),
    "pickle_deep": (records(data=pickled(b")" + b"\x85" * 1000000)), "nested too deeply"),
    "pickle_doubled": (
        records(data=pickled(b")q\0" + b"".join(b"h\0h\0\x86q\0" for _ in range(64)))),
        "too many values",
    ),
    "pickle_holds_itself": (records(data=pickled(b"]q\0h\0a")), "PyTorch does not write"),
    "pickle_below_mark": (records(data=pickled(b"K\1(0" + b"\x86")), "PyTorch does not write"),
    "pickle_cut": (records(data=ONE_WEIGHT[:-20]), "PyTorch does not write"),
    "pickle_long_text": (records(data=b"\x80\x02X\xff\xff\xff\xff."), "PyTorch does not write"),
    "pickle_goes_on": (records(data=ONE_WEIGHT + b"x"), "PyTorch does not write"),
    "value_no_tensor": (records(data=pickled(instance("M", weight=integer(7)))), "no Tensor"),
    "value_other_class": (
        records(
            module(SCALE, attributes="  part : __torch__.Big\n")
            + "class Big(Module):\n  __parameters__ = []\n"
            + "".join(f"  a{i} : int\n" for i in range(64))
            + "class Small(Module):\n  __parameters__ = []\n  a0 : int\n",
            pickled(instance("M", weight=tensor(), part=instance("Small", a0=integer(1)))),
        ),
        "holds a value that is no",
    ),
    "value_other_list": (
        records(
            module(SCALE, attributes="  parts : List[Tensor]\n"),
            pickled(instance("M", weight=tensor(), parts=b"ctorch.jit._pickle\nbuild_tensorlist\n(]("
                             + integer(5) + b"etR")),
        ),
        "no ",
    ),
    # ---- code that loading would run
    "default_computed": (
        records(module(SCALE, head='x: Tensor, y: NoneType=torch.save(torch.ones([1]), "written-by-the-model")')),
        "default argument",
    ),
    "default_by_method": (records(module(SCALE, head="x: Tensor, y: int=(CONSTANTS.c0).item()")), "default argument"),
    "default_by_sum": (records(module(SCALE, head="x: Tensor, y: int=1+1")), "default argument"),
    "default_inside": (
        records(module("def f(y: Tensor=torch.from_file(\"/etc/passwd\")):", "  return y", SCALE)),
        "default argument",
    ),
    "default_literals": (
        records(module(SCALE, head='x: Tensor, a: int=-1, b: float=1e-05, c: List[int]=[1, 2], '
                       'd: Optional[str]=None, e: str="a\\n", f: bool=True, '
                       'g: List[int]=annotate(List[int], []), h: float=inf')),
        "ok",
    ),
    "constant_computed": (records(module(SCALE, attributes="  n : Final[int] = torch.ones([1])\n")), "does not write"),
    "constant_of_no_kind": (records(module(SCALE, attributes="  n : int = 3\n")), "does not write"),
    "constant_without_type": (records(module(SCALE, attributes="  n = []\n")), "does not write"),
    "parameters_no_list": (records(module(SCALE).replace('["weight", ]', '"weight"')), "does not write"),
    "constant_literal": (records(module(SCALE, attributes="  n : Final[int] = 3\n")), "ok"),
    "class_runs": (records(module(SCALE, attributes='  torch.save(1, "written-by-the-model")\n')), "does not write"),
    "file_runs": (records('torch.save(1, "written-by-the-model")\n' + module(SCALE)), "does not write"),
    # ---- code that overwhelms a reader
    "code_deep": (records(module("return " + "(" * DEEP + "x" + ")" * DEEP)), "nested too deeply"),
    "code_long_sum": (records(module("y = 1" + "+1" * DEEP, SCALE)), "nested too deeply"),
    "code_long_chain": (records(module("y = x" + ".a" * DEEP, SCALE)), "nested too deeply"),
    "code_calls": (records(module("y = x" + "()" * DEEP, SCALE)), "nested too deeply"),
    "code_negated": (records(module("y = " + "not " * DEEP + "x", SCALE)), "nested too deeply"),
    "code_blocks": (
        records(module(*("  " * i + "if True:" for i in range(400)), "  " * 400 + "pass", SCALE)),
        "nested too deeply",
    ),
    "code_type": (records(module(SCALE, attributes="  a : " + "List[" * DEEP + "int" + "]" * DEEP + "\n")), "nested too deeply"),
    "code_chain_of_calls": (records(chain(5000) + module("return __torch__.f0(x)")), "call one another"),
    "code_chain_of_classes": (
        records(module(SCALE, attributes="  a : __torch__.C0\n") + nested_classes(5000)),
        "call one another",
    ),
    # ---- as much as is taken
    "limit_deep": (records(module("return " + "(" * 200 + "x" + ")" * 200)), "ok"),
    "limit_sum": (records(module("y = 1" + "+1" * 240, SCALE)), "ok"),
    "limit_negated": (records(module("y = " + "not " * 240 + "True", SCALE)), "ok"),
    "limit_blocks": (records(module(*("  " * i + "if True:" for i in range(90)), "  " * 90 + "y = 1",
                                    *("  " * i + "else:\n    " + "  " * i + "  y = 2" for i in reversed(range(90))), SCALE)), "ok"),
    "limit_type": (
        records(module(SCALE, attributes="  a : " + "List[" * 25 + "int" + "]" * 25 + "\n"),
                pickled(instance("M", weight=tensor(), a=b"ctorch.jit._pickle\nrestore_type_tag\n](e"
                                 + text("List[" * 25 + "int" + "]" * 25) + b"\x86R"))),
        "ok",
    ),
    "limit_calls": (records(chain(490) + module("return __torch__.f0(x)")), "ok"),
    "limit_classes": (
        records(module(SCALE, attributes="  a : __torch__.C0\n") + nested_classes(45),
                pickled(instance("M", weight=tensor(), a=nested_objects(45)))),
        "ok",
    ),
    "code_circle": (
        records("def f(x: Tensor) -> Tensor:\n  return __torch__.g(x)\n"
                "def g(x: Tensor) -> Tensor:\n  return __torch__.f(x)\n" + module(SCALE)),
        "need each other",
    ),
    "code_zero": (records(module("y = 1\0", SCALE)), "does not write"),
    "code_comment": (records(module("y = 1 # 2", SCALE)), "a comment"),
    "code_joined": (records(module('y = "a" "b"', SCALE)), "joined"),
    "code_continued": (records(module("y = 1 + \\", "  2", SCALE)), "does not write"),
    "code_unclosed": (records(module("y = (1", SCALE)), "does not write"),
    "code_nowhere": (records(module("return __torch__.nosuch(x)")), "does not contain"),
    "code_bare_torch": (records(module("t = torch", 'return t.from_file("/etc/passwd")')), "torch by itself"),
    "code_bare_ops": (records(module('return getattr(ops, "aten").neg(x)')), "ops by itself"),
    # ---- operators
    "operator_strided": (records(module("return torch.as_strided(x, [9], [1 << 20])")), "aten::as_strided", "allow=as_strided"),
    "operator_set": (records(module("return torch.set_(x, x)")), "aten::set_"),
    "operator_resize": (records(module("return torch.resize_(x, [1 << 30])")), "aten::resize_"),
    "operator_by_method": (records(module("y = x.resize_([1 << 30])", SCALE)), "aten::resize_"),
    "operator_backward": (
        records(module("return torch.adaptive_max_pool2d_backward(x, x, torch.to(x, 4))")),
        "aten::adaptive_max_pool2d_backward",
    ),
    "operator_sobol": (
        records(module("y, z = torch._sobol_engine_draw(x, 1, x, 1, 0, 6)", "return y")),
        "aten::_sobol_engine_draw",
    ),
    "operator_unnamed": (records(module("a, b = ops.prim.TupleUnpack(x)", SCALE)), "prim::TupleUnpack"),
    "operator_of_vision": (records(module("return ops.torchvision.decode_png(x, 0)")), "torchvision", "LibTorch"),
    "operator_of_machine": (
        records(module("return ops.mkldnn_prepacked.conv2d_run(x, self.weight)")),
        "optimize_for_inference",
    ),
    "class_of_processes": (
        records(module("y = __torch__.torch.classes.c10d.TCPStore.__new__(__torch__.torch.classes.c10d.TCPStore)", SCALE)),
        "torch.classes.c10d.TCPStore",
    ),
    "cast_to_other_class": (
        records(
            module("b = unchecked_cast(__torch__.B, self.a)", "return torch.mul(x, b.n63)",
                   attributes="  a : __torch__.A\n")
            + "class A(Module):\n  __parameters__ = []\n  n : int\n"
            + "class B(Module):\n  __parameters__ = []\n"
            + "".join(f"  n{i} : int\n" for i in range(64)),
            pickled(instance("M", weight=tensor(), a=instance("A", n=integer(1)))),
        ),
        "prim::unchecked_cast",
    ),
    "cast_of_optional": (
        records(module("y = unchecked_cast(Tensor, self.maybe)", "return torch.mul(x, y)",
                       attributes="  maybe : Optional[Tensor]\n"),
                pickled(instance("M", weight=tensor(), maybe=tensor()))),
        "ok",
    ),
    "raw_memory": (records(module("return torch.add(torch.empty_like(x), torch.empty([1]))")), "ok"),
    "raises_escapes": (
        records(module('ops.prim.RaiseException("a\\033]0;title\\007\\302\\233red", "builtins.RuntimeError")', "return x")),
        "ok",
    ),
    "operator_scale": (
        records(module("return torch.upsample_bilinear2d(x, [9, 11], False, 1e-10, 1e-10)")),
        "aten::upsample_bilinear2d", "a scale that PyTorch does not write",
    ),
    "operator_several_out": (
        records(module("a = torch.empty_like(x)", "b = torch.to(a, 4)",
                       "v, i = torch.mode(x, 1, True, values=a, indices=b)", "return torch.add(x, v)")),
        "aten::mode", "tensors for several results (out=)",
    ),
    "operator_size_and_scale": (
        records(module("y = torch.__interpolate(torch.zeros([1, 1, 96]), [2048], [0.5], \"linear\", False, False)",
                       "return torch.add(x, torch.sum(y))")),
        "aten::__interpolate", "a size and a scale at once",
    ),
    "operator_usual_scale": (
        records(module("return torch.upsample_bilinear2d(x, [9, 11], False, 0.5, None)")), "ok"),
    # ---- arguments: opened, and then no memory but the tensors' own may matter
    "argument_norm": (records(module(
        "r = torch._weight_norm(torch.ones([800, 2]), torch.ones([1, 1]), 0)",
        "return torch.mul(x, torch.sum(r))")), "ok"),
    "argument_norm_usual": (records(module(
        "r = torch._weight_norm(torch.ones([4, 2]), torch.ones([4, 1]), 0)",
        "return torch.mul(x, torch.sum(r))")), "ok"),
    "argument_grid": (records(module(
        "return torch.grid_sampler_2d(x, torch.zeros([1, 8, 8, 2]), 7, 0, False)")), "ok"),
    "argument_grid_deep": (records(module(
        "r = torch.grid_sampler_3d(torch.ones([1, 3, 4, 4, 4]), torch.zeros([1, 8, 8, 8, 3]), 7, -1, False)",
        "return torch.mul(x, torch.mean(r))")), "ok"),
    "argument_padding": (records(module(
        "return torch.reflection_pad1d(x, annotate(List[int], []))")), "ok"),
    "argument_groups": (records(module(
        "return torch.conv2d(x, torch.ones([4, 1, 3, 3]), None, [1, 1], [0, 0], [1, 1], 4611686018427387904)")),
        "ok"),
    "argument_shuffle": (records(module("return torch.pixel_shuffle(x, 4611686018427387904)")), "ok"),
    "argument_division": (records(module(
        "n = torch.sub(torch.size(x, 0), 1)", "return torch.mul(x, torch.remainder(7, n))")), "ok"),
    "argument_whole_division": (records(module(
        "n = torch.sub(torch.size(x, 0), 1)", "return torch.mul(x, torch.floordiv(7, n))")), "ok"),
    "argument_layers": (records(module(
        "r, h, c = torch.lstm(torch.ones([2, 1, 4]), [torch.ones([1, 1, 4]), torch.ones([1, 1, 4])], "
        "annotate(List[Tensor], []), True, 4611686018427387904, 0., False, False, False)",
        "return torch.mul(x, torch.sum(r))")), "ok"),
    "argument_counts": (records(module(
        "r = torch.bincount(torch.tensor([1000000, 9223372036854775807]), torch.tensor([1., 2.]), 1)",
        "return torch.mul(x, torch.sum(r))")), "ok"),
    "argument_repeats": (records(module(
        "r = torch.repeat_interleave(torch.tensor([9223372036854775807, 9223372036854775807, 3]))",
        "return torch.mul(x, torch.sum(r))")), "ok"),
    "argument_repeats_along": (records(module(
        "r = torch.repeat_interleave(torch.ones([3]), "
        "torch.tensor([9223372036854775807, 9223372036854775807, 3]), 0)",
        "return torch.mul(x, torch.sum(r))")), "ok"),
    "argument_packed": (records(module(
        "r, h = torch.gru(torch.ones([2, 4]), torch.tensor(annotate(List[int], [])), "
        "torch.ones([1, 1, 4]), [torch.ones([12, 4]), torch.ones([12, 4])], False, 1, 0., False, False)",
        "return torch.mul(x, torch.sum(r))")), "ok"),
    **{f"argument_{kind}_{size}_{scale}": (records(module(
        f"r = torch._upsample_{kind}2d_aa(torch.ones([1, 3, 64, 64]), [{size}, {size}], False, {scale}, {scale})",
        "return torch.add(x, torch.sum(r))")), "ok")
       for kind in ("bilinear", "bicubic")
       for size, scale in ((64, 0.9), (64, 0.5), (64, 0.2), (64, 0.01), (66, 1.0), (1, 30.0))},
    # Numbers that are no type, and the low byte of some is that of one.
    **{f"argument_type_{name}_{'minus_' if number < 0 else ''}{abs(number)}": (records(module(
        f"r = {call.format(number)}", "return torch.add(x, torch.sum(torch.to(r, 6)))")), "ok")
       for name, call in (
           ("eye", "torch.eye(3, dtype={})"),
           ("window", "torch.kaiser_window(9, True, dtype={})"),
           ("rand", "torch.rand([3], dtype={})"),
           ("zeros", "torch.zeros([3], dtype={})"),
           ("cast", "torch.to(x, {})"),
           ("sum", "torch.sum(x, dtype={})"))
       for number in (99, -1, 18, 256 + 6)},
    "argument_type_computed": (records(module(
        "r = torch.eye(3, dtype=torch.add(torch.size(x, 0), 98))", "return torch.add(x, torch.sum(r))")), "ok"),
    "argument_type_optional": (records(module(
        "n : Optional[int] = None", "if torch.eq(torch.size(x, 0), 1):", "  n0 : Optional[int] = 99", "else:",
        "  n0 = n", "r = torch.eye(3, dtype=n0)", "return torch.add(x, torch.sum(r))")), "ok"),
    "argument_type_usual": (records(module(
        "n : Optional[int] = None", "if torch.eq(torch.size(x, 0), 1):", "  n0 : Optional[int] = 7", "else:",
        "  n0 = n", "r = torch.eye(3, dtype=n0)", "return torch.mul(x, torch.to(torch.sum(r), 6))")), "ok"),
    "operator_list": (records(module(
        "n = ops.aten._tensor_to_list(torch.zeros([3, 0], dtype=3))", "return torch.add(x, n[0])")),
        "aten::_tensor_to_list"),
    "operator_cell": (records(module(
        "return torch.gru_cell(x, x, torch.ones([2, 8]), torch.ones([2, 8]), None, None)")), "aten::gru_cell"),
    # ---- archives
    "records_without_version": (records(version=None), "lacks a part"),
    "records_two_versions": (records(**{".data__version": b"3\n"}), "lacks a part"),
    "records_without_data": (records(**{"data.pkl": None}), "lacks a part"),
    "records_bad_version": (records(version=b"99999999999999999999\n"), "version of the format"),
    "records_big_endian": (records(byteorder=b"big"), "byte order"),
    "records_ignored": (
        records(**{"model.json": b"{", "code____torch__.py.debug_pkl": b"\x80", "attributes.pkl": b"", "extra__a": b"b"}),
        "ok",
    ),
}


def write_odd_archives(folder: pathlib.Path, expected: dict):
    pairs = list(records().items())

    def odd(name, said, changed, **options):
        path = folder / f"{name}.pt"
        write(path, *changed, **options)
        expected[name] = (said,)
        return path

    odd("zip_deflated", "ok", pairs, compression=zipfile.ZIP_DEFLATED)
    odd("zip_name_twice", "two records of one name", pairs + [("version", b"4\n")])
    odd("zip_name_in_other_case", "two records of one name", pairs + [("VERSION", b"4\n")])
    odd("zip_comment", "damaged", pairs, comment=b"PK\5\6" + bytes(18))
    odd("zip_bomb", "too large", pairs + [("code/a.py", bytes(200 << 20))], compression=zipfile.ZIP_DEFLATED)
    odd("zip_bzip2", "does not use", pairs, compression=zipfile.ZIP_BZIP2)
    whole = (folder / "zip_name_twice.pt").read_bytes()
    plain = odd("zip_plain", "ok", pairs).read_bytes()

    def bytes_as(name, said, data):
        (folder / f"{name}.pt").write_bytes(data)
        expected[name] = (said,)

    bytes_as("zip_before", "no TorchScript", b"#!/bin/sh\n" + plain)
    bytes_as("zip_behind", "damaged", plain + b"\n")
    bytes_as("zip_other_local_name", "damaged", plain.replace(b"m/version", b"m/Version", 1))
    bytes_as("zip_other_content", "damaged", plain.replace(struct.pack("<f", 2.0), struct.pack("<f", 3.0), 1))
    bytes_as("zip_encrypted", "encrypted", plain.replace(b"PK\1\2\x14\3\x14\0\0\0", b"PK\1\2\x14\3\x14\0\1\0", 1))
    bytes_as("flatbuffer", "no TorchScript", b"\x1c\0\0\0PTMF" + bytes(64))
    bytes_as("short_record", "damaged", whole[:40])


def write_all(folder: pathlib.Path):
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, (content, *said) in CASES.items():
        write(folder / f"{name}.pt", *content.items())
        expected[name] = said
    write_odd_archives(folder, expected)
    lines = ["\t".join([name, *said]) for name, said in expected.items()]
    (folder / "expected.txt").write_text("\n".join(lines) + "\n")
