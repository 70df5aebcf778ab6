// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The name of a device, such as "cpu", "cuda" and "cuda:1".  Any thread.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace dnn_torch
{

struct DeviceName {
    std::string_view kind;    // "cuda"; points into the text that was parsed
    std::optional<int> index; // of "cuda:1"
};

// Returns nullopt unless the text is a kind, or a kind, a colon and a number as
// LibTorch writes it: up to three digits, no leading zero.  Does not check the kind.
inline std::optional<DeviceName> parse_device_name(std::string_view text)
{
    const size_t colon = text.find(':');
    DeviceName name = {.kind = text.substr(0, colon), .index = {}};
    if (name.kind.empty())
        return std::nullopt;
    if (colon == text.npos)
        return name;
    const std::string_view digits = text.substr(colon + 1);
    const bool is_plain = !digits.empty() && digits.size() <= 3 &&
                          digits.find_first_not_of("0123456789") == digits.npos &&
                          (digits == "0" || digits.front() != '0');
    if (!is_plain)
        return std::nullopt;
    int index = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), index);
    name.index = index;
    return name;
}

} // namespace dnn_torch
