// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which frames come together, and where a stream starts anew: the arithmetic of windows, segments
// and states, against a reference that looks at all frames at once.
#include "fake_tasks.h"
#include "host/filters/continuity.h"
#include "host/tasks/frame_gatherer.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace dnn_torch;

namespace
{

// ---- windows and starts -------------------------------------------------------------

struct Step {
    bool starts_anew = false, bypass = false;
    bool flushes = false; // after this frame, as at a change of the size
};

struct Sequence {
    std::vector<Step> steps;
    Window window;
    size_t batch = 1;
    bool in_order = false;
    Border border = Border::reflect;
    Segments segments = {}; // batch is their length
};

std::string in_words(const Sequence &sequence)
{
    std::ostringstream words;
    words << "window " << sequence.window.before << "+" << sequence.window.after << ", batch "
          << sequence.batch << (sequence.in_order ? ", in order" : "") << ", overlap "
          << sequence.segments.overlap << ", frames ";
    for (const Step &step : sequence.steps)
        words << (step.starts_anew ? "|" : "") << (step.bypass ? "b" : "f")
              << (step.flushes ? "/" : "");
    return words.str();
}

// What one frame gets: the numbers of its window.
using Frames = std::vector<int>;

// Frames from `begin` to `end` belong together.
std::pair<int, int> scene_of(const Sequence &sequence, int frame)
{
    const auto &steps = sequence.steps;
    int begin = frame, end = frame + 1;
    while (begin > 0 && !steps[static_cast<size_t>(begin)].starts_anew &&
           !steps[static_cast<size_t>(begin - 1)].flushes)
        begin--;
    while (end < static_cast<int>(steps.size()) && !steps[static_cast<size_t>(end)].starts_anew &&
           !steps[static_cast<size_t>(end - 1)].flushes)
        end++;
    return {begin, end};
}

Frames expected_window(const Sequence &sequence, int frame)
{
    const auto [begin, end] = scene_of(sequence, frame);
    const int before = static_cast<int>(sequence.window.before),
              after = static_cast<int>(sequence.window.after);
    const int first = std::max(begin, frame - before), last = std::min(end - 1, frame + after);
    Frames frames;
    for (int place = frame - before; place <= frame + after; place++) {
        int mirrored = place;
        if (sequence.border == Border::reflect)
            mirrored = place < first ? 2 * first - place : place > last ? 2 * last - place : place;
        frames.push_back(std::clamp(mirrored, first, last));
    }
    return frames;
}

// Frames of a scene without bypassed ones between them.
std::pair<int, int> stretch_of(const Sequence &sequence, int frame)
{
    const auto [first, last] = scene_of(sequence, frame);
    int begin = frame, end = frame + 1;
    while (begin > first && !sequence.steps[static_cast<size_t>(begin - 1)].bypass)
        begin--;
    while (end < last && !sequence.steps[static_cast<size_t>(end)].bypass)
        end++;
    return {begin, end};
}

// Of all segments with that frame, the earliest of those whose seams are farthest from it.
Frames expected_segment(const Sequence &sequence, int frame)
{
    const auto [begin, end] = stretch_of(sequence, frame);
    const int length = static_cast<int>(sequence.segments.length),
              overlap = static_cast<int>(sequence.segments.overlap);
    constexpr int far = 1000;
    int best = -1;
    Frames frames;
    for (int first = begin; first == begin || first + overlap < end; first += length - overlap) {
        const int last = std::min(first + length, end) - 1;
        const int distance =
            std::min(first == begin ? far : frame - first, last == end - 1 ? far : last - frame);
        if (frame < first || frame > last || distance <= best)
            continue;
        best = distance;
        frames.clear();
        for (int i = first; i <= last; i++)
            frames.push_back(i);
    }
    return frames;
}

// The frames whose session must have forgotten all before them.
std::vector<int> expected_starts(const Sequence &sequence)
{
    std::vector<int> starts;
    bool is_due = false;
    for (size_t i = 0; i < sequence.steps.size(); i++) {
        is_due = is_due || sequence.steps[i].starts_anew;
        if (!sequence.steps[i].bypass && is_due) {
            starts.push_back(static_cast<int>(i));
            is_due = false;
        }
    }
    return starts;
}

struct Outcome {
    std::map<int, Frames> windows;
    std::vector<int> starts, order;
};

void look(FrameGatherer &gatherer, const Sequence &sequence, Outcome &outcome)
{
    const int before = static_cast<int>(sequence.window.before),
              after = static_cast<int>(sequence.window.after);
    while (std::unique_ptr<FrameJob> job = gatherer.next()) {
        EXPECT_LE(job->items.size(), sequence.batch);
        Frames together;
        for (const FrameItem &item : job->items)
            together.push_back(number_of(item.frame));
        if (job->starts_anew && !job->items.front().bypass)
            outcome.starts.push_back(static_cast<int>(job->items.front().number));
        for (const FrameItem &item : job->items) {
            if (item.seen_only)
                continue;
            const int number = static_cast<int>(item.number);
            if (sequence.segments.length && !item.bypass)
                outcome.windows[number] = together;
            outcome.order.push_back(number);
            EXPECT_EQ(item.bypass, job->items.front().bypass);
            if (sequence.window == Window{})
                continue;
            Frames frames;
            for (int place = -before; place <= after; place++)
                frames.push_back(frame_at(item, place, sequence.border).frame()->data[0][0]);
            outcome.windows[number] = frames;
        }
    }
}

Outcome outcome_of(const Sequence &sequence)
{
    auto plan = std::make_shared<FakePlan>(PerFrame{}, sequence.window, sequence.batch);
    plan->in_order = sequence.in_order;
    plan->segments = sequence.segments;
    FrameGatherer gatherer;
    Outcome outcome;
    int number = 0;
    for (const Step &step : sequence.steps) {
        gatherer.add({.frame = numbered_frame(number),
                      .bypass = step.bypass,
                      .arrival = {},
                      .number = number,
                      .starts_anew = step.starts_anew},
                     plan);
        number++;
        if (step.flushes)
            gatherer.flush();
        look(gatherer, sequence, outcome);
    }
    gatherer.flush();
    look(gatherer, sequence, outcome);
    EXPECT_EQ(gatherer.frames(), 0U);
    return outcome;
}

void expect_as_reference(const Sequence &sequence)
{
    SCOPED_TRACE(in_words(sequence));
    const Outcome outcome = outcome_of(sequence);
    std::vector<int> order;
    for (size_t i = 0; i < sequence.steps.size(); i++)
        order.push_back(static_cast<int>(i));
    EXPECT_EQ(outcome.order, order) << "each frame once, in order";
    if (sequence.in_order) { // otherwise nothing is remembered
        EXPECT_EQ(outcome.starts, expected_starts(sequence));
    }
    for (const auto &[number, frames] : outcome.windows)
        EXPECT_EQ(frames, sequence.segments.length ? expected_segment(sequence, number)
                                                   : expected_window(sequence, number))
            << "of frame " << number;
}

// All sequences of up to four frames that are usual, bypassed or first of a scene.
TEST(Windows, OfAllShortSequencesAreThoseOfTheReference)
{
    constexpr Window windows[] = {{0, 0}, {1, 0}, {0, 1}, {2, 2}};
    int count = 0;
    for (const Window &window : windows)
        for (int length = 0; length <= 4; length++)
            for (int code = 0; code < static_cast<int>(std::pow(3, length)); code++) {
                Sequence sequence = {.steps = {}, .window = window, .in_order = true};
                for (int i = 0, rest = code; i < length; i++, rest /= 3)
                    sequence.steps.push_back(
                        {.starts_anew = rest % 3 == 2, .bypass = rest % 3 == 1});
                expect_as_reference(sequence);
                count++;
            }
    EXPECT_GE(count, 300);
}

TEST(Windows, OfRandomSequencesAreThoseOfTheReference)
{
    constexpr int sequences = 10000;
    std::mt19937 random(1);
    const auto one_of = [&](unsigned count) { return static_cast<size_t>(random() % count); };
    for (int i = 0; i < sequences && !testing::Test::HasFailure(); i++) {
        Sequence sequence = {.steps = {},
                             .window = {.before = one_of(5), .after = one_of(5)},
                             .batch = 1 + one_of(3),
                             .in_order = one_of(2) == 0,
                             .border = one_of(2) ? Border::reflect : Border::repeat};
        if (sequence.in_order)
            sequence.batch = 1;
        const size_t length = one_of(16);
        for (size_t j = 0; j < length; j++)
            sequence.steps.push_back({.starts_anew = one_of(6) == 0,
                                      .bypass = one_of(6) == 0,
                                      .flushes = one_of(12) == 0});
        expect_as_reference(sequence);
    }
}

TEST(Segments, OfAllLengthsAreThoseOfTheReference)
{
    for (size_t length = 1; length <= 20; length++)
        for (size_t overlap = 0; 2 * overlap < length; overlap++)
            for (size_t frames = 0; frames <= 3 * length; frames++)
                expect_as_reference({.steps = std::vector<Step>(frames),
                                     .window = {},
                                     .batch = length,
                                     .segments = {.length = length, .overlap = overlap}});
}

TEST(Segments, OfRandomSequencesAreThoseOfTheReference)
{
    constexpr int sequences = 10000;
    std::mt19937 random(2);
    const auto one_of = [&](size_t count) { return static_cast<size_t>(random() % count); };
    for (int i = 0; i < sequences && !testing::Test::HasFailure(); i++) {
        const size_t length = 1 + one_of(8);
        Sequence sequence = {
            .steps = {},
            .window = {},
            .batch = length,
            .in_order = one_of(4) == 0,
            .segments = {.length = length, .overlap = one_of((length - 1) / 2 + 1)}};
        const size_t count = one_of(32);
        for (size_t j = 0; j < count; j++)
            sequence.steps.push_back({.starts_anew = one_of(12) == 0,
                                      .bypass = one_of(12) == 0,
                                      .flushes = one_of(24) == 0});
        expect_as_reference(sequence);
    }
}

TEST(Segments, AreCountedOnce)
{
    auto plan = std::make_shared<FakePlan>(PerFrame{}, Window{}, 5);
    plan->segments = {.length = 5, .overlap = 2};
    FrameGatherer gatherer;
    for (int number = 0; number < 9; number++) {
        gatherer.add(
            {.frame = numbered_frame(number), .bypass = false, .arrival = {}, .number = number},
            plan);
        gatherer.end_batch(); // does not end a segment
        EXPECT_EQ(gatherer.frames(), static_cast<size_t>(number) + 1);
    }
}

TEST(Windows, ConvertEachFrameOnce)
{
    SharedFrame shared(numbered_frame(7));
    const auto first = std::make_shared<int>(), second = std::make_shared<int>();
    int reads = 0;
    const auto read = [&](const AVFrame *frame, const Images &planes) {
        reads++;
        static_cast<float *>(planes.data)[0] = frame->data[0][0];
    };
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(static_cast<const float *>(shared.planes(first, 1, read).data)[0], 7);
    EXPECT_EQ(reads, 1);
    shared.planes(second, 1, read); // another plan has other numbers
    EXPECT_EQ(reads, 2);
}

TEST(Windows, TryAFailedConversionAgain)
{
    SharedFrame shared(numbered_frame(7));
    const auto plan = std::make_shared<int>();
    const auto fail = [](const AVFrame *, const Images &) { throw Error(-5, "no"); };
    EXPECT_THROW(shared.planes(plan, 1, fail), Error);
    bool is_read = false;
    shared.planes(plan, 1, [&](const AVFrame *, const Images &) { is_read = true; });
    EXPECT_TRUE(is_read);
}

// ---- where a stream starts anew -----------------------------------------------------

// Returns the reasons, one letter for each frame: c, j, g, r, or "." for none.
std::string reasons_for(const std::vector<double> &seconds, ContinuitySettings settings,
                        const std::vector<bool> &bypassed = {})
{
    settings.cut_limit = std::nullopt;
    Continuity continuity(settings);
    std::string reasons;
    for (size_t i = 0; i < seconds.size(); i++) {
        FramePointer frame = numbered_frame(1);
        frame->pts = std::isnan(seconds[i]) ? AV_NOPTS_VALUE : std::llround(seconds[i] * 1000);
        const char *why =
            continuity.look_at(frame.get(), {1, 1000}, i < bypassed.size() && bypassed[i]);
        const std::string text = why ? why : "";
        reasons += text.empty()                             ? '.'
                   : text.find("jump") != std::string::npos ? 'j'
                   : text.find("gap") != std::string::npos  ? 'g'
                                                            : '?';
    }
    return reasons;
}

TEST(Continuity, EndsAtJumpsOfTimestamps)
{
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(reasons_for({0, 1, 2, 3}, {.jump = 10}), "....");
    EXPECT_EQ(reasons_for({0, 1, 2, 13, 14}, {.jump = 10}), "...j.");
    EXPECT_EQ(reasons_for({0, 1, 2, 11, 12}, {.jump = 10}), ".....");
    EXPECT_EQ(reasons_for({0, 1, 2, 13, 14}, {.jump = 0}), ".....");
    EXPECT_EQ(reasons_for({5, 6, 0, 1}, {.jump = 10}), "..j.");
    EXPECT_EQ(reasons_for({5, 6, 0, 1}, {.jump = 0}), "....");
    EXPECT_EQ(reasons_for({0, 0.04, 0.12, 0.16, 0.4, 0.44}, {.jump = 10}), "......") << "variable";
    EXPECT_EQ(reasons_for({0, 1, none, none, 2, 3}, {.jump = 10}), "......");
    EXPECT_EQ(reasons_for({0, 0, 0, 0}, {.jump = 10}), "....");
    EXPECT_EQ(reasons_for({0, 0, 1, 2, 3}, {.jump = 10}), ".....") << "equal times at first";
    EXPECT_EQ(reasons_for({0, 0, 1, 1, 2, 2}, {.jump = 10}), "......") << "pairs";
    EXPECT_EQ(reasons_for({0.039, 0.04, 0.08, 0.12, 0.16}, {.jump = 10}), ".....");
    EXPECT_EQ(reasons_for({0, 0.02, 0.04, 1, 2, 3, 4}, {.jump = 10}), "...j...") << "another rate";
    EXPECT_EQ(reasons_for({0, 1, 2, 30, 31, 60, 61}, {.jump = 10}), "...j.j.");
    EXPECT_EQ(reasons_for({100, 101}, {.jump = 10}), "..") << "nothing is before the first frame";
}

TEST(Continuity, EndsAtGaps)
{
    const std::vector<double> times = {0, 1, 2, 3, 4, 5};
    const std::vector<bool> bypassed = {false, false, true, true, false, false};
    EXPECT_EQ(reasons_for(times, {.jump = 10}, bypassed), "....g.");
    EXPECT_EQ(reasons_for(times, {.jump = 10, .gaps_count = false}, bypassed), "......");
}

TEST(Continuity, ReadsItsOption)
{
    EXPECT_EQ(cut_limit_from("auto"), SceneCuts::usual_limit);
    EXPECT_EQ(cut_limit_from(""), SceneCuts::usual_limit);
    EXPECT_EQ(cut_limit_from("off"), std::nullopt);
    EXPECT_EQ(cut_limit_from("0.5"), 0.5);
    for (const char *wrong : {"0", "-1", "11", "on", "0.5x", " 0.5", "nan", "1e9"})
        EXPECT_THROW(cut_limit_from(wrong), Error) << wrong;
}

// ---- cuts ---------------------------------------------------------------------------

// Shapes that depend on `scene`, moved to the right by `shift` and brighter by `gain`.
FramePointer drawn(int scene, int shift = 0, double gain = 1,
                   AVPixelFormat format = AV_PIX_FMT_GRAY8)
{
    FramePointer frame = FramePool(format, {128, 72}).take();
    std::mt19937 random(static_cast<unsigned>(scene));
    double spots[12][4];
    for (auto &spot : spots)
        for (double &number : spot)
            number = static_cast<double>(random() % 1000) / 1000;
    for (int y = 0; y < frame->height; y++)
        for (int x = 0; x < frame->width; x++) {
            double value = 40;
            for (const auto &[across, down, size, brightness] : spots)
                if (std::hypot(x - shift - 128 * across, y - 72 * down) < 8 + 20 * size)
                    value = 20 + 160 * brightness;
            value = std::min(255.0, value * gain);
            uint8_t *const row = frame->data[0] + y * frame->linesize[0];
            if (format == AV_PIX_FMT_GRAY8)
                row[x] = static_cast<uint8_t>(value);
            else if (format == AV_PIX_FMT_GRAY16)
                reinterpret_cast<uint16_t *>(row)[x] = static_cast<uint16_t>(value * 257);
            else if (format == AV_PIX_FMT_GRAYF32)
                reinterpret_cast<float *>(row)[x] = static_cast<float>(value / 255);
            else
                row[3 * x] = row[3 * x + 1] = row[3 * x + 2] = static_cast<uint8_t>(value);
        }
    return frame;
}

TEST(Cuts, AreOtherScenesAlone)
{
    SceneCuts cuts;
    EXPECT_FALSE(cuts.is_cut(drawn(1).get())) << "the first frame";
    EXPECT_FALSE(cuts.is_cut(drawn(1).get()));
    EXPECT_EQ(cuts.difference(), 0);
    EXPECT_FALSE(cuts.is_cut(drawn(1, 4).get())) << "a pan";
    EXPECT_FALSE(cuts.is_cut(drawn(1, 4, 1.6).get())) << "a flash";
    EXPECT_FALSE(cuts.is_cut(drawn(1, 5, 1).get())) << "its end";
    EXPECT_FALSE(cuts.is_cut(drawn(1, 6, 0.5).get())) << "it gets dark";
    EXPECT_TRUE(cuts.is_cut(drawn(2).get()));
    EXPECT_FALSE(cuts.is_cut(drawn(2).get()));
    EXPECT_TRUE(cuts.is_cut(drawn(3).get()));
}

TEST(Cuts, AreTheSameInAllFormats)
{
    std::vector<double> differences;
    for (const AVPixelFormat format :
         {AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16, AV_PIX_FMT_GRAYF32, AV_PIX_FMT_RGB24}) {
        SceneCuts cuts;
        cuts.is_cut(drawn(1, 0, 1, format).get());
        EXPECT_TRUE(cuts.is_cut(drawn(2, 0, 1, format).get())) << format;
        differences.push_back(cuts.difference());
    }
    for (const double difference : differences)
        EXPECT_NEAR(difference, differences.front(), 0.01);
}

TEST(Cuts, AreNoneInBlack)
{
    SceneCuts cuts;
    for (int i = 0; i < 4; i++)
        EXPECT_FALSE(cuts.is_cut(drawn(i, 0, 0.02).get()));
    EXPECT_TRUE(cuts.is_cut(drawn(9).get())) << "a scene after black";
}

} // namespace
