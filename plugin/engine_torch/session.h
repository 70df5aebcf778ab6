// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A place to run a model in.
#pragma once

#include "model.h"

// Belongs to one thread at a time, except for stop().
struct DnnTorchSession final {
public:
    // Throws a Failure where `threads` is below 1.
    DnnTorchSession(DnnTorchModel &model, std::int32_t threads);

    // What a first run costs more than others is paid here, if it can be.
    void warm(const DnnTorchShape &shape) noexcept;

    // The view holds until the next run or the session's end.  Throws a Failure
    // or what LibTorch throws.
    DnnTorchImages run(const DnnTorchImages &input);

    // LibTorch cannot be interrupted: a run under way computes to its end.
    void stop() noexcept { stopped_ = true; }

private:
    void check_stopped() const;

    DnnTorchModel &model_;
    const std::int32_t threads_;
    std::atomic<bool> stopped_{false};
    at::Tensor output_; // what the last view looks at
};
