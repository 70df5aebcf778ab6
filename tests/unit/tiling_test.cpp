// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/frames/tiling.h"
#include "host/probing/locality.h"
#include "host/probing/seams.h"
#include "host/probing/size_search.h"

#include "host/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace dnn_torch;

namespace
{

// ---- tiles --------------------------------------------------------------------

TileAxis axis_of(int extent, int tile, int reach, int step, Ratio ratio, bool blended = false)
{
    const int kept = (extent * ratio.out + ratio.in - 1) / ratio.in;
    return {.extent = extent,
            .tile = aligned_tile(extent, tile, step),
            .reach = reach,
            .step = step,
            .ratio = ratio,
            .kept = kept,
            .blended = blended};
}

// Whether each sample of the result is right in the tile that it is taken from.
void expect_right(const TileAxis &axis, const std::vector<TileSpan> &spans)
{
    int written = 0;
    for (const TileSpan &span : spans) {
        const int end = span.start + axis.tile;
        EXPECT_EQ(span.start % axis.step, 0);
        EXPECT_EQ(span.offset * axis.ratio.in, span.start * axis.ratio.out);
        ASSERT_GE(span.start, 0);
        ASSERT_LE(end, axis.extent);
        EXPECT_EQ(span.begin + span.rise, written + span.rise / 2);
        const int first = span.start == 0 ? 0 : span.start + axis.reach;
        const int last = end == axis.extent ? axis.extent : end - axis.reach;
        if (!axis.blended) {
            EXPECT_GE(span.begin * axis.ratio.in, first * axis.ratio.out);
            EXPECT_LE((span.end - 1) * axis.ratio.in, last * axis.ratio.out);
        }
        EXPECT_GE(span.begin, span.offset);
        EXPECT_LE(span.begin + span.rise, span.end - span.fall) << "blended with both neighbours";
        written = span.end - span.fall / 2;
    }
    EXPECT_EQ(written, axis.kept);
}

TEST(Tiles, GiveEachSampleFromATileThatIsRightThere)
{
    int cuts = 0;
    for (const Ratio ratio : {Ratio{1, 1}, Ratio{2, 1}, Ratio{4, 1}, Ratio{1, 2}, Ratio{3, 2}})
        for (const int extent : {33, 64, 75, 100, 129, 333})
            for (const int wanted : {16, 20, 31, 48, 64, 100})
                for (const int reach : {0, 1, 5, 13, 40})
                    for (const int step : {1, 2, 4, 16})
                        for (const bool blended : {false, true}) {
                            if (step % ratio.in)
                                continue;
                            TileAxis axis = axis_of(extent, wanted, reach, step, ratio, blended);
                            const std::vector<TileSpan> spans = cut_axis(axis);
                            const bool fits =
                                axis.tile == extent || axis.tile >= least_tile(reach, step, ratio);
                            ASSERT_TRUE(!fits || !spans.empty()) << extent << " " << wanted;
                            if (spans.empty())
                                continue;
                            cuts += spans.size() > 1;
                            expect_right(axis, spans);
                            ASSERT_FALSE(testing::Test::HasFailure())
                                << extent << " by " << axis.tile << ", reach " << reach << ", step "
                                << step << ", ratio " << ratio.out << "/" << ratio.in;
                        }
    EXPECT_GT(cuts, 500);
}

TEST(Tiles, AreOneIfThePictureIsSmall)
{
    const TileAxis axis = axis_of(50, 64, 30, 1, {2, 1});
    const std::vector<TileSpan> spans = cut_axis(axis);
    ASSERT_EQ(spans.size(), 1U);
    EXPECT_EQ(spans[0], (TileSpan{.start = 0, .offset = 0, .begin = 0, .end = 100}));
}

TEST(Tiles, EndWhereThePictureEnds)
{
    EXPECT_EQ(aligned_tile(101, 64, 1), 64);
    EXPECT_EQ(aligned_tile(101, 64, 4), 61);
    EXPECT_EQ(aligned_tile(128, 64, 8), 64);
    EXPECT_EQ(aligned_tile(128, 20, 64), 64);
    EXPECT_EQ(aligned_tile(100, 200, 16), 100);
}

TEST(Tiles, KnowScales)
{
    EXPECT_EQ(ratio_between(64, 128), (Ratio{2, 1}));
    EXPECT_EQ(ratio_between(64, 32), (Ratio{1, 2}));
    EXPECT_EQ(ratio_between(64, 96), (Ratio{3, 2}));
    EXPECT_EQ(ratio_between(64, 60), std::nullopt);
    EXPECT_EQ(ratio_between(100, 98), std::nullopt);
    EXPECT_EQ(ratio_between(64, 0), std::nullopt);
}

// ---- sizes ----------------------------------------------------------------------

std::optional<TakenSize> find(Size frame, const std::function<bool(Size)> &takes)
{
    return find_taken_size(frame, std::nullopt, [&](Size size) -> std::optional<Size> {
        if (!takes(size))
            return std::nullopt;
        return Size{2 * size.width, 2 * size.height};
    });
}

TEST(Sizes, AreRoundedUpToMultiples)
{
    for (const int multiple : {2, 4, 8, 16, 32, 64}) {
        const auto taken = find({101, 75}, [&](Size size) {
            return size.width % multiple == 0 && size.height % multiple == 0;
        });
        ASSERT_TRUE(taken);
        EXPECT_EQ(taken->size, (Size{round_up(101, multiple), round_up(75, multiple)}));
        EXPECT_EQ(taken->multiple, multiple);
        EXPECT_FALSE(taken->only);
    }
}

TEST(Sizes, AreRaisedToAMinimum)
{
    const auto taken =
        find({40, 90}, [](Size size) { return std::min(size.width, size.height) >= 100; });
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->size, (Size{128, 128}));
}

