// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "continuity.h"

#include "host/error.h"

extern "C" {
#include <libavutil/dict.h>
#include <libavutil/error.h>
}

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace dnn_torch
{

std::optional<double> cut_limit_from(const std::string &text)
{
    if (text.empty() || text == "auto")
        return SceneCuts::usual_limit;
    if (text == "off")
        return std::nullopt;
    constexpr double most = 10;
    double limit = 0;
    const char *const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, limit);
    if (parsed.ec != std::errc() || parsed.ptr != end || !(limit > 0 && limit <= most))
        throw Error(AVERROR(EINVAL),
                    "cuts takes auto, off or a number above 0 and up to 10, not '" + text + "'");
    return limit;
}

Continuity::Continuity(const ContinuitySettings &settings) : settings_(settings)
{
    if (settings_.cut_limit)
        cuts_.emplace(*settings_.cut_limit);
}

// All are looked at for each frame: the next one is compared with this one.
const char *Continuity::look_at(const AVFrame *frame, AVRational time_base, bool bypasses)
{
    const bool cut = is_cut(frame), jump = is_jump(frame, time_base);
    const bool gap = settings_.gaps_count && has_gap_ && !bypasses;
    has_gap_ = bypasses;
    was_cut_ = cut && !is_first_;
    const bool is_asked = std::exchange(is_asked_, false);
    if (std::exchange(is_first_, false))
        return nullptr;
    if (is_asked)
        return "a command";
    return cut ? "a cut" : jump ? "a jump of the timestamps" : gap ? "a gap" : nullptr;
}

// What scdet has found wins, as the user has put it there.
bool Continuity::is_cut(const AVFrame *frame)
{
    if (!cuts_)
        return false;
    const bool differs = cuts_->is_cut(frame);
    if (av_dict_get(frame->metadata, "lavfi.scd.score", nullptr, 0))
        return av_dict_get(frame->metadata, "lavfi.scd.time", nullptr, 0) != nullptr;
    return differs;
}

// The usual interval follows the stream slowly, so that variable rates are no jumps.  Two jumps in
// a row are another rate.
bool Continuity::is_jump(const AVFrame *frame, AVRational time_base)
{
    if (frame->pts == AV_NOPTS_VALUE)
        return false;
    const double now = static_cast<double>(frame->pts) * av_q2d(time_base);
    const double interval = now - std::exchange(last_seconds_, now).value_or(now);
    if (interval <= 0)
        return interval < 0 && settings_.jump > 0;
    constexpr int enough_intervals = 2;
    if (intervals_ < enough_intervals) {
        usual_interval_ = std::max(usual_interval_, interval);
        intervals_++;
        return false;
    }
    const bool is_far = settings_.jump > 0 && interval > settings_.jump * usual_interval_;
    const bool is_second = std::exchange(was_far_, is_far) && is_far;
    constexpr double share = 0.1;
    if (is_second)
        usual_interval_ = interval;
    else if (!is_far)
        usual_interval_ += share * (interval - usual_interval_);
    return is_far && !is_second;
}

} // namespace dnn_torch
