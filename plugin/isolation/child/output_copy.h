// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Copies an engine's results one after another into memory that the host shares.
#pragma once

#include "dnn_torch/engine.h"
#include "isolation/protocol/messages.h"

#include <cstdint>
#include <optional>
#include <span>

namespace isolation
{

// Fills in where each of `out` goes, for the host.  A tensor without gaps keeps its strides, in
// whatever order of dimensions; any other is packed.  Returns the bytes of all, or nullopt if one
// of them is no valid tensor.
std::optional<uint64_t> lay_out(std::span<const DnnTorchTensor> out, std::span<WireTensor> places);

// Copies the elements of `out` to `places`.
void copy_out(std::span<const DnnTorchTensor> out, std::span<const WireTensor> places,
              char *memory);

} // namespace isolation
