// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which part of our environment a child gets.  Any thread.
#pragma once

#include <string>
#include <vector>

namespace isolation
{

// Returns the variables that libraries of models and of devices read.  Others may hold secrets, and
// LD_PRELOAD is meant for the host program.
//
// OpenBLAS with threads of its own would start one for each core when it is loaded.  The engine
// needs none, so the child gets OPENBLAS_NUM_THREADS=1 unless the user has set it.
std::vector<std::string> environment_of_child();

} // namespace isolation
