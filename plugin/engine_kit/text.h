// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Plain text work on what LibTorch and the models say.  Needs no LibTorch.
#pragma once

#include <string>
#include <string_view>

namespace engine_kit
{

// The one line of an exception's text that a user can act on: without the
// interpreter's traceback, without "RuntimeError: ", without a full stop.
std::string short_message(std::string_view text);

// Whether an exception's text says that memory ran out.  The TorchScript
// interpreter turns every exception into a std::runtime_error, so that only
// the text is left to tell.
bool tells_of_memory(std::string_view text);

// Whether it is a GPU's; for a text that tells of memory.
bool tells_of_device_memory(std::string_view text);

// " (the model asked for 1.5 GiB at once)", or "" where the text names no size.
std::string asked_for(std::string_view text);

// As it may be written to a terminal; see base/terminal.h.
std::string printable(std::string_view text);

// Copies `text` into `size` bytes as one printable line.
void copy_as_line(std::string_view text, char *line, size_t size);

} // namespace engine_kit
