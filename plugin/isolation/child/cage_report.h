// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Closes the cage around this process.
#pragma once

#include "dnn_torch/engine.h"
#include "isolation/protocol/messages.h"

#include <string>

namespace isolation
{

// Call it once, with no other thread.  Starts the device's driver first.  Returns which layers are
// closed and which are open, as one line.  Throws a Failure if one is open though all are required.
std::string enter_cage(const DnnTorchEngine &engine, const OpenRequest &request);

} // namespace isolation
