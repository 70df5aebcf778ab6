// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "class_picture.h"

#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>

namespace dnn_torch
{
namespace
{

constexpr int most_in_byte = 256;

uint8_t *row_of(const AVFrame *frame, int plane, int y)
{
    return frame->data[plane] + static_cast<ptrdiff_t>(y) * frame->linesize[plane];
}

void hide(const ShownClasses &shown, std::vector<uint16_t> &row)
{
    if (shown.empty())
        return;
    for (uint16_t &number : row)
        if (number >= shown.size() || !shown[number])
            number = 0;
}

template <class Sample> void copy_row(const std::vector<uint16_t> &row, uint8_t *to)
{
    const uint16_t most = static_cast<Sample>(~Sample{0});
    if (const uint16_t largest = *std::max_element(row.begin(), row.end()); largest > most)
        throw Error(AVERROR(ERANGE),
                    "a pixel is of class " + std::to_string(largest) +
                        ", and grey of 8 bits holds 255; give the model a contract with labels, "
                        "which say how many classes there are");
    std::transform(row.begin(), row.end(), reinterpret_cast<Sample *>(to),
                   [](uint16_t number) { return static_cast<Sample>(number); });
}

using Palette = std::vector<std::array<uint8_t, 3>>;

const Palette &palette()
{
    static const Palette colours = [] {
        Palette all;
        for (unsigned number = 0; number < most_in_byte; number++)
            all.push_back(colour_of_class(number));
        return all;
    }();
    return colours;
}

} // namespace

const AVPixelFormat *formats_of_class_numbers(int classes)
{
    static const AVPixelFormat bytes[] = {AV_PIX_FMT_GRAY8, AV_PIX_FMT_NONE};
    static const AVPixelFormat words[] = {AV_PIX_FMT_GRAY16, AV_PIX_FMT_NONE};
    return classes <= most_in_byte ? bytes : words;
}

const AVPixelFormat *formats_of_class_colours()
{
    static const AVPixelFormat formats[] = {AV_PIX_FMT_RGB24, AV_PIX_FMT_BGR24, AV_PIX_FMT_GBRP,
                                            AV_PIX_FMT_NONE};
    return formats;
}

// Deals the number's bits, lowest first, to red, green and blue in turn.  Each colour is filled
// from its highest bit on.
std::array<uint8_t, 3> colour_of_class(unsigned number)
{
    std::array<uint8_t, 3> colour = {0, 0, 0};
    for (unsigned place = 7; number != 0; place--, number >>= 3U)
        for (unsigned c = 0; c < 3; c++)
            colour[c] = static_cast<uint8_t>(colour[c] | ((number >> c & 1U) << place));
    return colour;
}

void write_class_numbers(ClassRows &rows, const ShownClasses &shown, AVFrame *result)
{
    std::vector<uint16_t> row(static_cast<size_t>(result->width));
    for (int y = 0; y < result->height; y++) {
        rows.likeliest(y, row.data());
        hide(shown, row);
        if (result->format == AV_PIX_FMT_GRAY8)
            copy_row<uint8_t>(row, row_of(result, 0, y));
        else
            copy_row<uint16_t>(row, row_of(result, 0, y));
    }
}

void write_class_colours(ClassRows &rows, const ShownClasses &shown, AVFrame *result)
{
    const AVPixFmtDescriptor &format =
        *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(result->format));
    std::vector<uint16_t> row(static_cast<size_t>(result->width));
    for (int y = 0; y < result->height; y++) {
        rows.likeliest(y, row.data());
        hide(shown, row);
        for (size_t c = 0; c < 3; c++) {
            const AVComponentDescriptor &component = format.comp[c];
            uint8_t *to = row_of(result, component.plane, y) + component.offset;
            for (const uint16_t number : row) {
                *to = palette()[number % most_in_byte][c];
                to += component.step;
            }
        }
    }
}

} // namespace dnn_torch
