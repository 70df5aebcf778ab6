// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Outputs of models that end in TensorRT's EfficientNMS, or in a copy of it:
//
//   [N,1] number of boxes, [N,n,4] left, top, right, bottom in pixels, [N,n] scores,
//   [N,n] classes
#include "decoder_kinds.h"

namespace dnn_torch
{
namespace
{

bool is_efficient_nms(std::span<const DnnTorchTensor> tensors)
{
    if (tensors.size() != 4 || !has_shape(tensors[1], {any_extent, any_extent, 4}))
        return false;
    const int64_t pictures = tensors[1].dims[0], boxes = tensors[1].dims[1];
    return (has_shape(tensors[0], {pictures, 1}) || has_shape(tensors[0], {pictures})) &&
           has_shape(tensors[2], {pictures, boxes}) && has_shape(tensors[3], {pictures, boxes});
}

class EfficientNms : public Decoder
{
public:
    const char *name() const override { return "efficient-nms"; }
    int classes() const override { return 0; }
    bool needs_suppression() const override { return false; }
    void decode(std::span<const DnnTorchTensor> tensors, int index,
                const DecodeParameters &parameters, std::vector<Detection> &found) const override;
};

void EfficientNms::decode(std::span<const DnnTorchTensor> tensors, int index,
                          const DecodeParameters &parameters, std::vector<Detection> &found) const
{
    if (!is_efficient_nms(tensors))
        refuse_tensors(name(), tensors);
    const RowAxes axes = {.rows = 1, .picture = 0};
    const DetectionLists lists = {
        .boxes = rows_of(tensors[1], index, {.rows = 1, .values = 2, .picture = 0}),
        .labels = rows_of(tensors[3], index, axes),
        .scores = rows_of(tensors[2], index, axes)};
    const Rows counts = rows_of(tensors[0], 0, {.rows = 0});
    const float present = index < counts.count ? counts.at(index, 0) : 0;
    int64_t count = 0; // `present` may be NaN, or more than there are rows
    while (count < lists.count() && static_cast<float>(count) < present)
        count++;
    append_listed(lists, count, parameters, found);
}

} // namespace

Match match_efficient_nms(std::span<const DnnTorchTensor> shapes, const DetectorFacts &)
{
    if (!is_efficient_nms(shapes))
        return {};
    return {Likeness::CERTAIN, std::make_unique<EfficientNms>()};
}

} // namespace dnn_torch