TEST(Sizes, AreNotPaddedForAModelThatCutsBordersOff)
{
    const TrySize crop = [](Size size) -> std::optional<Size> {
        if (size.width < 5 || size.height < 5)
            return std::nullopt;
        return Size{size.width - 4, size.height - 4};
    };
    EXPECT_FALSE(find_taken_size({4, 4}, std::nullopt, crop)) << "8x8 becomes 4x4, a half";
}

TEST(Sizes, MayBeOneMoreThanMultiples)
{
    const auto taken =
        find({64, 48}, [](Size size) { return size.width % 8 == 1 && size.height % 8 == 1; });
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->size, (Size{65, 49}));
}

TEST(Sizes, MayBeOneAlone)
{
    const auto taken = find({640, 360}, [](Size size) { return size == Size{224, 224}; });
    ASSERT_TRUE(taken);
    EXPECT_TRUE(taken->only);
    EXPECT_EQ(taken->size, (Size{224, 224}));
    EXPECT_FALSE(find({640, 360}, [](Size size) { return size.width <= 300; }))
        << "it takes several, and none is the only one";
    EXPECT_FALSE(find({640, 360}, [](Size) { return false; }));
}

// ---- how far a model looks ------------------------------------------------------

// One channel, and a result of the same size.
TrialPicture same_size(const TrialPicture &in, const std::function<float(int x, int y)> &at)
{
    TrialPicture out = {.size = in.size, .samples = {}};
    for (int y = 0; y < in.size.height; y++)
        for (int x = 0; x < in.size.width; x++)
            out.samples.push_back(at(x, y));
    return out;
}

float sample(const TrialPicture &in, int x, int y)
{
    x = std::clamp(x, 0, in.size.width - 1);
    y = std::clamp(y, 0, in.size.height - 1);
    return in.samples[static_cast<size_t>(y * in.size.width + x)];
}

constexpr TrialParameters one_channel = {.channels = 1,
                                         .multiple = 1,
                                         .least = {1, 1},
                                         .only = std::nullopt,
                                         .numbers = {{1, 1, 1}, {}}};

