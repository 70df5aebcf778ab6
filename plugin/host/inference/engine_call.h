// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Threads that are inside an engine when the process ends.
//
// exit() runs the destructors of LibTorch's static objects, which crashes every
// thread that still computes with them.  Such threads are there where the user
// insists on an end, or where a model never came back.  So exit() looks first:
// it gives them a moment, and then ends the process with the same status and
// without those destructors.
#pragma once

namespace dnn_torch
{

// One lives around each call of an engine.  Any thread may make one.
class EngineCall
{
public:
    // Throws Error once the process is about to end.
    EngineCall();
    ~EngineCall();
    EngineCall(const EngineCall &) = delete;
    EngineCall &operator=(const EngineCall &) = delete;
};

// exit() runs last what was registered first, and LibTorch goes on registering
// as it runs.  So the look is registered again where a thread is left to itself.
void watch_exit() noexcept;

} // namespace dnn_torch
