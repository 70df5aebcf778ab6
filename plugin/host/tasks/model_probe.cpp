// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_probe.h"

#include "picture_tensors.h"

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

// A failure for want of memory or time says nothing about channels.
bool can_be_about_channels(const Error &error)
{
    return error.code() == AVERROR_EXTERNAL || error.code() == AVERROR_INVALIDDATA ||
           error.code() == AVERROR(EINVAL);
}

// Looks for the words of LibTorch's operators, of models, and for ours.
bool speaks_of_channels(const std::string &text)
{
    for (const char *words : {"channel", "Channel", "dimension 1", "luma", "grey", "gray",
                              "running_mean should contain", "to have 1 "})
        if (text.find(words) != std::string::npos)
            return true;
    return false;
}

} // namespace

Size probe_size(Model &model, Size size, int channels)
{
    DnnTorchTensor in = picture_shape(1, channels, size);
    DnnTorchTensor out = model.probe({&in, 1}, 1).front();
    int channels_out = picture_extent(out, 1);
    if (channels_out != channels)
        throw Error(AVERROR_INVALIDDATA, "the model turns " + std::to_string(channels) +
                                             " channels into " + std::to_string(channels_out) +
                                             "; the filter needs as many out as in");
    return {picture_extent(out, 3), picture_extent(out, 2)};
}

ModelProbe::ModelProbe(std::shared_ptr<Model> model) : model_(std::move(model)) {}

// A model that takes neither RGB nor luma here may still take pictures of another size;
// find_output() tries that.
FoundChannels ModelProbe::find_channels()
{
    constexpr Size small = {small_extent, small_extent};
    std::optional<Error> rgb = fault(3, small);
    if (rgb && rgb->code() == AVERROR(ETIMEDOUT))
        throw *rgb;
    std::optional<Error> luma = fault(1, small);
    if (!rgb)
        return {luma ? Channels::rgb : Channels::any, ""};
    // A fault of the results has nothing to do with the channels that go in.
    if (luma)
        for (const Error &error : {*rgb, *luma})
            if (error.code() != AVERROR_EXTERNAL)
                throw error;
    if (takes_larger_rgb())
        return {Channels::rgb, ""};
    if (luma)
        return {Channels::any, ""};
    if (!can_be_about_channels(*rgb))
        throw *rgb;
    return {Channels::luma, speaks_of_channels(rgb->what()) ? "" : rgb->what()};
}

// A model of RGB that refuses small pictures may run on luma by chance, by broadcasting it.
bool ModelProbe::takes_larger_rgb()
{
    for (int extent : {3 * small_extent, 4 * small_extent, 8 * small_extent}) {
        std::optional<Error> error = fault(3, {extent, extent});
        if (!error)
            return true;
        if (error->code() == AVERROR(ETIMEDOUT))
            throw *error;
    }
    return false;
}

Size ModelProbe::find_output(Size input, int channels)
try {
    return probe_size(*model_, input, channels);
} catch (const Crash &) {
    throw;
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
        probe_size(*model_, size, channels);
        return std::nullopt;
    } catch (const Crash &) {
        throw; // it says nothing about channels
    } catch (const Error &error) {
        return error;
    }
}

} // namespace dnn_torch
