// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model was opened with; each restart opens it in the same way.
#pragma once

#include "dnn_torch/engine.h"
#include "isolation/protocol/channel.h"
#include "isolation/protocol/messages.h"
#include "taken_outputs.h"

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace isolation
{

// How long a child may take.  Nullopt: any time.
struct Limits {
    using Limit = std::optional<std::chrono::microseconds>;

    // `timeout_seconds` is the limit of one run; 0: there is none.
    explicit Limits(double timeout_seconds = 0);

    Limit open() const;
    Limit probe() const;
    Limit plan(double budget_seconds) const;

    // Requests that need no run take almost no time.
    static constexpr std::chrono::seconds of_a_question{10};

private:
    double timeout_;
};

struct Settings {
    // Throws a Failure if an option makes no sense or is too long, or if the source cannot be
    // passed on.
    Settings(const DnnTorchSource &source, const DnnTorchOption *options, size_t count);

    std::unique_ptr<OpenRequest> request;
    std::vector<Descriptor> files; // the source, and its parts
    Descriptor sink;               // open until the model is open
    Limits limits;
    int restarts = 0;
    Results results = Results::picture;
};

} // namespace isolation
