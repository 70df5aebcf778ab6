// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Writes JSON.  Any thread; nothing is owned but strings.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dnn_torch::json
{

// A value that is written already.
struct Value {
    std::string text;
};

// The keys must live until object() returns.
using Members = std::vector<std::pair<std::string_view, Value>>;

// Any bytes; what is not UTF-8, or would act on a terminal, becomes U+FFFD.
Value string(std::string_view text);
// null where it is empty.
Value string_or_null(std::string_view text);
Value number(long long value);
// Of a double: six digits, or that many after the point; null where it is not finite.
Value number(double value);
Value number(double value, int decimals);
Value boolean(bool value);
Value array(const std::vector<Value> &values);
Value object(const Members &members);

} // namespace dnn_torch::json
