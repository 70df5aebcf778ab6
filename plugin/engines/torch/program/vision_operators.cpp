// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "vision_operators.h"

#include <algorithm>
#include <ATen/ops/from_blob.h>
#include <cmath>
#include <cstdint>
#include <torch/library.h>
#include <vector>

namespace engine_torch
{
namespace
{

// ---- torchvision::nms ------------------------------------------------------------------

template <class Number> struct Box {
    Number left, top, right, bottom;

    Number area() const { return (right - left) * (bottom - top); }
};

template <class Number> Number shared_area(const Box<Number> &a, const Box<Number> &b)
{
    const Number width = std::min(a.right, b.right) - std::max(a.left, b.left);
    const Number height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
    return std::max<Number>(0, width) * std::max<Number>(0, height);
}

// Returns the places of the boxes that stay.  `boxes` are in the order of falling scores.
template <class Number>
std::vector<int64_t> places_kept(const std::vector<Box<Number>> &boxes, double threshold)
{
    std::vector<bool> is_dropped(boxes.size());
    std::vector<int64_t> kept;
    for (size_t i = 0; i < boxes.size(); i++) {
        if (is_dropped[i])
            continue;
        kept.push_back(static_cast<int64_t>(i));
        for (size_t j = i + 1; j < boxes.size(); j++) {
            const Number shared = shared_area(boxes[i], boxes[j]);
            const Number overlap = shared / (boxes[i].area() + boxes[j].area() - shared);
            if (static_cast<double>(overlap) > threshold)
                is_dropped[j] = true;
        }
    }
    return kept;
}

template <class Number> at::Tensor kept_of(const at::Tensor &sorted, double threshold)
{
    const at::Tensor boxes = sorted.contiguous();
    const auto *numbers = boxes.data_ptr<Number>();
    std::vector<Box<Number>> list;
    for (int64_t i = 0; i < boxes.size(0); i++, numbers += 4)
        list.push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
    std::vector<int64_t> kept = places_kept(list, threshold);
    return at::from_blob(kept.data(), {static_cast<int64_t>(kept.size())},
                         at::TensorOptions().dtype(at::kLong))
        .clone();
}

// Equal scores stay in the order of the boxes.
at::Tensor nms(const at::Tensor &boxes, const at::Tensor &scores, double threshold)
{
    TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 4, "boxes of nms should be N x 4");
    TORCH_CHECK(scores.dim() == 1 && scores.size(0) == boxes.size(0),
                "scores of nms should be one for each box");
    TORCH_CHECK(boxes.is_floating_point() && scores.scalar_type() == boxes.scalar_type(),
                "boxes and scores of nms should be floats of the same type");
    const at::Tensor order =
        std::get<1>(scores.detach().cpu().sort(/*stable=*/true, 0, /*descending=*/true));
    const at::Tensor sorted = boxes.detach().cpu().index_select(0, order);
    const at::Tensor places = sorted.scalar_type() == at::kDouble
                                  ? kept_of<double>(sorted, threshold)
                                  : kept_of<float>(sorted.to(at::kFloat), threshold);
    return order.index_select(0, places).to(boxes.device());
}

// ---- boxes in pictures -----------------------------------------------------------------

// Beyond this, the counts of samples in torchvision's loops leave their integers.
constexpr double farthest = 16384;

at::Tensor check_boxes(const at::Tensor &boxes, const at::Tensor &input, double scale)
{
    TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 5 && input.dim() == 4,
                "boxes should be N x 5, of pictures in 4 dimensions");
    TORCH_CHECK(std::isfinite(scale) && boxes.is_floating_point(), "boxes should be floats");
    const at::Tensor numbers = boxes.detach().to(at::kCPU, at::kDouble).contiguous();
    const double *number = numbers.data_ptr<double>();
    for (int64_t i = 0; i < numbers.size(0); i++, number += 5) {
        TORCH_CHECK(number[0] >= 0 && number[0] < static_cast<double>(input.size(0)),
                    "a box is of a picture that is not there");
        for (int corner = 1; corner < 5; corner++)
            TORCH_CHECK(std::abs(number[corner] * scale) <= farthest,
                        "a box lies far outside its picture");
    }
    return boxes;
}

} // namespace

// LibTorch keeps what a library has registered as long as the library lives.
void register_vision_operators(bool has_nms)
{
    static torch::Library ours(torch::Library::FRAGMENT, "dnn_torch", {}, __FILE__, __LINE__);
    ours.def("sound_boxes(Tensor boxes, Tensor input, float scale) -> Tensor", &check_boxes);
    if (has_nms)
        return;
    static torch::Library theirs(torch::Library::FRAGMENT, "torchvision", {}, __FILE__, __LINE__);
    theirs.def("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", &nms);
}

} // namespace engine_torch
