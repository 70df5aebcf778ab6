// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decides how a model is run.
#pragma once

#include "dnn_torch/engine.h"
#include "engines/torch/program/variants.h"
#include "engines/torch/shape.h"

#include <optional>
#include <string>

namespace engine_torch
{

// What the user asked for: the model and the options.
struct Requested {
    std::string path;     // of the model file
    std::string contents; // a hash of the file when it was loaded
    std::string device;   // the option's text
    PrecisionOption precision = {};
    std::optional<VariantKind> pinned; // nullopt: the fastest
};

// Parses the option `optimize`.  Throws a Failure that lists the names.
std::optional<VariantKind> parse_optimize(const std::string &text);
// Returns the texts that it takes: "0, 1, saved, ...".
std::string optimize_values();

struct TuningParameters {
    double budget_seconds = 0; // to measure for about so long; 0: nothing is measured
    at::Tensor samples;        // pictures to calibrate int8 with; undefined: there are none
    bool as_saved = false;     // no other variant is chosen
};

struct Tuned {
    Variant variant;
    DnnTorchPlanFacts figures = {};
    bool is_measured = false;
    std::string notice, hint; // lines for the user, or ""
};

// Chooses the variant of a model that keeps no state.  Measures on the calling thread and with one
// thread, unless an earlier result is known.  Throws if memory runs out.
Tuned tune(const Source &source, const Requested &requested, const Shape &shape,
           const TuningParameters &parameters);

// Records that the variant gave another picture than the plain module.  No later tune() chooses it,
// in this process and in others that share the folder.  Any thread.
void remember_as_bad(const Variant &variant, const Source &source, const Requested &requested);

// What a probe found: the shape of the result, and as text how the model was run for it.
struct Probed {
    Shape result;
    std::string binding;
};

// Returns the plain module's result for pictures of that shape, if an earlier remember_probe() on
// this machine recorded it.  Any thread.
std::optional<Probed> recall_probe(const Source &source, const Requested &requested,
                                   const std::string &output_name, const Shape &shape);
void remember_probe(const Source &source, const Requested &requested,
                    const std::string &output_name, const Shape &shape, const Probed &probed);

} // namespace engine_torch
