// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Texts of strangers on a terminal.  Any thread; nothing is owned but strings.
#pragma once

#include <string>
#include <string_view>

namespace dnn_torch
{

// The same text, but control characters and bytes that are no UTF-8 stand there
// as "\x1b", and what turns the direction of writing is left out.  Line ends and
// tabs stay.
std::string printable(std::string_view text);

// The length of the UTF-8 character at the front of a text that is not empty;
// 0 where there is none.
size_t character_length(std::string_view text);

} // namespace dnn_torch
