// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "near_miss.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

using Shape = std::vector<int64_t>;

std::set<std::string> names_not_found(const Architecture &architecture, const Weights &weights)
{
    std::set<std::string> names;
    Weights recorded = weights;
    recorded.record_missing(&names);
    architecture.recognises(recorded);
    return names;
}

// Changes the shape to that of a first or last layer, by its channels on one side.
Shape at_end(Shape shape, size_t side, int64_t channels)
{
    shape[side] = channels;
    return shape;
}

// Returns the checkpoint's shapes, and those of a first or last layer: few channels on one side,
// and other kernels if it enlarges.
std::set<Shape> likely_shapes(const Weights &weights)
{
    constexpr size_t most = 200;
    constexpr int64_t channel_counts[] = {3, 1, 4, 12, 27, 48, 192, 16, 9};
    std::set<Shape> present, all;
    for (const auto &[name, weight] : weights.all())
        if (!weight.shape.empty())
            present.insert(weight.shape);
    all = present;
    for (const Shape &shape : present)
        for (const int64_t kernel : {4, 5})
            for (size_t side = 0; side < 2 && shape.size() == 4 && all.size() < most; side++)
                all.insert(at_end({shape[0], shape[1], kernel, kernel}, side, 3));
    for (const Shape &shape : present)
        for (const int64_t channels : channel_counts)
            for (size_t side = 0; side < 2 && shape.size() == 4 && all.size() < most; side++)
                all.insert(at_end(shape, side, channels));
    return all;
}

Weights with_weight(const Weights &weights, const std::string &name, const Shape &shape)
{
    Weights::Map all = weights.all();
    all[name] = {.type = ElementType::float32,
                 .shape = shape,
                 .strides = packed_strides(shape),
                 .bytes = {}};
    Weights more(std::move(all));
    more.set_named_scale(weights.named_scale());
    return more;
}

bool is_network(const Architecture &architecture, const Weights &weights)
try {
    architecture.build(weights);
    return true;
} catch (const WeightFault &) {
    return false;
}

// Architectures only check names and numbers of dimensions to recognise weights.
class Trials
{
public:
    Trials(const Architecture &architecture, const Weights &weights, const std::string &name)
        : architecture_(architecture), weights_(weights), name_(name)
    {
    }

    bool fits(const Shape &shape)
    {
        const auto [known, is_new] = recognised_.try_emplace(shape.size());
        if (is_new)
            known->second = architecture_.recognises(with_weight(weights_, name_, shape));
        return known->second && is_network(architecture_, with_weight(weights_, name_, shape));
    }

private:
    const Architecture &architecture_;
    const Weights &weights_;
    const std::string &name_;
    std::map<size_t, bool> recognised_; // with a weight of so many dimensions
};

} // namespace

std::string missing_weight(const Architecture &architecture, const Weights &weights)
{
    const std::set<std::string> names = names_not_found(architecture, weights);
    if (names.empty())
        return "";
    const std::set<Shape> shapes = likely_shapes(weights);
    for (const std::string &name : names) {
        Trials trials(architecture, weights, name);
        if (std::ranges::any_of(shapes, [&](const Shape &shape) { return trials.fits(shape); }))
            return name;
    }
    return "";
}

} // namespace engine_torch
