// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Numbers as text, independent of the program's locale.  Any thread.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace dnn_torch
{

// Returns the number with that many decimals; zero with that many if it is not finite.
inline std::string fixed_text(double number, int decimals)
{
    std::array<char, 384> text; // the largest double has 309 digits before its point
    const double scale = std::pow(10, decimals), scaled = std::round(number * scale);
    const double shown = std::isfinite(scaled) ? scaled / scale + 0.0 : 0; // never -0
    char *end = std::to_chars(text.data(), text.data() + text.size(), shown,
                              std::chars_format::fixed, decimals)
                    .ptr;
    return {text.data(), end};
}

// Returns nullopt unless the whole text is an integer.
template <class Number> std::optional<Number> whole_number(std::string_view text)
{
    Number number = 0;
    const char *end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), end, number);
    return fault == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

constexpr double degrees_in_radian = 57.29577951308232;

} // namespace dnn_torch
