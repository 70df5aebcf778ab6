// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out what a model takes and what it makes of it, by running it on grey pictures:
// models seldom say.
#pragma once

#include "host/error.h"
#include "host/inference/model.h"
#include "host/size.h"

#include <optional>
#include <string>

namespace dnn_torch
{

enum class Channels { any, rgb, luma };

struct FoundChannels {
    Channels channels;
    // Why that may be wrong, in the model's words; empty if nothing speaks against it.
    std::string doubt;
};

// Returns the size that comes out for pictures of `size`.  Throws Error, also if the number
// of channels that come out differs from that of those that go in.
Size probe_size(Model &model, Size size, int channels);

// Belongs to one thread.
class ModelProbe
{
public:
    explicit ModelProbe(std::shared_ptr<Model> model);

    // Throws Error if the model takes no picture at all, and for a failure that has nothing
    // to do with channels.
    FoundChannels find_channels();

    // Returns the size that comes out for `input`.  Throws Error if the model does not take
    // such pictures.
    Size find_output(Size input, int channels);

private:
    std::optional<Error> fault(int channels, Size size);
    bool takes_larger_rgb();

    std::shared_ptr<Model> model_;
};

} // namespace dnn_torch
