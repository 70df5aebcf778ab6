// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How far single operators look.  All names are without their namespace and a last "_".
#pragma once

#include <string>

namespace engine_torch
{

enum class Sight {
    other,      // nothing is said here
    same,       // each place of the result is about that of the input
    picture,    // the same, and the result is [batch, channels, height, width]
    statistic,  // of the dimensions `dim`, or of all; NaN goes through
    choice,     // the same; NaN may be lost
    everywhere, // of the whole picture in any case
    places,     // looks at places that another argument tells
    scattered,  // writes to such places
    number,     // makes a number of samples
    swallows,   // loses NaN
    fixed_size, // brings the picture to a size that an argument tells
};

Sight sight_of(const std::string &name);

// Whether the operator is of one place alone where it brings a comparison forth.
bool compares(const std::string &name);

// Whether small changes of samples may leave the result as it is.
bool rounds(const std::string &name);

// Whether the result is a window into the memory of the first argument.
bool makes_view(const std::string &name);

// Whether samples of the result come from other places than they stand in, though the operator
// computes nothing.
bool moves_samples(const std::string &name);

// Whether the operator changes nothing but a picture's borders.
bool changes_borders(const std::string &name);

} // namespace engine_torch
