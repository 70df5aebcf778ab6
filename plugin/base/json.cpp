// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json.h"

#include <cmath>

namespace dnn_torch::json
{

Value text_or_null(std::string_view text)
{
    return text.empty() ? Value() : Value(text);
}

Value rounded(double number, int decimals)
{
    const double scale = std::pow(10, decimals), whole = std::round(number * scale);
    return std::isfinite(whole) ? Value(whole / scale) : Value(number);
}

std::string line_of(const Value &value)
{
    constexpr int no_indent = -1;
    constexpr bool only_ascii = true;
    return value.dump(no_indent, ' ', only_ascii, Value::error_handler_t::replace);
}

} // namespace dnn_torch::json
