// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out from a program's file whether the preload object can reach its libavfilter.  Reads
// files and runs nothing.
#pragma once

#include <string>

namespace dnn_torch
{

enum class Hindrance {
    none, // or the file shows none
    statically_linked,
    own_libavfilter, // linked into the program, where its calls cannot be caught
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

// A file that cannot be read or understood has no hindrance: exec will say what is wrong.
Program look_at_program(const std::string &path);

// Returns what the hindrance means and what to do.  The text follows the program's path.  It is
// empty for none.
std::string explain(Hindrance hindrance);

} // namespace dnn_torch
