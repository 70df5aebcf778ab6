// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The times of a constant rate: a table, a reference that looks at each output alone and counts in
// fractions, and libavfilter's own `fps`.
#include "host/error.h"
#include "host/ffmpeg_pointers.h"
#include "host/tasks/rate_grid.h"

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/log.h>
}

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace dnn_torch;

namespace
{

constexpr int64_t none = AV_NOPTS_VALUE;

// Frames that come in, and the end of the stream, in `time_base`.
struct Stream {
    AVRational time_base, rate;
    std::vector<int64_t> pts;
    int64_t end;
    std::vector<Successor::Kind> after = {}; // what comes after each frame; empty: a frame
    std::optional<AVRational> anchor = {};   // of the whole, in seconds
};

// What goes out, and the frame that it begins with.
struct Output {
    int64_t pts;
    size_t frame;
    double t;
};

std::string in_words(const Stream &stream)
{
    std::string words =
        std::to_string(stream.time_base.num) + "/" + std::to_string(stream.time_base.den) + " to " +
        std::to_string(stream.rate.num) + "/" + std::to_string(stream.rate.den) + ":";
    for (size_t i = 0; i < stream.pts.size(); i++)
        words += " " + (stream.pts[i] == none ? "?" : std::to_string(stream.pts[i])) +
                 (i < stream.after.size() && stream.after[i] == Successor::Kind::cut     ? "|"
                  : i < stream.after.size() && stream.after[i] == Successor::Kind::other ? "/"
                                                                                         : "");
    return words + ", end " + std::to_string(stream.end);
}

// In portions of at most so many.
std::vector<Output> outputs_of(const Stream &stream, size_t most = RateGrid::most_moments)
{
    RateGrid grid(stream.time_base, stream.rate, stream.anchor);
    HeldBack<Output> held;
    std::vector<Output> all;
    for (size_t i = 0; i < stream.pts.size(); i++) {
        const bool is_last = i + 1 == stream.pts.size();
        Successor successor = {.kind = Successor::Kind::end, .pts = grid.place_of(stream.end)};
        if (!is_last)
            successor = {.kind = stream.after.empty() ? Successor::Kind::frame : stream.after[i],
                         .pts = stream.pts[i + 1]};
        Schedule schedule;
        do {
            const bool continues = !schedule.is_whole;
            schedule = grid.next(stream.pts[i], successor, most);
            EXPECT_EQ(schedule.continues, continues);
            EXPECT_LE(schedule.moments.size(), most);
            std::vector<Output> made;
            for (const Moment &moment : schedule.moments)
                made.push_back({.pts = moment.pts, .frame = i, .t = moment.t});
            for (const Output &output : held.pass(schedule, std::move(made)))
                all.push_back(output);
        } while (!schedule.is_whole);
    }
    return all;
}

// ---- a naive reference ------------------------------------------------------------------

// Exact, for small numbers.
struct Fraction {
    int64_t num, den;
    Fraction(int64_t n, int64_t d) : num(n), den(d)
    {
        if (den < 0) {
            num = -num;
            den = -den;
        }
        const int64_t common = std::gcd(num, den);
        num /= common;
        den /= common;
    }
    Fraction operator+(const Fraction &o) const { return {num * o.den + o.num * den, den * o.den}; }
    Fraction operator-(const Fraction &o) const { return {num * o.den - o.num * den, den * o.den}; }
    Fraction operator*(const Fraction &o) const { return {num * o.num, den * o.den}; }
    Fraction operator/(const Fraction &o) const { return {num * o.den, den * o.num}; }
    bool operator<(const Fraction &o) const { return num * o.den < o.num * den; }
    double value() const { return static_cast<double>(num) / static_cast<double>(den); }
    int64_t rounded() const // halves go away from zero
    {
        const int64_t twice = 2 * std::abs(num) + den;
        return (num < 0 ? -1 : 1) * (twice / (2 * den));
    }
};

Fraction seconds(int64_t pts, const Stream &stream)
{
    return Fraction(pts, 1) * Fraction(stream.time_base.num, stream.time_base.den);
}

int64_t rounded(int64_t pts, const Stream &stream)
{
    return (seconds(pts, stream) * Fraction(stream.rate.num, stream.rate.den)).rounded();
}

// For streams whose timestamps rise.  Looks for each output's frames among all that come in.
std::vector<Output> expected_outputs(const Stream &stream)
{
    const Fraction begin = seconds(stream.pts.front(), stream);
    const int64_t first = rounded(stream.pts.front(), stream);
    const int64_t end = std::max(rounded(stream.end, stream), rounded(stream.pts.back(), stream));
    std::vector<Output> outputs;
    for (int64_t pts = first; pts < end; pts++) {
        const Fraction time =
            begin + Fraction(pts - first, 1) / Fraction(stream.rate.num, stream.rate.den);
        size_t frame = 0;
        while (frame + 1 < stream.pts.size() && !(time < seconds(stream.pts[frame + 1], stream)))
            frame++;
        Output output = {.pts = pts, .frame = frame, .t = 0};
        if (frame + 1 < stream.pts.size()) {
            const Fraction from = seconds(stream.pts[frame], stream),
                           to = seconds(stream.pts[frame + 1], stream);
            const Fraction t = (time - from) / (to - from);
            const Successor::Kind kind =
                stream.after.empty() ? Successor::Kind::frame : stream.after[frame];
            if (kind == Successor::Kind::frame)
                output.t = t.value();
            else if (kind == Successor::Kind::cut && !(t < Fraction(1, 2)))
                output.frame++;
        }
        outputs.push_back(output);
    }
    return outputs;
}

void expect_same(const Stream &stream, const std::vector<Output> &wanted,
                 size_t most = RateGrid::most_moments)
{
    const std::vector<Output> made = outputs_of(stream, most);
    ASSERT_EQ(made.size(), wanted.size()) << in_words(stream);
    for (size_t i = 0; i < made.size(); i++) {
        ASSERT_EQ(made[i].pts, wanted[i].pts) << in_words(stream);
        ASSERT_EQ(made[i].frame, wanted[i].frame) << in_words(stream) << " at " << made[i].pts;
        ASSERT_EQ(made[i].t, wanted[i].t) << in_words(stream) << " at " << made[i].pts;
    }
}

int between(std::mt19937 &random, int low, int high)
{
    return std::uniform_int_distribution<int>(low, high)(random);
}

const AVRational rates[] = {{24, 1},       {25, 1},       {30000, 1001}, {60, 1},  {1, 1},
                            {24000, 1001}, {60000, 1001}, {50, 1},       {144, 1}, {25, 2},
                            {10, 1},       {7, 3},        {120, 1},      {240, 1}};
const AVRational bases[] = {{1, 25},    {1, 1000}, {1001, 30000}, {1, 90000},
                            {1, 12800}, {1, 24},   {1, 7},        {1, 5}};

// Rises at a rate, which may vary.
Stream random_stream(std::mt19937 &random)
{
    Stream stream = {.time_base = bases[between(random, 0, 7)],
                     .rate = rates[between(random, 0, 13)],
                     .pts = {},
                     .end = 0};
    const double unit = av_q2d(stream.time_base);
    const int step = std::max(1, static_cast<int>(0.04 / unit)), spread = between(random, 0, 3);
    int64_t pts = between(random, -2 * step, 3 * step);
    for (int count = between(random, 1, 12); count > 0; count--) {
        stream.pts.push_back(pts);
        pts += spread == 0 ? step : between(random, 1, (1 + spread) * step);
        constexpr Successor::Kind kinds[] = {Successor::Kind::frame, Successor::Kind::frame,
                                             Successor::Kind::cut, Successor::Kind::other};
        stream.after.push_back(kinds[between(random, 0, 3)]);
    }
    stream.end = between(random, 0, 3) == 0 ? stream.pts.back() : pts;
    return stream;
}

// ---- libavfilter's own ------------------------------------------------------------------

// Returns the timestamps that `fps` makes of such frames.
std::vector<int64_t> made_by_fps(const Stream &stream)
{
    const GraphPointer graph(avfilter_graph_alloc());
    const FramePointer frame(av_frame_alloc());
    const std::string text =
        "buffer=video_size=16x16:pix_fmt=gray:time_base=" + std::to_string(stream.time_base.num) +
        "/" + std::to_string(stream.time_base.den) + ",fps=fps=" + std::to_string(stream.rate.num) +
        "/" + std::to_string(stream.rate.den) + ",buffersink";
    AVFilterInOut *in = nullptr, *out = nullptr;
    EXPECT_GE(avfilter_graph_parse2(graph.get(), text.c_str(), &in, &out), 0);
    EXPECT_GE(avfilter_graph_config(graph.get(), nullptr), 0);
    AVFilterContext *const source = graph->filters[0], *const sink = graph->filters[2];
    frame->width = frame->height = 16;
    frame->format = AV_PIX_FMT_GRAY8;
    EXPECT_GE(av_frame_get_buffer(frame.get(), 0), 0);
    for (const int64_t pts : stream.pts) {
        frame->pts = pts;
        EXPECT_GE(av_buffersrc_add_frame_flags(source, frame.get(), AV_BUFFERSRC_FLAG_KEEP_REF), 0);
    }
    EXPECT_GE(av_buffersrc_close(source, stream.end, 0), 0);
    std::vector<int64_t> made;
    const FramePointer taken(av_frame_alloc());
    while (av_buffersink_get_frame(sink, taken.get()) >= 0) {
        made.push_back(taken->pts);
        av_frame_unref(taken.get());
    }
    return made;
}

std::vector<int64_t> times_of(const Stream &stream)
{
    std::vector<int64_t> times;
    for (const Output &output : outputs_of(stream))
        times.push_back(output.pts);
    return times;
}

} // namespace

