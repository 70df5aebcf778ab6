// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The memory for the input pictures of a session's runs.
#pragma once

#include "model.h"

#include <cstddef>
#include <vector>

namespace dnn_torch
{

// Belongs to the session's thread.
class InputMemory
{
public:
    // Returns the session's own memory, which its runs take fastest, or else this object's.  The
    // first call fixes the size, so pass the bytes of the largest run.
    void *of(Session &session, size_t bytes)
    {
        if (!memory_)
            memory_ = session.memory(bytes);
        if (!memory_) {
            own_.resize(bytes / sizeof(std::max_align_t) + 1);
            memory_ = own_.data();
        }
        return memory_;
    }

private:
    void *memory_ = nullptr; // the session's, or own_
    std::vector<std::max_align_t> own_;
};

} // namespace dnn_torch
