// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The options of filters that find things: what is done with their findings.
#pragma once

#include "host/tasks/findings_step.h"
#include "options.h"

#include <cstddef>
#include <string>

namespace dnn_torch
{

// A group like those in options.h.
struct ResultsSettings {
    int every;
    int track; // a Tracking
    int boxes; // an EarlierBoxes
    int masks; // a ShownMasks
    int metadata;
    char *destination;
    int format; // a RecordFormat
};

OptionTable results_options(size_t offset);

// `source` names the origin of boxes in the side data: "dnn_torch_detect: FILE".
FindingsSettings request_of(const ResultsSettings &settings, std::string source);

} // namespace dnn_torch
