// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// JSON as all our commands and files write it.  Any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dnn_torch::json
{

// Its keys stay in the order in which they were put in.  Texts may have any bytes.
using Value = nlohmann::ordered_json;

// null if the text is empty.
Value text_or_null(std::string_view text);

// At most that many digits after the point; null if the number is not finite.
Value rounded(double number, int decimals);

// One line without its end.  It is ASCII, so that no text in it can act on a
// terminal; bytes that are not UTF-8 become U+FFFD.
std::string line_of(const Value &value);

} // namespace dnn_torch::json
