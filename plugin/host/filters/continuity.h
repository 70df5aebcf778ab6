// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Decides where a stream starts anew, so that frames before have nothing to do with those after: at
// cuts, at jumps of the timestamps, and after a gap in which the model did not run.
#pragma once

#include "host/frames/scene_cuts.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/rational.h>
}

#include <cstdint>
#include <optional>
#include <string>

namespace dnn_torch
{

struct ContinuitySettings {
    std::optional<double> cut_limit; // see SceneCuts; nullopt: cuts do not count
    double jump = 0;                 // as a multiple of the usual interval; 0: jumps do not count
    bool gaps_count = true;          // after frames that bypassed the model
};

// Takes the option `cuts`: "auto", "off", or a limit.  Throws Error.
std::optional<double> cut_limit_from(const std::string &text);

// Belongs to one thread.
class Continuity
{
public:
    explicit Continuity(const ContinuitySettings &settings);

    // Looks at the next frame.  Returns why the stream starts anew with it; null if it does not.
    // The first frame never starts anew: there is nothing before it.
    const char *look_at(const AVFrame *frame, AVRational time_base, bool bypasses);

    // Whether the frame that was looked at last starts anew at a cut.
    bool was_cut() const { return was_cut_; }

    // The next frame starts anew: somebody says so.
    void start_anew() { is_asked_ = true; }

private:
    bool is_cut(const AVFrame *frame);
    bool is_jump(const AVFrame *frame, AVRational time_base);

    const ContinuitySettings settings_;
    std::optional<SceneCuts> cuts_;
    bool is_asked_ = false, has_gap_ = false, is_first_ = true, was_cut_ = false;
    std::optional<double> last_seconds_;
    double usual_interval_ = 0; // seconds
    int intervals_ = 0;         // how many have been learnt from
    bool was_far_ = false;      // the last interval was a jump
};

} // namespace dnn_torch
