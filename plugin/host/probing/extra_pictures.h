// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Extra input pictures of a model: a second video, a mask.  Engines get one tensor, in which their
// channels follow the frame's.
#pragma once

#include "host/frames/images.h"
#include "host/model/contract.h"
#include "host/model/model.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

// A picture of a plan besides the current frame.
struct ExtraPicture {
    PictureNumbers numbers;
    int first, channels;      // in the tensor
    std::optional<int> frame; // how far the frame is from the current one; nullopt: of a pad
    size_t pad = 0;           // and then, of which
    bool between = false;     // it is a plane of FrameItem::between
    Plane plane = Plane::none;
    bool is_plane() const { return between || plane != Plane::none; }
};

// Returns all such pictures for frames of that many channels.
std::vector<ExtraPicture> extra_pictures(const Contract &contract, int frame_channels);

// Fills a plane of picture `index` of a tensor, all of it.
void fill_plane(const ExtraPicture &plane, double between, const Images &tensor, int index);

// Returns the formats for frames of such a picture.  Gray has the full range, so white is 1.
const AVPixelFormat *formats_of_extra(const PictureInput &picture);

// Returns a view of some channels of all pictures.
Images channels_of(const Images &images, int first, int count);

// Opens a model with the contract's fields about tensors.
using OpenModel = std::function<std::shared_ptr<Model>(const Contract &)>;

// Opens the model.  If the channels of its extra pictures are not known, opens and tries it with
// each likely count, and sets them in `contract`.  Throws Error.
std::shared_ptr<Model> open_with_pictures(Contract &contract, const OpenModel &open);

} // namespace dnn_torch
