// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What speaks against the pictures that a model gets and makes, for a warning.
#pragma once

#include "host/contract/contract.h"
#include "host/frames/images.h"
#include "task.h"

#include <atomic>
#include <string>

namespace dnn_torch
{

struct RangeDoubt {
    std::string words;  // or "": nothing speaks against the range
    std::string option; // of `range`, which fits; or "": none is known
};

// Compares some samples of a picture that went in with some that came out of it.  Pictures of one
// colour tell nothing.
RangeDoubt doubt_of_range(const Contract &contract, const Images &in, const Images &out);

// Looks at the first frames of a stream.  Any thread.
class PictureDoubts
{
public:
    explicit PictureDoubts(const Contract &contract) : contract_(contract) {}

    // Adds to the job's notes what speaks against its frames, or against what became of them.
    void look_at(FrameJob &job, const Images &in, const Images &out);

private:
    void look_at_fields(FrameJob &job);

    const Contract contract_;
    std::atomic<bool> told_of_fields_ = false;
    std::atomic<int> looks_left_ = 250; // black frames may come first
};

} // namespace dnn_torch
