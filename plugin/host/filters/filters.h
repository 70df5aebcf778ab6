// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The filters of this module; a new one is declared here and listed in filters.cpp.
#pragma once

extern "C" {
#include <libavfilter/avfilter.h>
}

namespace dnn_torch
{

const AVFilter *dnn_torch_filter();        // frame to frame, filters/dnn_torch.cpp
const AVFilter *dnn_torch_detect_filter(); // what is in a frame, filters/dnn_torch_detect.cpp
const AVFilter *
dnn_torch_classify_filter(); // what a frame or a box shows, filters/dnn_torch_classify.cpp
const AVFilter *dnn_torch_interpolate_filter(); // another rate, filters/dnn_torch_interpolate.cpp

// Returns all filters of this module; the list ends with NULL.
const AVFilter *const *all_filters();

} // namespace dnn_torch
