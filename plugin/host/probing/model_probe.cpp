// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_probe.h"

#include "base/compose.h"
#include "host/model/contract_fields.h"
#include "host/model/picture_tensors.h"

#include <vector>

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{
namespace
{

constexpr Size small = {small_extent, small_extent};

const char *kind(int channels)
{
    return channels == 4   ? "4 channels (RGBA)"
           : channels == 3 ? "3 channels (RGB)"
                           : "1 channel (luma)";
}

// Returns false for a lack of memory or time, which says nothing about channels.
bool can_be_about_channels(const Error &error)
{
    return error.code() == AVERROR_EXTERNAL || error.code() == AVERROR_INVALIDDATA ||
           error.code() == AVERROR(EINVAL);
}

bool is_picture(int channels)
{
    return channels == 1 || channels == 3 || channels == 4;
}

// Returns how many output channels `as` needs; 0: those of a picture.
int needed_for(As as)
{
    return as == As::picture ? 0 : as == As::lab ? 2 : 1;
}

// Returns whether that many output channels can become `as`.
bool can_become(As as, int made)
{
    return as == As::picture ? is_picture(made) : made == needed_for(as);
}

Error mismatch(As as, int channels, int made)
{
    const std::string turns =
        "the model turns " + counted(channels, "channel") + " into " + std::to_string(made);
    if (as == As::lab)
        return {AVERROR_INVALIDDATA,
                turns + "; as=lab needs two channels that come out, a and b of Lab"};
    if (as != As::picture)
        return {AVERROR_INVALIDDATA,
                turns + "; as=" + name_of(as) + " needs one channel that comes out"};
    if (made == 2)
        return {AVERROR_INVALIDDATA,
                turns + "; if they are a and b of Lab, as=lab joins them with the frame's "
                        "lightness; if they are maps of classes, as=index, as=colors or classes= "
                        "shows them"};
    return {AVERROR_INVALIDDATA, turns + "; a picture has 1, 3 or 4; if they are maps of "
                                         "classes, as=index, as=colors or classes= shows them"};
}

// For a classifier that keeps the rank of its features.
Error numbers_instead(int made)
{
    return {AVERROR_INVALIDDATA, concat("the model makes one pixel of ", to_text(small), ", of ",
                                        made, made == 1 ? " channel" : " channels",
                                        ": that is no picture; a picture has "
                                        "extents that follow the frame's")};
}

// Says which frames a model of that many channels may take.
std::string words_of_frames(int channels)
{
    const int frames = channels % 3 == 0 ? channels / 3 : channels;
    const int after = (frames - 1) / 2, before = frames - 1 - after;
    return concat("the model takes ", channels, " channels, such as those of ", frames,
                  " frames one behind the other in time; say which: frames=-", before, "..", after,
                  " for the frame with ", before, " before it and ", after,
                  " after it; pictures of another kind are named with inputs=NAME");
}

} // namespace

int count_of(Channels channels)
{
    return channels == Channels::rgba ? 4 : channels == Channels::luma ? 1 : 3;
}

OutputPicture probe_picture(Model &model, Size size, int channels)
{
    DnnTorchTensor in = picture_shape(1, channels, size);
    DnnTorchTensor out = model.probe({&in, 1}, 1).front();
    return {.channels = picture_extent(out, 1),
            .size = {picture_extent(out, 3), picture_extent(out, 2)}};
}

Size probe_size(Model &model, Size size, int channels, int made)
{
    const OutputPicture found = probe_picture(model, size, channels);
    if (found.channels == made)
        return found.size;
    const std::string turns = "the model turns " + counted(channels, "channel") + " into " +
                              std::to_string(found.channels);
    if (made == channels)
        throw Error(AVERROR_INVALIDDATA, turns);
    throw Error(AVERROR_INVALIDDATA,
                turns + " at " + to_text(size) + ", not into " + std::to_string(made));
}

ModelProbe::ModelProbe(std::shared_ptr<Model> model, const TimeContract &time, int extra,
                       std::optional<Size> only)
    : model_(std::move(model)), frames_(time.count()), extra_(extra), segment_(time.length),
      only_(only)
{
}

FoundChannels ModelProbe::find_channels(As as)
{
    const Attempt rgb = attempt(3, small);
    if (rgb.error && rgb.error->code() == AVERROR(ETIMEDOUT))
        throw *rgb.error;
    const Attempt luma = attempt(1, small);
    for (const Attempt &tried : {rgb, luma})
        if (!tried.error && tried.size == Size{1, 1})
            throw numbers_instead(tried.made);
    if (const std::optional<FoundChannels> found = choose(as, rgb, luma))
        return *found;
    // An error about the results has nothing to do with the input's channels.
    for (const Attempt &tried : {rgb, luma})
        if (tried.error && luma.error && tried.error->code() != AVERROR_EXTERNAL) {
            refuse_other_counts(rgb);
            throw *tried.error;
        }
    if (!rgb.error)
        throw mismatch(as, 3, rgb.made);
    if (!luma.error && !can_become(as, luma.made))
        throw mismatch(as, 1, luma.made);
    return choose_among_larger(as, rgb, luma);
}

// Prefers as many output channels as input channels: a model that broadcasts, such as one that
// returns the mean of its channels, takes luma as well.
std::optional<FoundChannels> ModelProbe::choose(As as, const Attempt &rgb, const Attempt &luma)
{
    if (as == As::picture) {
        if (rgb.made == 3)
            return FoundChannels{luma.made == 1 ? Channels::any : Channels::rgb, 0, ""};
        if (!rgb.error && luma.made == 1)
            return FoundChannels{Channels::luma, 0, ""};
    }
    if (!rgb.error && can_become(as, rgb.made))
        return FoundChannels{Channels::rgb, rgb.made, ""};
    if (as == As::lab && !luma.error && can_become(as, luma.made))
        return FoundChannels{Channels::luma, luma.made, ""};
    if (!rgb.error || !luma.error)
        return std::nullopt;
    const Attempt rgba = attempt(4, small);
    if (as == As::lab && !rgba.error)
        throw Error(AVERROR(EINVAL), "the model takes 4 channels; as=lab gives it the lightness "
                                     "alone, in 1 channel, or gray in 3");
    if (!rgba.error && can_become(as, rgba.made))
        return FoundChannels{Channels::rgba, rgba.made, ""};
    return std::nullopt;
}

// A model that takes neither RGB nor luma here may still take pictures of another size;
// find_output() tries that.
FoundChannels ModelProbe::choose_among_larger(As as, const Attempt &rgb, const Attempt &luma)
{
    if (const int made = made_of_larger(3); can_become(as, made))
        return {Channels::rgb, made == 3 ? 0 : made, ""};
    if (luma.made > 1)
        return {Channels::luma, luma.made, ""};
    if (luma.error) {
        if (const int made = made_of_larger(1); made != 1 && can_become(as, made))
            return {Channels::luma, made, ""};
        refuse_other_counts(rgb);
        return {as == As::lab ? Channels::luma : Channels::any, needed_for(as), ""};
    }
    if (!can_be_about_channels(*rgb.error))
        throw *rgb.error;
    return {Channels::luma, needed_for(as),
            rgb.error->reason() == Error::Reason::channels ? "" : rgb.error->what()};
}

// Returns the output channels for the smallest pictures that the model takes; 0 if it takes none.
// A model of RGB that refuses small pictures may run on luma by chance, by broadcasting it.
int ModelProbe::made_of_larger(int channels)
{
    std::vector<Size> sizes;
    if (only_)
        sizes = {*only_};
    else
        for (const int extent : {3 * small_extent, 4 * small_extent, 8 * small_extent})
            sizes.push_back({extent, extent});
    for (const Size size : sizes) {
        const Attempt larger = attempt(channels, size);
        if (!larger.error)
            return larger.made;
        if (larger.error->code() == AVERROR(ETIMEDOUT))
            throw *larger.error;
    }
    return 0;
}

Size ModelProbe::find_output(Size input, int channels, int made)
try {
    const OutputPicture found = probe_picture(*model_, input, input_channels(channels));
    if (found.channels != made)
        throw Error(AVERROR_INVALIDDATA, "the model turns " + counted(channels, "channel") +
                                             " into " + std::to_string(found.channels) + " at " +
                                             to_text(input) + ", not into " + std::to_string(made));
    return found.size;
} catch (const Error &error) {
    if (error.code() != AVERROR_EXTERNAL)
        throw;
    int other = channels == 3 ? 1 : 3;
    const Attempt tried = attempt(other, input);
    if (!tried.error)
        throw Error(AVERROR(EINVAL),
                    std::string("the model takes ") + kind(other) + " at " + to_text(input) +
                        "; put format=" + (other == 3 ? "rgb24" : "gray") + " before the filter");
    throw Error(error.code(),
                "the model takes pictures of " + to_text(input) + " neither of " + kind(channels) +
                    ": " + error.what() + " -- nor of " + kind(other) + ": " + tried.error->what() +
                    (frames_ > 1 ? "; if frames have a dimension of their own, say "
                                   "which: layout=ntchw, ncthw, tchw or cthw"
                                 : "") +
                    (segment_ != 0 ? "; it got a segment of " + counted(segment_, "frame") +
                                         ", as length says"
                                   : ""));
}

// A model of video may take several pictures in one tensor, along an extra dimension or
// concatenated along the channels.
void ModelProbe::refuse_other_counts(const Attempt &rgb)
{
    if (!rgb.error || rgb.error->code() != AVERROR_EXTERNAL || extra_ > 0 || segment_ != 0)
        return;
    const bool is_rank = rgb.error->reason() == Error::Reason::rank;
    if (is_rank && frames_ > 1)
        throw Error(AVERROR(EINVAL),
                    concat("the model takes tensors of 5 dimensions; say which of them the frames "
                           "are with layout=ntchw, ncthw, tchw or cthw (",
                           rgb.error->what(), ")"));
    if (is_rank)
        throw Error(AVERROR(EINVAL),
                    "the model takes tensors of 5 dimensions, such as several frames one behind "
                    "the other in time; say which: frames=-2..2 for the frame with two before it "
                    "and two after it, or length=15 if as many come out as go in (" +
                        std::string(rgb.error->what()) + ")");
    for (const int channels : {9, 15, 21, 6, 12, 5, 7}) {
        if (channels == input_channels(3))
            continue;
        const int made = attempt_of(channels, small).made;
        if (is_picture(made))
            throw Error(AVERROR(EINVAL), words_of_frames(channels));
        if (made == channels && channels % 3 == 0)
            throw Error(AVERROR(EINVAL),
                        concat("the model turns ", channels, " channels into as many, such as ",
                               channels / 3,
                               " frames of RGB that it takes and returns together; "
                               "if that is so, say length=",
                               channels / 3));
    }
}

ModelProbe::Attempt ModelProbe::attempt(int channels, Size size)
{
    return attempt_of(input_channels(channels), size);
}

ModelProbe::Attempt ModelProbe::attempt_of(int all_channels, Size size)
{
    try {
        const OutputPicture found = probe_picture(*model_, size, all_channels);
        return {.error = std::nullopt, .made = found.channels, .size = found.size};
    } catch (const Error &error) {
        if (segment_ != 0 && error.code() == AVERROR(EINVAL))
            throw; // in other channels the model may take its frames for channels
        return {.error = error};
    }
}

} // namespace dnn_torch
