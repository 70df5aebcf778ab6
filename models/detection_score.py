# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How good a detector is: mean average precision as COCO counts it, and what it needs.

Boxes are rows of left, top, right, bottom. Needs nothing but numpy.
"""

import numpy as np

OVERLAPS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0, 1, 101)
MOST_OF_A_PICTURE = 100


def overlaps(first, second):
    """Intersection over union of each box with each."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    common = np.clip(high - low, 0, None).prod(2)
    areas = [np.clip(boxes[:, 2:] - boxes[:, :2], 0, None).prod(1) for boxes in (first, second)]
    return common / np.maximum(areas[0][:, None] + areas[1][None] - common, 1e-9)


def suppressed(boxes, scores, kinds, limit=0.6):
    """Indices of the boxes that stay, best first: others of their kind overlap them too much."""
    order = np.argsort(-scores, kind="stable")
    kept = []
    while order.size and len(kept) < MOST_OF_A_PICTURE:
        best, order = order[0], order[1:]
        kept.append(best)
        near = overlaps(boxes[best:best + 1], boxes[order])[0] > limit
        order = order[~(near & (kinds[order] == kinds[best]))]
    return np.array(kept, np.int64)


def matches(found, wanted):
    """For each limit of overlap and each found box, best first, whether it is one that is wanted.

    Each takes of those that nobody has yet the one that it overlaps most.
    """
    hit = np.zeros((len(OVERLAPS), len(found)), bool)
    if len(found) == 0 or len(wanted) == 0:
        return hit
    overlap = overlaps(found, wanted)
    for at, limit in enumerate(OVERLAPS):
        free = np.ones(len(wanted), bool)
        for i, row in enumerate(overlap):
            best = np.argmax(np.where(free, row, -1))
            if free[best] and row[best] >= limit:
                free[best], hit[at, i] = False, True
    return hit


def average_precision(hit, count):
    """Of booleans, best score first: the mean of the best precision at 101 recalls."""
    right = np.cumsum(hit)
    precision = right / np.arange(1, len(hit) + 1)
    best_from_here = np.maximum.accumulate(precision[::-1])[::-1]
    # As COCO's own program, a recall that is reached but for rounding is not.
    at = np.searchsorted(right / count, RECALLS, side="left")
    return np.where(at < len(hit), np.append(best_from_here, 0)[at], 0).mean()


def mean_average_precision(found, wanted, classes):
    """Of pictures: [(boxes, scores, kinds)] and [(boxes, kinds)].

    Returns a table [limits of overlap, classes]; a class that nothing shows is NaN.
    """
    table = np.full((len(OVERLAPS), classes), np.nan)
    for kind in range(classes):
        scores, hits, count = [], [], 0
        for (boxes, score, kinds), (true_boxes, true_kinds) in zip(found, wanted):
            mine = np.flatnonzero(kinds == kind)
            mine = mine[np.argsort(-score[mine], kind="stable")][:MOST_OF_A_PICTURE]
            hits.append(matches(boxes[mine], true_boxes[true_kinds == kind]))
            scores.append(score[mine])
            count += int((true_kinds == kind).sum())
        if count:
            order = np.argsort(-np.concatenate(scores), kind="stable")
            every = np.concatenate(hits, 1)[:, order]
            table[:, kind] = [average_precision(hit, count) for hit in every]
    return table
