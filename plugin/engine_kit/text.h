// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Edits the messages of LibTorch and of models.  Needs no LibTorch.
#pragma once

#include <string>
#include <string_view>

namespace engine_kit
{

// Returns the line of an exception's text that helps a user, without the interpreter's traceback,
// "RuntimeError: " or a full stop.
std::string short_message(std::string_view text);

// Returns the text as it may be written to a terminal; see base/terminal.h.
std::string printable(std::string_view text);

// Copies `text` into `size` bytes as one printable line.
void copy_as_line(std::string_view text, char *line, size_t size);

} // namespace engine_kit
