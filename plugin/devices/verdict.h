// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The devices that can run models.  For each other device: why not, and what to do.
// These are pure functions of the facts.
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
    // The two texts below have no full stop and no line end.
    std::string reason; // why it is not usable; or why auto chose it ("auto: ..."); or empty
    std::string remedy; // what to install or to do; may be empty
};

// Lists cpu, each CUDA or ROCm device, then each XPU device.  A kind without devices
// is one entry that is not usable.  Needs all facts.
std::vector<Verdict> all_verdicts(const Facts &facts);

// Judges a value of the option `device`: "", "cpu", "cuda", "cuda:N", "xpu", "xpu:N" or
// "auto", which stands for the first of cuda, xpu and cpu that is usable.  In a usable
// verdict, `device` is a name that the engine takes, never "auto".
Verdict verdict_for(const std::string &device, const Facts &facts);

// Judges a device that Level Zero lists.  It is usable if LibTorch lists it too.
Verdict level_zero_verdict(const ZeDevice &device, const Facts &facts);

// Return which probes verdict_for() needs for this value of the option.
bool needs_probe(const std::string &device);
bool needs_level_zero(const std::string &device, const EngineFacts &engine);
bool needs_cuda(const std::string &device, const EngineFacts &engine);

} // namespace dnn_torch
