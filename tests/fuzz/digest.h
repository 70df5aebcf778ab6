// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A number for bytes: FNV-1a.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fuzz
{

class Digest
{
public:
    void add(const void *data, size_t size)
    {
        const auto *bytes = static_cast<const unsigned char *>(data);
        for (size_t i = 0; i < size; i++)
            value_ = (value_ ^ bytes[i]) * 0x100000001b3U;
    }
    void add(std::string_view text) { add(text.data(), text.size()); }

    uint64_t value() const { return value_; }

private:
    uint64_t value_ = 0xcbf29ce484222325U;
};

} // namespace fuzz
