// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The pictures that a model is tried with, and the comparison of what it makes of them.
#pragma once

#include "host/frames/convert.h"
#include "host/size.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace dnn_torch
{

// A picture, channel after channel.
struct TrialPicture {
    Size size = {0, 0};
    std::vector<float> samples;
};

// Runs the model once.  Throws Error if it refuses the picture.
using RunTrial = std::function<TrialPicture(const TrialPicture &)>;

struct TrialParameters {
    int channels;
    int made = 0;             // channels that come out; 0: as many
    int multiple = 1;         // of which width and height must be
    Size least = {1, 1};      // that they must have
    std::optional<Size> only; // the one size that the model takes
    NumberMap numbers;        // what the model's numbers are
    bool is_known = false;    // somebody who knows the model says that it is local
    bool is_coarse = false;   // it counts with numbers of 16 bits
};

enum class Axis { across, down };

inline int along(Size size, Axis axis)
{
    return axis == Axis::across ? size.width : size.height;
}

// Further pictures get the numbers of the frame's first channel.
inline size_t number_of(int channel)
{
    return channel < 4 ? static_cast<size_t>(channel) : 0;
}

size_t index_of(Size size, int channel, int x, int y);

// Returns the position along the axis of a sample with that index.
int place_of(size_t index, Size size, Axis axis);

// Returns the size nearest above that the model takes.
Size taken_size(const TrialParameters &parameters, int width, int height);
// The same for a picture that is long along the axis and as small as can be in the other.
Size strip(const TrialParameters &parameters, Axis axis, int length);

enum class Content {
    noise,  // on a slope
    dark,   // noise that is
    bright, // noise that is
    points, // bright ones in the dark
    slope,  // from dark to bright, as long as the picture
    blocks, // of dark and of bright parts, far larger than what a model looks at
};

// Returns a window into an endless picture.  A slope and blocks run along the axis.
TrialPicture trial_picture(const TrialParameters &parameters, Content content, Size size, Axis axis,
                           int from = 0);

// Compares two results of the same content.  LibTorch sums up in another order for another size;
// a model that looks elsewhere differs by more.
class Resemblance
{
public:
    void add(float one, float other);
    bool holds(const TrialParameters &parameters) const;

private:
    float least_ = 0, largest_ = 0, difference_ = 0;
    double sum_ = 0; // of differences
    size_t count_ = 0, other_count_ = 0;
    bool finite_ = true, whole_ = true;
};

} // namespace dnn_torch
