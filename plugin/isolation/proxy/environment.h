// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a child may know of our environment.  Any thread.
#pragma once

#include <string_view>

namespace isolation
{

// Whether the variable is one that libraries of models and of devices read.  Others may hold
// secrets, and LD_PRELOAD is meant for the program.
bool is_for_the_child(std::string_view name);

} // namespace isolation
