// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How far each operator reaches.  Names are without their namespace and a trailing "_".
#pragma once

#include <string>

namespace engine_torch
{

enum class OperatorReach {
    other,         // not in the table
    elementwise,   // each place of the result is about the same place of the input
    picture,       // the same, and the result is [batch, channels, height, width]
    statistic,     // over the dimensions `dim`, or all; NaN is passed on
    choice,        // the same, but NaN may be lost
    whole_picture, // over the whole picture in any case
    gather,        // reads places that another argument gives
    scatter,       // writes to such places
    number,        // turns samples into a Python number
    loses_nan,     // loses NaN
    resize,        // resizes the picture to a size that an argument gives
};

OperatorReach operator_reach(const std::string &name);

// Whether the operator is elementwise and returns the result of a comparison.
bool compares(const std::string &name);

// Whether the result may stay the same after small changes of samples.
bool rounds(const std::string &name);

// Whether the operator makes consecutive numbers.
bool makes_places(const std::string &name);

// Whether the operator's numbers say how large the result is, or from where it is cut, but for
// the number of a border or of a step.
bool takes_sizes(const std::string &name);

// Whether the second argument only says which shape or type the result has.
bool takes_shape_of_other(const std::string &name);

// Whether the operator computes nothing: it makes a constant, or arranges what there is.
bool arranges(const std::string &name);

// Whether the operator fills a tensor with a number.
bool fills(const std::string &name);

// Whether the operator makes a list of a tensor, as long as the tensor's extent says.
bool makes_pieces(const std::string &name);

// Whether the result is a view of the memory of the first argument.
bool makes_view(const std::string &name);

// Whether samples of the result come from another place, though the operator computes nothing.
bool moves_samples(const std::string &name);

// Whether the operator only changes a picture's borders.
bool changes_borders(const std::string &name);

} // namespace engine_torch
