// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "version_mismatch.h"

#include "base/compose.h"

#include <lavfi_abi.h>

namespace dnn_torch
{
std::string both_versions(unsigned running)
{
    return concat("libavfilter ", version_text(running), " runs and this module was built for ",
                  version_text(LIBAVFILTER_VERSION_INT), " (FFmpeg ", lavfi_abi::ffmpeg_releases,
                  ")");
}

std::string both_versions()
{
    return both_versions(avfilter_version());
}

} // namespace dnn_torch
