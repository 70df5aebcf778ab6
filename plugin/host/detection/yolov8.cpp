// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// YOLOv8 to YOLO12: one box per cell, in pixels, without objectness.
//
//   [N,4+nc,A]                  A = HW/8^2 + HW/16^2 + HW/32^2
//   [N,A,4+nc]                  the same, transposed
//   [N,4+nc+K*D,A]              K key points of D numbers: x, y and the confidence
//   [N,4+nc+1,A]                turned boxes: the angle in radians
//   [N,4+nc+32,A], [N,32,h,w]   with masks
//
// If neither the task nor the number of classes is known, 56 values are COCO's pose of 17 points,
// and 84 its 80 classes.  With other widths, the last value may or may not be an angle.
#include "base/compose.h"
#include "yolo_rows.h"

namespace dnn_torch
{
namespace
{

constexpr int64_t width_of_coco = 4 + 80;
constexpr int64_t width_of_pose = 4 + 1 + 17 * 3;
constexpr int64_t width_of_yolox = 5 + 80; // with the classes of COCO
constexpr int64_t fewest_boxes = 21;       // of a picture of 32x32

// Returns the layout of a row; it has no classes if the facts do not fit.
YoloLayout layout_of(int64_t width, std::span<const DnnTorchTensor> shapes,
                     const DetectorFacts &facts)
{
    YoloLayout layout = {.name = "yolov8", .input = facts.input, .width = width};
    int64_t classes = width - 4;
    const bool is_pose =
        facts.task == "pose" || (facts.task.empty() && width == width_of_pose && facts.classes < 2);
    if (is_pose) {
        const int64_t known = facts.classes > 0 ? facts.classes : 1;
        const KeyPointShape points = key_point_shape(width - 4 - known, facts);
        layout.key_points = points.count;
        layout.key_point_numbers = points.numbers;
        classes = points.count > 0 ? known : 0;
    } else if (facts.task == "obb" || (facts.task.empty() && mask_coefficients(shapes) == 0 &&
                                       facts.classes > 0 && classes == facts.classes + 1)) {
        layout.has_angle = true;
        classes = width - 5;
    } else if (mask_coefficients(shapes) > 0) {
        layout.coefficients = mask_coefficients(shapes);
        classes = width - 4 - layout.coefficients;
    }
    layout.classes = classes > 0 && classes <= 1'000'000 ? static_cast<int>(classes) : 0;
    return layout;
}

// Exported tensors have the values' axis before the boxes' axis.  They are transposed if the grid,
// the classes or the extents say so.
int row_axis_of(const DnnTorchTensor &shape, std::span<const DnnTorchTensor> shapes,
                const DetectorFacts &facts)
{
    const bool first = is_grid(shape.dims[1], facts.input, 1);
    const bool second = is_grid(shape.dims[2], facts.input, 1);
    if (first != second)
        return first ? 1 : 2;
    const auto has_classes = [&](int64_t width) {
        const int classes = layout_of(width, shapes, facts).classes;
        return classes > 0 && classes == facts.classes;
    };
    if (facts.classes > 0 && has_classes(shape.dims[1]) != has_classes(shape.dims[2]))
        return has_classes(shape.dims[1]) ? 2 : 1;
    return shape.dims[1] <= shape.dims[2] ? 2 : 1;
}

Likeness likeness_of(const DnnTorchTensor &shape, const YoloLayout &layout,
                     const DetectorFacts &facts)
{
    const bool is_transposed = layout.row_axis == 1;
    const bool is_of_grid = is_grid(shape.dims[layout.row_axis], facts.input, 1);
    const bool are_classes = layout.classes == facts.classes;
    // A transposed tensor with one more value may be YOLOX's.
    const bool is_unsure = is_transposed && layout.has_angle && facts.task.empty();
    if (facts.end2end.value_or(false) || (facts.classes > 0 && !are_classes) || is_unsure)
        return Likeness::FITS;
    if (is_of_grid && are_classes)
        return Likeness::CERTAIN;
    // YOLOX's rows only have one more value, so a transposed tensor may be either's.
    if (is_of_grid && (!is_transposed || layout.width != width_of_yolox))
        return Likeness::TYPICAL;
    const bool is_long = shape.dims[layout.row_axis] > most_without_grid;
    return are_classes && (is_long || !is_transposed) ? Likeness::TYPICAL : Likeness::FITS;
}

// Returns how else such rows can be read, if the number of classes is unknown.
std::string ambiguity_of(const YoloLayout &layout, const DetectorFacts &facts)
{
    const bool is_known = !facts.task.empty() || facts.classes > 0 ||
                          layout.width == width_of_coco || layout.key_points > 0 ||
                          layout.coefficients > 0;
    if (is_known || layout.classes < 2)
        return "";
    return concat("which can be read in two ways: as boxes of ", layout.classes,
                  " classes (nb_classes=", layout.classes, "), or as turned boxes of ",
                  layout.classes - 1, " classes and an angle (nb_classes=", layout.classes - 1,
                  "); labels=FILE says how many classes there are as well");
}

} // namespace

Match match_yolov8(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    if (shapes.empty() || !has_shape(shapes[0], {any_extent, any_extent, any_extent}) ||
        (shapes.size() > 1 && shapes[1].rank < 4))
        return {};
    const int axis = row_axis_of(shapes[0], shapes, facts);
    YoloLayout layout = layout_of(shapes[0].dims[3 - axis], shapes, facts);
    layout.row_axis = axis;
    if (layout.classes < 1 || shapes[0].dims[axis] < fewest_boxes)
        return {};
    return {.likeness = likeness_of(shapes[0], layout, facts),
            .decoder = make_yolo_rows(layout),
            .ambiguity = ambiguity_of(layout, facts)};
}

} // namespace dnn_torch
