// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How frames of every size and format come to a model of another size, and boxes back.
#include "host/frames/formats.h"
#include "host/frames/frame_feeder.h"
#include "host/frames/frame_pool.h"
#include "host/frames/placement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

using namespace dnn_torch;

namespace
{

constexpr float grey_border = 114.0F / 255;

constexpr Size frame_sizes[] = {{1280, 720}, {720, 1280}, {640, 640}, {641, 359}, {100, 2000},
                                {37, 23},    {3, 5},      {1, 1},     {64, 64},   {1999, 31}};

constexpr Placing placings[] = {Placing::letterbox, Placing::stretch, Placing::crop};

bool is_within(const Region &part, Size whole)
{
    return part.x >= 0 && part.y >= 0 && part.size.width >= 1 && part.size.height >= 1 &&
           part.x + part.size.width <= whole.width && part.y + part.size.height <= whole.height;
}

// One component of a frame, as libavutil describes it.
struct Component {
    const AVPixFmtDescriptor &format;
    const AVComponentDescriptor &described;
    uint8_t *data;
    int stride;
    Size size;

    Component(const AVFrame *frame, int c)
        : format(*av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format))),
          described(format.comp[c]), data(frame->data[described.plane] + described.offset),
          stride(frame->linesize[described.plane]), size{frame->width, frame->height}
    {
        if ((c == 1 || c == 2) && !(format.flags & AV_PIX_FMT_FLAG_RGB))
            size = {AV_CEIL_RSHIFT(size.width, format.log2_chroma_w),
                    AV_CEIL_RSHIFT(size.height, format.log2_chroma_h)};
    }

    // Of the largest value.
    void set(int x, int y, double share) const
    {
        uint8_t *const at = data + y * stride + x * described.step;
        const auto number = static_cast<float>(share);
        const double white = (1 << std::min(described.depth, 16)) - 1;
        const auto code =
            static_cast<uint16_t>(static_cast<int>(std::lround(share * white)) << described.shift);
        if (format.flags & AV_PIX_FMT_FLAG_FLOAT)
            memcpy(at, &number, sizeof(number));
        else if (described.depth > 8)
            memcpy(at, &code, sizeof(code));
        else
            *at = static_cast<uint8_t>(code);
    }
};

bool is_yuv(const AVFrame *frame)
{
    const AVPixFmtDescriptor &format =
        *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format));
    return format.nb_components >= 3 && !(format.flags & AV_PIX_FMT_FLAG_RGB);
}

// Black, with a white rectangle.  YUV has the full range.
FramePointer picture_of(AVPixelFormat format, Size size, const Region &bright)
{
    FramePointer frame = FramePool(format, size).take();
    frame->color_range = AVCOL_RANGE_JPEG;
    for (int c = 0; c < av_pix_fmt_desc_get(format)->nb_components; c++) {
        const Component component(frame.get(), c);
        const bool is_chroma = is_yuv(frame.get()) && (c == 1 || c == 2);
        const double middle = std::exp2(std::min(component.described.depth, 16) - 1) /
                              (std::exp2(std::min(component.described.depth, 16)) - 1);
        for (int y = 0; y < component.size.height; y++)
            for (int x = 0; x < component.size.width; x++) {
                const bool is_bright = x >= bright.x && y >= bright.y &&
                                       x < bright.x + bright.size.width &&
                                       y < bright.y + bright.size.height;
                component.set(x, y, is_chroma ? middle : is_bright ? 1 : 0);
            }
    }
    return frame;
}

// What a model gets.
struct Fed {
    Size size;
    int channels;
    std::vector<float> samples;

    Fed(const AVFrame *frame, const Placement &placement, Size picture, int channel_count = 3,
        const PictureNumbers &numbers = {})
        : size(picture), channels(channel_count),
          samples(static_cast<size_t>(picture.width) * static_cast<size_t>(picture.height) *
                      static_cast<size_t>(channel_count),
                  -77)
    {
        FrameFeeder(numbers, grey_border)
            .feed(frame, placement, float_planes(samples.data(), 1, channels, picture), 0);
    }

    float at(int channel, int x, int y) const
    {
        return samples[static_cast<size_t>((channel * size.height + y) * size.width + x)];
    }

    double sum_within(int channel, const Region &part) const
    {
        double sum = 0;
        for (int y = part.y; y < part.y + part.size.height; y++)
            for (int x = part.x; x < part.x + part.size.width; x++)
                sum += at(channel, x, y);
        return sum;
    }

    // The middle of what is bright, within the part.
    std::array<double, 2> middle(int channel, const Region &part) const
    {
        double sum = 0, across = 0, down = 0;
        for (int y = part.y; y < part.y + part.size.height; y++)
            for (int x = part.x; x < part.x + part.size.width; x++) {
                sum += at(channel, x, y);
                across += (x + 0.5) * at(channel, x, y);
                down += (y + 0.5) * at(channel, x, y);
            }
        return {across / sum, down / sum};
    }
};

