// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds attributes in which a model keeps what depends on the pictures' extents alone.
#pragma once

#include <memory>
#include <set>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

namespace engine_torch
{

// Returns the SetAttr nodes that fill caches: all runs with pictures of the same extents store the
// same, and no result shows whether the cache was filled before.  torchvision's MultiScaleRoIAlign
// has one.  Returns no nodes in case of doubt.  `graph` is the inlined graph of forward().
std::set<const torch::jit::Node *> cache_fills(const torch::jit::Module &module,
                                               const std::shared_ptr<torch::jit::Graph> &graph);

} // namespace engine_torch
