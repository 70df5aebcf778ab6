// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model takes and what it makes of it, found by running it on grey
// pictures: models seldom say.
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
    // Why that may be wrong, in the model's words; empty where nothing speaks against it.
    std::string doubt;
};

// The size that comes out for pictures of `size`.  Throws Error, also where the channels that
// come out differ from those that go in.
Size probe_size(Model &model, Size size, int channels);

// Belongs to one thread.
class ModelProbe
{
public:
    explicit ModelProbe(std::shared_ptr<Model> model);

    // Throws Error where no picture at all will do, and for a failure that is not a
    // matter of channels.
    FoundChannels find_channels();

    // The size that comes out for `input`; throws Error where such pictures will not do.
    Size find_output(Size input, int channels);

private:
    std::optional<Error> fault(int channels, Size size);
    bool takes_larger_rgb();

    std::shared_ptr<Model> model_;
};

} // namespace dnn_torch
