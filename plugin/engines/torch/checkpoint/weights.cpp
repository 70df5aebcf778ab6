// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "weights.h"

#include "base/compose.h"

#include <algorithm>

namespace engine_torch
{

using dnn_torch::concat;

size_t bytes_of(ElementType type)
{
    switch (type) {
    case ElementType::float64:
    case ElementType::int64:
        return 8;
    case ElementType::float32:
    case ElementType::int32:
        return 4;
    case ElementType::float16:
    case ElementType::bfloat16:
    case ElementType::int16:
        return 2;
    case ElementType::int8:
    case ElementType::uint8:
    case ElementType::boolean:
        return 1;
    }
    return 1;
}

uint64_t bytes_of(const Weight &weight)
{
    uint64_t bytes = bytes_of(weight.type);
    for (const int64_t size : weight.shape)
        bytes *= static_cast<uint64_t>(size);
    return bytes;
}

std::vector<int64_t> packed_strides(const std::vector<int64_t> &shape)
{
    std::vector<int64_t> strides(shape.size());
    int64_t stride = 1;
    for (size_t i = shape.size(); i > 0; i--) {
        strides[i - 1] = stride;
        stride *= shape[i - 1];
    }
    return strides;
}

bool Weights::has_all(std::initializer_list<std::string_view> names) const
{
    return std::all_of(names.begin(), names.end(),
                       [this](std::string_view name) { return has(name); });
}

const Weight &Weights::at(std::string_view name) const
{
    const auto found = weights_.find(name);
    if (found == weights_.end())
        throw WeightFault(concat("lacks ", name));
    return found->second;
}

int64_t Weights::size(std::string_view name, size_t dimension) const
{
    const Weight &weight = at(name);
    if (dimension >= weight.shape.size())
        throw WeightFault(
            concat("has ", name, " with ", weight.shape.size(), " dimensions, which are too few"));
    return weight.shape[dimension];
}

int64_t Weights::count(std::string_view prefix) const
{
    int64_t count = 0;
    while (has_any(concat(prefix, count, ".")) || has(concat(prefix, count)))
        count++;
    return count;
}

bool Weights::has_any(std::string_view prefix) const
{
    const auto first = weights_.lower_bound(prefix);
    return first != weights_.end() && first->first.compare(0, prefix.size(), prefix) == 0;
}

} // namespace engine_torch
