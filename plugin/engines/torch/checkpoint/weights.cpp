// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "weights.h"

#include "base/compose.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

namespace engine_torch
{
namespace
{

// Prevents overflow in a product of two sizes, or in a small multiple of one.
constexpr int64_t largest_size = int64_t{1} << 30;

template <class Number> Number first_of(std::string_view bytes)
{
    Number number;
    std::memcpy(&number, bytes.data(), sizeof(number));
    return number;
}

double number_of_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const int mantissa = bits & 1023;
    const double size =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa | 1024, exponent - 25);
    return bits >> 15 ? -size : size;
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Returns the count of elements from the tensor's first to its last; nullopt if it is too large.
std::optional<int64_t> reach_of(const Weight &weight)
{
    int64_t reach = 1, elements = 1;
    for (size_t i = 0; i < weight.shape.size(); i++) {
        const int64_t size = weight.shape[i];
        int64_t more = 0;
        if (__builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements) ||
            __builtin_mul_overflow(std::max<int64_t>(size - 1, 0), weight.strides[i], &more) ||
            __builtin_add_overflow(reach, more, &reach))
            return std::nullopt;
    }
    if (elements > int64_t{1} << 48)
        return std::nullopt;
    const bool is_empty =
        std::find(weight.shape.begin(), weight.shape.end(), 0) != weight.shape.end();
    return is_empty ? 0 : reach;
}

} // namespace

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

std::string packed_bytes(const Weight &weight)
{
    if (weight.strides == packed_strides(weight.shape))
        return std::string(weight.bytes);
    const size_t size = bytes_of(weight.type);
    std::string packed;
    std::vector<int64_t> place(weight.shape.size());
    for (uint64_t left = bytes_of(weight); left > 0; left -= size) {
        int64_t at = 0;
        for (size_t i = 0; i < place.size(); i++)
            at += place[i] * weight.strides[i];
        packed.append(weight.bytes.substr(static_cast<size_t>(at) * size, size));
        for (size_t i = place.size(); i > 0 && ++place[i - 1] == weight.shape[i - 1]; i--)
            place[i - 1] = 0;
    }
    return packed;
}

std::optional<std::string_view> part_of_storage(const Weight &weight, int64_t offset,
                                                std::string_view storage)
{
    const std::optional<int64_t> reach = reach_of(weight);
    uint64_t begin = 0, size = 0;
    if (!reach || offset < 0 ||
        __builtin_mul_overflow(static_cast<uint64_t>(offset), bytes_of(weight.type), &begin) ||
        __builtin_mul_overflow(static_cast<uint64_t>(*reach), bytes_of(weight.type), &size) ||
        begin > storage.size() || size > storage.size() - begin)
        return std::nullopt;
    return storage.substr(begin, size);
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

bool Weights::has(std::string_view name) const
{
    if (weights_.find(name) != weights_.end())
        return true;
    if (missing_)
        missing_->emplace(name);
    return false;
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
        throw WeightFault(concat("has ", name, " with ",
                                 dnn_torch::counted(weight.shape.size(), "dimension"),
                                 ", which is too few"));
    const int64_t size = weight.shape[dimension];
    if (size < 0 || size > largest_size)
        throw WeightFault(
            concat("has ", name, " with a dimension of ", size, ", which no network has"));
    return size;
}

int64_t Weights::count(std::string_view prefix) const
{
    int64_t count = 0;
    while (has_any(concat(prefix, count, ".")) || has(concat(prefix, count)))
        count++;
    return count;
}

double Weights::first_number(std::string_view name) const
{
    const Weight &weight = at(name);
    if (weight.bytes.size() >= bytes_of(weight.type)) {
        if (weight.type == ElementType::float32)
            return first_of<float>(weight.bytes);
        if (weight.type == ElementType::float64)
            return first_of<double>(weight.bytes);
        if (weight.type == ElementType::float16)
            return number_of_half(first_of<uint16_t>(weight.bytes));
        if (weight.type == ElementType::bfloat16)
            return std::bit_cast<float>(uint32_t{first_of<uint16_t>(weight.bytes)} << 16);
    }
    throw WeightFault(concat("has ", name, " without any number"));
}

// Finds a digit next to an "x", outside of words and numbers: "64x64" and "ax2" do not count.
int64_t scale_in_name(std::string_view path)
{
    int64_t scale = 0;
    const std::string name = concat(" ", path.substr(path.rfind('/') + 1), "  ");
    for (size_t i = 1; i + 2 < name.size(); i++) {
        if (is_digit(name[i - 1]) || is_letter(name[i - 1]) || is_digit(name[i + 2]))
            continue;
        const bool digit_first = is_digit(name[i]) && (name[i + 1] == 'x' || name[i + 1] == 'X');
        const bool x_first = is_digit(name[i + 1]) && (name[i] == 'x' || name[i] == 'X');
        if (digit_first || x_first)
            scale = name[digit_first ? i : i + 1] - '0';
    }
    return scale;
}

bool Weights::has_any(std::string_view prefix) const
{
    const auto first = weights_.lower_bound(prefix);
    return first != weights_.end() && first->first.compare(0, prefix.size(), prefix) == 0;
}

} // namespace engine_torch
