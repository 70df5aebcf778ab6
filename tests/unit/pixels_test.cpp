// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Whole frames of every format: through floats, around the model, past it.
#include "host/frames/chroma.h"
#include "host/frames/colours.h"
#include "host/frames/formats.h"
#include "host/frames/frame_pool.h"
#include "host/frames/frame_scaler.h"
#include "host/frames/picture.h"
#include "host/frames/stencil.h"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <span>

using namespace dnn_torch;

namespace
{

constexpr Size odd = {37, 23};

std::vector<AVPixelFormat> listed(const AVPixelFormat *list)
{
    std::vector<AVPixelFormat> formats;
    for (; *list != AV_PIX_FMT_NONE; list++)
        formats.push_back(*list);
    return formats;
}

std::vector<AVPixelFormat> all_formats()
{
    return listed(formats_for_any_model());
}

bool is_float(const AVPixFmtDescriptor &format)
{
    return (format.flags & AV_PIX_FMT_FLAG_FLOAT) != 0;
}

// One component of a frame, as libavutil describes it, in codes or numbers.
struct Component {
    const AVPixFmtDescriptor &format;
    const AVComponentDescriptor &described;
    uint8_t *data;
    int stride, width, height;

    Component(const AVFrame *frame, int c)
        : format(*av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format))),
          described(format.comp[c]), data(frame->data[described.plane] + described.offset),
          stride(frame->linesize[described.plane]), width(frame->width), height(frame->height)
    {
        if ((c == 1 || c == 2) && !(format.flags & AV_PIX_FMT_FLAG_RGB)) {
            width = AV_CEIL_RSHIFT(width, format.log2_chroma_w);
            height = AV_CEIL_RSHIFT(height, format.log2_chroma_h);
        }
    }

    uint8_t *at(int x, int y) const { return data + y * stride + x * described.step; }
    double white() const { return is_float(format) ? 1 : (1 << described.depth) - 1; }

    void set(int x, int y, double value) const
    {
        const auto number = static_cast<float>(value);
        const auto code = static_cast<uint16_t>(static_cast<int>(value) << described.shift);
        if (is_float(format))
            memcpy(at(x, y), &number, sizeof(number));
        else if (described.depth > 8)
            memcpy(at(x, y), &code, sizeof(code));
        else
            *at(x, y) = static_cast<uint8_t>(code);
    }

    // Fails where bits below the value are set.
    double get(int x, int y) const
    {
        float number;
        uint16_t code = *at(x, y);
        memcpy(&number, at(x, y), is_float(format) ? sizeof(number) : 0);
        memcpy(&code, at(x, y), described.depth > 8 ? sizeof(code) : 1);
        if (is_float(format))
            return number;
        EXPECT_EQ(code & ((1 << described.shift) - 1), 0) << "low bits";
        return code >> described.shift;
    }

    template <class Value> void fill(Value value) const
    {
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                set(x, y, value(x, y));
    }
};

int components(const AVFrame *frame)
{
    return av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format))->nb_components;
}

int plane_rows(const AVFrame *frame, int plane)
{
    for (int c = 0; c < components(frame); c++)
        if (Component component(frame, c); component.described.plane == plane)
            return component.height;
    return 0;
}

// Random, or all alike.
void fill_bytes(AVFrame *frame, std::minstd_rand *random)
{
    for (int plane = 0; plane < 4 && frame->data[plane]; plane++) {
        const int rows = plane_rows(frame, plane);
        for (int i = 0; i < rows * frame->linesize[plane]; i++)
            frame->data[plane][i] = random ? static_cast<uint8_t>((*random)()) : 0xA5;
    }
}

// Every code that the format has, or numbers on both sides of black and white.
void fill_randomly(AVFrame *frame, unsigned seed)
{
    std::minstd_rand random(seed);
    fill_bytes(frame, &random);
    for (int c = 0; c < components(frame); c++) {
        const Component component(frame, c);
        component.fill([&](int, int) -> double {
            if (is_float(component.format))
                return static_cast<float>(random() % 1000) / 100.0F - 4.0F;
            return static_cast<double>(random() % (static_cast<unsigned>(component.white()) + 1));
        });
    }
}

struct Floats {
    std::vector<float> data;
    Images images;

