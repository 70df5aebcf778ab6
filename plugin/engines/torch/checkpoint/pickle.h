// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads what a pickle describes, without running anything that it asks for.  Needs no LibTorch.
//
// Python would create objects by calling the functions that the pickle names.  Here, the few calls
// from which PyTorch creates tensors and dictionaries become values; any other becomes a value of
// the kind `opaque`, of which only the name is known.  Values refer to each other by number, so a
// value may contain itself, and one that occurs a million times is stored once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace engine_torch
{

using ValueId = uint32_t;

struct PickledValue {
    enum class Kind : uint8_t {
        none,
        boolean, // number: 0 or 1
        integer, // number
        real,    // a number that is not read
        text,    // text
        tuple,   // parts
        list,    // parts
        dict,    // parts: key, value, key, value, ...
        name,    // of a class or function; text: "torch.FloatStorage"
        opaque,  // the result of a call that is not made; text: the function; parts: its state
        storage, // see Pickle
        tensor,  // see Pickle
        other    // a longer number, bytes, a set
    };

    Kind kind = Kind::none;
    int64_t number = 0, offset = 0;
    std::string_view text;
    std::vector<ValueId> parts;
};

// A storage has `text`: its key, `number`: elements, `offset`: its first element within the key's,
// `parts`: its type's name.  A tensor has `offset`: its first element within the storage, `parts`:
// storage, shape, strides, and the element type's name if the storage does not have it.
//
// Never changes; any thread.  Refers to the bytes.
class Pickle
{
public:
    // Reads the pickle at the beginning of `bytes`, and removes it from them.  Throws a WeightFault
    // if it is damaged, is not one of torch.save(), or asks for something that runs programs.
    explicit Pickle(std::string_view &bytes);
    Pickle(Pickle &&) = default;
    Pickle(const Pickle &) = delete; // the values refer to names_

    const PickledValue &at(ValueId id) const { return values_[id]; }
    const PickledValue &root() const { return values_[root_]; }
    const std::vector<PickledValue> &all() const noexcept { return values_; }

private:
    friend class PickleReader;

    std::vector<PickledValue> values_;
    std::set<std::string, std::less<>> names_;
    ValueId root_ = 0;
};

} // namespace engine_torch
