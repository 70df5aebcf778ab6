// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The options of dnn_torch_detect that no other filter has.
#pragma once

#include "host/probing/detector_probe.h"
#include "host/tasks/detect_parameters.h"
#include "options.h"

#include <cstddef>

namespace dnn_torch
{

// A group as those in options.h.
struct DetectorSettings {
    char *decoder, *classes, *size, *anchors;
    float confidence, iou;
    int max_boxes, agnostic, fit, border;
    int model_type, cell_w, cell_h, nb_classes;
};

OptionTable detector_options(size_t offset);

// What may change while frames pass.
DetectParameters parameters_of(const DetectorSettings &settings);

// The rest.  Throws Error.
DetectSettings request_of(const DetectorSettings &settings);

} // namespace dnn_torch
