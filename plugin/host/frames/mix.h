// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Mixes a model's output with the frame that it was made from.
#pragma once

#include "picture.h"

#include <vector>

namespace dnn_torch
{

// Belongs to one thread.  Allocates memory only when first used.
class Mixer
{
public:
    // Like write_picture(), with `source + (picture - source) * strength` for each sample.
    // `source` has the format and size of `result`.
    bool write(const Images &images, const PictureNumbers &numbers, int index, float strength,
               const AVFrame *source, AVFrame *result, Part part = Part::seen);

    // The same for a result that is already written, such as one of quantised samples.
    void blend(int channels, float strength, const AVFrame *source, AVFrame *result,
               Part part = Part::seen);

private:
    FloatRow row(size_t number, int width);

    std::vector<float> memory_;
};

} // namespace dnn_torch
