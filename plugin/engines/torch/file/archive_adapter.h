// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The way by which a checked archive reaches LibTorch.
#pragma once

#include "archive.h"

#include <caffe2/serialize/read_adapter_interface.h>
#include <memory>

namespace engine_torch
{

// A new archive of the records that were checked and of no others, uncompressed.
// So LibTorch's own reader cannot see anything that ours has not seen.  The
// archive's bytes are not copied; it must live as long.
std::unique_ptr<caffe2::serialize::ReadAdapterInterface> adapt(const Archive &archive);

} // namespace engine_torch