// Each row is a stream, and what goes out: its timestamp, the frame and t in tenths of a percent.
TEST(RateGrid, Table)
{
    struct Row {
        Stream stream;
        std::vector<std::array<int64_t, 3>> wanted;
    };
    const auto even = [](AVRational base, AVRational rate, int64_t count, int64_t step = 1,
                         int64_t begin = 0) {
        Stream stream = {.time_base = base, .rate = rate, .pts = {}, .end = begin + count * step};
        for (int64_t i = 0; i < count; i++)
            stream.pts.push_back(begin + i * step);
        return stream;
    };
    using Kind = Successor::Kind;
    const Row rows[] = {
        // The same rate, twice, half, and rates that do not divide each other.
        {even({1, 25}, {25, 1}, 3), {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}}},
        {even({1, 25}, {50, 1}, 3),
         {{0, 0, 0}, {1, 0, 500}, {2, 1, 0}, {3, 1, 500}, {4, 2, 0}, {5, 2, 0}}},
        {even({1, 50}, {25, 1}, 4), {{0, 0, 0}, {1, 2, 0}}},
        {even({1, 24}, {60, 1}, 3),
         {{0, 0, 0},
          {1, 0, 400},
          {2, 0, 800},
          {3, 1, 200},
          {4, 1, 600},
          {5, 2, 0},
          {6, 2, 0},
          {7, 2, 0}}},
        {even({1, 60}, {24, 1}, 5), {{0, 0, 0}, {1, 2, 500}}},
        {even({1, 30}, {24, 1}, 5), {{0, 0, 0}, {1, 1, 250}, {2, 2, 500}, {3, 3, 750}}},
        // A first frame that is no multiple of the output's interval goes out unchanged.
        {even({1, 1000}, {25, 1}, 3, 40, 13), {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}}},
        {even({1, 1000}, {50, 1}, 2, 40, 1013), {{51, 0, 0}, {52, 0, 500}, {53, 1, 0}, {54, 1, 0}}},
        {even({1, 1000}, {25, 1}, 2, 40, -47), {{-1, 0, 0}, {0, 1, 0}}},
        // One frame, and none.
        {{{1, 25}, {50, 1}, {0}, 1}, {{0, 0, 0}, {1, 0, 0}}},
        {{{1, 25}, {50, 1}, {0}, 0}, {}},
        // A variable rate.
        {{{1, 100}, {25, 1}, {0, 4, 12, 14, 20}, 24},
         {{0, 0, 0}, {1, 1, 0}, {2, 1, 500}, {3, 2, 0}, {4, 3, 333}, {5, 4, 0}}},
        // Cuts: the nearer frame.  Others: the earlier one.
        {{{1, 100}, {50, 1}, {0, 10}, 12, {Kind::cut, Kind::frame}},
         {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 1, 0}, {4, 1, 0}, {5, 1, 0}}},
        {{{1, 100}, {50, 1}, {0, 10}, 12, {Kind::other, Kind::frame}},
         {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}, {5, 1, 0}}},
        // Timestamps that are missing, repeat or go back.
        {{{1, 25}, {25, 1}, {none, 0, 1}, 2}, {{0, 1, 0}, {1, 2, 0}}},
        {{{1, 25}, {25, 1}, {0, none, 2}, 3}, {{0, 1, 0}, {1, 1, 500}, {2, 2, 0}}},
        {{{1, 25}, {25, 1}, {0, 0, 1}, 2}, {{0, 1, 0}, {1, 2, 0}}},
        {{{1, 25}, {25, 1}, {0, 1, 2, 1, 4}, 5},
         {{0, 0, 0}, {1, 1, 0}, {2, 3, 333}, {3, 3, 667}, {4, 4, 0}}},
        {{{1, 25}, {25, 1}, {none}, 2}, {}},
    };
    for (const Row &row : rows) {
        const std::vector<Output> made = outputs_of(row.stream);
        std::vector<std::array<int64_t, 3>> found;
        for (const Output &output : made)
            found.push_back(
                {output.pts, static_cast<int64_t>(output.frame), std::llround(output.t * 1000)});
        EXPECT_EQ(found, row.wanted) << in_words(row.stream);
    }
}

