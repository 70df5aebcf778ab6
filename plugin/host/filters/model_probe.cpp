// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_probe.h"

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{
namespace
{

const char *kind(int channels)
{
    return channels == 3 ? "3 channels (RGB)" : "1 channel (luma)";
}

} // namespace

ModelProbe::ModelProbe(std::shared_ptr<Model> model) : model_(std::move(model)) {}

// A model that takes neither may still take pictures of another size; find_output() will see.
Channels ModelProbe::find_channels()
{
    constexpr Size small = {small_extent, small_extent};
    std::optional<Error> rgb = fault(3, small), luma = fault(1, small);
    // What is wrong with the results is not a matter of what goes in.
    if (rgb && luma)
        for (const Error &error : {*rgb, *luma})
            if (error.code() != AVERROR_EXTERNAL)
                throw error;
    return !rgb == !luma ? Channels::any : rgb ? Channels::luma : Channels::rgb;
}

Size ModelProbe::find_output(Size input, int channels)
try {
    return model_->probe(input, channels);
} catch (const Error &error) {
    if (error.code() != AVERROR_EXTERNAL)
        throw;
    int other = channels == 3 ? 1 : 3;
    std::optional<Error> other_error = fault(other, input);
    if (!other_error)
        throw Error(AVERROR(EINVAL),
                    std::string("the model takes ") + kind(other) + " at " + to_text(input) +
                        "; put format=" + (other == 3 ? "rgb24" : "gray") + " before the filter");
    throw Error(error.code(), "the model takes pictures of " + to_text(input) + " neither of " +
                                  kind(channels) + ": " + error.what() + " -- nor of " +
                                  kind(other) + ": " + other_error->what());
}

std::optional<Error> ModelProbe::fault(int channels, Size size)
{
    try {
        model_->probe(size, channels);
        return std::nullopt;
    } catch (const Error &error) {
        return error;
    }
}

} // namespace dnn_torch
