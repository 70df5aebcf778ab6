// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The options that only dnn_torch_detect has.
#pragma once

#include "host/probing/detector_probe.h"
#include "host/tasks/detect_parameters.h"
#include "options.h"

#include <cstddef>

namespace dnn_torch
{

// A group like those in options.h.
struct DetectorSettings {
    char *decoder, *classes, *size, *anchors;
    float confidence, iou;
    int max_boxes, agnostic, fit, border;
    int model_type, cell_w, cell_h, nb_classes;
};

OptionTable detector_options(size_t offset);

// Returns the settings that may change while frames pass.
DetectParameters parameters_of(const DetectorSettings &settings);

// Returns the settings that are fixed.  Throws Error.
DetectSettings request_of(const DetectorSettings &settings);

} // namespace dnn_torch
