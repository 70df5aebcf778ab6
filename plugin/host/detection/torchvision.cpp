// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// torchvision's detectors, scripted or traced, with one group of tensors for each picture:
//
//   boxes [n,4]       left, top, right, bottom in pixels
//   labels [n]        0 is the background
//   scores [n]
//   masks [n,1,H,W]
//   keypoints [n,K,3], keypoints_scores [n,K]
//
// A group's names are "1.0.boxes", "0.boxes" or "boxes".  A traced model has no names: then three
// tensors are boxes, whole numbers and scores, in this order or with the last two exchanged.
#include "decoder_kinds.h"

#include <algorithm>
#include <cmath>

namespace dnn_torch
{
namespace
{

struct Group {
    const DnnTorchTensor *boxes = nullptr, *labels = nullptr, *scores = nullptr;
    const DnnTorchTensor *masks = nullptr, *key_points = nullptr, *key_point_scores = nullptr;
};

const DnnTorchTensor *member(std::span<const DnnTorchTensor> tensors, std::string_view group,
                             std::string_view name)
{
    for (const DnnTorchTensor &tensor : tensors)
        if (is_named(tensor, name) && name_before_last(tensor) == group)
            return &tensor;
    return nullptr;
}

bool is_complete(const Group &group)
{
    return group.boxes && group.labels && group.scores &&
           has_shape(*group.boxes, {any_extent, 4}) &&
           has_shape(*group.labels, {group.boxes->dims[0]}) &&
           has_shape(*group.scores, {group.boxes->dims[0]});
}

Group group_without_names(std::span<const DnnTorchTensor> tensors)
{
    if (tensors.size() < 3 || tensors.size() > 4)
        return {};
    const bool are_labels_first = tensors[1].type == DNN_TORCH_I64;
    if (are_labels_first == (tensors[2].type == DNN_TORCH_I64))
        return {};
    Group group;
    group.boxes = &tensors[0];
    group.labels = &tensors[are_labels_first ? 1 : 2];
    group.scores = &tensors[are_labels_first ? 2 : 1];
    if (tensors.size() == 4)
        group.masks = &tensors[3];
    return group;
}

// Returns the tensors of picture `index`; `boxes` is null if it has none.
Group group_of(std::span<const DnnTorchTensor> tensors, int index)
{
    int pictures = 0;
    for (const DnnTorchTensor &tensor : tensors) {
        if (!is_named(tensor, "boxes") || pictures++ != index)
            continue;
        const std::string_view name = name_before_last(tensor);
        return {.boxes = &tensor,
                .labels = member(tensors, name, "labels"),
                .scores = member(tensors, name, "scores"),
                .masks = member(tensors, name, "masks"),
                .key_points = member(tensors, name, "keypoints"),
                .key_point_scores = member(tensors, name, "keypoints_scores")};
    }
    return pictures == 0 && index == 0 ? group_without_names(tensors) : Group();
}

// The scores are logits, of any magnitude.
void read_key_points(const Group &group, std::span<Detection> found)
{
    const DnnTorchTensor &points = *group.key_points;
    if (!has_shape(points, {group.boxes->dims[0], any_extent, 3}))
        return;
    check_key_points(points.dims[1], found.size());
    const Rows each = rows_of(points, 0, {.rows = 0, .values = 1});
    for (Detection &detection : found)
        for (int64_t number = 0; number < points.dims[1]; number++) {
            Rows one = each;
            one.data += detection.row * each.row_step + number * each.value_step;
            one.value_step = points.strides[2];
            KeyPoint point = {.x = one.at(0, 0), .y = one.at(0, 1), .confidence = 1};
            if (group.key_point_scores &&
                has_shape(*group.key_point_scores, {points.dims[0], points.dims[1]}))
                point.confidence =
                    sigmoid(rows_of(*group.key_point_scores, 0, {.rows = 0, .values = 1})
                                .at(detection.row, number));
            if (!std::isfinite(point.x) || !std::isfinite(point.y) ||
                !std::isfinite(point.confidence))
                point = {.x = 0, .y = 0, .confidence = 0};
            detection.key_points.push_back(point);
        }
}

class Torchvision : public Decoder
{
public:
    explicit Torchvision(bool has_masks) : has_masks_(has_masks) {}

