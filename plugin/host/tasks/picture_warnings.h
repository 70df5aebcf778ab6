// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What speaks against the pictures that a model gets and makes, for a warning.
#pragma once

#include "host/frames/images.h"
#include "host/model/contract.h"
#include "task.h"

#include <atomic>

namespace dnn_torch
{

// Looks at the first frames of a stream.  Any thread.
class PictureWarnings
{
public:
    explicit PictureWarnings(const Contract &contract) : contract_(contract) {}

    // Adds to the job's notes what speaks against its frames, or against what became of them.
    void look_at(FrameJob &job, const Images &in, const Images &out);

private:
    void look_at_fields(FrameJob &job);

    const Contract contract_;
    std::atomic<bool> told_of_fields_ = false;
    std::atomic<int> looks_left_ = 250; // black frames may come first
};

} // namespace dnn_torch
