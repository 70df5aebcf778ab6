// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Passes a checked archive to LibTorch.
#pragma once

#include "archive.h"

#include <caffe2/serialize/read_adapter_interface.h>
#include <memory>

namespace engine_torch
{

// Returns a new, uncompressed archive with only the checked records, so that LibTorch's own reader
// cannot read anything that ours has not checked.  The bytes are not copied: `archive` must outlive
// the result.
std::unique_ptr<caffe2::serialize::ReadAdapterInterface> adapt(const Archive &archive);

} // namespace engine_torch
