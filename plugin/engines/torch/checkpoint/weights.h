// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The named tensors of a checkpoint, as bytes.  Needs no LibTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace engine_torch
{

enum class ElementType : uint8_t {
    float64,
    float32,
    float16,
    bfloat16,
    int64,
    int32,
    int16,
    int8,
    uint8,
    boolean,
};

size_t bytes_of(ElementType type);

// Returns the strides of a tensor without gaps.
std::vector<int64_t> packed_strides(const std::vector<int64_t> &shape);

struct Weight {
    ElementType type = ElementType::float32;
    std::vector<int64_t> shape, strides; // strides in elements
    std::string_view bytes;              // begins with the first element and contains all of them
};

// Returns the tensor's size without gaps, though its elements may share memory.
uint64_t bytes_of(const Weight &weight);

// Returns the tensor's elements without gaps.
std::string packed_bytes(const Weight &weight);

// Returns the bytes of the tensor that begins with that element of `storage`; nullopt if it reaches
// beyond.  `weight.bytes` is not read.
std::optional<std::string_view> part_of_storage(const Weight &weight, int64_t offset,
                                                std::string_view storage);

// Returns the scale in the file's name, such as 3 for "net_x3.pth" and "3x-net.pth", or 0.
int64_t scale_in_name(std::string_view path);

// Says what is wrong with a checkpoint's weights.  The text follows the file's name: "lacks ...".
struct WeightFault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Never changes; any thread, unless missing names are recorded.  The bytes must outlive the object.
class Weights
{
public:
    using Map = std::map<std::string, Weight, std::less<>>;

    Weights() = default;
    explicit Weights(Map weights) : weights_(std::move(weights)) {}

    const Map &all() const noexcept { return weights_; }
    bool has(std::string_view name) const;
    bool has_all(std::initializer_list<std::string_view> names) const;

    // Throws a WeightFault that names the weight if it is missing.
    const Weight &at(std::string_view name) const;
    // Returns the size of one dimension, at most 2^30.  Throws a WeightFault if there is no such
    // weight or dimension.
    int64_t size(std::string_view name, size_t dimension) const;

    // Returns how many numbers follow `prefix` in names, from 0 on without a gap: 3 for "body."
    // with "body.0.weight", "body.1.bias" and "body.2.0.weight".
    int64_t count(std::string_view prefix) const;
    // Whether any name begins with `prefix`.
    bool has_any(std::string_view prefix) const;

    // Returns the first number of a tensor of floats.  Throws a WeightFault if there is none.
    double first_number(std::string_view name) const;

    // The scale in the file's name, or 0.  A few architectures have the same weights for several
    // scales.
    int64_t named_scale() const noexcept { return named_scale_; }
    void set_named_scale(int64_t scale) noexcept { named_scale_ = scale; }

    // has() adds the missing names that it is asked for.  `names` outlives the weights; null: none.
    void record_missing(std::set<std::string> *names) noexcept { missing_ = names; }

private:
    Map weights_;
    int64_t named_scale_ = 0;
    std::set<std::string> *missing_ = nullptr;
};

} // namespace engine_torch
