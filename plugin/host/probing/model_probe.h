// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out which inputs a model takes and what it returns, by running it on grey pictures: model
// files seldom say it.
#pragma once

#include "host/error.h"
#include "host/model/contract.h"
#include "host/model/model.h"
#include "host/size.h"

#include <optional>
#include <string>

namespace dnn_torch
{

enum class Channels { any, rgb, luma, rgba };

// Returns how many channels go in; `any` are as many as a frame has, 1 or 3.
int count_of(Channels channels);

// How many channels go in, and how many come out.
struct ChannelCounts {
    int in, made;
    bool operator==(const ChannelCounts &) const = default;
};

// The output for a picture.
struct OutputPicture {
    int channels;
    Size size;
};

struct FoundChannels {
    Channels channels;
    int made; // channels that come out; 0: as many as go in
    // The model's error that makes this doubtful; empty if there is none.
    std::string warning;
};

// Returns the output for pictures of `size`.  Throws Error.
OutputPicture probe_picture(Model &model, Size size, int channels);

// Returns only the output's size.  Throws Error unless it has `made` channels.
Size probe_size(Model &model, Size size, int channels, int made);
inline Size probe_size(Model &model, Size size, int channels)
{
    return probe_size(model, size, channels, channels);
}

// Belongs to one thread.
class ModelProbe
{
public:
    // The model takes frames as `time` says, extra pictures with `extra` channels in total, and the
    // size `only` alone if it is given.
    explicit ModelProbe(std::shared_ptr<Model> model, const TimeContract &time = {}, int extra = 0,
                        std::optional<Size> only = {});

    // Throws Error if the model takes no picture at all, if its output cannot become `as`, and for
    // a failure that has nothing to do with channels.
    FoundChannels find_channels(As as = As::picture);

    // Returns the output's size for `input`.  Throws Error if the model does not take such
    // pictures, or if the output does not have `made` channels.
    Size find_output(Size input, int channels, int made);
    Size find_output(Size input, int channels) { return find_output(input, channels, channels); }

private:
    // The outcome of an attempt: an error, or the output's channels and size.
    struct Attempt {
        std::optional<Error> error;
        int made = 0;
        Size size = {0, 0};
    };
    int input_channels(int channels) const { return channels * frames_ + extra_; }
    Attempt attempt(int channels, Size size);
    Attempt attempt_of(int all_channels, Size size);
    int made_of_larger(int channels);
    void refuse_other_counts(const Attempt &rgb);
    std::optional<FoundChannels> choose(As as, const Attempt &rgb, const Attempt &luma);
    FoundChannels choose_among_larger(As as, const Attempt &rgb, const Attempt &luma);

    std::shared_ptr<Model> model_;
    int frames_, extra_;
    int segment_; // the frames of a segment, or 0
    std::optional<Size> only_;
};

} // namespace dnn_torch
