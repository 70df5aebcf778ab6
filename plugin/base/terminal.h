// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Makes untrusted texts safe for a terminal.  Any thread.
#pragma once

#include <string>
#include <string_view>

namespace dnn_torch
{

// Returns the text with control characters and bytes that are not UTF-8 written as
// "\x1b", and without characters that change the direction of writing.  Line ends and
// tabs stay.
std::string printable(std::string_view text);

// Returns the length of the UTF-8 character at the text's beginning, or 0 if there is none.
// The text must not be empty.
size_t character_length(std::string_view text);

} // namespace dnn_torch
