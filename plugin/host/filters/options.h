// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The options of dnn_torch, in the shape in which libavutil sets them.
#pragma once

extern "C" {
#include <libavutil/opt.h>
}

namespace dnn_torch
{

class ModelFilter;

// AVFilterContext.priv.  Plain, for libavfilter zeroes and frees it.
struct PrivateData {
    const AVClass *av_class;
    char *model, *input, *output, *device, *precision, *optimize, *allow, *engine, *stats;
    char *backend_configs;
    int backend;
    int async, nireq, batch_size, workers, threads;
    int64_t tune, timeout; // microseconds
    ModelFilter *filter;   // made by init, deleted by uninit
};

extern const AVClass dnn_torch_class;

// Sets what backend_configs holds; an AVERROR that libavutil has put into words.
int apply_backend_configs(PrivateData &data);

} // namespace dnn_torch