    // `step`: 1 for planes, as many as channels for those side by side, or more.
    Floats(int batch, int channels, Size size, int step = 1)
    {
        const int64_t pixels = size.width * size.height, bytes = sizeof(float);
        const int copies = step == 1 ? channels : step;
        data.resize(static_cast<size_t>(batch * copies * pixels));
        images = {.data = data.data(),
                  .batch = batch,
                  .channels = channels,
                  .height = size.height,
                  .width = size.width,
                  .batch_stride = copies * pixels * bytes,
                  .channel_stride = step == 1 ? pixels * bytes : bytes,
                  .row_stride = size.width * step * bytes,
                  .column_stride = step * bytes};
    }
};

// ---- the lists -----------------------------------------------------------------

TEST(Formats, EachIsListedOnceAndForTheRightModels)
{
    std::vector<AVPixelFormat> all = all_formats(), rgb = listed(formats_for_rgb_models());
    std::vector<AVPixelFormat> luma = listed(formats_for_luma_models());
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
    std::erase_if(rgb, [](AVPixelFormat format) { return needs_colours(format, 3); });
    EXPECT_EQ(rgb.size() + luma.size(), all.size());
    for (AVPixelFormat format : all) {
        const std::vector<AVPixelFormat> &list = model_channels(format) == 3 ? rgb : luma;
        EXPECT_EQ(std::count(list.begin(), list.end(), format), 1) << av_get_pix_fmt_name(format);
    }
}

// Alpha aside, all that such a model sees has one size.
TEST(Formats, ModelsOfRgbTakeYuvWithoutSubsampling)
{
    std::set<std::string> names;
    for (AVPixelFormat format : listed(formats_for_rgb_models())) {
        const AVPixFmtDescriptor *described = av_pix_fmt_desc_get(format);
        EXPECT_EQ(described->log2_chroma_w + described->log2_chroma_h, 0) << described->name;
        EXPECT_GE(described->nb_components, 3) << described->name;
        if (needs_colours(format, 3))
            names.insert(described->name);
    }
    for (const char *name : {"yuv444p", "yuvj444p", "yuva444p", "yuv444p10le", "yuv444p16le"})
        EXPECT_EQ(names.count(name), 1U) << name;
}

TEST(Formats, ThoseOfEveryDayAreThere)
{
    std::set<std::string> names;
    for (AVPixelFormat format : all_formats())
        names.insert(av_get_pix_fmt_name(format));
    for (const char *name :
         {"gray",     "ya8",      "rgb24",    "bgr24",    "rgba",     "bgra",     "argb",
          "abgr",     "0rgb",     "rgb0",     "0bgr",     "bgr0",     "gbrp",     "gbrap",
          "yuv420p",  "yuv422p",  "yuv444p",  "yuv440p",  "yuv411p",  "yuv410p",  "yuvj420p",
          "yuvj422p", "yuvj444p", "yuvj440p", "yuvj411p", "yuva420p", "yuva422p", "yuva444p",
          "nv12",     "nv21",     "nv16",     "nv24",     "nv42"})
        EXPECT_EQ(names.count(name), 1U) << name;
    for (const char *name :
         {"gray9",      "gray10",     "gray12",     "gray14",     "gray16",     "grayf32",
          "ya16",       "rgb48",      "bgr48",      "rgba64",     "bgra64",     "gbrp9",
          "gbrp10",     "gbrp12",     "gbrp14",     "gbrp16",     "gbrap10",    "gbrap12",
          "gbrap16",    "gbrpf32",    "gbrapf32",   "yuv420p9",   "yuv422p9",   "yuv444p9",
          "yuv420p10",  "yuv422p10",  "yuv444p10",  "yuv440p10",  "yuv420p12",  "yuv422p12",
          "yuv444p12",  "yuv440p12",  "yuv420p14",  "yuv422p14",  "yuv444p14",  "yuv420p16",
          "yuv422p16",  "yuv444p16",  "yuva420p10", "yuva422p10", "yuva444p10", "yuva422p12",
          "yuva444p12", "yuva420p16", "yuva444p16", "p010",       "p016",       "p210",
          "p410"}) {
        // One of the two byte orders: this machine's.
        EXPECT_EQ(names.count(std::string(name) + "le") + names.count(std::string(name) + "be"), 1U)
            << name;
    }
}

// ---- every format --------------------------------------------------------------

class EveryFormat : public testing::TestWithParam<AVPixelFormat>
{
};