// Constant rates, in which all can be written down: frame i of rate r at i/r.
TEST(RateGrid, ConstantRates)
{
    int rows = 0;
    for (const AVRational in : rates)
        for (const AVRational out : rates) {
            for (const int count : {1, 2, 9}) {
                Stream stream = {.time_base = av_inv_q(in), .rate = out, .pts = {}, .end = count};
                for (int i = 0; i < count; i++)
                    stream.pts.push_back(i);
                expect_same(stream, expected_outputs(stream));
                rows++;
            }
        }
    EXPECT_GE(rows, 300);
}

TEST(RateGrid, RandomStreams)
{
    std::mt19937 random(31);
    size_t outputs = 0, between_frames = 0;
    for (int i = 0; i < 10000; i++) {
        const Stream stream = random_stream(random);
        const std::vector<Output> wanted = expected_outputs(stream);
        expect_same(stream, wanted);
        expect_same(stream, wanted, 1 + static_cast<size_t>(i) % 4);
        if (HasFatalFailure())
            return;
        outputs += wanted.size();
        between_frames += static_cast<size_t>(std::count_if(
            wanted.begin(), wanted.end(), [](const Output &each) { return each.t > 0; }));
    }
    EXPECT_GT(outputs, 50000U);
    EXPECT_GT(between_frames, 10000U);
}

