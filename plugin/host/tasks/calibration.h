// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The option `calibration`: which pictures int8 is calibrated with.
#pragma once

#include <string>

namespace dnn_torch
{

// By default the engine generates pictures, the same ones for all models.
struct Calibration {
    bool is_of_stream = false; // use the first frames of the stream
    std::string clip;          // use frames of this file; "": none
};

// Throws Error if the file cannot be read.
Calibration parse_calibration(const std::string &text);

} // namespace dnn_torch
