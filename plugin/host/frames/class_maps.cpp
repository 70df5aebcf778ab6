// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "class_maps.h"

#include "host/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

extern "C" {
#include <libavutil/error.h>
#include <libavutil/pixdesc.h>
}

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

constexpr int64_t largest_number = 65535;
constexpr float lowest = std::numeric_limits<float>::lowest();

uint16_t as_number(int64_t number)
{
    return static_cast<uint16_t>(number < 0 || number > largest_number ? 0 : number);
}

} // namespace

ClassRows::ClassRows(const ClassMaps &maps, const MapWindow &window, Size frame)
    : maps_(maps), width_(static_cast<size_t>(frame.width)),
      across_(positions(window.left, window.width, frame.width, maps.size.width)),
      down_(positions(window.top, window.height, frame.height, maps.size.height)),
      are_shares_(maps.scores && are_shares(maps))
{
}

// A model may end with softmax.  Other scores hardly ever add up to 1 everywhere.
bool ClassRows::are_shares(const ClassMaps &maps)
{
    constexpr int looks = 8;
    constexpr float tolerance = 0.01F;
    for (int i = 0; i < looks * looks; i++) {
        const ptrdiff_t y = ptrdiff_t{i / looks} * maps.size.height / looks;
        const ptrdiff_t x = ptrdiff_t{i % looks} * maps.size.width / looks;
        float sum = 0;
        for (int c = 0; c < maps.classes; c++) {
            const float score =
                maps.scores[c * maps.class_step + y * maps.row_step + x * maps.column_step];
            if (!(score >= 0 && score <= 1 + tolerance))
                return false;
            sum += score;
        }
        if (maps.classes > 1 && std::abs(sum - 1) > tolerance)
            return false;
    }
    return true;
}

void ClassRows::fill_row(int number, int y, float *row) const
{
    const Between &down = down_[static_cast<size_t>(y)];
    const float *const map = maps_.scores + number * maps_.class_step;
    const float *const upper = map + down.first * maps_.row_step;
    const float *const lower = map + down.second * maps_.row_step;
    const ptrdiff_t step = maps_.column_step;
    for (size_t x = 0; x < width_; x++) {
        const Between &across = across_[x];
        const ptrdiff_t left = across.first * step, right = across.second * step;
        const float above = mixed(upper[left], upper[right], across.weight);
        const float below = mixed(lower[left], lower[right], across.weight);
        const float score = mixed(above, below, down.weight);
        row[x] = score > lowest ? score : lowest; // NaN never wins
    }
}

void ClassRows::fill_rows(int y)
{
    rows_.resize(width_ * static_cast<size_t>(maps_.classes));
    for (int c = 0; c < maps_.classes; c++)
        fill_row(c, y, rows_.data() + static_cast<size_t>(c) * width_);
}

void ClassRows::nearest(int y, uint16_t *row) const
{
    const auto place = [](const Between &between) {
        return between.weight < 0.5F ? between.first : between.second;
    };
    const int64_t *const numbers =
        maps_.numbers + place(down_[static_cast<size_t>(y)]) * maps_.row_step;
    for (size_t x = 0; x < width_; x++)
        row[x] = as_number(numbers[place(across_[x]) * maps_.column_step]);
}

// A single map says how likely it is that a pixel is of the one class.
void ClassRows::likeliest_of_one(int y, uint16_t *row)
{
    best_.resize(width_);
    fill_row(0, y, best_.data());
    const float even = are_shares_ ? 0.5F : 0.0F;
    for (size_t x = 0; x < width_; x++)
        row[x] = best_[x] > even ? 1 : 0;
}

void ClassRows::likeliest(int y, uint16_t *row)
{
    if (maps_.numbers)
        return nearest(y, row);
    if (maps_.classes == 1)
        return likeliest_of_one(y, row);
    fill_rows(y);
    best_.assign(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(width_));
    std::fill_n(row, width_, uint16_t{0});
    for (int c = 1; c < maps_.classes && c <= largest_number; c++) {
        const float *const scores = rows_.data() + static_cast<size_t>(c) * width_;
        for (size_t x = 0; x < width_; x++) {
            const bool is_better = scores[x] > best_[x];
            best_[x] = is_better ? scores[x] : best_[x];
            row[x] = is_better ? static_cast<uint16_t>(c) : row[x];
        }
    }
}

void ClassRows::share(int y, const std::vector<bool> &chosen, float *row)
{
    const auto is_chosen = [&](size_t number) { return number < chosen.size() && chosen[number]; };
    if (maps_.numbers) {
        std::vector<uint16_t> numbers(width_);
        nearest(y, numbers.data());
        for (size_t x = 0; x < width_; x++)
            row[x] = is_chosen(numbers[x]) ? 1.0F : 0.0F;
        return;
    }
    fill_rows(y);
    best_.assign(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(width_));
    for (size_t i = width_; i < rows_.size(); i++)
        best_[i % width_] = std::max(best_[i % width_], rows_[i]);
    sum_.assign(width_, 0);
    std::fill_n(row, width_, 0.0F);
    for (size_t c = 0; c < static_cast<size_t>(maps_.classes); c++) {
        const float *const scores = rows_.data() + c * width_;
        const float counts = is_chosen(c) ? 1.0F : 0.0F;
        for (size_t x = 0; x < width_; x++) {
            const float part =
                are_shares_ ? std::max(scores[x], 0.0F) : std::exp(scores[x] - best_[x]);
            sum_[x] += part;
            row[x] += counts * part;
        }
    }
    for (size_t x = 0; x < width_; x++)
        row[x] = sum_[x] > 0 ? std::min(row[x] / sum_[x], 1.0F) : 0.0F;
}

std::vector<Between> positions(double begin, double extent, int count, int limit)
{
    std::vector<Between> all;
    all.reserve(static_cast<size_t>(count));
    const double last = limit - 1;
    for (int i = 0; i < count; i++) {
        const double place = begin + (i + 0.5) * extent / count - 0.5;
        const double within = std::clamp(place, 0.0, last);
        const double first = std::floor(within);
        all.push_back({.first = static_cast<ptrdiff_t>(first),
                       .second = static_cast<ptrdiff_t>(std::min(first + 1, last)),
                       .weight = static_cast<float>(within - first)});
    }
    return all;
}

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
