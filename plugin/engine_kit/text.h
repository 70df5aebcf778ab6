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

// Whether an exception's text says that memory ran out.  TorchScript's interpreter turns every
// exception into a std::runtime_error, so only the text can tell.
bool reports_out_of_memory(std::string_view text);

// Whether a GPU's memory ran out.  Call it with a text for which reports_out_of_memory() is true.
bool reports_device_out_of_memory(std::string_view text);

// Returns " (the model asked for 1.5 GiB at once)", or "" if the text names no size.
std::string asked_for(std::string_view text);

// Returns the text as it may be written to a terminal; see base/terminal.h.
std::string printable(std::string_view text);

// Copies `text` into `size` bytes as one printable line.
void copy_as_line(std::string_view text, char *line, size_t size);

} // namespace engine_kit