void expect_same_rows(const AVFrame *in, const AVFrame *out)
{
    const auto format = static_cast<AVPixelFormat>(in->format);
    for (int plane = 0; plane < 4 && in->data[plane]; plane++) {
        const int rows = plane_rows(in, plane);
        const int used = av_image_get_linesize(format, in->width, plane);
        for (int y = 0; y < rows; y++) {
            const uint8_t *row = out->data[plane] + y * out->linesize[plane];
            ASSERT_EQ(
                memcmp(in->data[plane] + y * in->linesize[plane], row, static_cast<size_t>(used)),
                0)
                << "plane " << plane << " row " << y;
            for (int x = used; x < out->linesize[plane]; x++)
                ASSERT_EQ(row[x], 0xA5) << "beyond the end of plane " << plane << " row " << y;
        }
    }
}

TEST_P(EveryFormat, ComesBackUnchangedFromAnIdentity)
{
    const int channels = model_channels(GetParam());
    for (Size size : {Size{1, 1}, {1, 3}, odd, {64, 4}, {600, 2}})
        for (int step : {1, channels, 4}) {
            SCOPED_TRACE(testing::Message()
                         << size.width << "x" << size.height << " step " << step);
            FramePool pool(GetParam(), size);
            FramePointer in = pool.take(), out = pool.take();
            Floats floats(2, channels, size, step);
            FrameScaler scaler;
            fill_randomly(in.get(), 7);
            fill_bytes(out.get(), nullptr);
            read_picture(in.get(), {}, floats.images, 1);
            EXPECT_FALSE(write_picture(floats.images, {}, 1, in.get(), out.get()));
            scaler.carry_unseen(in.get(), out.get(),
                                model_channels(static_cast<AVPixelFormat>(in->format)));
            expect_same_rows(in.get(), out.get());
        }
}

TEST_P(EveryFormat, ChannelsAreRedGreenBlueOrLuma)
{
    const int channels = model_channels(GetParam());
    FramePointer frame = FramePool(GetParam(), {2, 2}).take();
    Floats floats(1, channels, {2, 2});
    fill_randomly(frame.get(), 3);
    for (int c = 0; c < channels; c++)
        Component(frame.get(), c).set(1, 1, Component(frame.get(), c).white() * (c == 1 ? 1 : 0));
    read_picture(frame.get(), {}, floats.images, 0);
    for (int c = 0; c < channels; c++)
        EXPECT_EQ(floats.data[static_cast<size_t>(4 * c + 3)], c == 1 ? 1.0F : 0.0F);
}

// A value of its own for each component.
double even(const Component &component, int c)
{
    const double part = 0.125 * (c + 2);
    return is_float(component.format) ? part : std::floor(component.white() * part);
}

void expect_even(const AVFrame *frame, int c)
{
    const Component component(frame, c);
    const double tolerance = is_float(component.format) ? 1e-4 : 0;
    for (int y = 0; y < component.height; y++)
        for (int x = 0; x < component.width; x++)
            ASSERT_NEAR(component.get(x, y), even(component, c), tolerance)
                << "component " << c << " at " << x << "," << y;
}

FramePointer even_frame(AVPixelFormat format, Size size)
{
    FramePointer frame = FramePool(format, size).take();
    fill_randomly(frame.get(), 5);
    for (int c = 0; c < components(frame.get()); c++) {
        const Component component(frame.get(), c);
        component.fill([&](int, int) { return even(component, c); });
    }
    return frame;
}

constexpr Size other_sizes[] = {{74, 46}, {18, 11}, {38, 23}, {37, 1}, {111, 69}};

TEST_P(EveryFormat, WhatIsEvenStaysEvenWhenItIsCarriedToAnotherSize)
{
    FramePointer in = even_frame(GetParam(), odd);
    for (Size size : other_sizes) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height);
        FramePointer out = FramePool(GetParam(), size).take();
        Floats floats(1, model_channels(GetParam()), size);
        std::fill(floats.data.begin(), floats.data.end(), 1.0F);
        FrameScaler scaler;
        for (int time = 0; time < 2; time++) {
            write_picture(floats.images, {}, 0, in.get(), out.get());
            scaler.carry_unseen(in.get(), out.get(),
                                model_channels(static_cast<AVPixelFormat>(in->format)));
        }
        for (int c = model_channels(GetParam()); c < components(in.get()); c++)
            expect_even(out.get(), c);
        for (int c = 0; c < model_channels(GetParam()); c++)
            EXPECT_EQ(Component(out.get(), c).get(size.width - 1, 0),
                      Component(out.get(), c).white());
    }
}

