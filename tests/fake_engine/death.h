// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model may do to the process that it runs in.
#pragma once

#include <string>

namespace fake_engine
{

// Ends or stops this process: "segfault", "abort", "throw", "exit", "kill", "stop".  Does nothing
// for other words.  Says so on standard error first, and after that nothing.
void die(const std::string &how) noexcept;

} // namespace fake_engine
