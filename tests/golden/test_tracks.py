# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The numbers of tracked objects over gaps and crossings, against a tracker in numpy.

DNN_TORCH_FOOTAGE names a video whose moving parts are tracked as well.
"""
import functools
import os
import subprocess

import numpy
import pytest
import support
import torch
from detectors import detect, records, save
from torch import Tensor, nn

WIDTH, HEIGHT = 320, 240
LEAST_OVERLAP, LOST_AFTER = 0.3, 30
PLACE_NOISE, SPEED_NOISE = 1 / 20, 1 / 160


class Table(nn.Module):
    """Boxes by the frame's number, which its first two samples are."""

    def __init__(self, rows):
        super().__init__()
        self.register_buffer("rows", torch.tensor(rows, dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        codes = torch.round(x[:, 0, 0, :2] * 255.0).to(torch.int64)
        numbers = (codes[:, 0] + codes[:, 1] * 200).clamp(0, self.rows.size(0) - 1)
        return self.rows[numbers]


# ---- what moves -------------------------------------------------------------


def walks(seed, frames, count):
    """Objects that cross, turn, stand, go behind something for a while, and leave for good."""
    random = numpy.random.default_rng(seed)
    place = random.uniform([20, 20], [WIDTH - 20, HEIGHT - 20], (count, 2))
    speed = random.normal(0, 3, (count, 2))
    extent = random.uniform(12, 60, (count, 2))
    label = random.integers(0, 3, count)
    hidden = numpy.zeros(count, int)
    all_frames = []
    for _ in range(frames):
        speed += random.normal(0, 0.3, speed.shape)
        place += speed
        beyond = (place < 0) | (place > [WIDTH, HEIGHT])
        speed[beyond] *= -1
        place = place.clip(0, [WIDTH, HEIGHT])
        starts = (hidden == 0) & (random.random(count) < 0.02)
        hidden = numpy.where(starts, random.choice([1, 3, 8, 29, 31, 45], count),
                             numpy.maximum(hidden - 1, 0))
        found = []
        for i in random.permutation(count):
            if hidden[i] == 0 and random.random() > 0.08:
                noise = random.normal(0, 1.5, 4)
                found.append([*(place[i] - extent[i] / 2 + noise[:2]),
                              *(place[i] + extent[i] / 2 + noise[2:]), label[i]])
        all_frames.append(found)
    return all_frames


def moving_parts(path):
    """Boxes around what differs from the median of all frames."""
    text = subprocess.run(
        [support.FFMPEG, "-loglevel", "error", "-i", path, "-vf",
         f"scale={WIDTH // 4}:{HEIGHT // 4}:flags=area,format=gray", "-f", "rawvideo", "-"],
        stdout=subprocess.PIPE, check=True).stdout
    clip = numpy.frombuffer(text, numpy.uint8).reshape(-1, HEIGHT // 4, WIDTH // 4).astype(int)
    still = numpy.median(clip[::5], 0)
    return [[[4 * left, 4 * top, 4 * right, 4 * bottom, 0]
             for left, top, right, bottom in parts(abs(frame - still) > 25)] for frame in clip]


def parts(mask):
    """The boxes of connected parts of more than a few samples."""
    mask, found = mask.copy(), []
    for start in numpy.argwhere(mask):
        if not mask[tuple(start)]:
            continue
        stack, seen = [tuple(start)], []
        mask[tuple(start)] = False
        while stack:
            y, x = stack.pop()
            seen.append((y, x))
            for near in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                if 0 <= near[0] < mask.shape[0] and 0 <= near[1] < mask.shape[1] and mask[near]:
                    mask[near] = False
                    stack.append(near)
        if len(seen) >= 6:
            rows, columns = zip(*seen)
            found.append((min(columns), min(rows), max(columns) + 1, max(rows) + 1))
    return found


# ---- the tracker ------------------------------------------------------------


def scale_of(box):
    return max(float(box[2] - box[0]), float(box[3] - box[1]), 1.0)


def middle_and_extent(box):
    left, top, right, bottom = box
    return numpy.array([(float(left) + float(right)) / 2, (float(top) + float(bottom)) / 2,
                        float(right - left), float(bottom - top)])


class Track:
    def __init__(self, number, box, label):
        scale = scale_of(box)
        self.number, self.label, self.unseen = number, label, 0
        self.place, self.speed = middle_and_extent(box), numpy.zeros(4)
        self.place_variance = (2 * PLACE_NOISE * scale) ** 2
        self.covariance, self.speed_variance = 0.0, (10 * SPEED_NOISE * scale) ** 2

    @property
    def box(self):
        half = numpy.maximum(self.place[2:], 1e-3) / 2
        return numpy.concatenate([self.place[:2] - half, self.place[:2] + half]).astype("f4")

    def predict(self):
        scale = scale_of(self.box)
        self.place = self.place + self.speed
        self.place_variance += (2 * self.covariance + self.speed_variance
                                + (PLACE_NOISE * scale) ** 2)
        self.covariance += self.speed_variance
        self.speed_variance += (SPEED_NOISE * scale) ** 2
        self.unseen += 1

    def measure(self, box):
        total = self.place_variance + (PLACE_NOISE * scale_of(box)) ** 2
        gain, speed_gain = self.place_variance / total, self.covariance / total
        off = middle_and_extent(box) - self.place
        self.place, self.speed = self.place + gain * off, self.speed + speed_gain * off
        self.speed_variance -= speed_gain * self.covariance
        self.covariance *= 1 - gain
        self.place_variance *= 1 - gain
        self.unseen = 0


def overlap(one, other):
    extent = numpy.minimum(one[2:], other[2:]) - numpy.maximum(one[:2], other[:2])
    if (extent <= 0).any():
        return 0.0
    shared = extent.prod()
    return float(shared / ((one[2:] - one[:2]).prod() + (other[2:] - other[:2]).prod() - shared))


def best_pairs(weights):
    """The assignment of the largest sum, by trying all within each group of rows that compete."""
    rows, columns = weights.shape
    pairs, left = {}, set(range(rows))
    while left:
        group, competed = {left.pop()}, set()
        while True:
            more = {int(c) for r in group for c in numpy.flatnonzero(weights[r])} - competed
            competed |= more
            joined = {r for r in left if any(weights[r, c] for c in more)}
            if not joined:
                break
            group |= joined
            left -= joined
        pairs.update(best_of_group(weights, sorted(group)))
    return pairs


def best_of_group(weights, rows):
    @functools.lru_cache(None)
    def best(at, taken):
        if at == len(rows):
            return 0.0, ()
        total, chosen = best(at + 1, taken)
        for column in numpy.flatnonzero(weights[rows[at]]):
            if not taken >> int(column) & 1:
                more, others = best(at + 1, taken | 1 << int(column))
                if weights[rows[at], column] + more > total:
                    total = weights[rows[at], column] + more
                    chosen = ((rows[at], int(column)), *others)
        return total, chosen

    return dict(best(0, 0)[1])


def within_frame(box):
    return numpy.array(box, "f4").clip(0, [WIDTH, HEIGHT] * 2).astype("f4")


def is_thick(box, least):
    return box[2] - box[0] >= least and box[3] - box[1] >= least


def tracked(frames, every):
    """For each frame what is there, as (number, box)."""
    tracks, next_number, shown, all_shown = [], 1, [], []
    for at, found in enumerate(frames):
        for track in tracks:
            track.predict()
        if at % every:
            boxes = {track.number: within_frame(track.box) for track in tracks}
            all_shown.append([(number, boxes[number]) for number, _ in shown
                              if is_thick(boxes[number], 0.5)])
            continue
        weights = numpy.zeros((len(found), len(tracks)))
        for i, (*box, label) in enumerate(found):
            for j, track in enumerate(tracks):
                if track.label == label:
                    share = overlap(numpy.array(box, "f4"), track.box)
                    weights[i, j] = share if share >= LEAST_OVERLAP else 0
        pairs, shown, new = best_pairs(weights), [], []
        for i, (*box, label) in enumerate(found):
            box = numpy.array(box, "f4")
            if i in pairs:
                track = tracks[pairs[i]]
                track.measure(box)
            else:
                track = Track(next_number, box, label)
                next_number += 1
                new.append(track)
            shown.append((track.number, box))
        tracks = [track for track in tracks if track.unseen <= LOST_AFTER] + new
        all_shown.append(shown)
    return all_shown


# ---- the filter -------------------------------------------------------------


def as_seen(frames):
    """Boxes within the frame, as floats, the most confident first, and none too thin to keep."""
    kept = []
    for found in frames:
        boxes = [[*within_frame(box), label] for *box, label in found]
        kept.append([box for box in boxes if is_thick(box, 1)])
    return kept


def source_of(count):
    """Frames whose first samples are their numbers."""
    frames = numpy.full((count, HEIGHT, WIDTH), 128, numpy.uint8)
    frames[:, 0, 0] = numpy.arange(count) % 200
    frames[:, 0, 1] = numpy.arange(count) // 200
    return frames


def run(folder, frames, every):
    most = max(len(found) for found in frames)
    rows = numpy.zeros((len(frames), most, 6), "f4")
    for row, found in zip(rows, frames):
        for i, (*box, label) in enumerate(found):
            row[i] = [*box, 0.99 - i * 0.005, label]
    path = save(Table(rows), folder / "table.pt")
    clip = folder / "numbered.nut"
    support.succeed("-f", "rawvideo", "-pixel_format", "gray", "-video_size", f"{WIDTH}x{HEIGHT}",
                    "-i", "pipe:0", "-c:v", "rawvideo", clip,
                    stdin=source_of(len(frames)).tobytes(), plain=True)
    graph = detect(path, decoder="boxes", size="frame", iou=1, track="on", every=every, cuts="off",
                   confidence=0.2, tune=0, workers=2, batch_size=3)
    found, _ = records(graph, folder, f"movie={support.escape_graph(clip)}")
    return found


def expect_the_same(folder, frames, every):
    frames = as_seen(frames)
    wanted = tracked(frames, every)
    found = run(folder, frames, every)
    assert len(found) == len(wanted)
    numbers = set()
    for at, (record, shown) in enumerate(zip(found, wanted)):
        got = [thing["track"] for thing in record["things"]]
        assert got == [number for number, _ in shown], f"frame {at}"
        for thing, (number, box) in zip(record["things"], shown):
            left, top, width, height = thing["box"]
            near = numpy.array([left, top, left + width, top + height])
            assert abs(near - box).max() < 0.02, f"frame {at}, number {number}"
        numbers.update(got)
    return len(numbers)


@pytest.mark.parametrize("every", [1, 4])
def test_numbers_over_gaps_and_crossings(tmp_path, every):
    assert expect_the_same(tmp_path, walks(1, 120, 14), every) > 20


@pytest.mark.skipif("DNN_TORCH_FOOTAGE" not in os.environ, reason="no footage is named")
@pytest.mark.parametrize("every", [1, 3])
def test_numbers_in_footage(tmp_path, every):
    frames = moving_parts(os.environ["DNN_TORCH_FOOTAGE"])
    assert expect_the_same(tmp_path, frames, every) > 20