TEST_P(EveryFormat, WhatIsEvenStaysEvenPastTheModel)
{
    FramePointer in = even_frame(GetParam(), odd);
    for (Size size : other_sizes) {
        SCOPED_TRACE(testing::Message() << size.width << "x" << size.height);
        FramePointer out = FramePool(GetParam(), size).take();
        fill_bytes(out.get(), nullptr);
        FrameScaler scaler;
        scaler.scale_frame(in.get(), out.get());
        for (int c = 0; c < components(in.get()); c++)
            expect_even(out.get(), c);
    }
}

// Enlarged twice, a slope stays one, at its place.
TEST_P(EveryFormat, ASlopeStaysASlope)
{
    constexpr Size size = {40, 24};
    FramePointer in = FramePool(GetParam(), size).take();
    FramePointer out = FramePool(GetParam(), {size.width * 2, size.height * 2}).take();
    for (int c = 0; c < components(in.get()); c++) {
        const Component component(in.get(), c);
        component.fill([&](int x, int y) {
            const double slope = component.white() * (0.2 + 0.012 * x + 0.002 * y);
            return is_float(component.format) ? slope : std::floor(slope);
        });
    }
    FrameScaler scaler;
    scaler.scale_frame(in.get(), out.get());
    for (int c = 0; c < components(in.get()); c++) {
        const Component small(in.get(), c), large(out.get(), c);
        const double tolerance = small.white() * 0.002 + (is_float(small.format) ? 0 : 2);
        for (int y = 8; y < large.height - 8; y++)
            for (int x = 8; x < large.width - 8; x++) {
                const double slope =
                    large.white() * (0.2 + 0.012 * (x / 2.0 - 0.25) + 0.002 * (y / 2.0 - 0.25));
                ASSERT_NEAR(large.get(x, y), slope, tolerance) << c << " at " << x << "," << y;
            }
    }
}

INSTANTIATE_TEST_SUITE_P(All, EveryFormat, testing::ValuesIn(all_formats()),
                         [](const auto &format) {
                             return std::string(av_get_pix_fmt_name(format.param));
                         });

TEST(Picture, PaddingBecomesOnesAtAnotherSize)
{
    for (auto [format, padding] : {std::pair{AV_PIX_FMT_0RGB, 0}, {AV_PIX_FMT_BGR0, 3}}) {
        FramePointer in = FramePool(format, odd).take(), out = FramePool(format, {12, 9}).take();
        fill_bytes(in.get(), nullptr);
        FrameScaler scaler;
        for (bool past : {false, true}) {
            fill_bytes(out.get(), nullptr);
            Floats floats(1, 3, {12, 9});
            if (past)
                scaler.scale_frame(in.get(), out.get());
            else
                write_picture(floats.images, {}, 0, in.get(), out.get());
            for (int y = 0; y < 9; y++)
                for (int x = 0; x < 12; x++)
                    ASSERT_EQ(out->data[0][y * out->linesize[0] + 4 * x + padding], 255);
        }
    }
}

TEST(Picture, NanIsReportedOfAnyRow)
{
    for (AVPixelFormat format : {AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGBA64, AV_PIX_FMT_GBRPF32}) {
        FramePointer frame = FramePool(format, odd).take();
        Floats floats(1, model_channels(format), odd);
        EXPECT_FALSE(write_picture(floats.images, {}, 0, nullptr, frame.get()));
        floats.data[40] = std::nanf("");
        EXPECT_TRUE(write_picture(floats.images, {}, 0, nullptr, frame.get()));
        EXPECT_EQ(Component(frame.get(), 0).get(3, 1), 0);
    }
}

// ---- stencils ----------------------------------------------------------------------

constexpr Stencil corner_stencil(Size size)
{
    return {.left = odd.width - size.width, .top = odd.height - size.height, .size = size};
}

// What lies above the diagonal of a rectangle that ends in the frame's last corner.
Stencil slanted_stencil()
{
    Stencil stencil = corner_stencil({11, 9});
    for (int y = 0; y < stencil.size.height; y++)
        for (int x = 0; x < stencil.size.width; x++)
            stencil.inside.push_back(x > y);
    return stencil;
}

