// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Lays an engine's results side by side into memory that the host sees.
#pragma once

#include "dnn_torch/engine.h"
#include "isolation/protocol/messages.h"

#include <cstdint>
#include <optional>
#include <span>

namespace isolation
{

// Where each of `out` goes, as the host is told.  A tensor without gaps keeps its strides, in
// whatever order its dimensions lie; another one loses them.  Returns the bytes of them all, or
// nullopt if one of them is no tensor.
std::optional<uint64_t> lay_out(std::span<const DnnTorchTensor> out, std::span<WireTensor> places);

// Copies the elements of `out` to `places`.
void copy_out(std::span<const DnnTorchTensor> out, std::span<const WireTensor> places,
              char *memory);

} // namespace isolation
