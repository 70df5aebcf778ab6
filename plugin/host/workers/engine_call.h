// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Threads that are inside an engine when the process ends.
//
// exit() runs the destructors of LibTorch's static objects, which crashes every thread that still
// computes with them.  There are such threads if the user forces an end, or if a model never
// returned.  So a handler of exit() looks for them first: it gives them a moment, and then ends the
// process with the same status and without those destructors.
#pragma once

namespace dnn_torch
{

// The host creates one around each call of an engine.  Any thread may create one.
class EngineCall
{
public:
    // Throws Error once the process is about to end.
    EngineCall();
    ~EngineCall();
    EngineCall(const EngineCall &) = delete;
    EngineCall &operator=(const EngineCall &) = delete;
};

// Registers that handler again.  exit() runs handlers in reverse order, and LibTorch registers more
// of them as it runs, so this must be called when a thread is abandoned.
void watch_exit() noexcept;

} // namespace dnn_torch
