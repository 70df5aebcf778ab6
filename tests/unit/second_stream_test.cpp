// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/filters/extra_inputs.h"

extern "C" {
#include <libavutil/avutil.h>
}

#include <cstdlib>
#include <deque>
#include <gtest/gtest.h>
#include <vector>

using namespace dnn_torch;

namespace
{

constexpr AVRational milliseconds = {1, 1000};
constexpr int64_t untimed = AV_NOPTS_VALUE;
constexpr int64_t nothing = -1;

FramePointer frame_at(int64_t pts)
{
    FramePointer frame(av_frame_alloc());
    frame->pts = pts;
    return frame;
}

// Returns for each frame of the first stream the time of what goes with it, and counts how many
// frames of the second one were asked for.
std::vector<int64_t> paired(const std::vector<int64_t> &first, std::deque<int64_t> second,
                            AVRational time_base = milliseconds, size_t *asked = nullptr)
{
    SecondStream stream(time_base);
    std::vector<int64_t> times;
    for (const int64_t pts : first) {
        while (!stream.is_ready_for(pts, milliseconds)) {
            if (stream.has_ended())
                abort();
            if (second.empty()) {
                stream.end();
                continue;
            }
            stream.add(frame_at(second.front()));
            second.pop_front();
            if (asked)
                ++*asked;
        }
        times.push_back(stream.current() ? stream.current()->pts : nothing);
    }
    return times;
}

using Times = std::vector<int64_t>;

TEST(SecondStream, TheLastFrameThatIsNotLaterGoesWithAFrame)
{
    EXPECT_EQ(paired({0, 40, 80, 120}, {0, 100, 200}), (Times{0, 0, 0, 100}));
    EXPECT_EQ(paired({0, 100, 200}, {0, 40, 80, 120, 160, 200, 240}), (Times{0, 80, 200}));
    EXPECT_EQ(paired({0, 100}, {0, 100}), (Times{0, 100})) << "the same time is not later";
}

TEST(SecondStream, TheFirstOneServesBeforeItsTime)
{
    EXPECT_EQ(paired({0, 40, 80}, {60, 70}), (Times{60, 60, 70}));
}

TEST(SecondStream, TheLastOneStays)
{
    EXPECT_EQ(paired({0, 40, 80}, {0}), (Times{0, 0, 0}));
    EXPECT_EQ(paired({500, 600}, {0, 40}), (Times{40, 40}));
}

TEST(SecondStream, WithoutAnyFrameThereIsNone)
{
    EXPECT_EQ(paired({0, 40}, {}), (Times{nothing, nothing}));
}

TEST(SecondStream, TimesOfSeveralUnitsAreComparedExactly)
{
    // 3 * 1001/30000 s is 100.1 ms.
    EXPECT_EQ(paired({100, 101}, {0, 3}, {1001, 30000}), (Times{0, 3}));
    const int64_t late = int64_t{1} << 61;
    EXPECT_EQ(paired({late, late + 1}, {0, late + 1}), (Times{0, late + 1}));
}

TEST(SecondStream, NoMoreFramesAreTakenThanAreNeeded)
{
    size_t asked = 0;
    paired({0, 10, 20}, {0, 100, 200, 300}, milliseconds, &asked);
    EXPECT_EQ(asked, 2U);
}

TEST(SecondStream, FramesWithoutATimeGoInPairs)
{
    EXPECT_EQ(paired({0, 40, 80}, {untimed, untimed, untimed}), (Times{untimed, untimed, untimed}));
    EXPECT_EQ(paired({untimed, untimed}, {0, 40}), (Times{0, 0}));
}

} // namespace
