// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// YOLOX: one box per cell, with objectness.
//
//   [N,A,5+nc]  A = HW/8^2 + HW/16^2 + HW/32^2
//
// Its exporters write positions in cells, and logarithms of extents.  With decode_in_inference,
// both are in pixels.  The values of each picture show which.
#include "yolo_rows.h"

namespace dnn_torch
{
namespace
{

// Without facts, 84 values are YOLOv8's: four, and COCO's 80 classes.
constexpr int64_t width_of_yolov8 = 84;

Likeness likeness_of(const DnnTorchTensor &shape, const DetectorFacts &facts)
{
    const bool are_classes = shape.dims[2] - 5 == facts.classes;
    if (!is_grid(shape.dims[1], facts.input, 1) || facts.end2end.value_or(false) ||
        (facts.classes > 0 && !are_classes))
        return Likeness::FITS;
    if (are_classes)
        return Likeness::CERTAIN;
    return shape.dims[2] == width_of_yolov8 ? Likeness::FITS : Likeness::TYPICAL;
}

} // namespace

Match match_yolox(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    constexpr int64_t fewest = 21; // of a picture of 32x32
    if (shapes.size() != 1 || !has_shape(shapes[0], {any_extent, any_extent, any_extent}) ||
        shapes[0].dims[1] < fewest || shapes[0].dims[2] < 6 || shapes[0].dims[2] > 1'000'000)
        return {};
    return {likeness_of(shapes[0], facts),
            make_yolo_rows({.name = "yolox",
                            .input = facts.input,
                            .row_axis = 1,
                            .width = shapes[0].dims[2],
                            .has_objectness = true,
                            .classes = static_cast<int>(shapes[0].dims[2] - 5),
                            .may_be_raw = true})};
}

} // namespace dnn_torch