bool is_meant(const Stencil &stencil, int x, int y)
{
    x -= stencil.left;
    y -= stencil.top;
    return x >= 0 && y >= 0 && x < stencil.size.width && y < stencil.size.height && x > y;
}

// How much of the pixels that a sample of the component stands for is meant.
double share_meant(const Stencil &stencil, const Component &component, int x, int y)
{
    const int across = component.width < odd.width ? 1 << component.format.log2_chroma_w : 1;
    const int down = component.height < odd.height ? 1 << component.format.log2_chroma_h : 1;
    int meant = 0, all = 0;
    for (int row = y * down; row < std::min((y + 1) * down, odd.height); row++)
        for (int column = x * across; column < std::min((x + 1) * across, odd.width); column++) {
            meant += is_meant(stencil, column, row);
            all++;
        }
    return static_cast<double>(meant) / all;
}

// Red, as ITU-R BT.601 and BT.709 have it in the limited range and in the whole one.
double red_in(const AVFrame *frame, const Component &component, int c)
{
    if (component.format.flags & AV_PIX_FMT_FLAG_RGB)
        return c == 0 ? component.white() : 0;
    if (component.format.nb_components < 3)
        return 0.299 * component.white();
    const bool is_hd = frame->colorspace == AVCOL_SPC_BT709;
    const double red = is_hd ? 0.2126 : 0.299, blue = is_hd ? 0.0722 : 0.114;
    const double chroma = c == 1 ? -red / (1 - blue) / 2 : 0.5;
    const double step = std::exp2(component.described.depth - 8);
    if (frame->color_range == AVCOL_RANGE_JPEG)
        return c == 0 ? red * component.white() : 128 * step + chroma * component.white();
    return c == 0 ? (16 + 219 * red) * step : (128 + 224 * chroma) * step;
}

// A slope of chroma comes to lie where the frame says that chroma lies.
TEST(Chroma, LiesWhereTheFrameSays)
{
    struct Case {
        AVChromaLocation location;
        double across, down; // of the first sample, in pixels
    };
    constexpr Size size = {40, 24};
    for (const Case &sited : {Case{AVCHROMA_LOC_UNSPECIFIED, 0, 0.5},
                              {AVCHROMA_LOC_LEFT, 0, 0.5},
                              {AVCHROMA_LOC_CENTER, 0.5, 0.5},
                              {AVCHROMA_LOC_TOPLEFT, 0, 0},
                              {AVCHROMA_LOC_TOP, 0.5, 0}})
        for (AVPixelFormat format : {AV_PIX_FMT_YUV420P10, AV_PIX_FMT_P010}) {
            SCOPED_TRACE(testing::Message()
                         << av_chroma_location_name(sited.location) << av_get_pix_fmt_name(format));
            FramePointer from = FramePool(format, size).take();
            fill_randomly(from.get(), 3);
            from->chroma_location = sited.location;
            for (int c : {1, 2})
                Component(from.get(), c).fill([&](int x, int y) {
                    return 100 + 8 * (2 * x + sited.across) + 16 * (2 * y + sited.down);
                });
            FramePointer to = FramePool(full_chroma_format(format), size).take();
            ChromaConverter().widen(from.get(), to.get());
            for (int c : {1, 2})
                for (int y = 4; y < size.height - 4; y++)
                    for (int x = 4; x < size.width - 4; x++)
                        ASSERT_EQ(Component(to.get(), c).get(x, y), 100 + 8 * x + 16 * y)
                            << x << "," << y;
        }
}

// Of every format and size, also where rows end in the middle of a vector.
TEST(Chroma, ComesBackToTheBit)
{
    for (AVPixelFormat format : all_formats()) {
        const AVPixFmtDescriptor *described = av_pix_fmt_desc_get(format);
        if (described->flags & AV_PIX_FMT_FLAG_RGB || described->nb_components < 3)
            continue;
        for (Size size : {Size{1, 1}, {2, 1}, {1, 2}, {3, 3}, odd, {130, 6}})
            for (int location = 0; location < AVCHROMA_LOC_NB; location++) {
                SCOPED_TRACE(testing::Message() << described->name << " " << size.width << "x"
                                                << size.height << " " << location);
                const FramePool pool(format, size);
                FramePointer in = pool.take(), out = pool.take();
                FramePointer full = FramePool(full_chroma_format(format), size).take();
                fill_randomly(in.get(), 11);
                fill_bytes(out.get(), nullptr);
                in->chroma_location = out->chroma_location =
                    static_cast<AVChromaLocation>(location);
                ChromaConverter converter;
                converter.widen(in.get(), full.get());
                converter.narrow(full.get(), out.get());
                for (int c = 0; c < components(in.get()); c++) {
                    const Component before(in.get(), c), after(out.get(), c);
                    for (int y = 0; y < before.height; y++)
                        for (int x = 0; x < before.width; x++)
                            ASSERT_EQ(before.get(x, y), after.get(x, y)) << c << x << "," << y;
                }
            }
    }
}

