// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out which filter a model is for.
#pragma once

#include "host/model/contract.h"

#include <functional>

namespace dnn_torch
{

enum class Kind { picture, detector, classifier };

// Functions that try a model as each kind.  They throw Error if it is of another kind.
struct Attempts {
    std::function<void()> picture, detector, classifier;
};

// Tries the model as the kind that its contract's task implies, and returns the kind.  Without such
// a task, tries it as a model of pictures first, then as the others.  If all fail, throws the first
// attempt's Error, which tells most.
Kind find_kind(const Contract &contract, const Attempts &attempts);

} // namespace dnn_torch