TEST(Locality, IsHowFarASampleReaches)
{
    for (const int reach : {0, 1, 7, 40, 150}) {
        const Locality found = measure_locality(one_channel, [&](const TrialPicture &in) {
            return same_size(in, [&](int x, int y) {
                return sample(in, x - reach, y) + 0.5F * sample(in, x + reach / 2, y + 2);
            });
        });
        EXPECT_TRUE(found.is_local());
        EXPECT_EQ(found.across.reach, reach);
        EXPECT_EQ(found.down.reach, 2);
        EXPECT_EQ(found.across.step, 1);
    }
}

TEST(Locality, FindsWhatRoundingHides)
{
    const Locality found = measure_locality(one_channel, [&](const TrialPicture &in) {
        return same_size(
            in, [&](int x, int y) { return sample(in, x, y) + 1e-12F * sample(in, x - 9, y); });
    });
    EXPECT_EQ(found.across.reach, 9);
}

TEST(Locality, FindsTheStride)
{
    for (const int stride : {2, 4, 8, 32}) {
        const Locality found = measure_locality(one_channel, [&](const TrialPicture &in) {
            return same_size(in, [&](int x, int y) { return sample(in, x / stride * stride, y); });
        });
        EXPECT_TRUE(found.is_local());
        EXPECT_EQ(found.across.step, stride);
        EXPECT_EQ(found.across.reach, 0) << "tiles begin where the samples do";
        EXPECT_EQ(found.down.step, 1);
    }
}

TEST(Locality, IsAbsentIfAllOfThePictureCounts)
{
    const Locality mean = measure_locality(one_channel, [](const TrialPicture &in) {
        float sum = 0;
        for (const float one : in.samples)
            sum += one;
        return same_size(in, [&](int x, int y) {
            return sample(in, x, y) - sum / static_cast<float>(in.samples.size());
        });
    });
    EXPECT_FALSE(mean.is_local());
    const Locality place = measure_locality(one_channel, [](const TrialPicture &in) {
        return same_size(
            in, [&](int x, int y) { return sample(in, x, y) + 0.01F * static_cast<float>(x); });
    });
    EXPECT_FALSE(place.across.is_local) << "the result depends on where it lies";
    EXPECT_TRUE(place.down.is_local);
    // A largest sample that is no NaN lets no NaN through.
    const Locality largest = measure_locality(one_channel, [](const TrialPicture &in) {
        float most = 0;
        for (const float one : in.samples)
            most = one > most ? one : most;
        return same_size(in, [&](int x, int y) { return sample(in, x, y) / most; });
    });
    EXPECT_FALSE(largest.is_local());
}

// Even kernels with a stride look farther from some samples than from others.
TEST(Locality, CountsTheFarthestOfAStride)
{
    const auto model = [](const TrialPicture &in) {
        return same_size(in, [&](int x, int y) {
            const int block = x / 4 * 4;
            return sample(in, block - 1, y) + 2 * sample(in, block + 5, y);
        });
    };
    const Locality found = measure_locality(one_channel, model);
    EXPECT_TRUE(found.is_local());
    EXPECT_EQ(found.across.step, 4);
    EXPECT_EQ(found.across.reach, 4) << "a block of 4 lacks what lies on either side";
}

TEST(Locality, GoesBeyondAGap)
{
    for (const int reach : {65, 200, 700}) {
        const auto model = [&](const TrialPicture &in) {
            return same_size(
                in, [&](int x, int y) { return sample(in, x, y) + sample(in, x, y - reach); });
        };
        const Locality found = measure_locality(one_channel, model);
        EXPECT_TRUE(found.is_local());
        EXPECT_EQ(found.down.reach, reach);
        EXPECT_EQ(found.across.reach, 0);
    }
}