std::vector<AVPixelFormat> listed(const AVPixelFormat *list)
{
    std::vector<AVPixelFormat> formats;
    for (; *list != AV_PIX_FMT_NONE; list++)
        formats.push_back(*list);
    return formats;
}

} // namespace

TEST(Placement, LetterboxIsCentred)
{
    const Placement wide = place({1280, 720}, {640, 640}, Placing::letterbox);
    EXPECT_EQ(wide.source, (Region{0, 0, {1280, 720}}));
    EXPECT_EQ(wide.target, (Region{0, 140, {640, 360}}));
    const Placement tall = place({720, 1280}, {640, 640}, Placing::letterbox);
    EXPECT_EQ(tall.target, (Region{140, 0, {360, 640}}));
    EXPECT_EQ(place({2000, 100}, {640, 384}, Placing::letterbox).target,
              (Region{0, 176, {640, 32}}));
    EXPECT_EQ(place({10000, 1}, {64, 64}, Placing::letterbox).target, (Region{0, 31, {64, 1}}));
}

TEST(Placement, CropTakesTheMiddle)
{
    EXPECT_EQ(place({1280, 720}, {640, 640}, Placing::crop).source, (Region{280, 0, {720, 720}}));
    EXPECT_EQ(place({1283, 720}, {640, 640}, Placing::crop, {2, 2}).source,
              (Region{280, 0, {720, 720}}));
    EXPECT_EQ(place({3, 5}, {64, 64}, Placing::crop, {4, 4}).source, (Region{0, 0, {3, 3}}));
}

TEST(Placement, BoxesComeBack)
{
    for (const Size frame : frame_sizes)
        for (const Placing placing : placings) {
            const Placement placement = place(frame, {640, 384}, placing);
            ASSERT_TRUE(is_within(placement.source, frame));
            ASSERT_TRUE(is_within(placement.target, {640, 384}));
            const Region &target = placement.target, &source = placement.source;
            EXPECT_FLOAT_EQ(placement.x_in_frame(static_cast<float>(target.x)),
                            static_cast<float>(source.x));
            EXPECT_NEAR(placement.x_in_frame(static_cast<float>(target.x + target.size.width)),
                        source.x + source.size.width, 1e-3);
            EXPECT_NEAR(placement.y_in_frame(static_cast<float>(target.y + target.size.height)),
                        source.y + source.size.height, 1e-3);
        }
}

TEST(Placement, CornerIsUnscaled)
{
    const Placement placement = place({37, 23}, {64, 32}, Placing::corner);
    EXPECT_EQ(placement.target, (Region{0, 0, {37, 23}}));
    EXPECT_FLOAT_EQ(placement.x_in_frame(12.25F), 12.25F);
}

TEST(Placement, SizesOfPictures)
{
    EXPECT_EQ(rounded_up({37, 64}, 32), (Size{64, 64}));
    EXPECT_EQ(picture_for({1280, 720}, 640, 32), (Size{640, 384}));
    EXPECT_EQ(picture_for({720, 1280}, 640, 32), (Size{384, 640}));
    EXPECT_EQ(picture_for({1, 1}, 640, 32), (Size{640, 640}));
    EXPECT_EQ(picture_for({5000, 1}, 640, 32), (Size{640, 32}));
    EXPECT_EQ(picture_for({64, 64}, 16, 32), (Size{32, 32}));
}

// A white rectangle keeps its middle and its area.
TEST(FrameFeeder, EveryFormatKeepsItsPlace)
{
    constexpr Size size = {90, 54}, picture = {64, 64};
    constexpr Region bright = {16, 8, {28, 20}};
    for (const AVPixelFormat format : listed(formats_to_feed(3)))
        for (const Placing placing : placings) {
            SCOPED_TRACE(av_get_pix_fmt_name(format));
            const FramePointer frame = picture_of(format, size, bright);
            const Placement placement = place(size, picture, placing, chroma_unit(format));
            const Fed fed(frame.get(), placement, picture);
            if (placing != Placing::crop)
                for (int c = 0; c < 3; c++) {
                    const auto [x, y] = fed.middle(c, placement.target);
                    EXPECT_NEAR(placement.x_in_frame(static_cast<float>(x)), 30, 0.25);
                    EXPECT_NEAR(placement.y_in_frame(static_cast<float>(y)), 18, 0.25);
                    const double area = fed.sum_within(c, placement.target) / placement.scale_x() /
                                        placement.scale_y();
                    EXPECT_NEAR(area, 28 * 20, 12);
                }
            if (placing == Placing::letterbox) {
                EXPECT_FLOAT_EQ(fed.at(0, 0, 0), grey_border);
                EXPECT_FLOAT_EQ(fed.at(2, 63, 63), grey_border);
            }
        }
}

