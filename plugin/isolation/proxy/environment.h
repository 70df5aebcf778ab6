// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a child may know of our environment.  Any thread.
#pragma once

#include <string>
#include <vector>

namespace isolation
{

// The variables that libraries of models and of devices read.  Others may hold secrets, and
// LD_PRELOAD is meant for the program.
//
// OpenBLAS with threads of its own would start one for each core when it is loaded.  The engine
// wants none, so the child starts none unless the user has said how many.
std::vector<std::string> environment_of_child();

} // namespace isolation
