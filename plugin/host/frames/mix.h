// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Mixes what a model makes with the frame that it was made of.
#pragma once

#include "picture.h"

#include <vector>

namespace dnn_torch
{

// Belongs to one thread.  Allocates memory at its first use alone.
class Mixer
{
public:
    // As write_picture(), with `source + (picture - source) * strength` for each sample.
    // `source` has the format and the size of `result`.
    bool write(const Images &images, const PictureNumbers &numbers, int index, float strength,
               const AVFrame *source, AVFrame *result, Part part = Part::seen);

    // The same for a result that is written already, such as one of codes.
    void blend(int channels, float strength, const AVFrame *source, AVFrame *result,
               Part part = Part::seen);

private:
    FloatRow row(size_t number, int width);

    std::vector<float> memory_;
};

} // namespace dnn_torch
