// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/error.h"
#include "host/frames/formats.h"
#include "host/frames/frame_pool.h"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace dnn_torch;

namespace
{

constexpr Size odd = {37, 23};

TEST(FramePool, RowsAreAlignedAndPlanesApart)
{
    for (const AVPixelFormat *format = formats_for_any_model(); *format != AV_PIX_FMT_NONE;
         format++) {
        SCOPED_TRACE(av_get_pix_fmt_name(*format));
        FramePointer frame = FramePool(*format, odd).take();
        std::set<const uint8_t *> starts;
        const int planes = av_pix_fmt_count_planes(*format);
        for (int plane = 0; plane < planes; plane++) {
            EXPECT_EQ(reinterpret_cast<uintptr_t>(frame->data[plane]) % 64, 0U);
            EXPECT_GE(frame->linesize[plane], av_image_get_linesize(*format, odd.width, plane));
            starts.insert(frame->data[plane]);
        }
        EXPECT_EQ(starts.size(), static_cast<size_t>(planes));
        EXPECT_EQ(planes < 4 ? frame->data[planes] : nullptr, nullptr);
        EXPECT_EQ(av_frame_is_writable(frame.get()), 1);
    }
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

} // namespace
