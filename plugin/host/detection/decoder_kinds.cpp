// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "decoder_kinds.h"

#include "base/compose.h"
#include "host/error.h"
#include "suppression.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

namespace dnn_torch
{
namespace
{

void take(float score, int64_t row, int64_t label, BestClasses &best)
{
    float &highest = best.scores[static_cast<size_t>(row)];
    if (score > highest) {
        highest = score;
        best.labels[static_cast<size_t>(row)] = static_cast<int>(label);
    }
}

// For tensors in which the values of a class are contiguous: reads memory in order.
void take_class_by_class(const Rows &scores, BestClasses &best)
{
    for (int64_t label = 0; label < scores.width; label++)
        for (int64_t row = 0; row < scores.count; row++)
            take(scores.at(row, label), row, label, best);
}

void take_row_by_row(const Rows &scores, BestClasses &best)
{
    for (int64_t row = 0; row < scores.count; row++)
        for (int64_t label = 0; label < scores.width; label++)
            take(scores.at(row, label), row, label, best);
}

} // namespace

bool is_grid(int64_t boxes, Size input, int for_each_cell)
{
    if (input.width <= 0 || input.height <= 0)
        return false;
    const auto cells = [input](int64_t stride) {
        return ((input.width + stride - 1) / stride) * ((input.height + stride - 1) / stride);
    };
    const int64_t middle = cells(16) + cells(32);
    const int64_t usual = cells(8) + middle;
    for (const int64_t all : {usual, usual + cells(4), usual + cells(64), middle})
        if (boxes == all * for_each_cell)
            return true;
    return false;
}

BestClasses best_classes(const Rows &scores)
{
    const auto count = static_cast<size_t>(scores.count);
    BestClasses best = {.scores =
                            std::vector<float>(count, -std::numeric_limits<float>::infinity()),
                        .labels = std::vector<int>(count)};
    if (std::abs(scores.value_step) > std::abs(scores.row_step))
        take_class_by_class(scores, best);
    else
        take_row_by_row(scores, best);
    return best;
}

Box corners_at(const Rows &rows, int64_t row)
{
    return {rows.at(row, 0), rows.at(row, 1), rows.at(row, 2), rows.at(row, 3)};
}

Box centred_box(float middle_x, float middle_y, float width, float height)
{
    return {middle_x - width / 2, middle_y - height / 2, middle_x + width / 2,
            middle_y + height / 2};
}

Box box_around(const TurnedBox &turned)
{
    const float cosine = std::abs(std::cos(turned.angle));
    const float sine = std::abs(std::sin(turned.angle));
    return centred_box(turned.middle_x, turned.middle_y,
                       turned.width * cosine + turned.height * sine,
                       turned.width * sine + turned.height * cosine);
}

float sigmoid(float value)
{
    return 1 / (1 + std::exp(-value));
}

bool is_label(float value)
{
    constexpr float most = 1e6F; // no detector has so many classes
    return value >= 0 && value <= most;
}

void append_if_valid(Detection detection, const DecodeParameters &parameters,
                     std::vector<Detection> &found)
{
    // Larger floats cannot hold every whole pixel, and areas of them soon overflow.
    constexpr float farthest = 1e7F;
    constexpr float rounding = 1e-3F; // sums of probabilities may be a little above 1
    const auto is_place = [](float value) { return std::abs(value) <= farthest; };
    const Box &box = detection.box;
    if (!(detection.confidence > 0 && detection.confidence >= parameters.confidence &&
          detection.confidence <= 1 + rounding))
        return;
    if (!is_place(box.left) || !is_place(box.top) || !is_place(box.right) ||
        !is_place(box.bottom) || !(box.width() > 0 && box.height() > 0))
        return;
    detection.confidence = std::min(detection.confidence, 1.0F);
    found.push_back(std::move(detection));
    if (found.size() >= 2 * most_candidates)
        keep_most_confident(found);
}

void MaskBudget::take(Size mask, int64_t products)
{
    constexpr int64_t most_products = 64 * most_mask_values;
    const int64_t values = int64_t{mask.width} * mask.height;
    values_ += values;
    products_ += values * std::min(products, most_products);
    if (values_ > most_mask_values || products_ > most_products)
        throw Error(-EINVAL, concat("the masks of one picture have more than ", most_mask_values,
                                    " values together, or cost as much; ask for fewer with "
                                    "max_boxes, confidence or classes"));
}

void check_key_points(int64_t each, size_t detections)
{
    if (each > 0 && static_cast<int64_t>(detections) > most_key_points / each)
        throw Error(-EINVAL, concat("the boxes of one picture have more than ", most_key_points,
                                    " key points together; ask for fewer with max_boxes, "
                                    "confidence or classes"));
}

int64_t DetectionLists::count() const
{
    return std::min({boxes.count, labels.count, scores.count});
}

void append_listed(const DetectionLists &lists, int64_t count, const DecodeParameters &parameters,
                   std::vector<Detection> &found)
{
    for (int64_t row = 0; row < count; row++)
        if (const float label = lists.labels.at(row, 0); is_label(label))
            append_if_valid({.box = corners_at(lists.boxes, row),
                             .confidence = lists.scores.at(row, 0),
                             .label = static_cast<int>(label),
                             .row = row},
                            parameters, found);
}

} // namespace dnn_torch