TEST(FrameFeeder, LumaAndAlpha)
{
    constexpr Region bright = {4, 4, {8, 8}};
    for (const int channels : {1, 4})
        for (const AVPixelFormat format : listed(formats_to_feed(channels))) {
            SCOPED_TRACE(av_get_pix_fmt_name(format));
            const FramePointer frame = picture_of(format, {16, 16}, bright);
            const Placement placement = place({16, 16}, {48, 32}, Placing::letterbox);
            const Fed fed(frame.get(), placement, {48, 32}, channels);
            EXPECT_NEAR(fed.at(channels - 1, 24, 16), 1, 0.01);
            EXPECT_NEAR(fed.at(0, 10, 2), 0, 0.01);
            EXPECT_FLOAT_EQ(fed.at(0, 2, 2), grey_border);
            EXPECT_FLOAT_EQ(fed.at(channels - 1, 2, 2), channels == 4 ? 1 : grey_border);
        }
}

// What is not scaled is what read_picture() makes of the frame.
TEST(FrameFeeder, UnscaledFramesAreExact)
{
    for (const AVPixelFormat format : listed(formats_for_rgb_models())) {
        SCOPED_TRACE(av_get_pix_fmt_name(format));
        const FramePointer frame = picture_of(format, {33, 17}, {5, 3, {9, 8}});
        const Fed fed(frame.get(), place({33, 17}, {64, 32}, Placing::corner), {64, 32});
        for (int c = 0; c < 3; c++) {
            EXPECT_NEAR(fed.sum_within(c, {0, 0, {33, 17}}), 72, 0.01);
            EXPECT_FLOAT_EQ(fed.at(c, 5, 3), 1);
            EXPECT_FLOAT_EQ(fed.at(c, 40, 3), grey_border);
        }
    }
}

TEST(FrameFeeder, MatrixRangeAndNumbers)
{
    FramePointer frame = FramePool(AV_PIX_FMT_YUV420P, {50, 30}).take();
    const std::array<uint8_t, 3> red = {63, 102, 240}; // of BT.709, limited
    for (size_t plane = 0; plane < 3; plane++)
        memset(frame->data[plane], red[plane],
               static_cast<size_t>(frame->linesize[plane]) * (plane == 0 ? 30 : 15));
    frame->colorspace = AVCOL_SPC_BT709;
    frame->color_range = AVCOL_RANGE_MPEG;
    const PictureNumbers numbers = {
        .is_bgr = true, .low = 0, .high = 255, .mean = {10, 20, 30}, .deviation = {1, 2, 5}};
    const Fed fed(frame.get(), place({50, 30}, {32, 32}, Placing::stretch), {32, 32}, 3, numbers);
    EXPECT_NEAR(fed.at(0, 16, 16), -10, 1.5);           // blue comes first
    EXPECT_NEAR(fed.at(1, 16, 16), -10, 1);             // (0 - 20) / 2
    EXPECT_NEAR(fed.at(2, 16, 16), (255 - 30) / 5., 1); // red
    const Fed boxed(frame.get(), place({50, 30}, {32, 32}, Placing::letterbox), {32, 32}, 3,
                    numbers);
    EXPECT_FLOAT_EQ(boxed.at(2, 0, 0), (114.0F - 30) / 5);
}

TEST(FrameFeeder, TinyAndOddFrames)
{
    for (const AVPixelFormat format : listed(formats_to_feed(3)))
        for (const Size size : {Size{1, 1}, Size{3, 5}, Size{1, 9}, Size{17, 1}})
            for (const Placing placing : placings) {
                SCOPED_TRACE(av_get_pix_fmt_name(format));
                const FramePointer frame = picture_of(format, size, {0, 0, size});
                const Placement placement = place(size, {32, 32}, placing, chroma_unit(format));
                const Fed fed(frame.get(), placement, {32, 32});
                const Region &inside = placement.target;
                EXPECT_NEAR(fed.sum_within(1, inside), inside.size.width * inside.size.height,
                            0.02 * inside.size.width * inside.size.height);
            }
}

// One feeder takes frames of changing shapes.
TEST(FrameFeeder, ShapesChange)
{
    FrameFeeder feeder({}, grey_border);
    std::vector<float> samples(size_t{3} * 32 * 32);
    for (const Size size : frame_sizes)
        for (const AVPixelFormat format : {AV_PIX_FMT_NV12, AV_PIX_FMT_RGB24, AV_PIX_FMT_GRAY8}) {
            const FramePointer frame = picture_of(format, size, {0, 0, size});
            feeder.feed(frame.get(), place(size, {32, 32}, Placing::stretch),
                        float_planes(samples.data(), 1, 3, {32, 32}), 0);
            EXPECT_NEAR(*std::min_element(samples.begin(), samples.end()), 1, 0.02);
        }
}
