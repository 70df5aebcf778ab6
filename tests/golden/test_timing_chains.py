# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Filters that change times stand before and behind: nothing but times and frames counts.

With the model in a chain the frames, their times, durations and number are those of
the same chain with ffmpeg's own null in its place.
"""
import pytest
import support

SOURCE = "testsrc=s=32x24:r=25:d=1,format=gray"

# HERE stands for the filter.
CHAINS = {
    "alone": "HERE",
    "fps before, tpad behind": "fps=25,HERE,tpad=stop_mode=clone:stop_duration=1",
    "fps on both sides": "fps=25,HERE,fps=50",
    "fps doubled before": "fps=50,HERE,fps=30",
    "fps halved before": "fps=12.5,HERE,fps=25",
    "fps behind alone": "HERE,fps=60",
    "fps that passes the end": "fps=10,HERE,fps=25:eof_action=pass",
    "fps from a time on": "fps=25:start_time=0.5,HERE,fps=50",
    "fps in odd units": "fps=30000/1001,HERE,fps=25",
    "setpts slower": "setpts=2*PTS,HERE,fps=25",
    "setpts faster": "setpts=PTS/3,HERE,fps=25",
    "setpts shifted": "setpts=PTS+10,HERE,fps=50",
    "setpts uneven": "setpts=N*N,HERE,fps=25",
    "setpts behind": "HERE,setpts=2*PTS,fps=25",
    "select every fifth": "select=not(mod(n\\,5)),HERE,fps=25",
    "select the first": "select=eq(n\\,0),HERE,fps=25",
    "select none": "select=0,HERE",
    "select behind": "HERE,select=not(mod(n\\,3)),fps=25",
    "settb fine": "settb=1/90000,HERE,fps=50",
    "settb coarse": "settb=1/5,HERE,fps=25",
    "settb behind": "HERE,settb=1/1000,fps=50",
    "settb on both sides": "settb=1/1000,HERE,settb=1/25,fps=100",
    "minterpolate": "minterpolate=fps=50:mi_mode=dup,HERE,fps=100",
    "minterpolate behind": "HERE,minterpolate=fps=50:mi_mode=dup,fps=100",
    "framerate": "framerate=fps=40,HERE,fps=80",
    "framestep": "framestep=4,HERE,fps=25",
    "tpad before": "tpad=start=3:stop_mode=clone:stop_duration=0.5,HERE,fps=50",
    "tpad on both sides": "tpad=stop=5,HERE,tpad=stop_mode=clone:stop_duration=0.3",
    "trim before": "trim=end_frame=7,HERE,fps=50",
    "trim behind": "HERE,trim=end_frame=7,fps=50",
    "trim a part": "trim=start=0.2:end=0.6,HERE,tpad=stop=4",
    "trim and rebase": "trim=start_frame=5,setpts=PTS-STARTPTS,HERE,fps=50",
    "loop": "loop=loop=2:size=5,HERE,fps=50",
    "loop behind": "HERE,loop=loop=2:size=25:start=0,fps=50",
    "reverse": "reverse,HERE,fps=50",
    "reverse behind": "fps=10,HERE,reverse,fps=50",
    "telecine": "telecine,HERE,fps=50",
    "tinterlace": "tinterlace=mode=merge,HERE,fps=25",
    "separatefields": "separatefields,HERE,fps=100",
    "repeatfields": "repeatfields,HERE,fps=50",
    "mpdecimate": "fps=50,mpdecimate,HERE,fps=50",
    "thumbnail": "thumbnail=n=5,HERE,fps=25",
    "decimate behind": "HERE,decimate,fps=25",
    "shuffleframes": "shuffleframes=1 0,HERE,fps=50",
    "concat behind": "HERE[a];testsrc=s=32x24:r=25:d=0.4,format=gray[b];[a][b]concat,fps=50",
    "concat before": "null[a];testsrc=s=32x24:r=10:d=1,format=gray[b];[a][b]concat,HERE,fps=50",
    "overlay": "fps=10,HERE[a];testsrc=s=8x8:r=25:d=2,format=gray[b];[b][a]overlay=format=auto",
    "interleave": "fps=10,HERE[a];testsrc=s=32x24:r=25:d=2,format=gray[b];[a][b]interleave",
    "hstack shortest": "fps=5,HERE[a];testsrc=s=32x24:r=25:d=2,format=gray[b];"
    "[a][b]hstack=shortest=1",
    "blend": "settb=1/1000,HERE[a];testsrc=s=32x24:r=10:d=2,format=gray[b];[a][b]blend=shortest=1",
}

SYNCHRONOUS = {"async": 0, "batch_size": 4}
IN_FLIGHT = {"nireq": 8, "workers": 2, "threads": 1}


def filters_of(chain):
    parts = chain.replace(";", ",").split(",")
    return [part.split("]")[-1].split("=")[0] for part in parts if "HERE" not in part]


def framecrc(folder, chain_texts, **options):
    """What each chain makes: all of them in one ffmpeg."""
    arguments = []
    for number, text in enumerate(chain_texts):
        arguments += ["-filter_complex", f"{SOURCE},{text}[o{number}]"]
    for number in range(len(chain_texts)):
        arguments += ["-map", f"[o{number}]", "-fps_mode", "passthrough"]
        arguments += ["-enc_time_base", "1:1000000", "-f", "framecrc", folder / f"{number}"]
    support.succeed(*arguments, **options)
    return [(folder / f"{number}").read_text() for number in range(len(chain_texts))]


@pytest.mark.parametrize("options", [SYNCHRONOUS, IN_FLIGHT], ids=["synchronous", "in flight"])
def test_as_if_the_filter_were_null(script, tmp_path, options):
    chains = {
        name: chain
        for name, chain in CHAINS.items()
        if not (support.OWN_FFMPEG and support.lacks(filters=filters_of(chain)))
    }
    assert len(chains) >= 40 or support.OWN_FFMPEG
    made = []
    for filter_text in ("null", support.fake(script(), **options)):
        folder = tmp_path / f"{len(made)}"
        folder.mkdir()
        texts = [chain.replace("HERE", filter_text) for chain in chains.values()]
        made.append(framecrc(folder, texts, fake_engine=True))
    differing = [name for name, wanted, got in zip(chains, *made) if wanted != got]
    assert not differing
    # They are not all empty.
    assert sum(text.count("\n0, ") for text in made[0]) > 1000
