// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The architectures that are known.  Each has a file of its own; see CONTRIBUTING.md.
#pragma once

#include "net.h"

#include <string>

namespace engine_torch
{

struct Architecture {
    const char *name; // as it is called where models are published
    // Whether the weights are this architecture's, by names and shapes that no other has.  Throws
    // nothing.
    bool (*recognises)(const Weights &weights);
    // Throws a WeightFault.
    Blueprint (*build)(const Weights &weights);
};

extern const Architecture compact;

// Returns the network for the weights.  Throws a WeightFault if no architecture is like it, or if
// weights of the one that is are missing or left over.
Blueprint recognise(const Weights &weights);

} // namespace engine_torch
