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

// As the option `decoder` takes them.
std::vector<std::string> names_of_decoders();

// Returns the decoder of that name, or, if `name` is empty, the one that the facts and the
// shapes speak for.  Of `shapes`, the data may be NULL.  Throws Error, whose line lists the
// tensors and the decoders, if the tensors do not fit or fit several.
std::unique_ptr<const Decoder> find_decoder(std::span<const DnnTorchTensor> shapes,
                                            const DetectorFacts &facts, const std::string &name);

} // namespace dnn_torch
