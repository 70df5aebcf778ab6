# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Graph strings as ffmpeg takes them, and ffmpeg's own words where it does not.

The invert model does to rgb24 what ffmpeg's negate does, so negate in the same
place of the same graph says what has to come out.
"""
import functools
import re
import shutil

import pictures
import pytest
import support

WIDTH, HEIGHT, FRAMES = 32, 24, 8

OPTIONS = (
    "model", "device", "input", "output", "async", "nireq", "batch_size", "optimize",
    "workers", "threads", "engine", "dnn_backend", "backend_configs", "options",
)  # fmt: skip


@pytest.fixture(scope="session")
def source():
    return pictures.raw(pictures.make_frames("rgb24", WIDTH, HEIGHT, FRAMES), "rgb24")


@pytest.fixture
def model(quick_model):
    return quick_model


def md5(source, *arguments, plain=False):
    if plain:
        return plain_md5(source, arguments)
    return md5_of(source, arguments)


def md5_of(source, arguments, **options):
    result = support.succeed(
        *pictures.raw_input("rgb24", WIDTH, HEIGHT),
        *arguments,
        *("-pix_fmt", "rgb24", "-f", "framemd5", "-"),
        stdin=source,
        **options,
    )
    text = support.without_versions(result.stdout)
    assert re.search(r"^0,", text, re.MULTILINE), str(result)
    return text


@functools.cache
def plain_md5(source, arguments):
    """Most graphs are compared with the same few of ffmpeg's own."""
    return md5_of(source, arguments, plain=True)


def assert_same(source, arguments, replacement, *, own):
    """`FILTER` in the arguments is replaced by our filter and by ffmpeg's, with the same result."""
    ours = md5(source, *[word.replace("FILTER", own) for word in arguments])
    theirs = md5(source, *[word.replace("FILTER", replacement) for word in arguments], plain=True)
    assert ours == theirs


SIMPLE = {
    "alone": "FILTER",
    "in a chain": "hflip,FILTER,vflip",
    "twice": "FILTER,hflip,FILTER,vflip",
    "three times": "FILTER,FILTER,FILTER",
    "white space": "  hflip , FILTER , vflip ",
    "line ends": "hflip,\n  FILTER,\n  vflip\n",
    "in and out": "[in]FILTER[out]",
    "in alone": "[in]hflip,FILTER",
    "out alone": "FILTER,hflip[out]",
    "labels of its own": "[in]FILTER[a];[a]hflip[out]",
    "sws_flags": "sws_flags=bicubic;FILTER",
    "sws_flags before labels": "sws_flags=bicubic+accurate_rnd;[in]FILTER,hflip[out]",
    "split and stack": "split[a][b];[a]FILTER[x];[b]hflip[y];[x][y]hstack",
    "split inside": "hflip,split=2[a][b];[a]FILTER,vflip[x];[b][x]vstack",
    "chain ends at a semicolon": "FILTER[a];[a]null",
    "closed early inside": "split[a][b];[a]FILTER,trim=end_frame=3,nullsink;[b]FILTER",
    "loop": "FILTER,loop=loop=2:size=3:start=1",
    "looped before": "loop=loop=2:size=3:start=1,FILTER",
    "fewer frames": "FILTER,select='mod(n,2)'",
    "reversed": "FILTER,reverse",
    "a commented look-alike": "drawbox=color=red:x=1:y=1:w=4:h=4,FILTER",
}


@pytest.mark.parametrize("graph", SIMPLE.values(), ids=SIMPLE.keys())
def test_vf(need, model, source, graph):
    need(filters=filters_of(graph))
    own = support.dnn(model("invert"))
    assert_same(source, ["-vf", graph, "-fps_mode", "passthrough"], "negate", own=own)


def filters_of(graph):
    """The filters of ffmpeg's own in a graph."""
    known = "hflip vflip split hstack vstack null nullsink trim loop select reverse drawbox".split()
    return {name for name in known if re.search(rf"\b{name}\b", graph)}


