// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where a child crashed, told by the child itself and read by its parent, which has
// the same modules at the same addresses.
#pragma once

#include <string>

namespace fuzz
{

struct CrashPlace {
    int signal; // 0: none
    int count;
    void *frames[48]; // the innermost first
};

// From now on a signal that ends this process is written down in `place` first.
void watch_for_crashes(CrashPlace &place);

// The innermost functions that are neither the C library's nor this file's.
std::string words_of(const CrashPlace &place);

} // namespace fuzz