TEST(Colours, OfFormatsWhoseNameSaysTheRange)
{
    for (AVPixelFormat format : all_formats()) {
        if (!std::string(av_get_pix_fmt_name(format)).starts_with("yuvj"))
            continue;
        SCOPED_TRACE(av_get_pix_fmt_name(format));
        FramePointer frame = FramePool(format, odd).take();
        frame->color_range = AVCOL_RANGE_UNSPECIFIED;
        const Colours unsaid = colours_of(frame.get());
        frame->color_range = AVCOL_RANGE_JPEG;
        const Colours said = colours_of(frame.get());
        EXPECT_TRUE(std::ranges::equal(std::span(&unsaid.to_rgb[0][0], 12),
                                       std::span(&said.to_rgb[0][0], 12)));
    }
}

TEST(Stencils, PaintWhatIsMeantAlone)
{
    const Stencil stencil = slanted_stencil();
    for (AVPixelFormat format : all_formats())
        for (bool other : {false, true}) {
            SCOPED_TRACE(av_get_pix_fmt_name(format));
            FramePointer frame = FramePool(format, odd).take();
            FramePointer before = FramePool(format, odd).take();
            fill_randomly(frame.get(), 7);
            av_frame_copy(before.get(), frame.get());
            const bool is_jpeg = std::string(av_get_pix_fmt_name(format)).starts_with("yuvj");
            frame->color_range = other || is_jpeg ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
            frame->colorspace = other ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
            paint(stencil, {255, 0, 0}, frame.get());
            for (int c = 0; c < components(frame.get()); c++) {
                const Component now(frame.get(), c), then(before.get(), c);
                const bool is_alpha =
                    (now.format.flags & AV_PIX_FMT_FLAG_ALPHA) && c == components(frame.get()) - 1;
                const double red = red_in(frame.get(), now, c);
                const double near = is_float(now.format) ? 1e-6 : 1;
                for (int y = 0; y < now.height; y++)
                    for (int x = 0; x < now.width; x++) {
                        const double share = is_alpha ? 0 : share_meant(stencil, now, x, y) / 2;
                        const double was = then.get(x, y);
                        ASSERT_NEAR(now.get(x, y), was + (red - was) * share, share == 0 ? 0 : near)
                            << c << " at " << x << ", " << y;
                    }
            }
        }
}

TEST(Stencils, BlackenARectangleAndWhatSharesItsSamples)
{
    constexpr int left = 3, top = 2, right = 9, bottom = 5;
    for (AVPixelFormat format : all_formats()) {
        SCOPED_TRACE(av_get_pix_fmt_name(format));
        FramePointer frame = FramePool(format, odd).take(), whole = FramePool(format, odd).take();
        FramePointer before = FramePool(format, odd).take();
        fill_randomly(frame.get(), 5);
        av_frame_copy(before.get(), frame.get());
        hide(left, top, right, bottom, Hiding::black, frame.get());
        fill_randomly(whole.get(), 6);
        hide(-7, -7, 1000, 1000, Hiding::black, whole.get());
        for (int c = 0; c < components(frame.get()); c++) {
            const Component now(frame.get(), c), then(before.get(), c), all(whole.get(), c);
            const int across = now.width < odd.width ? now.format.log2_chroma_w : 0;
            const int down = now.height < odd.height ? now.format.log2_chroma_h : 0;
            const double black = all.get(0, 0);
            for (int y = 0; y < now.height; y++)
                for (int x = 0; x < now.width; x++) {
                    ASSERT_EQ(all.get(x, y), black);
                    const bool is_inside = x >= left >> across && x <= (right - 1) >> across &&
                                           y >= top >> down && y <= (bottom - 1) >> down;
                    ASSERT_EQ(now.get(x, y), is_inside ? black : then.get(x, y))
                        << c << " at " << x << ", " << y;
                }
        }
    }
}

