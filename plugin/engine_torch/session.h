// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A place to run a model in.
#pragma once

#include "model.h"

// Belongs to one thread at a time, except for stop().
struct DnnTorchSession final {
public:
    explicit DnnTorchSession(DnnTorchModel &model) : model_(model) {}

    // The view holds until the next run or the session's end.  Throws a Failure
    // or what LibTorch throws.
    DnnTorchImages run(const DnnTorchImages &input);

    // LibTorch cannot be interrupted: a run under way computes to its end.
    void stop() noexcept { stopped_ = true; }

private:
    void check_stopped() const;

    DnnTorchModel &model_;
    std::atomic<bool> stopped_{false};
    at::Tensor output_; // what the last view looks at
};
