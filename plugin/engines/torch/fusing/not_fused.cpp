// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Replaces fuse.cpp where oneDNN is missing.
#include "fuse.h"

namespace engine_torch
{

bool can_fuse()
{
    return false;
}

std::optional<torch::jit::Module> with_fused_programs(torch::jit::Module, const std::string &,
                                                      int64_t, const FusedRequest &)
{
    return std::nullopt;
}

Int8Layers calibrate_fused(const torch::jit::Module &, const Int8Goal &,
                           const std::function<void()> &)
{
    return {};
}

void learn_typical_samples(const torch::jit::Module &, const std::function<void()> &) {}

} // namespace engine_torch
