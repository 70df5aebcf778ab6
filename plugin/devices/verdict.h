// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which devices models can run on, and for the others why not and what to do.
// Pure functions of the facts.
#pragma once

#include "facts.h"

#include <string>
#include <vector>

namespace dnn_torch
{

struct Verdict {
    std::string device;      // as the option `device` takes it: "cuda:0"; "cuda" if there is none
    std::string description; // "NVIDIA H200"; may be empty
    int64_t memory;          // bytes; 0: not known
    bool usable;
    // For the two below: no full stop, no line end.
    std::string reason; // why not; where usable, why this one ("auto: ...") or nothing
    std::string remedy; // what to install or to do; may be empty
};

// cpu, then each CUDA or ROCm device, then each XPU device; a kind without any
// is one entry that is not usable.  Wants all facts.
std::vector<Verdict> all_verdicts(const Facts &facts);

// For a value of the option `device`: "" and "cpu", "cuda", "cuda:N", "xpu",
// "xpu:N", and "auto", which is the first of cuda, xpu and cpu that is usable.
// A usable verdict's `device` is a name for the engine, never "auto".
Verdict verdict_for(const std::string &device, const Facts &facts);

// For a device that Level Zero lists: usable where LibTorch lists it too.
Verdict level_zero_verdict(const ZeDevice &device, const Facts &facts);

// What must be asked before verdict_for() can tell.
bool needs_probe(const std::string &device);
bool needs_level_zero(const std::string &device, const TorchFacts &torch);
bool needs_cuda(const std::string &device, const TorchFacts &torch);

} // namespace dnn_torch