COMPLEX = {
    "labels": "[0:v]FILTER[v]",
    "no labels": "FILTER",
    "stream without type": "[0]FILTER[v]",
    "sws_flags": "sws_flags=bicubic;[0:v]FILTER[v]",
    "two instances side by side": (
        "[0:v]split[a][b];[a]FILTER[x];[b]hflip,FILTER[y];[x][y]hstack[v]"
    ),
    "two instances one behind the other": "[0:v]FILTER[a];[a]hflip,FILTER[v]",
    "four instances": (
        "[0:v]split=4[a][b][c][d];[a]FILTER[e];[b]FILTER,hflip[f];[c]FILTER[g];[d]FILTER,vflip[h];"
        "[e][f]hstack[i];[g][h]hstack[j];[i][j]vstack[v]"
    ),
}


@pytest.mark.parametrize("graph", COMPLEX.values(), ids=COMPLEX.keys())
def test_filter_complex(need, model, source, graph):
    need(filters=filters_of(graph))
    output = ["-map", "[v]"] if "[v]" in graph else []
    own = support.dnn(model("invert"), nireq=4)
    assert_same(source, ["-filter_complex", graph, *output], "negate", own=own)


def test_filter_complex_with_libtorch(need, models, source):
    graph = COMPLEX["four instances"]
    need(filters=filters_of(graph))
    own = support.dnn(models / "invert.pt", nireq=4)
    assert_same(source, ["-filter_complex", graph, "-map", "[v]"], "negate", own=own)


def test_filter_complex_script(model, source, tmp_path):
    option = "-/filter_complex" if support.ffmpeg_major() >= 7 else "-filter_complex_script"
    graph = tmp_path / "graph.txt"
    graph.write_text(f"[0:v]\n{support.dnn(model('invert'))}\n[v]\n")
    assert md5(source, option, graph, "-map", "[v]") == md5(source, "-vf", "negate", plain=True)


def test_named_instances(model, source):
    chain = (
        f"{support.dnn(model('invert'), 'first')},hflip,{support.dnn(model('invert'), 'second')}"
    )
    assert md5(source, "-vf", chain) == md5(source, "-vf", "hflip", plain=True)


