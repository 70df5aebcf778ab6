// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The known architectures.  Each has a file of its own; see CONTRIBUTING.md.
#pragma once

#include "engines/torch/checkpoint/candidates.h"
#include "net.h"

#include <string>

namespace engine_torch
{

struct Architecture {
    const char *name; // the name under which models are published
    // Whether the weights have names and shapes that only this architecture has.  Throws nothing.
    bool (*recognises)(const Weights &weights);
    // Throws a WeightFault.
    Blueprint (*build)(const Weights &weights);
};

extern const Architecture animesr;
extern const Architecture atd;
extern const Architecture cain;
extern const Architecture compact;
extern const Architecture cugan;
extern const Architecture dat;
extern const Architecture denoisers;
extern const Architecture drct;
extern const Architecture edsr;
extern const Architecture esrgan;
extern const Architecture fastdvdnet;
extern const Architecture fsrcnn;
extern const Architecture hat;
extern const Architecture ifrnet;
extern const Architecture mosr;
extern const Architecture omnisr;
extern const Architecture plksr;
extern const Architecture rcan;
extern const Architecture rgt;
extern const Architecture rife;
extern const Architecture rvm;
extern const Architecture scunet;
extern const Architecture sofvsr;
extern const Architecture span;
extern const Architecture srcnn;
extern const Architecture srformer;
extern const Architecture swin2sr;
extern const Architecture swinir;
extern const Architecture tecogan;
extern const Architecture temporalfix;
extern const Architecture tscunet;
extern const Architecture vdsr;

// A network, and the checkpoint's weights from which it is built.
struct Recognised {
    Blueprint network;
    const Candidate *candidate = nullptr;
};

// Returns the network of the first candidate that any architecture recognises.  Throws a
// WeightFault if there is none, or if weights are missing or unused.
Recognised recognise(const Candidates &candidates);

} // namespace engine_torch
