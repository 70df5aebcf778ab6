// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How fast the forms of a model are.
#pragma once

#include "engines/torch/program/forms.h"
#include "engines/torch/shape.h"

#include <vector>

namespace engine_torch
{

struct Candidate {
    Form form;
    bool may_win = true;       // false: measured only to tell the user about it
    double seconds = 0;        // one run of the whole shape; 0: not known
    int64_t bytes = 0;         // what it holds at most; 0: not known
    double decibel = 0;        // how near it comes to the plain module
    bool is_compared = false;  // timed in turn with the others
    bool gives_others = false; // results that are not those of the plain module
};

// With pictures of which size the candidates were compared.  What parts give says
// nothing of whole pictures where the code looks at their size.
enum class Compared { not_at_all, with_parts, with_whole_pictures };

// Times the candidates, of which there is at least one, in turn, on the calling
// thread and in about the time that is left of the budget, on as much of a
// picture as that allows.  Where it does not allow a comparison, the first
// candidate's figures are an estimate, if there are any.
// Throws where memory ran out.
Compared measure(std::vector<Candidate> &candidates, const Source &source, const Shape &shape,
                 double budget_seconds);

} // namespace engine_torch
