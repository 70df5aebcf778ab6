// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a program's file tells of whether the preload object can reach its
// libavfilter.  Plain functions of the file system; nothing is run.
#pragma once

#include <string>

namespace dnn_torch
{

enum class Hindrance {
    none, // or none that the file tells of
    statically_linked,
    own_libavfilter, // in the program itself, where its calls cannot be caught
    privileged,      // the dynamic linker ignores LD_PRELOAD
    other_machine,
    sandboxed,
};

struct Program {
    Hindrance hindrance = Hindrance::none;
    std::string runs;        // the file that is executed: a script's interpreter, or as given
    std::string libavfilter; // the library that it is linked to, if to any
};

// The file that execvp() would take for `name`; empty where there is none.
std::string find_program(const std::string &name);

// A file that cannot be read or understood has no hindrance: exec tells what is wrong with it.
Program look_at_program(const std::string &path);

// What the hindrance means and what to do, to be put after the program's path; empty for none.
std::string explain(Hindrance hindrance);

} // namespace dnn_torch
