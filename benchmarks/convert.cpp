// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The conversions of a frame, and copies to compare them with, on one thread:
// medians of many, in microseconds, as one line of JSON.
//
// usage: convert FORMAT WIDTH HEIGHT      (FORMAT as FFmpeg names it)

#include "host/frames/picture.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
#include <libavutil/imgutils.h>
}

namespace
{

using Clock = std::chrono::steady_clock;

// Larger than the caches of most machines, and of what a model leaves in them.
constexpr size_t swept_bytes = size_t{64} << 20;
constexpr int repeats = 31;

// A frame comes from another thread and a model's input goes through its layers:
// nothing is in the caches when a conversion begins.
void sweep_caches()
{
    static std::vector<unsigned char> memory(swept_bytes, 1);
    for (size_t i = 0; i < memory.size(); i += 64)
        memory[i]++;
}

double median_us(const std::function<void()> &work)
{
    std::vector<double> times;
    for (int i = 0; i < repeats; i++) {
        sweep_caches();
        const Clock::time_point start = Clock::now();
        work();
        times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
    return times[repeats / 2];
}

dnn_torch::FramePointer make_frame(AVPixelFormat format, int width, int height)
{
    dnn_torch::FramePointer frame(av_frame_alloc());
    frame->format = format;
    frame->width = width;
    frame->height = height;
    if (av_frame_get_buffer(frame.get(), 0) < 0)
        throw std::bad_alloc();
    // Neither NaN nor denormal where the samples are floats.
    for (const AVBufferRef *buffer : frame->buf)
        if (buffer)
            std::memset(buffer->data, 40, static_cast<size_t>(buffer->size));
    return frame;
}

bool is_listed(AVPixelFormat format)
{
    for (const AVPixelFormat *known = dnn_torch::formats_for_any_model(); *known != AV_PIX_FMT_NONE;
         known++)
        if (*known == format)
            return true;
    return false;
}

double copy_us(size_t bytes)
{
    std::vector<unsigned char> from(bytes, 1), to(bytes, 2);
    return median_us([&] { std::memcpy(to.data(), from.data(), bytes); });
}

void measure(const std::string &name, int width, int height)
{
    const AVPixelFormat format = av_get_pix_fmt(name.c_str());
    if (!is_listed(format))
        throw std::runtime_error("the filter does not take " + name);
    const auto from = make_frame(format, width, height), to = make_frame(format, width, height);
    const int channels = dnn_torch::model_channels(format);
    std::vector<float> floats(static_cast<size_t>(channels) * static_cast<size_t>(width) *
                              static_cast<size_t>(height));
    const dnn_torch::Images images =
        dnn_torch::float_planes(floats.data(), 1, channels, {width, height});
    const int frame_bytes = av_image_get_buffer_size(format, width, height, 1);

    const double read_us = median_us([&] { dnn_torch::read_picture(from.get(), {}, images, 0); });
    const double write_us =
        median_us([&] { dnn_torch::write_picture(images, {}, 0, from.get(), to.get()); });
    // A model of BGR from 0 to 255.
    const dnn_torch::PictureNumbers numbers = {.is_bgr = true, .high = 255};
    const double mapped_read_us =
        median_us([&] { dnn_torch::read_picture(from.get(), numbers, images, 0); });
    const double mapped_write_us =
        median_us([&] { dnn_torch::write_picture(images, numbers, 0, from.get(), to.get()); });
    std::printf("{\"read_us\": %.2f, \"write_us\": %.2f, \"mapped_read_us\": %.2f, "
                "\"mapped_write_us\": %.2f, \"memcpy_floats_us\": %.2f, "
                "\"memcpy_frame_us\": %.2f, \"target\": \"%s\"}\n",
                read_us, write_us, mapped_read_us, mapped_write_us, copy_us(floats.size() * sizeof(float)),
                copy_us(static_cast<size_t>(frame_bytes)), dnn_torch::convert_target());
}

} // namespace

int main(int count, char **words)
{
    try {
        if (count != 4)
            throw std::runtime_error("usage: convert FORMAT WIDTH HEIGHT");
        measure(words[1], std::atoi(words[2]), std::atoi(words[3]));
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "convert: %s\n", error.what());
        return 1;
    }
}
