// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "protobuf.h"

#include "engines/torch/checkpoint/weights.h"

#include <cstring>

namespace engine_torch
{
namespace
{

[[noreturn]] void refuse_message()
{
    throw WeightFault("is a damaged ONNX file; copy or download it again");
}

} // namespace

uint64_t ProtoFields::varint(std::string_view &rest)
{
    constexpr unsigned most_bits = 64, bits = 7;
    uint64_t number = 0;
    for (unsigned shift = 0; shift < most_bits; shift += bits) {
        if (rest.empty())
            refuse_message();
        const auto byte = static_cast<uint8_t>(rest.front());
        rest.remove_prefix(1);
        number |= static_cast<uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80)
            return number;
    }
    refuse_message();
}

std::string_view ProtoFields::taken(uint64_t size)
{
    if (size > rest_.size())
        refuse_message();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
}

bool ProtoFields::next()
{
    if (rest_.empty())
        return false;
    const uint64_t tag = varint(rest_);
    field_ = tag >> 3;
    if (field_ == 0 || tag > UINT32_MAX) // others would read another field
        refuse_message();
    switch (tag & 7) {
    case 0:
        kind_ = Kind::varint;
        number_ = varint(rest_);
        return true;
    case 1:
        kind_ = Kind::fixed64;
        bytes_ = taken(8);
        return true;
    case 2:
        kind_ = Kind::bytes;
        bytes_ = taken(varint(rest_));
        return true;
    case 5:
        kind_ = Kind::fixed32;
        bytes_ = taken(4);
        return true;
    default: // groups, which no version of ONNX has
        refuse_message();
    }
}

int64_t ProtoFields::number() const
{
    if (kind_ != Kind::varint)
        refuse_message();
    return static_cast<int64_t>(number_);
}

std::string_view ProtoFields::bytes() const
{
    if (kind_ == Kind::varint)
        refuse_message();
    return bytes_;
}

float ProtoFields::real() const
{
    float number = 0;
    if (kind_ != Kind::fixed32)
        refuse_message();
    std::memcpy(&number, bytes_.data(), sizeof number);
    return number;
}

} // namespace engine_torch
