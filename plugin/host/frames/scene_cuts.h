// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the cuts of a video: frames that show another scene than the frame before.
#pragma once

extern "C" {
#include <libavutil/frame.h>
}

#include <array>
#include <cstddef>
#include <optional>

namespace dnn_torch
{

// Compares small versions of consecutive frames.  Their brightness and contrast do not count, and
// neither do small movements of the camera, so that fades, flashes and pans are no cuts.  Belongs
// to one thread.
class SceneCuts
{
public:
    // Above this difference a frame is a cut.  benchmarks/cuts.py judges it on clips of known cuts
    // (docs/time.md).
    static constexpr double usual_limit = 0.5;

    explicit SceneCuts(double limit = usual_limit) : limit_(limit) {}

    // Returns whether the frame is another scene than that of the last call.
    bool is_cut(const AVFrame *frame);

    // Returns the last frame's difference from the one before; 0 for equal frames.
    double difference() const { return difference_; }

    static constexpr int width = 64, height = 36;
    // Brightness from 0 to 255, row by row.
    using Small = std::array<float, size_t{width} * height>;

private:
    const double limit_;
    double difference_ = 0;
    std::optional<Small> last_;
};

} // namespace dnn_torch
