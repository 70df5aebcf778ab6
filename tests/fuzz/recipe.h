// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How a mutant is made: by changes that are each derived from a number of their own,
// so that one can be left out and the others stay what they were.
#pragma once

#include "fuzz.h"

namespace fuzz
{

struct Recipe {
    size_t seed; // the place of the input that is changed
    Family family;
    std::vector<uint64_t> steps;
};

struct Mutant {
    std::string bytes;
    std::string changes; // for a reader
};

// The one of that number in the campaign of that seed.
Recipe recipe_of(uint64_t campaign, size_t index, size_t seeds);

Mutant make_mutant(const Recipe &recipe, const Inputs &seeds);

} // namespace fuzz
