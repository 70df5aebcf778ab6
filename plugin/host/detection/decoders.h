// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// All decoders.  docs/detection.md has the shapes that they take.
#pragma once

#include "decoder.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dnn_torch
{

// Returns the values of the option `decoder`.
std::vector<std::string> names_of_decoders();

// Returns the decoder of that name, or, if `name` is empty, the one that fits the facts and the
// shapes best.  The data of `shapes` may be NULL.  Throws Error that lists the tensors and the
// decoders, if none fits or several do.
std::unique_ptr<const Decoder> find_decoder(std::span<const DnnTorchTensor> shapes,
                                            const DetectorFacts &facts, const std::string &name);

} // namespace dnn_torch
