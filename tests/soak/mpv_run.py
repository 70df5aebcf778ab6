# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One mpv that seeks at random while frames are in flight, and whether what it showed is right.

Behind our filter a showinfo tells the time and the check sum of each frame.
"""
import random
import re
import zlib

import clips
import ffmpeg_run
import mpv_player
import plans
import support

COUNT = 400
SEEKS = 12
FRAME = re.compile(r"n: *(\d+) .*?pts_time: *(\S+) .*?checksum:([0-9A-F]{8})")


def write_clip(clip, path):
    size = f"{clips.WIDTH}x{clips.HEIGHT}"
    support.succeed(
        *("-f", "rawvideo", "-pixel_format", "yuv420p", "-video_size", size),
        *("-framerate", str(clips.RATE), "-i", "pipe:0", "-c:v", "ffv1", path),
        stdin=clip.with_image(clip.image).tobytes(),
        plain=True,
    )


def seek_at_random(player, dice):
    """Some while the last one is not through yet."""
    for _ in range(SEEKS):
        seconds = dice.randrange(COUNT) / clips.RATE
        if dice.random() < 0.5:
            player.tell("seek", seconds, "absolute+exact")
        else:
            player.seek(seconds)
            player.wait_for("time-pos")
    # What is under way must not go on from an earlier place.
    player.seek((COUNT - 50) / clips.RATE)
    player.wait_for("eof-reached", bool)
    player.tell("quit")


def segments_of(log):
    """The frames of each graph: mpv makes one after each seek."""
    segments = []
    for number, seconds, checksum in FRAME.findall(log):
        if number == "0":
            segments.append([])
        segments[-1].append((round(float(seconds) * clips.RATE), int(checksum, 16)))
    return segments


def judge(segments, wanted):
    checksums = [zlib.adler32(frame.tobytes(), 0) for frame in wanted]
    for segment in segments:
        first = segment[0][0]
        for place, (number, checksum) in enumerate(segment, first):
            if number != place:
                raise ffmpeg_run.Lost(f"frame {number} stands at the place of frame {place}")
            if checksum != checksums[number]:
                raise ffmpeg_run.Lost(f"the picture of frame {number} is another one")
    if segments[-1][-1][0] != COUNT - 1:
        raise ffmpeg_run.Lost(f"the last frame is {segments[-1][-1][0]} and not {COUNT - 1}")


def run(seed, folder, tally):
    """Returns how many frames were seen."""
    dice = random.Random(seed)
    clip = clips.Clip("yuv420p", COUNT, ffmpeg_run.hash_of(seed))
    write_clip(clip, folder / "clip.mkv")
    model = clips.Model(inverts=dice.random() < 0.5)
    script = folder / "model.txt"
    lines = plans.script_of(dice, model)
    script.write_text("".join(f"{key} {value}\n" for key, value in lines.items()))
    options = {**plans.run_options(dice), **plans.isolation(dice)}
    options.pop("stats", None)
    graph = f"lavfi=[{support.fake(script, **options)},showinfo]"
    (folder / "plan.txt").write_text(f"mpv --vf={graph}\n{lines}\n")
    player = mpv_player.Player(
        "mpv", folder / "clip.mkv", folder, f"--vf={graph}", "--keep-open=yes", "--speed=4"
    )
    try:
        seek_at_random(player, dice)
        log = player.end()
    finally:
        player.close()
    wanted = clip.with_image(model.apply(clip.image, clip.layout))
    segments = segments_of(log)
    assert segments, "mpv showed no frame"
    judge(segments, wanted)
    tally.seeks += SEEKS + 1
    return sum(map(len, segments))
