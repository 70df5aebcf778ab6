// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Frames in their own codes, which devices are given, and the devices themselves.
#include "engine_torch_models.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace
{

// Codes of one's own, with every code of 8 bits and many of 16 in them.
template <class Code> struct Codes {
    Codes(int white, bool interleaved) : samples(extent), view()
    {
        for (size_t i = 0; i < samples.size(); i++)
            samples[i] = static_cast<Code>(i * 40503 % (static_cast<unsigned>(white) + 1));
        view.data = samples.data();
        view.element = sizeof(Code) == 1 ? DNN_TORCH_U8 : DNN_TORCH_U16;
        view.white = white;
        view.batch = 2;
        view.channels = 3;
        view.height = 9;
        view.width = 31;
        const int64_t size = sizeof(Code);
        view.column_stride = size * (interleaved ? view.channels : 1);
        view.row_stride = view.column_stride * view.width;
        view.channel_stride = interleaved ? size : view.row_stride * view.height;
        view.batch_stride = size * view.channels * view.height * view.width;
    }
    Codes(const Codes &) = delete;
    Codes &operator=(const Codes &) = delete;

    static constexpr size_t extent = 2 * 3 * 9 * 31;
    std::vector<Code> samples;
    Images view;
};

template <class Code> std::vector<Code> codes_in(const Images &view)
{
    const auto *codes = static_cast<const Code *>(view.data);
    return {codes, codes + Codes<Code>::extent};
}

template <class Code> void expect_unchanged(int white)
{
    for (const bool interleaved : {false, true}) {
        Running running("identity");
        Codes<Code> codes(white, interleaved);
        const Outcome result = running.session.run(codes.view, codes.view);
        ASSERT_EQ(result.status, DNN_TORCH_OK) << result.message;
        const Images &output = running.session.output;
        EXPECT_EQ(output.element, codes.view.element);
        EXPECT_EQ(output.white, white);
        EXPECT_EQ(output.had_nan, 0);
        EXPECT_EQ(output.column_stride, codes.view.column_stride);
        EXPECT_EQ(output.channel_stride, codes.view.channel_stride);
        EXPECT_EQ(codes_in<Code>(output), codes.samples);
    }
}

TEST(Codes, ComeThroughAnIdentity)
{
    expect_unchanged<uint8_t>(255);
    expect_unchanged<uint16_t>(1023);
    expect_unchanged<uint16_t>(65535);
}

TEST(Codes, AreDividedByWhite)
{
    for (const bool interleaved : {false, true}) {
        Running running("double");
        Codes<uint16_t> codes(65535, interleaved);
        ASSERT_EQ(running.session.run(codes.view).status, DNN_TORCH_OK);
        const Images &output = running.session.output;
        EXPECT_EQ(output.element, DNN_TORCH_F32);
        for (const int x : {0, 1, 7, 30}) {
            const int64_t at = 2 * codes.view.channel_stride + 8 * codes.view.row_stride +
                               x * codes.view.column_stride + codes.view.batch_stride;
            const float code = codes.samples[static_cast<size_t>(at) / 2];
            EXPECT_EQ(sample(output, 1, 2, 8, x), code / 65535.0F * 2.0F);
        }
    }
}

TEST(Codes, AreClampedAndRoundedAndHaveNoNan)
{
    Running running("identity");
    Pictures pictures(1, 1, 1, 6);
    const float infinity = std::numeric_limits<float>::infinity();
    pictures.samples = {-1.0F, 2.0F, 0.5F / 255.0F, 1.5F / 255.0F, infinity, std::nanf("")};
    pictures.view.data = pictures.samples.data();
    Images wish = {};
    wish.element = DNN_TORCH_U8;
    wish.white = 255;
    ASSERT_EQ(running.session.run(pictures.view, wish).status, DNN_TORCH_OK);
    const auto *codes = static_cast<const uint8_t *>(running.session.output.data);
    EXPECT_EQ(std::vector<int>(codes, codes + 6), (std::vector<int>{0, 255, 0, 2, 255, 0}));
    EXPECT_EQ(running.session.output.had_nan, 1);
}

TEST(Codes, NeedAWhite)
{
    Running running("identity");
    Codes<uint8_t> codes(255, false);
    codes.view.white = 0;
    expect_failure(running.session.run(codes.view), DNN_TORCH_BAD_INPUT, {"white"});
}

TEST(Devices, OnTheCpuAnyMemoryWillDo)
{
    Running running("identity");
    EXPECT_EQ(running.session.memory(1 << 20), nullptr);
}

TEST(Devices, AreListedWithTheCpuFirst)
{
    DnnTorchDevice devices[16] = {};
    devices[0].size = sizeof devices[0];
    const size_t count = engine().list_devices(devices, 16);
    ASSERT_GE(count, 3U);
    EXPECT_STREQ(devices[0].name, "cpu");
    EXPECT_EQ(devices[0].state, DNN_TORCH_DEVICE_USABLE);
    for (size_t i = 1; i < std::min<size_t>(count, 16); i++) {
        const std::string name = devices[i].name;
        EXPECT_TRUE(name.rfind("cuda", 0) == 0 || name.rfind("xpu", 0) == 0) << name;
        EXPECT_EQ(devices[i].state != DNN_TORCH_DEVICE_USABLE, std::strlen(devices[i].reason) > 0)
            << name;
        const bool built =
            std::string(devices[i].reason).find("built without") == std::string::npos;
        EXPECT_EQ(devices[i].state != DNN_TORCH_DEVICE_BUILT_WITHOUT, built) << name;
        EXPECT_EQ(std::string(devices[i].remedy).find("pytorch.org") == std::string::npos, built)
            << name;
    }
    EXPECT_EQ(engine().list_devices(nullptr, 0), count);
}

} // namespace
