// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// YOLO models that suppress duplicates themselves: exported with nms=True, YOLOv10, YOLO26 end to
// end.  Unused rows have confidence 0.
//
//   [N,n,6]                 left, top, right, bottom, confidence, class
//   [N,n,6+K*D]             K key points of D numbers
//   [N,n,7]                 centre x, centre y, width, height, confidence, class, angle
//   [N,n,6+32], [N,32,h,w]  with masks
#include "yolo_rows.h"

namespace dnn_torch
{
namespace
{

constexpr int64_t plain_width = 6;
constexpr int64_t width_of_nms_pose = 6 + 17 * 3;

class YoloNms : public Decoder
{
public:
    explicit YoloNms(const YoloLayout &layout) : layout_(layout) {}

    const char *name() const override { return "yolo-nms"; }
    int classes() const override { return 0; }
    bool has_turned_boxes() const override { return layout_.has_angle; }
    bool needs_suppression() const override { return false; }
    bool has_masks() const override { return layout_.coefficients > 0; }
    void decode(std::span<const DnnTorchTensor> tensors, int index,
                const DecodeParameters &parameters, std::vector<Detection> &found) const override;
    void add_key_points(std::span<const DnnTorchTensor> tensors, int index,
                        std::span<Detection> found) const override;
    void add_masks(std::span<const DnnTorchTensor> tensors, int index,
                   std::span<Detection> found) const override;

private:
    Rows rows_in(std::span<const DnnTorchTensor> tensors, int index) const;

    YoloLayout layout_;
};

Rows YoloNms::rows_in(std::span<const DnnTorchTensor> tensors, int index) const
{
    if (tensors.empty() || !has_shape(tensors[0], {any_extent, any_extent, layout_.width}) ||
        (has_masks() && mask_coefficients(tensors) != layout_.coefficients))
        refuse_tensors(name(), tensors);
    return rows_of(tensors[0], index, {.rows = 1, .values = 2, .picture = 0});
}

void YoloNms::decode(std::span<const DnnTorchTensor> tensors, int index,
                     const DecodeParameters &parameters, std::vector<Detection> &found) const
{
    const Rows rows = rows_in(tensors, index);
    for (int64_t row = 0; row < rows.count; row++) {
        if (!is_label(rows.at(row, 5)) || !(rows.at(row, 4) >= parameters.confidence))
            continue;
        Detection detection = {.box = corners_at(rows, row),
                               .confidence = rows.at(row, 4),
                               .label = static_cast<int>(rows.at(row, 5)),
                               .row = row};
        if (layout_.has_angle) {
            const Box &read = detection.box; // centre and extents
            detection.turned = {read.left, read.top, read.right, read.bottom, rows.at(row, 6)};
            detection.box = box_around(*detection.turned);
        }
        append_if_valid(std::move(detection), parameters, found);
    }
}

void YoloNms::add_key_points(std::span<const DnnTorchTensor> tensors, int index,
                             std::span<Detection> found) const
{
    if (layout_.key_points > 0)
        read_key_points(rows_in(tensors, index), plain_width, layout_, found);
}

void YoloNms::add_masks(std::span<const DnnTorchTensor> tensors, int index,
                        std::span<Detection> found) const
{
    if (has_masks())
        add_prototype_masks(tensors[1], index, rows_in(tensors, index).without_first(plain_width),
                            layout_.input, found);
}

// Returns false if the rows have more values than the facts explain.
bool read_layout(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts,
                 YoloLayout &layout)
{
    const int64_t extra = layout.width - plain_width;
    layout.coefficients = mask_coefficients(shapes);
    if (layout.coefficients > 0)
        return layout.coefficients == extra;
    if (extra == 0)
        return true;
    layout.has_angle = extra == 1 && (facts.task.empty() || facts.task == "obb");
    if (layout.has_angle)
        return true;
    if (facts.task != "pose" && !(facts.task.empty() && layout.width == width_of_nms_pose))
        return false;
    const KeyPointShape points = key_point_shape(extra, facts);
    layout.key_points = points.count;
    layout.key_point_numbers = points.numbers;
    return points.count > 0;
}

} // namespace

Match match_yolo_nms(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    if (shapes.empty() || shapes.size() > 2 ||
        !has_shape(shapes[0], {any_extent, any_extent, any_extent}) ||
        shapes[0].dims[2] < plain_width || (shapes.size() == 2 && mask_coefficients(shapes) == 0))
        return {};
    YoloLayout layout = {.name = "yolo-nms", .input = facts.input, .width = shapes[0].dims[2]};
    if (!read_layout(shapes, facts, layout))
        return {};
    const bool is_short = shapes[0].dims[1] <= most_without_grid;
    const bool is_final = facts.end2end.value_or(false);
    // More than six values may also be classes, or the boxes of a grid.
    const bool is_explained = layout.width == plain_width || layout.coefficients > 0 ||
                              (!facts.task.empty() && !is_grid(layout.width, facts.input, 1));
    Likeness likeness = Likeness::FITS;
    if (is_final)
        likeness = Likeness::CERTAIN;
    else if (is_short && is_explained)
        likeness = Likeness::TYPICAL;
    return {likeness, std::make_unique<YoloNms>(layout)};
}

} // namespace dnn_torch
