// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the option `calibration` says: which pictures int8 is calibrated with.
#pragma once

#include <string>

namespace dnn_torch
{

// Usually the engine makes some, the same for all.
struct Calibration {
    bool is_of_stream = false; // the first frames of the stream
    std::string clip;          // frames of this file; "": none
};

// Throws Error if the file cannot be read.
Calibration parse_calibration(const std::string &text);

} // namespace dnn_torch
