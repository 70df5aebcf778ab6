// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Counts the arithmetic of a run.
#pragma once

#include <ATen/record_function.h>

namespace engine_torch
{

// While an object lives, counts the multiplications and additions of the calling thread's
// convolutions and products of matrices.  Other operators are negligible.  Only operators that
// LibTorch dispatches by their usual names are seen, so count with the model as it was saved or
// frozen.  One object lives at a time on a thread.
class OperationCount
{
public:
    OperationCount();
    ~OperationCount();
    OperationCount(const OperationCount &) = delete;
    OperationCount &operator=(const OperationCount &) = delete;

    double operations() const { return operations_; }

private:
    double operations_ = 0;
    at::CallbackHandle handle_;
};

} // namespace engine_torch
