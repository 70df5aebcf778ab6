// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which of the filters a model is for.
#pragma once

#include "host/model/contract.h"

#include <functional>

namespace dnn_torch
{

enum class Kind { picture, detector, classifier };

// Try a model as each.  They throw Error if it is of another kind.
struct Attempts {
    std::function<void()> picture, detector, classifier;
};

// Tries the model as what its contract says, and returns what it is.  A model of which nobody says
// that it is something else is tried as one of pictures, and then as the others.  Throws the Error
// of the first attempt: what a model says as one of pictures tells more if it is nothing else
// either.
Kind find_kind(const Contract &contract, const Attempts &attempts);

} // namespace dnn_torch
