// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads messages in the wire format of Protocol Buffers, field by field.  Needs no LibTorch.
//
// Written by hand because libprotobuf builds a tree of all it reads, copies each tensor, and its
// version differs in each suite.
#pragma once

#include <cstdint>
#include <string_view>

namespace engine_torch
{

// Steps through the fields of one message.  Nested messages are bytes(), for a reader of their own.
// Every function throws a WeightFault where the message is damaged.
class ProtoFields
{
public:
    // `bytes` must outlive the object.
    explicit ProtoFields(std::string_view bytes) : rest_(bytes) {}

    // Goes to the next field.  Returns false after the last one.
    bool next();
    uint64_t field() const noexcept { return field_; }

    // The value as a whole number (of a varint), as bytes (of a string, a message or packed
    // numbers), or as a float.
    int64_t number() const;
    std::string_view bytes() const;
    float real() const;
    bool is_bytes() const noexcept { return kind_ == Kind::bytes; }

    // Calls `take` with the number, or with each of the packed numbers.
    template <class Take> void numbers(Take &&take) const
    {
        if (!is_bytes())
            return take(number());
        for (std::string_view rest = bytes_; !rest.empty();)
            take(static_cast<int64_t>(varint(rest)));
    }

private:
    enum class Kind { varint, fixed64, bytes, fixed32 };

    static uint64_t varint(std::string_view &rest);
    std::string_view taken(uint64_t size);

    std::string_view rest_, bytes_;
    uint64_t field_ = 0, number_ = 0;
    Kind kind_ = Kind::varint;
};

} // namespace engine_torch
