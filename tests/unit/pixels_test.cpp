// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/engine.h"
#include "pipeline/error.h"
#include "pixels/frame_pool.h"
#include "pixels/frame_scaler.h"
#include "pixels/picture.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace dnn_torch;

namespace {

constexpr Size odd = {37, 23};

struct Planes {
    std::vector<float> data;
    DnnTorchImages images;

    Planes(int batch, int channels, Size size)
        : data(static_cast<size_t>(batch * channels * size.width * size.height)),
          images(float_planes(data.data(), batch, channels, size))
    {
    }
};

void fill(AVFrame *frame, unsigned seed)
{
    std::minstd_rand random(seed);
    const AVPixFmtDescriptor *format =
        av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format));
    bool is_float = (format->flags & AV_PIX_FMT_FLAG_FLOAT) != 0;
    for (int c = 0; c < format->nb_components; c++) {
        const AVComponentDescriptor &component = format->comp[c];
        bool chroma = (c == 1 || c == 2) && !(format->flags & AV_PIX_FMT_FLAG_RGB);
        int width = chroma ? AV_CEIL_RSHIFT(frame->width, format->log2_chroma_w) : frame->width;
        int height = chroma ? AV_CEIL_RSHIFT(frame->height, format->log2_chroma_h) : frame->height;
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                uint8_t *at = frame->data[component.plane] + y * frame->linesize[component.plane] +
                              x * component.step + component.offset;
                float number = static_cast<float>(random() % 1000) / 100.0F - 4.0F;
                if (is_float)
                    memcpy(at, &number, sizeof(number));
                else
                    *at = static_cast<uint8_t>(random());
            }
    }
}

float sample(const AVFrame *frame, int plane, int x, int y, int step, int offset)
{
    const uint8_t *at = frame->data[plane] + y * frame->linesize[plane] + x * step + offset;
    return static_cast<float>(*at);
}

class Formats : public testing::TestWithParam<AVPixelFormat>
{
};

TEST_P(Formats, ComeBackUnchangedFromAnIdentity)
{
    FramePool pool(GetParam(), odd);
    FramePointer in = pool.take(), out = pool.take();
    int channels = model_channels(GetParam());
    Planes planes(2, channels, odd);
    FrameScaler scaler;
    fill(in.get(), 7);
    fill(out.get(), 8);

    read_picture(in.get(), planes.images, 1);
    EXPECT_FALSE(write_picture(planes.images, 1, out.get()));
    if (has_chroma(GetParam()))
        scaler.scale_chroma(in.get(), out.get());

    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(GetParam());
    for (int plane = 0; plane < av_pix_fmt_count_planes(GetParam()); plane++) {
        bool chroma = plane > 0 && has_chroma(GetParam());
        int width = chroma ? AV_CEIL_RSHIFT(odd.width, format->log2_chroma_w) : odd.width;
        int height = chroma ? AV_CEIL_RSHIFT(odd.height, format->log2_chroma_h) : odd.height;
        size_t bytes = static_cast<size_t>(width * format->comp[0].step);
        for (int y = 0; y < height; y++)
            EXPECT_EQ(memcmp(in->data[plane] + y * in->linesize[plane],
                             out->data[plane] + y * out->linesize[plane], bytes),
                      0)
                << "plane " << plane << " row " << y;
    }
}

INSTANTIATE_TEST_SUITE_P(All, Formats,
                         testing::Values(AV_PIX_FMT_RGB24, AV_PIX_FMT_BGR24, AV_PIX_FMT_GBRP,
                                         AV_PIX_FMT_GBRPF32, AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAYF32,
                                         AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P,
                                         AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV410P,
                                         AV_PIX_FMT_YUV411P),
                         [](const auto &format) {
                             return std::string(av_get_pix_fmt_name(format.param));
                         });

TEST(Picture, ChannelsAreRedGreenBlue)
{
    for (AVPixelFormat format : {AV_PIX_FMT_RGB24, AV_PIX_FMT_BGR24, AV_PIX_FMT_GBRP}) {
        FramePointer frame = FramePool(format, {1, 1}).take();
        Planes planes(1, 3, {1, 1});
        const AVPixFmtDescriptor *descriptor = av_pix_fmt_desc_get(format);
        for (int c = 0; c < 3; c++)
            frame->data[descriptor->comp[c].plane][descriptor->comp[c].offset] =
                static_cast<uint8_t>(51 * (c + 1));
        read_picture(frame.get(), planes.images, 0);
        EXPECT_FLOAT_EQ(planes.data[0], 0.2F);
        EXPECT_FLOAT_EQ(planes.data[1], 0.4F);
        EXPECT_FLOAT_EQ(planes.data[2], 0.6F);
    }
}