TEST(Locality, IsMeasuredInTheDarkAndInTheLight)
{
    for (const bool spreads : {true, false}) {
        const auto model = [&](const TrialPicture &in) {
            return same_size(in, [&](int x, int y) {
                float most = spreads ? 0.0F : 1.0F;
                for (int i = -30; i <= 30; i++) {
                    const float bright = sample(in, x + i, y) > 0.3F ? 1.0F : 0.0F;
                    most = spreads ? std::max(most, bright) : std::min(most, bright);
                }
                return most;
            });
        };
        EXPECT_EQ(measure_locality(one_channel, model).across.reach, 30);
    }
}

TEST(Locality, IsMeasuredWithinTheOneSize)
{
    TrialParameters parameters = one_channel;
    parameters.only = Size{96, 80};
    const auto model = [&](int reach) {
        return [&, reach](const TrialPicture &in) {
            EXPECT_EQ(in.size, *parameters.only);
            return same_size(in, [&](int x, int y) { return sample(in, x + reach, y - reach); });
        };
    };
    EXPECT_EQ(measure_locality(parameters, model(11)).down.reach, 11);
    EXPECT_EQ(measure_locality(parameters, model(11)).across.reach, 11);
    EXPECT_TRUE(measure_locality(parameters, model(11)).is_local());
    EXPECT_FALSE(measure_locality(parameters, model(60)).is_local());
}

Cut cut_of(Axis axis, int extent, int tile, int reach)
{
    const TileAxis how = {.extent = extent,
                          .tile = tile,
                          .reach = reach,
                          .step = 1,
                          .kept = extent,
                          .blended = false};
    return {.axis = axis, .extent = extent, .tile = tile, .spans = cut_axis(how)};
}

TEST(Seams, ShowOnlyWhereTilesMatter)
{
    const auto shift = [](int reach) {
        return [reach](const TrialPicture &in) {
            return same_size(in, [&](int x, int y) {
                return sample(in, x, y) - sample(in, x + reach, y + reach);
            });
        };
    };
    for (const Axis axis : {Axis::across, Axis::down}) {
        EXPECT_TRUE(is_seamless(one_channel, cut_of(axis, 700, 100, 20), shift(20)));
        EXPECT_FALSE(is_seamless(one_channel, cut_of(axis, 700, 100, 20), shift(41)));
    }
}

TEST(Seams, ShowASlowSlope)
{
    const RunTrial slope = [](const TrialPicture &in) {
        return same_size(in, [&](int x, int y) {
            return sample(in, x, y) +
                   0.01F * static_cast<float>(x) / static_cast<float>(in.size.width);
        });
    };
    EXPECT_FALSE(is_seamless(one_channel, cut_of(Axis::across, 1900, 250, 8), slope));
    EXPECT_TRUE(is_seamless(one_channel, cut_of(Axis::down, 1900, 250, 8), slope));
}

TEST(Seams, ShowAMeanAndASizeThatIsRead)
{
    const RunTrial dark = [](const TrialPicture &in) {
        float sum = 0;
        for (const float one : in.samples)
            sum += one;
        const float gain = sum < 0.35F * static_cast<float>(in.samples.size()) ? 2 : 1;
        return same_size(in, [&](int x, int y) { return gain * sample(in, x, y); });
    };
    const RunTrial large = [](const TrialPicture &in) {
        const int far = in.size.width > 512 ? 1 : 0;
        return same_size(in, [&](int x, int y) { return sample(in, x + far, y); });
    };
    for (const RunTrial &run : {dark, large})
        EXPECT_FALSE(is_seamless(one_channel, cut_of(Axis::across, 700, 256, 4), run));
}

TEST(Locality, NeedsASimpleScale)
{
    const RunTrial crop = [](const TrialPicture &in) {
        return TrialPicture{.size = {in.size.width - 4, in.size.height - 4},
                            .samples = std::vector<float>(
                                static_cast<size_t>((in.size.width - 4) * (in.size.height - 4)))};
    };
    EXPECT_THROW(measure_locality(one_channel, crop), Error);
}

} // namespace
