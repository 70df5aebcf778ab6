// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a JSON text of a stranger may not be.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dnn_torch
{

struct JsonLimits {
    size_t depth;  // of values within values
    size_t values; // all keys, and all values that are no object
};

// Returns what is wrong with the text, as words that follow its name: "is no JSON from line 3,
// column 1 on", "has \"range\" twice"; or "".  Takes time in proportion to the text, unlike a
// parser's callback.  What follows the value must be white space.
std::string fault_of_json(std::string_view text, const JsonLimits &limits);

// The text as JSON has it, cut after some characters, so that none of them acts on a terminal.
std::string quoted_for_terminal(std::string_view text);

} // namespace dnn_torch
