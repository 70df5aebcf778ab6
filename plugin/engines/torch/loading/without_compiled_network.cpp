// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "compiled_network.h"

#include <torch/version.h>

namespace engine_torch
{

CompiledNetwork open_compiled(const CompiledPackage &package, int)
{
    package.refuse("is an AOTInductor package, which LibTorch " TORCH_VERSION
                   " cannot run (2.6 and later can); use another file of the model");
}

} // namespace engine_torch
