// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Threads that are inside an engine when the process ends.
//
// exit() runs the destructors of LibTorch's static objects, which crashes every
// thread that still computes with them.  There are such threads if the user insists
// on an end, or if a model never came back.  So a handler of exit() looks for them
// first: it gives them a moment, and then ends the process with the same status and
// without those destructors.
#pragma once

namespace dnn_torch
{

// The host makes one around each call of an engine.  Any thread may make one.
class EngineCall
{
public:
    // Throws Error once the process is about to end.
    EngineCall();
    ~EngineCall();
    EngineCall(const EngineCall &) = delete;
    EngineCall &operator=(const EngineCall &) = delete;
};

// Registers that handler again.  exit() runs last what was registered first, and LibTorch
// goes on registering as it runs, so call this when a thread is left to itself.
void watch_exit() noexcept;

} // namespace dnn_torch
