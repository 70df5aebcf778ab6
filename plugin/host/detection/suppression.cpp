// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "suppression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace dnn_torch
{
namespace
{

struct Point {
    double x, y;
};

// The intersection of two convex quadrilaterals has at most eight corners; each cut adds at most
// one.
struct Polygon {
    std::array<Point, 12> corners;
    size_t count = 0;

    void add(Point corner)
    {
        if (count < corners.size())
            corners[count++] = corner;
    }
};

// Clockwise on the screen, where y grows downwards.
Polygon corners_of(const TurnedBox &box)
{
    const double cosine = std::cos(static_cast<double>(box.angle));
    const double sine = std::sin(static_cast<double>(box.angle));
    const double x = box.width / 2.0, y = box.height / 2.0;
    Polygon polygon;
    for (const Point corner : {Point{-x, -y}, Point{x, -y}, Point{x, y}, Point{-x, y}})
        polygon.add({box.middle_x + corner.x * cosine - corner.y * sine,
                     box.middle_y + corner.x * sine + corner.y * cosine});
    return polygon;
}

// Returns above 0 if `point` is on the inner side of the edge of a clockwise polygon.
double side_of(Point from, Point to, Point point)
{
    return (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x);
}

// Returns the part of the polygon on the inner side of an edge (Sutherland-Hodgman).
Polygon clipped(const Polygon &polygon, Point from, Point to)
{
    Polygon kept;
    for (size_t i = 0; i < polygon.count; i++) {
        const Point here = polygon.corners[i], next = polygon.corners[(i + 1) % polygon.count];
        const double side = side_of(from, to, here), next_side = side_of(from, to, next);
        if (side >= 0)
            kept.add(here);
        if ((side >= 0) != (next_side >= 0)) {
            const double part = side / (side - next_side);
            kept.add({here.x + part * (next.x - here.x), here.y + part * (next.y - here.y)});
        }
    }
    return kept;
}

double area_of(const Polygon &polygon)
{
    double twice = 0;
    for (size_t i = 0; i < polygon.count; i++) {
        const Point here = polygon.corners[i], next = polygon.corners[(i + 1) % polygon.count];
        twice += here.x * next.y - next.x * here.y;
    }
    return std::abs(twice) / 2;
}

float overlap(const TurnedBox &one, const TurnedBox &other)
{
    Polygon common = corners_of(one);
    const Polygon edges = corners_of(other);
    for (size_t i = 0; i < edges.count; i++)
        common = clipped(common, edges.corners[i], edges.corners[(i + 1) % edges.count]);
    const double both = area_of(common);
    const double all = static_cast<double>(one.width) * one.height +
                       static_cast<double>(other.width) * other.height - both;
    return all > 0 ? static_cast<float>(both / all) : 0;
}

bool is_finite(const Detection &detection)
{
    const Box &box = detection.box;
    return std::isfinite(detection.confidence) && std::isfinite(box.left) &&
           std::isfinite(box.top) && std::isfinite(box.right) && std::isfinite(box.bottom);
}

// Returns the indices of the most confident detections, sorted by confidence.
std::vector<size_t> order_of(const std::vector<Detection> &found)
{
    std::vector<size_t> order;
    order.reserve(found.size());
    for (size_t i = 0; i < found.size(); i++)
        if (is_finite(found[i]))
            order.push_back(i);
    const auto more_confident = [&found](size_t one, size_t other) {
        return std::pair(-found[one].confidence, one) < std::pair(-found[other].confidence, other);
    };
    const size_t count = std::min(order.size(), most_candidates);
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                      more_confident);
    order.resize(count);
    return order;
}

// The kept detections of a class.  Their boxes are contiguous in memory, because most comparisons
// need only the boxes.
class KeptBoxes
{
public:
    void add(const Box &box, size_t number)
    {
        boxes_.push_back(box);
        numbers_.push_back(number);
    }
    // Returns whether one of them overlaps the candidate by more than `iou`.
    bool cover(const Detection &candidate, float iou, const std::vector<Detection> &kept) const
    {
        for (size_t i = 0; i < boxes_.size(); i++)
            if (do_touch(boxes_[i], candidate.box) && overlap(kept[numbers_[i]], candidate) > iou)
                return true;
        return false;
    }

private:
    static bool do_touch(const Box &one, const Box &other)
    {
        return (one.left < other.right) & (other.left < one.right) & (one.top < other.bottom) &
               (other.top < one.bottom);
    }

    std::vector<Box> boxes_;
    std::vector<size_t> numbers_; // indices in the list of all kept detections
};

} // namespace

float overlap(const Box &one, const Box &other)
{
    const float width = std::min(one.right, other.right) - std::max(one.left, other.left);
    const float height = std::min(one.bottom, other.bottom) - std::max(one.top, other.top);
    if (!(width > 0 && height > 0))
        return 0;
    const float common = width * height;
    const float all = one.area() + other.area() - common;
    return all > 0 ? common / all : 0;
}

float overlap(const Detection &one, const Detection &other)
{
    const float upright = overlap(one.box, other.box);
    if (!one.turned || !other.turned || upright == 0)
        return upright;
    return overlap(*one.turned, *other.turned);
}

void keep_most_confident(std::vector<Detection> &found, size_t most)
{
    if (found.size() <= most)
        return;
    if (most == 0)
        return found.clear();
    std::vector<float> confidences;
    confidences.reserve(found.size());
    for (const Detection &each : found)
        confidences.push_back(each.confidence);
    const auto last = confidences.begin() + static_cast<ptrdiff_t>(most) - 1;
    std::nth_element(confidences.begin(), last, confidences.end(), std::greater<>());
    const float least = *last;
    size_t equals =
        most - static_cast<size_t>(std::count_if(confidences.begin(), last,
                                                 [least](float value) { return value > least; }));
    std::erase_if(found, [&](const Detection &each) {
        if (each.confidence != least)
            return each.confidence < least;
        return equals == 0 || equals-- == 0;
    });
}

void suppress(std::vector<Detection> &found, const SuppressionParameters &parameters)
{
    std::vector<Detection> kept;
    std::map<int, KeptBoxes> kept_of_class;
    const size_t most = static_cast<size_t>(std::max(parameters.max_boxes, 0));
    for (const size_t number : order_of(found)) {
        if (kept.size() >= most)
            break;
        Detection &candidate = found[number];
        KeptBoxes &same_class = kept_of_class[parameters.agnostic ? 0 : candidate.label];
        if (parameters.iou < 1 && same_class.cover(candidate, parameters.iou, kept))
            continue;
        same_class.add(candidate.box, kept.size());
        kept.push_back(std::move(candidate));
    }
    found = std::move(kept);
}

} // namespace dnn_torch
