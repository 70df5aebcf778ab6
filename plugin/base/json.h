// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// JSON for the output of our commands and for our files.  Any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dnn_torch::json
{

// Keys stay in the order of insertion.  Texts may have any bytes.
using Value = nlohmann::ordered_json;

// Returns null if the text is empty.
Value text_or_null(std::string_view text);

// Rounds to at most that many decimals; null if the number is not finite.
Value rounded(double number, int decimals);

// Returns one line without a line end.  It is ASCII, so no text in it can control a
// terminal; bytes that are not UTF-8 become U+FFFD.
std::string line_of(const Value &value);

} // namespace dnn_torch::json