    const char *name() const override { return "torchvision"; }
    int classes() const override { return 0; }
    bool has_background() const override { return true; }
    bool needs_suppression() const override { return false; }
    bool has_masks() const override { return has_masks_; }
    void decode(std::span<const DnnTorchTensor> tensors, int index,
                const DecodeParameters &parameters, std::vector<Detection> &found) const override;
    void add_key_points(std::span<const DnnTorchTensor> tensors, int index,
                        std::span<Detection> found) const override;
    void add_masks(std::span<const DnnTorchTensor> tensors, int index,
                   std::span<Detection> found) const override;

private:
    bool has_masks_;
};

void Torchvision::decode(std::span<const DnnTorchTensor> tensors, int index,
                         const DecodeParameters &parameters, std::vector<Detection> &found) const
{
    const Group group = group_of(tensors, index);
    if (!is_complete(group))
        refuse_tensors(name(), tensors);
    const DetectionLists lists = {.boxes = rows_of(*group.boxes, 0, {.rows = 0, .values = 1}),
                                  .labels = rows_of(*group.labels, 0, {.rows = 0}),
                                  .scores = rows_of(*group.scores, 0, {.rows = 0})};
    append_listed(lists, lists.count(), parameters, found);
}

void Torchvision::add_key_points(std::span<const DnnTorchTensor> tensors, int index,
                                 std::span<Detection> found) const
{
    const Group group = group_of(tensors, index);
    if (is_complete(group) && group.key_points)
        read_key_points(group, found);
}

// Returns the part of a whole picture's mask that is in the box.
Mask cut_mask(const Rows &lines, const Box &box, MaskBudget &budget)
{
    const auto place = [](float value, int64_t most) {
        return static_cast<int>(std::clamp(value, 0.0F, static_cast<float>(most)));
    };
    const int left = place(std::floor(box.left), lines.width);
    const int top = place(std::floor(box.top), lines.count);
    const int right = place(std::ceil(box.right), lines.width);
    const int bottom = place(std::ceil(box.bottom), lines.count);
    if (right <= left || bottom <= top)
        return {};
    budget.take({right - left, bottom - top});
    std::vector<float> values;
    values.reserve(static_cast<size_t>(right - left) * static_cast<size_t>(bottom - top));
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++) {
            const float value = lines.at(y, x);
            values.push_back(value > 0 ? std::min(value, 1.0F) : 0); // NaN is 0, too
        }
    return {.size = {right - left, bottom - top},
            .area = {static_cast<float>(left), static_cast<float>(top), static_cast<float>(right),
                     static_cast<float>(bottom)},
            .values = std::make_shared<const std::vector<float>>(std::move(values))};
}

void Torchvision::add_masks(std::span<const DnnTorchTensor> tensors, int index,
                            std::span<Detection> found) const
{
    const Group group = group_of(tensors, index);
    if (!group.masks || !has_shape(*group.masks, {any_extent, 1, any_extent, any_extent}))
        return;
    const int64_t count = group.masks->data ? group.masks->dims[0] : 0;
    MaskBudget budget;
    for (Detection &detection : found)
        if (detection.row >= 0 && detection.row < count)
            detection.mask = cut_mask(rows_of(*group.masks, static_cast<int>(detection.row),
                                              {.rows = 2, .values = 3, .picture = 0}),
                                      detection.box, budget);
}

} // namespace

Match match_torchvision(std::span<const DnnTorchTensor> shapes, const DetectorFacts &)
{
    const Group group = group_of(shapes, 0);
    if (!is_complete(group))
        return {};
    const bool has_masks =
        group.masks && has_shape(*group.masks, {any_extent, 1, any_extent, any_extent});
    return {Likeness::CERTAIN, std::make_unique<Torchvision>(has_masks)};
}

} // namespace dnn_torch
