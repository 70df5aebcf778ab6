// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Warns of a model's inputs and outputs that are probably wrong.
#pragma once

#include "host/frames/images.h"
#include "host/model/contract.h"
#include "task.h"

#include <atomic>

namespace dnn_torch
{

// Checks the first frames of a stream.  Thread-safe.
class PictureWarnings
{
public:
    explicit PictureWarnings(const Contract &contract) : contract_(contract) {}

    // Adds warnings about the job's frames or its results to its notes.
    void look_at(FrameJob &job, const Images &in, const Images &out);

private:
    void look_at_fields(FrameJob &job);

    const Contract contract_;
    std::atomic<bool> warned_of_fields_ = false;
    std::atomic<int> looks_left_ = 250; // black frames may come first
};

} // namespace dnn_torch
