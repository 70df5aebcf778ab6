// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Writes JSON.
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

// Any bytes; what is not UTF-8 becomes U+FFFD.
Value string(std::string_view text);
// null where it is empty.
Value string_or_null(std::string_view text);
Value number(long long value);
Value number(double value);
Value boolean(bool value);
Value array(const std::vector<Value> &values);
Value object(const std::vector<std::pair<std::string_view, Value>> &members);

} // namespace dnn_torch::json
