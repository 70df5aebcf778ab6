// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The operators that reach outside the tensors: files, other processes,
// Python, memory behind a tensor's back.  A model file is somebody else's
// program; these are what it may not call.
#pragma once

#include <string>
#include <string_view>

namespace engine_torch
{

// `name` as in "aten::save".
bool is_denied_operator(std::string_view name);

// `name` as in "__torch__.torch.classes.c10d.Store".
bool is_denied_class(std::string_view name);

// What in a piece of serialized TorchScript may lead to a denied operator or
// class: its name, or a turn of syntax that could hide it; "" for nothing.
// Stricter than the two above, for code that runs before there is a graph to
// look at: names that only look alike are denied as well.
std::string denied_name_in_source(std::string_view source);

} // namespace engine_torch
