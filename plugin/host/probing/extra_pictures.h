// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Pictures that a model takes beside the frame: a second video, a mask.  Engines get one tensor, in
// which their channels follow the frame's.
#pragma once

#include "host/frames/images.h"
#include "host/model/contract.h"
#include "host/model/model.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dnn_torch
{

// One of them, as a plan has it.
struct ExtraPicture {
    PictureNumbers numbers;
    int first, channels; // in the tensor
};

// Returns the pictures beside a frame of so many channels and with those numbers.
std::vector<ExtraPicture> extra_pictures(const Contract &contract, int frame_channels);

// The formats that frames of such a picture have.  Gray is of the full range, so that white is 1.
const AVPixelFormat *formats_of_extra(const PictureInput &picture);

// A view of some channels of all pictures.
Images channels_of(const Images &images, int first, int count);

// Opens a model for that contract, which engines get with the tensors' types and pictures.
using OpenModel = std::function<std::shared_ptr<Model>(const Contract &)>;

// Opens the model.  If nobody says how many channels its further pictures have, opens it in several
// ways and tries each of them; `contract` then says it.  Throws Error.
std::shared_ptr<Model> open_with_pictures(Contract &contract, const OpenModel &open);

} // namespace dnn_torch
