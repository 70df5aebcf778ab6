// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Keeps LibTorch's warnings off stderr; 1.13 and 2 name the means differently.
#pragma once

#include <c10/util/Exception.h>
#include <torch/version.h>

namespace engine_torch
{

#if TORCH_VERSION_MAJOR >= 2
using WarningGuard = c10::WarningUtils::WarningHandlerGuard;

class Silence final : public c10::WarningHandler
{
public:
    void process(const c10::Warning &) override {}
};
#else
using WarningGuard = c10::Warning::WarningHandlerGuard;

class Silence final : public c10::WarningHandler
{
public:
    void process(const c10::SourceLocation &, const std::string &, bool) override {}
};
#endif

// While one lives, the calling thread's warnings go nowhere.
class Quiet
{
private:
    Silence silence_;
    WarningGuard guard_{&silence_};
};

} // namespace engine_torch
