// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "vision_operators.h"

#include <algorithm>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <cmath>
#include <cstdint>
#include <torch/csrc/jit/runtime/operator.h>
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

// Returns the indices of the boxes to keep.  `boxes` are sorted by falling scores.
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

// ---- torchvision::box_iou_rotated ------------------------------------------------------

struct Point {
    double x, y;
};

using Polygon = std::vector<Point>;

// Its centre, width, height and rotation.
struct TurnedBox {
    double x, y, width, height, degrees;

    double area() const { return width * height; }
    Polygon corners() const;
};

Polygon TurnedBox::corners() const
{
    constexpr double half_turn = 3.14159265358979323846;
    const double angle = degrees / 180 * half_turn;
    const double sine = std::sin(angle) / 2, cosine = std::cos(angle) / 2;
    const Point first = {sine * height + cosine * width, cosine * height - sine * width};
    const Point second = {cosine * width - sine * height, -cosine * height - sine * width};
    return {{x + first.x, y + first.y},
            {x + second.x, y + second.y},
            {x - first.x, y - first.y},
            {x - second.x, y - second.y}};
}

// Returns the distance of a point to the left of the line from `a` to `b`, times the line's length.
double left_of(const Point &a, const Point &b, const Point &point)
{
    return (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x);
}

// Returns the part of a convex polygon that is not to the left of that line.
Polygon cut_along(const Polygon &polygon, const Point &a, const Point &b)
{
    Polygon kept;
    for (size_t i = 0; i < polygon.size(); i++) {
        const Point &here = polygon[i], &next = polygon[(i + 1) % polygon.size()];
        const double now = left_of(a, b, here), then = left_of(a, b, next);
        if (now <= 0)
            kept.push_back(here);
        if ((now < 0 && then > 0) || (now > 0 && then < 0)) {
            const double share = now / (now - then);
            kept.push_back(
                {here.x + (next.x - here.x) * share, here.y + (next.y - here.y) * share});
        }
    }
    return kept;
}

double area_of(const Polygon &polygon)
{
    double twice = 0;
    for (size_t i = 2; i < polygon.size(); i++)
        twice += left_of(polygon[0], polygon[i - 1], polygon[i]);
    return std::abs(twice) / 2;
}

double shared_area(const TurnedBox &a, const TurnedBox &b)
{
    Polygon left = a.corners();
    const Polygon edges = b.corners();
    for (size_t i = 0; i < edges.size(); i++)
        left = cut_along(left, edges[i], edges[(i + 1) % edges.size()]);
    return area_of(left);
}

double overlap_of(const TurnedBox &a, const TurnedBox &b)
{
    constexpr double nothing = 1e-14;
    if (a.area() < nothing || b.area() < nothing)
        return 0;
    // Corners near zero keep more digits.
    const TurnedBox near = {b.x - a.x, b.y - a.y, b.width, b.height, b.degrees};
    const double shared = shared_area({0, 0, a.width, a.height, a.degrees}, near);
    return shared / (a.area() + b.area() - shared);
}

std::vector<TurnedBox> turned_boxes_of(const at::Tensor &boxes)
{
    TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 5 && boxes.is_floating_point(),
                "rotated boxes should be N x 5 floats");
    const at::Tensor numbers = boxes.detach().to(at::kCPU, at::kDouble).contiguous();
    const double *number = numbers.data_ptr<double>();
    std::vector<TurnedBox> list;
    for (int64_t i = 0; i < numbers.size(0); i++, number += 5)
        list.push_back({number[0], number[1], number[2], number[3], number[4]});
    return list;
}

at::Tensor overlaps_of_turned(const at::Tensor &boxes1, const at::Tensor &boxes2)
{
    const std::vector<TurnedBox> rows = turned_boxes_of(boxes1), columns = turned_boxes_of(boxes2);
    at::Tensor overlaps =
        at::empty({boxes1.size(0), boxes2.size(0)}, at::TensorOptions().dtype(at::kDouble));
    double *overlap = overlaps.data_ptr<double>();
    for (const TurnedBox &row : rows)
        for (const TurnedBox &column : columns)
            *overlap++ = overlap_of(row, column);
    return overlaps.to(boxes1.options());
}

// ---- boxes in pictures -----------------------------------------------------------------

// Beyond this, the sample counts in torchvision's loops overflow.
constexpr double farthest = 16384;

at::Tensor check_boxes(const at::Tensor &boxes, const at::Tensor &input, double scale)
{
    TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 5 && input.dim() == 4,
                "boxes should be N x 5, of pictures in 4 dimensions");
    TORCH_CHECK(std::isfinite(scale) && boxes.is_floating_point(), "boxes should be floats");
    TORCH_CHECK(input.numel() != 0, "boxes should be of pictures that are not empty");
    const at::Tensor numbers = boxes.detach().to(at::kCPU, at::kDouble).contiguous();
    const double *number = numbers.data_ptr<double>();
    for (int64_t i = 0; i < numbers.size(0); i++, number += 5) {
        TORCH_CHECK(number[0] >= 0 && number[0] < static_cast<double>(input.size(0)),
                    "a box is of a picture that is not there");
        for (int corner = 1; corner < 5; corner++)
            TORCH_CHECK(std::abs(number[corner] * scale) <= farthest,
                        "a box lies far outside its picture");
    }
    return boxes.clone(); // later changes of the boxes do no harm
}

} // namespace

bool is_provided(const std::string &name)
{
    return !torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name)).empty();
}

// LibTorch keeps what a library has registered as long as the library lives.
void register_vision_operators()
{
    static torch::Library ours(torch::Library::FRAGMENT, "dnn_torch", {}, __FILE__, __LINE__);
    ours.def("sound_boxes(Tensor boxes, Tensor input, float scale) -> Tensor", &check_boxes);
    ours.def("box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor", &overlaps_of_turned);
    static torch::Library theirs(torch::Library::FRAGMENT, "torchvision", {}, __FILE__, __LINE__);
    if (!is_provided("torchvision::nms"))
        theirs.def("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", &nms);
    if (!is_provided("torchvision::box_iou_rotated"))
        theirs.def("box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor", &overlaps_of_turned);
}

} // namespace engine_torch