// A part of a stream, with one frame more and those of one output more, makes the outputs of the
// whole.
TEST(RateGrid, APartOfAStream)
{
    std::mt19937 random(7);
    size_t outputs = 0;
    for (int i = 0; i < 3000; i++) {
        const Stream stream = random_stream(random);
        const size_t begin = static_cast<size_t>(
                         between(random, 0, static_cast<int>(stream.pts.size()) - 1)),
                     end = static_cast<size_t>(between(random, static_cast<int>(begin) + 1,
                                                       static_cast<int>(stream.pts.size())));
        Stream part = stream;
        // The last outputs are held back until it is sure that `fps` would make them.
        const auto is_far = [&](int64_t pts) {
            return !(seconds(pts, stream) <
                     seconds(stream.pts[end], stream) + Fraction(stream.rate.den, stream.rate.num));
        };
        size_t last = end;
        for (bool goes_on = true; last < stream.pts.size() && goes_on; last++)
            goes_on = !is_far(stream.pts[last]);
        part.pts = {stream.pts.begin() + static_cast<ptrdiff_t>(begin),
                    stream.pts.begin() + static_cast<ptrdiff_t>(last)};
        part.after = {stream.after.begin() + static_cast<ptrdiff_t>(begin),
                      stream.after.begin() + static_cast<ptrdiff_t>(last)};
        if (last < stream.pts.size())
            part.end = stream.pts[last];
        part.anchor = av_mul_q({static_cast<int>(stream.pts.front()), 1}, stream.time_base);
        const auto is_own = [&](const Output &each) {
            const Fraction time = seconds(stream.pts.front(), stream) +
                                  Fraction(each.pts - rounded(stream.pts.front(), stream), 1) /
                                      Fraction(stream.rate.num, stream.rate.den);
            return !(time < seconds(stream.pts[begin], stream)) &&
                   (end == stream.pts.size() || time < seconds(stream.pts[end], stream));
        };
        std::vector<std::array<double, 3>> wanted, made;
        for (const Output &each : outputs_of(stream))
            if (is_own(each))
                wanted.push_back(
                    {static_cast<double>(each.pts), static_cast<double>(each.frame), each.t});
        for (const Output &each : outputs_of(part))
            if (is_own(each))
                made.push_back({static_cast<double>(each.pts),
                                static_cast<double>(begin + each.frame), each.t});
        ASSERT_EQ(made, wanted) << in_words(stream) << " from " << begin << " to " << end;
        outputs += made.size();
    }
    EXPECT_GT(outputs, 10000U);
}

