// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// YOLO-NAS and PP-YOLOE: boxes and scores in two tensors.
//
//   [N,A,4]  left, top, right, bottom in pixels
//   [N,A,C]  or [N,C,A]: the score of each class, 0 to 1
#include "decoder_kinds.h"

#include <algorithm>

namespace dnn_torch
{
namespace
{

struct Parts {
    const DnnTorchTensor *boxes = nullptr, *scores = nullptr;
    int row_axis = 1; // of the scores
};

Parts parts_in(std::span<const DnnTorchTensor> tensors)
{
    if (tensors.size() < 2 || tensors[0].rank != 3 || tensors[1].rank != 3)
        return {};
    for (const size_t first : {0U, 1U}) {
        const DnnTorchTensor &boxes = tensors[first], &scores = tensors[1 - first];
        if (boxes.dims[2] != 4 || scores.dims[0] != boxes.dims[0])
            continue;
        if (scores.dims[1] == boxes.dims[1])
            return {.boxes = &boxes, .scores = &scores, .row_axis = 1};
        if (scores.dims[2] == boxes.dims[1])
            return {.boxes = &boxes, .scores = &scores, .row_axis = 2};
    }
    return {};
}

class YoloNas : public Decoder
{
public:
    explicit YoloNas(int classes) : classes_(classes) {}

    const char *name() const override { return "yolo-nas"; }
    int classes() const override { return classes_; }
    bool needs_suppression() const override { return true; }
    void decode(std::span<const DnnTorchTensor> tensors, int index,
                const DecodeParameters &parameters, std::vector<Detection> &found) const override;

private:
    int classes_;
};

void YoloNas::decode(std::span<const DnnTorchTensor> tensors, int index,
                     const DecodeParameters &parameters, std::vector<Detection> &found) const
{
    const Parts parts = parts_in(tensors);
    if (!parts.boxes || parts.scores->dims[3 - parts.row_axis] != classes_)
        refuse_tensors(name(), tensors);
    const Rows boxes = rows_of(*parts.boxes, index, {.rows = 1, .values = 2, .picture = 0});
    const Rows scores = rows_of(
        *parts.scores, index, {.rows = parts.row_axis, .values = 3 - parts.row_axis, .picture = 0});
    const BestClasses best = best_classes(scores);
    for (int64_t row = 0; row < std::min(boxes.count, scores.count); row++)
        append_if_valid({.box = corners_at(boxes, row),
                         .confidence = best.scores[static_cast<size_t>(row)],
                         .label = best.labels[static_cast<size_t>(row)],
                         .row = row},
                        parameters, found);
}

} // namespace

Match match_yolo_nas(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    constexpr int64_t fewest = 1001; // fewer are a transformer's queries
    const Parts parts = parts_in(shapes);
    if (!parts.boxes)
        return {};
    const int64_t classes = parts.scores->dims[3 - parts.row_axis];
    if (classes < 1 || classes > 1'000'000)
        return {};
    const int64_t boxes = parts.boxes->dims[1];
    const bool is_typical = boxes >= fewest || is_grid(boxes, facts.input, 1);
    return {is_typical ? Likeness::TYPICAL : Likeness::FITS,
            std::make_unique<YoloNas>(static_cast<int>(classes))};
}

} // namespace dnn_torch
