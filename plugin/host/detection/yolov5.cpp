// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// YOLOv5 and YOLOv7, also Ultralytics' YOLOv3: three boxes per cell, in pixels, with objectness.
//
//   [N,A,5+nc]                   A = 3 * (HW/8^2 + HW/16^2 + HW/32^2)
//   [N,A,5+nc+32], [N,32,h,w]    with masks
//   [N,3,H,W,5+nc] for each grid  the heads' raw output, see yolo_heads.cpp
#include "yolo_rows.h"

namespace dnn_torch
{
namespace
{

constexpr int boxes_per_cell = 3;

Likeness likeness_of(int64_t boxes, int64_t classes, const DetectorFacts &facts)
{
    const bool is_of_grid = is_grid(boxes, facts.input, boxes_per_cell);
    const bool are_classes = classes == facts.classes;
    if (facts.end2end.value_or(false) || (facts.classes > 0 && !are_classes))
        return Likeness::FITS;
    if (is_of_grid)
        return are_classes ? Likeness::CERTAIN : Likeness::TYPICAL;
    return are_classes && boxes > most_without_grid ? Likeness::TYPICAL : Likeness::FITS;
}

} // namespace

Match match_yolov5(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    constexpr int64_t fewest = 63; // of a picture of 32x32
    if (Match heads = match_yolov5_heads(shapes, facts); heads.decoder)
        return heads;
    if (shapes.empty() || !has_shape(shapes[0], {any_extent, any_extent, any_extent}) ||
        shapes[0].dims[1] < fewest || (shapes.size() > 1 && shapes[1].rank < 4))
        return {};
    const int64_t coefficients = mask_coefficients(shapes);
    const int64_t width = shapes[0].dims[2], classes = width - 5 - coefficients;
    if (classes < 1 || classes > 1'000'000)
        return {};
    return {likeness_of(shapes[0].dims[1], classes, facts),
            make_yolo_rows({.name = "yolov5",
                            .input = facts.input,
                            .row_axis = 1,
                            .width = width,
                            .has_objectness = true,
                            .classes = static_cast<int>(classes),
                            .coefficients = coefficients})};
}

} // namespace dnn_torch
