# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sources include what CONTRIBUTING.md allows their folder, and are written in one dialect."""
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import include_graph  # noqa: E402

# ---- includes -----------------------------------------------------------------

TABLE = """
| folder | what is in it | may include |
|---|---|---|
| `include/dnn_torch` | | |
| `plugin/base` | | |
| `plugin/host` | | `base`, `libavutil` |
| `plugin/host/main.cpp` | | `host/upper` |
| `plugin/host/upper` | | `include`, `host` |
"""
TREE = {
    "include/dnn_torch/face.h": "#include <stdint.h>",
    "plugin/base/text.h": "#include <string>\n#include <sys/stat.h>",
    "plugin/host/error.h": '#include "base/text.h"\n#include <libavutil/error.h>',
    "plugin/host/main.cpp": '#include "host/upper/filter.h"',
    "plugin/host/upper/filter.h": '#include "dnn_torch/face.h"\n# include "host/error.h"',
}


def complaints(folder, changes=(), table=TABLE):
    for name, text in {**TREE, **dict(changes), "CONTRIBUTING.md": table}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return include_graph.complaints(folder)


def test_our_sources_follow_the_table():
    assert include_graph.complaints(ROOT) == []
    assert len(list(include_graph.read_includes(ROOT))) > 500


def test_a_tree_that_follows_its_table(tmp_path):
    assert complaints(tmp_path) == []


@pytest.mark.parametrize(
    "path, text, words",
    [
        ("plugin/base/text.h", '#include "host/upper/filter.h"',
         "plugin/base/text.h: `plugin/base` may not include `host/upper` (<host/upper/filter.h>)"),
        ("plugin/base/text.h", '#include "../host/error.h"', "`plugin/base` may not include `host`"),
        ("plugin/base/a.c", "  #  include <libavutil/log.h>", "may not include `libavutil`"),
        ("plugin/host/upper/b.cpp", "#include <torch/version.h>", "may not include `LibTorch`"),
        ("plugin/base/c.cpp", "#include <boost/any.hpp>", "does not know whose header <boost/any.hpp>"),
        ("plugin/base/c.cpp", "#include <unknown.h>", "does not know whose header <unknown.h>"),
        ("plugin/stray/d.cpp", "#include <string>", "no row for its folder"),
    ],
)
def test_what_the_table_does_not_allow(tmp_path, path, text, words):
    found = complaints(tmp_path, {path: text})
    assert words in found[0]
    assert [line for line in found[1:] if not line.startswith("a circle: ")] == []


def test_a_circle_that_the_table_allows(tmp_path):
    table = TABLE.replace("`base`, `libavutil`", "`base`, `libavutil`, `host/upper`")
    (found,) = complaints(tmp_path, {"plugin/host/e.h": '#include "host/upper/filter.h"'}, table)
    assert found == "a circle: plugin/host -> plugin/host/upper -> plugin/host"


def test_a_name_that_nothing_has(tmp_path):
    (found,) = complaints(tmp_path, table=TABLE.replace("`libavutil`", "`libavutil`, `libevutil`"))
    assert found == "plugin/host: the table names `libevutil`, which nothing is"


def test_the_picture_shows_the_table():
    drawn = re.findall(
        r"<title>([^<]+)&#45;&gt;([^<]+)</title>", (ROOT / "docs/folders.svg").read_text()
    )
    graph = include_graph.table_graph(ROOT)
    assert sorted((a.replace("&#45;", "-"), b.replace("&#45;", "-")) for a, b in drawn) == sorted(
        (node, target) for node, targets in graph.items() for target in targets
    ), "scripts/include_graph.py --help says how the picture is drawn"


# ---- dialect ------------------------------------------------------------------

DIALECT = {
    r"\bstd::(size_t|ptrdiff_t|u?int\d+_t)\b": "the name without std::",
    r"\btemplate\s*<\s*typename\b|[<,]\s*typename\s+(\.\.\.\s*)?[A-Z]\w*\s*[,>=]": "class",
    r"\bfor\s*\([^;{}]*;[^;{}]*;[^;{}]*?(\+\+|--)\w+\s*[,)]": "i++",
}
SOURCES = ("benchmarks", "examples", "include", "plugin", "subprojects", "tests")


def other_dialect(text):
    """What is to be written in another way, and in which."""
    return [
        (match[0], instead)
        for pattern, instead in DIALECT.items() for match in re.finditer(pattern, text)
    ]


@pytest.mark.parametrize(
    "text, good",
    [
        ("std::size_t size;", False), ("size_t size;", True),
        ("std::uint8_t byte;", False), ("std::uintptr_t place;", True),
        ("template <typename Body> void f();", False), ("template <class Body> void f();", True),
        ("template <class A, typename B> void f();", False),
        ("template <template <class> class A, typename ...B> void f();", False),
        ("using C = typename B::value_type;", True), ("std::vector<typename B::Item, D>", True),
        ("for (int i = 0; i < n; ++i)", False), ("for (int i = 0; i < n; i++)", True),
        ("for (int i = n; i > 0; --i, j++)", False), ("while (++i < n)", True),
        ("for (int i = 0; ++i < n;)", True),
    ],
)
def test_what_the_dialect_is(text, good):
    assert (other_dialect(text) == []) == good


def test_one_dialect():
    paths = [path for top in SOURCES for path in (ROOT / top).rglob("*")
             if path.suffix in include_graph.SUFFIXES]
    assert len(paths) > 200
    found = {str(path.relative_to(ROOT)): other_dialect(path.read_text()) for path in paths}
    assert {path: words for path, words in found.items() if words} == {}


# ---- one name, one type ----------------------------------------------------------------


TYPE_OR_BRACE = re.compile(
    r"namespace\s*(?P<namespace>[\w:]*)\s*\{"
    r"|(?:struct|class|enum class|enum)\s+(?P<type>\w+)(?:\s+final)?\s*(?::(?!:)[^;{(]*)?\{"
    r"|[{}]")


def types_in(text):
    """(namespace, name) of each type that other sources can see."""
    text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|R"\((?:.|\n)*?\)"', "", text)
    around = []
    for found in TYPE_OR_BRACE.finditer(text):
        if found[0] == "}":
            around = around[:-1]
        elif found["namespace"] is not None:
            around.append(found["namespace"])
        else:
            if found["type"] and all(around) and None not in around:
                yield "::".join(around), found["type"]
            around.append(None)


def test_a_type_is_seen_outside_of_unnamed_namespaces_alone():
    text = """namespace a { namespace { struct B { }; } struct C : D { struct E { }; };
              enum class F { g }; struct C::H { }; // struct I { };
              void j() { struct K { }; } }"""
    assert list(types_in(text)) == [("a", "C"), ("a", "F")]


@pytest.mark.parametrize("part", ["host", "engines/torch", "isolation", "launcher", "model_tool"])
def test_no_two_types_of_a_module_have_one_name(part):
    """Linkers take one of the two's functions for both."""
    homes = {}
    for folder in {part, "base", "devices", "engine_kit"}:
        for path in sorted((ROOT / "plugin" / folder).rglob("*.[hc]*")):
            for name in types_in(path.read_text()):
                if name[0]:  # the engines' own DnnTorchModel are of different modules
                    homes.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    assert len(homes) > 10
    assert not {name: paths for name, paths in homes.items() if len(paths) > 1}
