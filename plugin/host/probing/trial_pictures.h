// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The input pictures of trials, and the comparison of the model's outputs for them.
#pragma once

#include "host/frames/convert.h"
#include "host/size.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace dnn_torch
{

// A picture in planes.
struct TrialPicture {
    Size size = {0, 0};
    std::vector<float> samples;
};

// Runs the model once.  Throws Error if it refuses the picture.
using RunTrial = std::function<TrialPicture(const TrialPicture &)>;

struct TrialParameters {
    int channels;
    int made = 0;             // channels that come out; 0: as many
    int multiple = 1;         // width and height must be multiples of it
    Size least = {1, 1};      // the smallest width and height
    std::optional<Size> only; // the one size that the model takes
    NumberMap numbers;        // from samples in 0..1 to the model's numbers
    bool is_known = false;    // the contract says that the model is local
    bool is_coarse = false;   // it computes with numbers of 16 bits
};

enum class Axis { across, down };

inline int along(Size size, Axis axis)
{
    return axis == Axis::across ? size.width : size.height;
}

// Extra pictures get the numbers of the frame's first channel.
inline size_t number_of(int channel)
{
    return channel < 4 ? static_cast<size_t>(channel) : 0;
}

size_t index_of(Size size, int channel, int x, int y);

// Returns the position along the axis of the sample with that index.
int place_of(size_t index, Size size, Axis axis);

// Returns the next larger size that the model takes.
Size taken_size(const TrialParameters &parameters, int width, int height);
// The same for a picture that is long along the axis and as short as possible along the other.
Size strip(const TrialParameters &parameters, Axis axis, int length);

enum class Content {
    noise,  // on a slope
    dark,   // dark noise
    bright, // bright noise
    points, // bright points on dark noise
    slope,  // from dark to bright, as long as the picture
    blocks, // dark and bright blocks, far larger than a model's reach
};

// Returns a window into an endless picture.  A slope and blocks run along the axis.
TrialPicture trial_picture(const TrialParameters &parameters, Content content, Size size, Axis axis,
                           int from = 0);

// Compares two results for the same content.  It tolerates rounding, because LibTorch sums in
// another order for another size; a model that reads other samples differs by more.
class Resemblance
{
public:
    void add(float one, float other);
    bool holds(const TrialParameters &parameters) const;

private:
    float least_ = 0, largest_ = 0, difference_ = 0;
    double sum_ = 0; // of the differences
    size_t count_ = 0, other_count_ = 0;
    bool finite_ = true, whole_ = true;
};

} // namespace dnn_torch
