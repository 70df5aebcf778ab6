// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Converts a frame, or a part of it, to the picture that a model gets: scaled, in R, G and B or
// luma, and with the model's numbers.
#pragma once

#include "frame_scaler.h"
#include "host/ffmpeg_pointers.h"
#include "images.h"
#include "placement.h"

#include <array>
#include <optional>

namespace dnn_torch
{

// Returns the formats of frames that can be fed to a model of so many channels, 1, 3 or 4, in a
// list as of formats_for_any_model().  RGB models take subsampled YUV and grey as well.
const AVPixelFormat *formats_to_feed(int channels);

// Returns those of them that have alpha.
const AVPixelFormat *formats_to_feed_with_alpha(int channels);

// Returns how many pixels share a sample of chroma.
Size chroma_unit(AVPixelFormat format);

// Belongs to one thread.  Scales each component by itself in the frame's own format, so that
// nothing is converted twice.
class FrameFeeder
{
public:
    // `border` is the grey of the border, as a fraction of white.
    FrameFeeder(const PictureNumbers &numbers, float border) : numbers_(numbers), border_(border) {}

    // Fills picture `index` of `images`, which are floats of 1, 3 or 4 channels.  Is fastest if
    // consecutive calls have the same format and placement.  Throws Error if libswscale cannot
    // scale the frame.
    void feed(const AVFrame *frame, const Placement &placement, const Images &images, int index);

private:
    // How frames of one format and placement are scaled.
    struct Scaling {
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
    Scaling scaling_;
    FramePointer window_, spread_; // point into other frames' memory
};

} // namespace dnn_torch
