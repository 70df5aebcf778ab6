// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cage_report.h"

#include "engine_kit/failure.h"

namespace isolation
{

std::string enter_cage(const DnnTorchEngine &, const OpenRequest &request)
{
    if (request.cage_is_required)
        throw engine_kit::Failure(DNN_TORCH_BAD_OPTION,
                                  "the cage cannot be closed, as isolate=require demands: it was "
                                  "not built");
    return "open: the cage (not built)";
}

} // namespace isolation