// Noise has the same averages everywhere.
TEST(Stencils, BlurARectangleAlone)
{
    constexpr int left = 6, top = 8, right = 90, bottom = 72;
    for (AVPixelFormat format : all_formats()) {
        SCOPED_TRACE(av_get_pix_fmt_name(format));
        FramePointer frame = FramePool(format, {97, 75}).take();
        FramePointer before = FramePool(format, {97, 75}).take();
        fill_randomly(frame.get(), 5);
        av_frame_copy(before.get(), frame.get());
        hide(left, top, right, bottom, Hiding::blur, frame.get());
        for (int c = 0; c < components(frame.get()); c++) {
            const Component now(frame.get(), c), then(before.get(), c);
            const int across = now.width < 97 ? now.format.log2_chroma_w : 0;
            const int down = now.height < 75 ? now.format.log2_chroma_h : 0;
            const double first = now.get(left >> across, top >> down);
            const double range = is_float(now.format) ? 10 : now.white(); // of fill_randomly()
            const double near = 0.3 * range;
            for (int y = 0; y < now.height; y++)
                for (int x = 0; x < now.width; x++) {
                    const bool is_inside = x >= left >> across && x <= (right - 1) >> across &&
                                           y >= top >> down && y <= (bottom - 1) >> down;
                    ASSERT_NEAR(now.get(x, y), is_inside ? first : then.get(x, y),
                                is_inside ? near : 0)
                        << c << " at " << x << ", " << y;
                }
        }
    }
}

FramePointer blurred(Size size, const std::function<int(int, int)> &sample_at)
{
    FramePointer frame = FramePool(AV_PIX_FMT_GRAY8, size).take();
    for (int y = 0; y < size.height; y++)
        for (int x = 0; x < size.width; x++)
            frame->data[0][y * frame->linesize[0] + x] = static_cast<uint8_t>(sample_at(x, y));
    hide(0, 0, size.width, size.height, Hiding::blur, frame.get());
    return frame;
}

// Cells are of 20 x 20 pixels, and a picture that is smaller than 32 is one.
TEST(Stencils, WhatIsBlurredDependsOnAveragesAlone)
{
    const auto differ = [](Size size, int side) {
        const auto noise = [](int x, int y) { return (x * 73 + y * 151 + x * y * 29) % 251; };
        const FramePointer one = blurred(size, noise);
        const FramePointer other = blurred(size, [&](int x, int y) { // each cell is turned over
            return noise(x / side * side + side - 1 - x % side,
                         y / side * side + side - 1 - y % side);
        });
        int most = 0;
        for (int y = 0; y < size.height; y++)
            for (int x = 0; x < size.width; x++)
                most = std::max(most, std::abs(one->data[0][y * one->linesize[0] + x] -
                                               other->data[0][y * other->linesize[0] + x]));
        return most;
    };
    EXPECT_EQ(differ({80, 60}, 20), 0);
    EXPECT_EQ(differ({31, 31}, 31), 0);
    EXPECT_GT(differ({80, 60}, 40), 0) << "the test sees larger cells";
}

TEST(Stencils, CutOutWhatTheyMean)
{
    const Stencil stencil = slanted_stencil();
    for (AVPixelFormat format : listed(any_formats_with_alpha())) {
        SCOPED_TRACE(av_get_pix_fmt_name(format));
        FramePointer frame = FramePool(format, odd).take();
        FramePointer before = FramePool(format, odd).take();
        fill_randomly(frame.get(), 3);
        av_frame_copy(before.get(), frame.get());
        cut_out(stencil, frame.get());
        for (int c = 0; c < components(frame.get()); c++) {
            const Component now(frame.get(), c), then(before.get(), c);
            const bool is_alpha = c == components(frame.get()) - 1;
            for (int y = 0; y < now.height; y++)
                for (int x = 0; x < now.width; x++) {
                    const double wanted = is_meant(stencil, x, y) ? now.white() : 0;
                    ASSERT_EQ(now.get(x, y), is_alpha ? wanted : then.get(x, y))
                        << c << " at " << x << ", " << y;
                }
        }
    }
}

} // namespace