TEST(Picture, BytesAreClampedAndRoundedToNearest)
{
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<std::pair<float, int>> cases = {
        {-1.0F, 0},          {1.5F, 255},         {0.5F, 128},         {127.4F / 255, 127},
        {infinity, 255},     {-infinity, 0},      {254.6F / 255, 255}, {0.4F / 255, 0},
        {0.6F / 255, 1}};
    FramePointer frame = FramePool(AV_PIX_FMT_GRAY8, {static_cast<int>(cases.size()), 1}).take();
    Planes planes(1, 1, {static_cast<int>(cases.size()), 1});
    for (size_t i = 0; i < cases.size(); i++)
        planes.data[i] = cases[i].first;
    EXPECT_FALSE(write_picture(planes.images, 0, frame.get()));
    for (size_t i = 0; i < cases.size(); i++)
        EXPECT_EQ(frame->data[0][i], cases[i].second) << cases[i].first;
}

TEST(Picture, NanBecomesBlackAndIsReported)
{
    for (AVPixelFormat format : {AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAYF32}) {
        FramePointer frame = FramePool(format, {4, 1}).take();
        Planes planes(1, 1, {4, 1});
        planes.data = {1, 1, std::nanf(""), 1};
        planes.images.data = planes.data.data();
        EXPECT_TRUE(write_picture(planes.images, 0, frame.get()));
        EXPECT_EQ(sample(frame.get(), 0, 2, 0, format == AV_PIX_FMT_GRAY8 ? 1 : 4, 0), 0.0F);
    }
}

TEST(Picture, StridesOfAnyKindAreRead)
{
    FramePointer frame = FramePool(AV_PIX_FMT_RGB24, {2, 1}).take();
    std::vector<float> interleaved = {0.2F, 0.4F, 0.6F, 0.8F, 1.0F, 0.0F};
    DnnTorchImages images = float_planes(interleaved.data(), 1, 3, {2, 1});
    images.column_stride = 3 * sizeof(float);
    images.channel_stride = sizeof(float);
    write_picture(images, 0, frame.get());
    const uint8_t expected[] = {51, 102, 153, 204, 255, 0};
    EXPECT_EQ(memcmp(frame->data[0], expected, sizeof(expected)), 0);
}

TEST(FramePool, RowsAreAlignedAndPlanesApart)
{
    FramePool pool(AV_PIX_FMT_YUV420P, odd);
    FramePointer frame = pool.take();
    std::set<const uint8_t *> starts;
    for (int plane = 0; plane < 3; plane++) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(frame->data[plane]) % 64, 0U);
        EXPECT_GE(frame->linesize[plane], plane ? (odd.width + 1) / 2 : odd.width);
        starts.insert(frame->data[plane]);
    }
    EXPECT_EQ(starts.size(), 3U);
    EXPECT_EQ(frame->data[3], nullptr);
    EXPECT_EQ(av_frame_is_writable(frame.get()), 1);
}

TEST(FramePool, UsesMemoryAgain)
{
    FramePool pool(AV_PIX_FMT_GRAY8, odd);
    const uint8_t *first = pool.take()->data[0];
    EXPECT_EQ(pool.take()->data[0], first);
}

TEST(FramePool, FramesOutliveThePool)
{
    FramePointer frame = FramePool(AV_PIX_FMT_GRAY8, odd).take();
    memset(frame->data[0], 1, static_cast<size_t>(frame->linesize[0] * odd.height));
}

TEST(FramePool, RefusesWhatNoFrameCanBe)
{
    EXPECT_THROW(FramePool(AV_PIX_FMT_RGB24, {1 << 30, 1 << 30}), Error);
    EXPECT_THROW(FramePool(AV_PIX_FMT_RGB24, {0, 4}), Error);
}

TEST(FrameScaler, ScalesAnEvenPlaneToAnEvenPlane)
{
    FramePointer small = FramePool(AV_PIX_FMT_YUV420P, odd).take();
    FramePointer large = FramePool(AV_PIX_FMT_YUV420P, {odd.width * 2, odd.height * 2}).take();
    for (int plane = 0; plane < 3; plane++)
        for (int y = 0; y < (plane ? 12 : odd.height); y++)
            memset(small->data[plane] + y * small->linesize[plane], 40 + plane,
                   static_cast<size_t>(small->linesize[plane]));
    FrameScaler scaler;
    scaler.scale_chroma(small.get(), large.get());
    scaler.scale_frame(small.get(), large.get());
    for (int plane = 0; plane < 3; plane++)
        EXPECT_EQ(large->data[plane][5 * large->linesize[plane] + 9], 40 + plane);
}

} // namespace