SPELLINGS = {
    "positional": "dnn_torch={}",
    "positional then named": "dnn_torch={}:nireq=2",
    "positional twice": "dnn_torch={}:cpu",
    "named": "dnn_torch=model={}",
    "named in another order": "dnn_torch=nireq=2:async=1:model={}",
    "quoted": "dnn_torch='{}'",
    "quoted value": "dnn_torch=model='{}':nireq='2'",
    "partly quoted": "dnn_torch=mo'del'={}",
    "spaces around": "dnn_torch= model = {} : nireq = 2 ",
    "instance": "dnn_torch@a={}",
    "instance with a digit": "dnn_torch@up2=model={}",
    "device": "dnn_torch=model={}:device=cpu",
    "booleans in words": "dnn_torch=model={}:async=false",
    "booleans in other words": "dnn_torch=model={}:async=yes",
    "engine": "dnn_torch=model={}:engine=torch",
    "zeros are automatic": "dnn_torch=model={}:nireq=0:workers=0:threads=0",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_spelling(model, source, spelling):
    graph = spelling.format(support.escape_graph(model("invert")))
    assert md5(source, "-vf", graph) == md5(source, "-vf", "negate", plain=True)


FROM_DNN_PROCESSING = {
    "dnn_backend": "dnn_backend=torch:model={}",
    "names": "dnn_backend=torch:model={}:input=x:output=y",
    "async": "dnn_backend=torch:model={}:async=0",
    "options": "dnn_backend=torch:model={}:options='nireq=2&batch_size=2'",
    "backend_configs": "dnn_backend=torch:model={}:backend_configs='nireq=4&async=1'",
    "one config": "dnn_backend=torch:model={}:backend_configs=device=cpu",
    "optimize": "dnn_backend=torch:model={}:optimize=1:nireq=2",
}


@pytest.mark.parametrize("arguments", FROM_DNN_PROCESSING.values(), ids=FROM_DNN_PROCESSING.keys())
def test_command_line_of_dnn_processing(model, source, arguments):
    """Only the filter's name changed."""
    graph = f"dnn_torch={arguments.format(support.escape_graph(model('invert')))}"
    assert md5(source, "-vf", graph) == md5(source, "-vf", "negate", plain=True)


def test_two_names_of_one_option(model, source):
    """Neither is dropped silently."""
    graph = f"dnn_torch={support.escape_graph(model('invert'))}:backend_configs=nireq=2:options=async=0"
    result = support.ffmpeg(*pictures.raw_input("rgb24", WIDTH, HEIGHT), "-vf", graph, "-f", "null",
                            "-", stdin=source)  # fmt: skip
    support.assert_fails_clearly(result, "backend_configs and options", "give one")


@pytest.mark.parametrize(
    "name",
    [
        "with spaces", "colon:colon", "comma,comma", "semi;colon", "it's", "[brackets]",
        "back\\slash", "percent%20", "equals=sign", "@at", 'double"quote', "ümläut-模型",
        "dnn_torch=model", "dnn_torch,dnn_torch", "#hash", "all:of,it;'[x]\\ =",
    ],
)  # fmt: skip
@pytest.mark.parametrize("way", ["-vf", "-filter_complex"])
def test_path_needs_escapes(model, source, tmp_path, name, way):
    path = tmp_path / f"{name}.pt"
    shutil.copy(model("invert"), path)
    assert md5(source, way, support.dnn(path)) == md5(source, "-vf", "negate", plain=True)


@pytest.mark.parametrize(
    "name", ["with spaces", "comma,comma", "semi;colon", "[brackets]", "dnn_torch=x,y"]
)
def test_path_in_quotes(model, source, tmp_path, name):
    path = tmp_path / f"{name}.pt"
    shutil.copy(model("invert"), path)
    assert md5(source, "-vf", f"dnn_torch=model='{path}'") == md5(
        source, "-vf", "negate", plain=True
    )


def test_other_filters_keep_their_escapes(need, model, source):
    """A text that looks like our filter is still a text."""
    need(filters=["metadata"])
    say = "metadata=mode=add:key=a:value='dnn_torch=model=x,[b];c'"
    show = "metadata=mode=print:key=a:file=-"
    arguments = ["-f", "null", "-"]
    head = pictures.raw_input("rgb24", WIDTH, HEIGHT)
    ours = support.succeed(
        *head, "-vf", f"{say},{support.dnn(model('invert'))},{show}", *arguments, stdin=source
    )
    theirs = support.succeed(
        *head, "-vf", f"{say},negate,{show}", *arguments, stdin=source, plain=True
    )
    assert ours.stdout == theirs.stdout and b"dnn_torch=model=x" in ours.stdout


# ---- sources and other programs' ways in --------------------------------------


def test_lavfi_input(need, model):
    need(filters=["testsrc", "format"], demuxers=["lavfi"])
    head, tail = "testsrc=s=64x48:r=25:d=0.4,format=rgb24", ["-f", "framemd5", "-"]
    ours = support.succeed("-f", "lavfi", "-i", f"{head},{support.dnn(model('invert'))}", *tail)
    theirs = support.succeed("-f", "lavfi", "-i", f"{head},negate", *tail, plain=True)
    assert ours.stdout == theirs.stdout and ours.stdout.count(b"\n0,") == 10


def test_lavfi_input_with_outputs(need, model):
    need(filters=["testsrc", "format", "split"], demuxers=["lavfi"])
    graph = "testsrc=s=64x48:r=25:d=0.4,format=rgb24,split[a][b];[a]FILTER[out0];[b]hflip[out1]"
    tail = ["-map", "0:0", "-map", "0:1", "-f", "framemd5", "-"]
    own = graph.replace("FILTER", support.dnn(model("invert")))
    ours = support.succeed("-f", "lavfi", "-i", own, *tail)
    theirs = support.succeed(
        "-f", "lavfi", "-i", graph.replace("FILTER", "negate"), *tail, plain=True
    )
    assert ours.stdout == theirs.stdout and ours.stdout.count(b"\n1,") == 10


@pytest.mark.parametrize("end", [["-t", "0.4"], ["-frames:v", "10"]], ids=["t", "frames"])
@pytest.mark.parametrize(
    "options", [{}, {"nireq": 8, "workers": 2}, {"async": 0}, {"batch_size": 4}], ids=str
)
def test_endless_source(need, model, end, options):
    need(filters=["testsrc", "format"], demuxers=["lavfi"])
    source = ["-f", "lavfi", "-i", "testsrc=s=64x48:r=25"]
    own = f"format=rgb24,{support.dnn(model('invert'), **options)}"
    ours = support.succeed(*source, "-vf", own, *end, "-f", "framemd5", "-")
    theirs = support.succeed(
        *source, "-vf", "format=rgb24,negate", *end, "-f", "framemd5", "-", plain=True
    )
    assert ours.stdout == theirs.stdout and ours.stdout.count(b"\n0,") == 10


def test_endless_graph(need, model):
    need(filters=["testsrc", "format"])
    graph = "testsrc=s=64x48:r=25,format=rgb24,FILTER[v]"
    tail = ["-map", "[v]", "-frames:v", "10", "-f", "framemd5", "-"]
    own = graph.replace("FILTER", support.dnn(model("invert"), nireq=8))
    ours = support.succeed("-filter_complex", own, *tail)
    theirs = support.succeed(
        "-filter_complex", graph.replace("FILTER", "negate"), *tail, plain=True
    )
    assert ours.stdout == theirs.stdout and ours.stdout.count(b"\n0,") == 10


@pytest.mark.parametrize("options", [{"async": 0}, {"nireq": 8}, {"batch_size": 4}], ids=str)
def test_branch_that_closes_early(need, model, source, tmp_path, options):
    need(filters=["split", "trim", "null"])
    graph = "[0:v]split[a][b];[a]FILTER,trim=end_frame=5[x];[b]null[y]"
    outputs = {}
    for kind, name in (("ours", support.dnn(model("invert"), **options)), ("theirs", "negate")):
        short, whole = tmp_path / f"{kind}-short", tmp_path / f"{kind}-whole"
        support.succeed(
            *pictures.raw_input("rgb24", WIDTH, HEIGHT),
            *("-filter_complex", graph.replace("FILTER", name)),
            *("-map", "[x]", "-f", "framemd5", short, "-map", "[y]", "-f", "framemd5", whole),
            stdin=source,
            plain=kind == "theirs",
        )
        outputs[kind] = [support.without_versions(path.read_text()) for path in (short, whole)]
    assert outputs["ours"] == outputs["theirs"]
    assert [text.count("\n0,") for text in outputs["ours"]] == [5, FRAMES]


def test_two_outputs_of_one_filter(need, model, source):
    """A plain filter graph for each of two files of one run."""
    own = support.dnn(model("invert"))
    result = support.succeed(
        *pictures.raw_input("rgb24", WIDTH, HEIGHT),
        *("-vf", own, "-f", "framemd5", "-", "-vf", f"{own},hflip", "-f", "null", "-"),
        stdin=source,
    )
    assert support.without_versions(result.stdout) == md5(source, "-vf", "negate", plain=True)


# ---- what ffmpeg says -----------------------------------------------------------


def test_listed_once(need):
    listing = support.succeed("-filters").stdout.decode()
    ours = re.findall(r"^ *(\S+) dnn_torch +(\S+) +(.*)$", listing, re.MULTILINE)
    assert len(ours) == 1, ours
    flags, pads, description = ours[0]
    assert flags.startswith("T") and pads == "V->V" and description
    # A patched ffmpeg is plain where it has no path to look in.
    plain = support.succeed("-filters", plain=True, env={"FFMPEG_FILTER_PATH": ""}).stdout.decode()
    assert set(plain.splitlines()) < set(listing.splitlines())


def test_not_listed_without_launcher():
    if support.PATCHED:
        pytest.skip("the patched build always offers it")
    listing = support.succeed("-filters", plain=True).stdout.decode()
    assert "dnn_torch" not in listing


def test_help_shows_every_option():
    text = support.succeed("-h", "filter=dnn_torch").stdout.decode()
    if support.PATCHED:  # tells first, at every level under -h, which modules it opened
        text = text[text.index("Filter dnn_torch\n") :]
    assert text.startswith("Filter dnn_torch\n")
    shown = dict(re.findall(r"^ +-?(\w+) +<\w+> +[\w.]+ *(.*)$", text, re.MULTILINE))
    assert set(OPTIONS) <= set(shown)
    assert all(shown[name] for name in OPTIONS), "an option without a description"
    assert "timeline" in text


def test_full_help_shows_every_option():
    text = support.succeed("-h", "full").stdout.decode()
    sections = re.findall(r"^dnn_torch AVOptions:\n((?: .*\n)+)", text, re.MULTILINE)
    assert len(sections) == 1
    assert set(OPTIONS) <= set(re.findall(r"^ +-?(\w+) +<", sections[0], re.MULTILINE))
    assert "drawbox AVOptions:" in text or "fade AVOptions:" in text


def normalised(text, *names):
    """An error text less addresses, and with one word for the filter."""
    text = re.sub(r"@ 0x[0-9a-f]+", "@ ADDRESS", text)
    text = re.sub(r"\[(?:fatal|error|warning)\] ", "", text)
    for name in names:
        text = text.replace(name, "FILTER")
    lines = text.splitlines()
    noise = ("UCX", "cpuinfo", "Input #", "Stream #", "Duration")
    return [line.rstrip() for line in lines if line and not any(word in line for word in noise)]


# FILTER is our filter with a model, or negate; NAME is the filter's name alone.
WRONG = {
    "unknown option": "NAME=nosuch=1",
    "unknown option in a chain": "hflip,NAME=nosuch=1,vflip",
    "unknown option of a named instance": "NAME@x=nosuch=1",
    "unknown option of another": "FILTER,hflip=nosuch=1",
    "unknown option in an open quote": "NAME=nosuch='1",
    "unknown filter alone": "nosuch",
    "unknown filter before": "nosuch,FILTER",
    "unknown filter behind": "FILTER,nosuch=a=b",
    "unknown filter that begins like ours": "NAME_nosuch",
    "unknown filter that ends like ours": "nosuch_NAME",
    "unknown filter, labels": "[in]FILTER[a];[a]nosuch[out]",
    "open label": "[inNAME",
    "label without an end": "[in]FILTER[out",
    "trailing text": "FILTER[out]rest]",
    "empty label": "[in]FILTER[];[]null[out]",
    "trailing comma": "FILTER,",
    "leading comma": ",FILTER",
    "trailing semicolon": "FILTER;",
    "dangling input": "[nosuch]FILTER",
    "too many inputs": "[in][other]FILTER[out]",
    "too many outputs": "FILTER[out][other]",
    "a label used twice": "[in]split[a][b];[a]FILTER[x];[b]hflip[x];[x]null[out]",
    "bad sws_flags": "sws_flags=nosuch;FILTER",
    "sws_flags without an end": "sws_flags=bicubic",
    "no graph": "",
}


@pytest.mark.parametrize("graph", WRONG.values(), ids=WRONG.keys())
@pytest.mark.parametrize("way", ["-vf", "-filter_complex"])
def test_errors_are_those_of_ffmpeg(model, source, graph, way):
    """Same words, same exit code, as for a built-in filter in our filter's place."""
    with_model = support.dnn(model("invert"))
    own = graph.replace("FILTER", with_model).replace("NAME", "dnn_torch")
    other = graph.replace("FILTER", "negate").replace("NAME", "negate")
    head = pictures.raw_input("rgb24", WIDTH, HEIGHT)
    ours, theirs = (
        support.ffmpeg(
            *head, way, text, "-f", "null", "-", stdin=source, loglevel="warning", plain=plain
        )
        for text, plain in ((own, False), (other, True))
    )
    assert ours.returncode == theirs.returncode, f"{ours}\n{theirs}"
    assert normalised(ours.stderr, with_model, "dnn_torch") == normalised(theirs.stderr, "negate")


def test_bad_timeline(model, source):
    """The words come from the same place; around them ffmpeg quotes the filter's other options."""
    head = pictures.raw_input("rgb24", WIDTH, HEIGHT)
    ours, theirs = (
        support.ffmpeg(
            *head, "-vf", text, "-f", "null", "-", stdin=source, loglevel="warning", plain=plain
        )
        for text, plain in (
            (f"{support.dnn(model('invert'))}:enable='nosuch('", False),
            ("negate=enable='nosuch('", True),
        )
    )
    assert ours.returncode == theirs.returncode, f"{ours}\n{theirs}"
    evaluation = r"\[Eval @ \w+\] (.*)"
    assert re.findall(evaluation, ours.stderr) == re.findall(evaluation, theirs.stderr) != []
