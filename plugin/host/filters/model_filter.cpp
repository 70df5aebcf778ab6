// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_filter.h"

#include "host/error.h"
#include "host/frames/sample_aspect.h"
#include "host/libavfilter/self_test.h"

namespace dnn_torch
{
namespace
{

FrameLoop::Settings settings_of(const PrivateData &options)
{
    auto timeout = std::chrono::microseconds(options.timeout);
    return {.async = options.async != 0,
            .patience = std::chrono::ceil<std::chrono::seconds>(timeout)};
}

} // namespace

ModelFilter::ModelFilter(AVFilterContext *ctx, const PrivateData &options, MakeTask make_task)
    : options_(options), log_(ctx, options), opener_(ctx, options, make_task),
      loop_(ctx, settings_of(options), opener_, log_)
{
}

void ModelFilter::open()
{
    if (!options_.model || !*options_.model)
        throw Error(AVERROR(EINVAL), "no model given; write dnn_torch=model=FILE");
    // Programs that look the filter up by name come here untested.
    if (const char *fault = gate_fault())
        throw Error(AVERROR(ENOSYS), fault);
    loop_.open();
    opener_.open();
    log_.tell_notice(*opener_.task().model());
}

void ModelFilter::configure(const AVFilterLink *in, AVFilterLink *out)
{
    FrameShape shape = {.format = static_cast<AVPixelFormat>(in->format),
                        .size = {in->w, in->h},
                        .time_base = in->time_base};
    Size output = opener_.task().output_for(shape);
    log_.tell_shape(shape, output);
    loop_.expect(shape);
    out->w = output.width;
    out->h = output.height;
    out->sample_aspect_ratio = sample_aspect_after(in->sample_aspect_ratio, shape.size, output);
}

std::optional<std::string> ModelFilter::answer(const std::string &command) const
{
    return log_.answer(command, loop_.state(), loop_.in_flight());
}

} // namespace dnn_torch
