// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Checks untrusted JSON texts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dnn_torch
{

struct JsonLimits {
    size_t depth;  // of nested values
    size_t values; // all keys and all values
};

// Returns an error that follows the text's name: "is no JSON from line 3, column 1 on", "has
// \"range\" twice"; or "".  Takes linear time, unlike a parser with a callback.  Only white space
// may follow the value.
std::string fault_of_json(std::string_view text, const JsonLimits &limits);

// Returns the text as a JSON string, truncated.  It is safe for a terminal.
std::string quoted_for_terminal(std::string_view text);

} // namespace dnn_torch
