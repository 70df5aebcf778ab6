// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tracker.h"

#include "assignment.h"
#include "suppression.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dnn_torch
{
namespace
{

// Noise relative to an object's extent, with DeepSORT's values.
constexpr double place_noise = 1.0 / 20, speed_noise = 1.0 / 160;

// Larger numbers are assigned greedily, because the best assignment takes cubic time.
constexpr size_t most_for_best = 300;

constexpr double least_extent = 1e-3;

double squared(double value)
{
    return value * value;
}

bool is_finite(const Box &box)
{
    return std::isfinite(box.left) && std::isfinite(box.top) && std::isfinite(box.right) &&
           std::isfinite(box.bottom);
}

std::array<double, 4> numbers_of(const Box &box)
{
    return {(static_cast<double>(box.left) + box.right) / 2,
            (static_cast<double>(box.top) + box.bottom) / 2, box.width(), box.height()};
}

double scale_of(const Box &box)
{
    return std::max<double>({box.width(), box.height(), 1});
}

std::vector<size_t> assigned(std::vector<Pair> pairs, size_t rows, size_t columns)
{
    if (rows > most_for_best || columns > most_for_best)
        return assign_greedily(std::move(pairs), rows, columns);
    PairWeights weights = {
        .rows = rows, .columns = columns, .values = std::vector<double>(rows * columns)};
    for (const Pair &pair : pairs)
        weights.values[pair.row * columns + pair.column] = pair.weight;
    return assign_best(weights);
}

} // namespace

SteadyMotion::SteadyMotion(double place, double scale)
    : place_(place), place_variance_(squared(2 * place_noise * scale)),
      speed_variance_(squared(10 * speed_noise * scale))
{
}

void SteadyMotion::predict(double scale)
{
    place_ += speed_;
    place_variance_ += 2 * covariance_ + speed_variance_ + squared(place_noise * scale);
    covariance_ += speed_variance_;
    speed_variance_ += squared(speed_noise * scale);
}

void SteadyMotion::measure(double place, double scale)
{
    const double sum = place_variance_ + squared(place_noise * scale);
    const double gain = place_variance_ / sum, speed_gain = covariance_ / sum;
    const double innovation = place - place_;
    place_ += gain * innovation;
    speed_ += speed_gain * innovation;
    speed_variance_ -= speed_gain * covariance_;
    covariance_ *= 1 - gain;
    place_variance_ *= 1 - gain;
}

Tracker::Track::Track(int64_t its_number, const Detection &first)
    : number(its_number),
      label(first.label), motions{SteadyMotion(numbers_of(first.box)[0], scale_of(first.box)),
                                  SteadyMotion(numbers_of(first.box)[1], scale_of(first.box)),
                                  SteadyMotion(numbers_of(first.box)[2], scale_of(first.box)),
                                  SteadyMotion(numbers_of(first.box)[3], scale_of(first.box))}
{
}

double Tracker::Track::scale() const
{
    return scale_of(box());
}

void Tracker::Track::predict()
{
    const double extent = scale();
    for (SteadyMotion &motion : motions)
        motion.predict(extent);
    unseen++;
}

void Tracker::Track::measure(const Box &box)
{
    const std::array<double, 4> numbers = numbers_of(box);
    for (size_t i = 0; i < motions.size(); i++)
        motions[i].measure(numbers[i], scale_of(box));
    unseen = 0;
}

Box Tracker::Track::box() const
{
    const double width = std::max(motions[2].place(), least_extent);
    const double height = std::max(motions[3].place(), least_extent);
    return {static_cast<float>(motions[0].place() - width / 2),
            static_cast<float>(motions[1].place() - height / 2),
            static_cast<float>(motions[0].place() + width / 2),
            static_cast<float>(motions[1].place() + height / 2)};
}

void Tracker::predict()
{
    for (Track &track : tracks_)
        track.predict();
}

// Returns the index of each detection's track, or `unassigned`.
std::vector<size_t> Tracker::tracks_of(std::span<const Detection> found) const
{
    std::vector<Box> boxes;
    for (const Track &track : tracks_)
        boxes.push_back(track.box());
    // Sorts tracks from left to right, so that most pairs are never compared.
    std::vector<size_t> order(boxes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t one, size_t other) { return boxes[one].left < boxes[other].left; });
    float widest = 0;
    for (const Box &box : boxes)
        widest = std::max(widest, box.width());

    std::vector<Pair> pairs;
    for (size_t i = 0; i < found.size(); i++) {
        if (!is_finite(found[i].box))
            continue;
        const auto first =
            std::lower_bound(order.begin(), order.end(), found[i].box.left - widest,
                             [&](size_t track, float left) { return boxes[track].left < left; });
        for (auto track = first; track != order.end(); track++) {
            if (boxes[*track].left >= found[i].box.right)
                break;
            const double weight = overlap(found[i].box, boxes[*track]);
            if (tracks_[*track].label == found[i].label && weight > 0 &&
                weight >= static_cast<double>(parameters_.least_overlap))
                pairs.push_back({.row = i, .column = *track, .weight = weight});
        }
    }
    return assigned(std::move(pairs), found.size(), tracks_.size());
}

std::vector<int64_t> Tracker::update(std::span<const Detection> found)
{
    predict();
    const std::vector<size_t> own = tracks_of(found);
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < found.size(); i++)
        if (own[i] != unassigned) {
            tracks_[own[i]].measure(found[i].box);
            numbers.push_back(tracks_[own[i]].number);
        } else {
            numbers.push_back(next_number_++);
        }
    std::erase_if(tracks_,
                  [&](const Track &track) { return track.unseen > parameters_.lost_after; });
    for (size_t i = 0; i < found.size(); i++)
        if (own[i] == unassigned && is_finite(found[i].box))
            tracks_.emplace_back(numbers[i], found[i]);
    return numbers;
}

std::optional<Box> Tracker::box_of(int64_t number) const
{
    const auto place =
        std::lower_bound(tracks_.begin(), tracks_.end(), number,
                         [](const Track &track, int64_t wanted) { return track.number < wanted; });
    if (place == tracks_.end() || place->number != number)
        return std::nullopt;
    return place->box();
}

} // namespace dnn_torch