// Also with timestamps that are missing, repeat or go back.
TEST(RateGrid, AsFps)
{
    av_log_set_level(AV_LOG_ERROR);
    std::mt19937 random(5);
    size_t frames = 0;
    for (int i = 0; i < 2000; i++) {
        Stream stream = random_stream(random);
        stream.after.clear();
        if (i % 2 == 1)
            for (int64_t &pts : stream.pts)
                pts = between(random, 0, 5) == 0 ? none : pts - between(random, 0, 100);
        const std::vector<int64_t> wanted = made_by_fps(stream);
        ASSERT_EQ(times_of(stream), wanted) << in_words(stream);
        frames += wanted.size();
    }
    EXPECT_GT(frames, 10000U);
}

TEST(RateGrid, AWildTimestamp)
{
    RateGrid grid({1, 90000}, {60, 1});
    EXPECT_THROW(grid.next(0, {.kind = Successor::Kind::other, .pts = INT64_C(1) << 60}), Error);
}

// No overflow, and no drift after a year.
TEST(RateGrid, FarTimestamps)
{
    const int64_t year = int64_t{365} * 24 * 3600;
    const Stream stream = {.time_base = {1, 90000},
                           .rate = {60000, 1001},
                           .pts = {year * 90000, year * 90000 + 3003, year * 90000 + 6006},
                           .end = year * 90000 + 9009};
    const std::vector<Output> made = outputs_of(stream);
    ASSERT_EQ(made.size(), 6U);
    for (size_t i = 0; i < made.size(); i++) {
        EXPECT_EQ(made[i].frame, i / 2);
        EXPECT_EQ(made[i].t, i == 1 || i == 3 ? 0.5 : 0);
    }
    RateGrid grid({1, INT_MAX}, {INT_MAX, 1});
    const Schedule schedule =
        grid.next(INT64_MAX - 3, {.kind = Successor::Kind::frame, .pts = INT64_MAX - 2});
    EXPECT_EQ(schedule.moments.size(), 1U);
}
