// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Makes the picture that a model gets of a frame, or of a part of it: scaled, in R, G and B or
// luma, and with the model's numbers.
#pragma once

#include "frame_scaler.h"
#include "host/ffmpeg_pointers.h"
#include "images.h"
#include "picture_numbers.h"
#include "placement.h"

#include <array>
#include <optional>

namespace dnn_torch
{

// Return the formats of frames that can be fed to a model of so many channels, 1, 3 or 4, as
// formats_for_any_model() does.  RGB comes of subsampled YUV and of grey as well.
const AVPixelFormat *formats_to_feed(int channels);

// Returns those of them that have alpha.
const AVPixelFormat *formats_to_feed_with_alpha(int channels);

// Returns how many pixels share a sample of chroma.
Size chroma_unit(AVPixelFormat format);

// Belongs to one thread.  Scaling happens in the frame's own format, each component alone, so that
// nothing is converted twice.
class FrameFeeder
{
public:
    // The border gets that share of white.
    FrameFeeder(const PictureNumbers &numbers, float border) : numbers_(numbers), border_(border) {}

    // Fills picture `index` of `images`, which are floats of 1, 3 or 4 channels.  It is fastest if
    // the frames of consecutive calls have one format and one placement.  Throws Error if
    // libswscale cannot scale them.
    void feed(const AVFrame *frame, const Placement &placement, const Images &images, int index);

private:
    // How frames of one shape are scaled.
    struct Way {
        AVPixelFormat format = AV_PIX_FMT_NONE; // of the frames
        Placement placement = {};
        int channels = 0;
        std::array<std::optional<ComponentScaler>, 4> scalers = {};
        FramePointer scaled = {}; // in `format`'s own colours, without subsampling
    };

    void prepare(const AVFrame *frame, const Placement &placement, int channels);
    const AVFrame *scale(const AVFrame *frame, const Placement &placement, int channels);
    const AVFrame *as_rgb(const AVFrame *grey);
    void fill_border(const Region &inside, const Images &images, int index) const;

    PictureNumbers numbers_;
    float border_;
    Way way_;
    FramePointer window_, spread_; // look into other frames' memory
};

} // namespace dnn_torch
