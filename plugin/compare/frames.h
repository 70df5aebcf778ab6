// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which frames of a clip are compared, and where they have most detail.
#pragma once

#include "programs.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

// A frame as a small gray picture, whatever its own size and shape are.
constexpr int map_width = 160, map_height = 90;

struct Place {
    double left, top; // as shares of the picture
};

// Where a frame has detail.
class DetailMap
{
public:
    // `gray` has map_width x map_height bytes.
    explicit DetailMap(std::string_view gray);

    double sum() const { return sum_of(0, 0, map_width, map_height); }
    // Returns the corner of the part with most detail.  The part's size is a share of the picture.
    Place best_place(double width, double height) const;

private:
    double sum_of(int left, int top, int width, int height) const;

    // Of all that is above and to the left.
    std::array<std::array<double, map_width + 1>, map_height + 1> sums_{};
};

// Returns the times of at most `count` frames in order, those with most detail and motion, one from
// each part of the clip.  Throws std::runtime_error if the clip cannot be decoded.
std::vector<double> choose_times(const Programs &programs, const std::string &clip, int count,
                                 double limit_seconds);

// Files round times to milliseconds; this is more.
constexpr double time_rounding = 1e-3;

// Returns half of the clip's time between two frames, as its file declares it.
double half_frame_seconds(const Programs &programs, const std::string &clip);

// Frames that were cut from a clip, as it has them.
struct Cut {
    std::string list; // a file for ffmpeg's demuxer "concat"
    std::vector<double> times;
    std::vector<DetailMap> details;
    double pixel_aspect = 1; // width of a pixel, by its height
    std::string transfer;    // the name that ffmpeg has for the curve: "smpte2084"; "": not known
};
// Cuts the first frame that is at a time, or earlier by no more than `slack`, or later.  `name`
// begins the names of the files.  Throws std::runtime_error if the clip cannot be decoded, and
// UsageError if it ends before one of the times, or if the frames' size or format changes.
Cut cut_frames(const Programs &programs, const TemporaryFolder &folder, const std::string &clip,
               const std::vector<double> &times, double slack, const std::string &name);

// Returns "3.904 s".
std::string seconds_in_words(double seconds);

// Returns a path that ffmpeg takes neither for an option nor for an address.
std::string for_ffmpeg(const std::string &path);

} // namespace dnn_torch
