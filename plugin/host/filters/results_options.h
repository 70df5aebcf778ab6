// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The options of filters that find things: what becomes of what is found.
#pragma once

#include "host/tasks/findings_step.h"
#include "options.h"

#include <cstddef>
#include <string>

namespace dnn_torch
{

// A group as those in options.h.
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

// `source` is what the side data says of where boxes come from: "dnn_torch_detect: FILE".
FindingsSettings request_of(const ResultsSettings &settings, std::string source);

} // namespace dnn_torch
