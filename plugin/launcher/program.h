// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out from a program's file whether the preload object can wrap its libavfilter.  Reads files
// and runs nothing.
#pragma once

#include <string>

namespace dnn_torch
{

enum class Hindrance {
    none, // at least none that the file shows
    statically_linked,
    own_libavfilter, // linked into the program, so calls to it cannot be wrapped
    privileged,      // the dynamic linker ignores LD_PRELOAD
    other_machine,
    sandboxed,
};

struct Program {
    Hindrance hindrance = Hindrance::none;
    std::string runs;        // the executed file: a script's interpreter, or the given file
    std::string libavfilter; // the library that it is linked to, if any
};

// Returns the file that execvp() would run for `name`, or an empty text.
std::string find_program(const std::string &name);

// Returns no hindrance for a file that cannot be read or understood: exec reports the error.
Program inspect_program(const std::string &path);

// Returns an explanation with a remedy, which follows the program's path; empty for none.
std::string explain(Hindrance hindrance);

} // namespace dnn_torch
