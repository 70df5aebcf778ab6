// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The engine that the child was asked to run.
#pragma once

#include "dnn_torch/engine.h"

#include <string>

namespace isolation
{

// Finds engine-NAME.so where the host would, and opens it.  Throws a Failure in the host's wording.
const DnnTorchEngine &open_engine(const std::string &name);

} // namespace isolation
