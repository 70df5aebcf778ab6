// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The times of a constant rate: which frames go out between two that came in, and where they lie
// between them.  Pure arithmetic.
//
// Frames go out at all multiples of 1/rate from the first frame's timestamp on, which is rounded as
// the filter `fps` rounds.  There are as many as `fps` makes.  What they show is counted from the
// first frame exactly, so that it goes out unchanged, and no rounding adds up.
#pragma once

extern "C" {
#include <libavutil/avutil.h>
#include <libavutil/rational.h>
}

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace dnn_torch
{

// A frame that goes out.
struct Moment {
    int64_t pts; // in 1/rate
    double t;    // 0: it is the frame itself; below 1: how far on the way to the next one

    bool operator==(const Moment &) const = default;
};

// What comes after a frame.
struct Successor {
    enum class Kind {
        frame, // one that belongs to it
        cut,   // one of another scene: the nearer frame stands between them
        other, // one that has nothing to do with it: the earlier frame stands until it comes
        end,   // nothing
    };
    Kind kind = Kind::frame;
    int64_t pts = AV_NOPTS_VALUE; // of that frame; of the end, in 1/rate
};

// What goes out for a frame.
struct Schedule {
    std::vector<Moment> moments;
    int64_t limit = INT64_MIN; // frames before it are sure to go out, see HeldBack
    bool is_last = false;
    bool is_whole = true;   // otherwise the same frame has more of them, see next()
    bool continues = false; // some have gone before
};

// Belongs to one thread.
class RateGrid
{
public:
    // Timestamps that come in are in `time_base`.  `anchor`, in seconds, is the time of the first
    // frame of a video that this stream is a part of.
    RateGrid(AVRational time_base, AVRational rate, std::optional<AVRational> anchor = {})
        : time_base_(time_base), rate_(rate), anchor_(anchor)
    {
    }

    // Takes the next frame that came in.  Frames before the first with a timestamp do not go out.
    // A later one without a timestamp takes the place of the frame before it.  If more than `most`
    // go out for it, the schedule is not whole: call it again with the same frame.  Throws Error if
    // there would be more than `most_moments` in all: a timestamp is wrong.
    Schedule next(int64_t pts, const Successor &successor, size_t most = most_moments);
    static constexpr size_t most_moments = 200000;

    // Returns the latest timestamp that came in; AV_NOPTS_VALUE before the first.
    int64_t latest() const { return latest_; }

    // Returns the timestamp in 1/rate, rounded as `fps` does.
    int64_t place_of(int64_t pts) const;

private:
    using Wide = __int128;

    // In units in which both a timestamp and a multiple of 1/rate are whole, from the first frame.
    Wide time_of_output(Wide pts) const;
    Wide time_of_input(int64_t pts) const;
    void begin(int64_t pts);
    bool is_before(Wide output, int64_t pts, const Successor &successor) const;

    const AVRational time_base_, rate_;
    const std::optional<AVRational> anchor_;
    int64_t first_ = AV_NOPTS_VALUE, latest_ = AV_NOPTS_VALUE; // in time_base_
    int64_t first_output_ = 0, next_output_ = 0;               // in 1/rate
    int64_t limit_ = INT64_MIN;
    bool is_midway_ = false; // in the moments of a frame
};

// Holds back the last result until it is sure that `fps` would make it: the end may come before.
template <class Result> class HeldBack
{
public:
    // Takes a frame's results, one for each moment, in order.  Returns those that go out.
    std::vector<Result> pass(const Schedule &schedule, std::vector<Result> results)
    {
        for (size_t i = 0; i < results.size(); i++)
            held_.emplace_back(schedule.moments[i].pts, std::move(results[i]));
        std::vector<Result> out;
        for (; !held_.empty() && held_.front().first < schedule.limit; held_.pop_front())
            out.push_back(std::move(held_.front().second));
        if (schedule.is_last)
            held_.clear();
        return out;
    }

    size_t size() const { return held_.size(); }

private:
    std::deque<std::pair<int64_t, Result>> held_; // by their timestamps
};

} // namespace dnn_torch
