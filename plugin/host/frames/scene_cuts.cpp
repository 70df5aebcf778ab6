// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scene_cuts.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace dnn_torch
{
namespace
{

using Small = SceneCuts::Small;
using Cells = std::bitset<std::tuple_size_v<Small>>;

constexpr int width = SceneCuts::width, height = SceneCuts::height;
constexpr int samples_across = 4; // of a cell, and down
// Cells that are darker or brighter are clipped: a flash has many of them.
constexpr float darkest = 4, brightest = 250;
constexpr double fewest_clear = 0.2;                  // as a share of all: with fewer, all count
constexpr int farthest_across = 4, farthest_down = 3; // that the camera moves, in cells
constexpr int fewest_compared = 200;                  // cells
constexpr float least_contrast = 4;                   // what is below is noise
constexpr double least_change = 4;                    // of the mean brightness difference
// Where few cells are clear, as in a flash or a fade to black, a difference says less ...
constexpr double clear_weight = 0.4;
// ... unless the brightness changes by so much between black and a picture.
constexpr double change_from_black = 25, share_of_black = 0.8;

// Reads the brightness of a pixel: luma, or green.
class Brightness
{
public:
    explicit Brightness(const AVFrame *frame)
        : desc_(av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame->format))),
          component_(desc_->comp[(desc_->flags & AV_PIX_FMT_FLAG_RGB) ? 1 : 0]),
          data_(frame->data[component_.plane]), stride_(frame->linesize[component_.plane]),
          factor_(255.0F / static_cast<float>((1 << std::min(component_.depth, 16)) - 1))
    {
    }

    float at(int x, int y) const
    {
        const uint8_t *const sample =
            data_ + ptrdiff_t{y} * stride_ + ptrdiff_t{x} * component_.step + component_.offset;
        if (desc_->flags & AV_PIX_FMT_FLAG_FLOAT) {
            float value = 0;
            std::memcpy(&value, sample, sizeof value);
            return std::isfinite(value) ? 255 * std::clamp(value, 0.0F, 1.0F) : 0;
        }
        if (component_.depth <= 8)
            return static_cast<float>(*sample >> component_.shift) * factor_;
        uint16_t value = 0;
        std::memcpy(&value, sample, sizeof value);
        return static_cast<float>(value >> component_.shift) * factor_;
    }

private:
    const AVPixFmtDescriptor *const desc_;
    const AVComponentDescriptor component_;
    const uint8_t *const data_;
    const ptrdiff_t stride_;
    const float factor_;
};

// A cell is the mean of a few samples.
Small small_of(const AVFrame *frame)
{
    const Brightness brightness(frame);
    const auto place = [](int cell, int cells, int sample, int extent) {
        const int64_t at = int64_t{2} * (cell * samples_across + sample) + 1;
        return static_cast<int>(at * extent / (int64_t{2} * cells * samples_across));
    };
    Small small;
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++) {
            float sum = 0;
            for (int i = 0; i < samples_across; i++)
                for (int j = 0; j < samples_across; j++)
                    sum += brightness.at(place(column, width, j, frame->width),
                                         place(row, height, i, frame->height));
            small[static_cast<size_t>(row * width + column)] =
                sum / (samples_across * samples_across);
        }
    return small;
}

Cells clear_cells(const Small &one, const Small &other)
{
    const auto is_clear = [](float value) { return value > darkest && value < brightest; };
    Cells clear;
    for (size_t i = 0; i < one.size(); i++)
        clear[i] = is_clear(one[i]) && is_clear(other[i]);
    return clear;
}

bool is_black(const Small &small)
{
    const auto dark =
        std::count_if(small.begin(), small.end(), [](float value) { return value <= darkest; });
    return static_cast<double>(dark) > share_of_black * static_cast<double>(small.size());
}

// Sets mean and deviation of the cells to 0 and 1.
Small normalised(const Small &small, const Cells &cells)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < small.size(); i++)
        if (cells[i]) {
            sum += static_cast<double>(small[i]);
            squares += static_cast<double>(small[i]) * static_cast<double>(small[i]);
        }
    const auto count = static_cast<double>(std::max<size_t>(cells.count(), 1));
    const double mean = sum / count;
    const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
    Small result;
    for (size_t i = 0; i < small.size(); i++)
        result[i] = (small[i] - static_cast<float>(mean)) /
                    (static_cast<float>(deviation) + least_contrast);
    return result;
}

// Returns the mean difference if the second picture is moved so far; nullopt if they share too few
// cells.
std::optional<double> difference_at(const Small &one, const Small &other, const Cells &cells,
                                    int across, int down)
{
    double sum = 0;
    int count = 0;
    for (int y = std::max(0, down); y < height + std::min(0, down); y++)
        for (int x = std::max(0, across); x < width + std::min(0, across); x++) {
            const auto a = static_cast<size_t>(y * width + x);
            const auto b = static_cast<size_t>((y - down) * width + x - across);
            if (!cells[a] || !cells[b])
                continue;
            sum += static_cast<double>(std::abs(one[a] - other[b]));
            count++;
        }
    return count < fewest_compared ? std::nullopt : std::optional(sum / count);
}

double least_difference(const Small &one, const Small &other, const Cells &cells)
{
    double least = INFINITY;
    for (int down = -farthest_down; down <= farthest_down; down++)
        for (int across = -farthest_across; across <= farthest_across; across++)
            if (const auto found = difference_at(one, other, cells, across, down))
                least = std::min(least, *found);
    return std::isfinite(least) ? least : 0;
}

double mean_change(const Small &one, const Small &other)
{
    double sum = 0;
    for (size_t i = 0; i < one.size(); i++)
        sum += static_cast<double>(std::abs(one[i] - other[i]));
    return sum / static_cast<double>(one.size());
}

double difference_of(const Small &one, const Small &other)
{
    const double change = mean_change(one, other);
    if (change < least_change)
        return 0;
    Cells cells = clear_cells(one, other);
    const double clear = static_cast<double>(cells.count()) / static_cast<double>(cells.size());
    if (clear < fewest_clear)
        cells.set();
    const double least = least_difference(normalised(one, cells), normalised(other, cells), cells);
    if ((is_black(one) || is_black(other)) && change > change_from_black)
        return least;
    return std::max(0.0, least - clear_weight * (1 - clear));
}

} // namespace

bool SceneCuts::is_cut(const AVFrame *frame)
{
    const Small small = small_of(frame);
    difference_ = last_ ? difference_of(*last_, small) : 0;
    last_ = small;
    return difference_ > limit_;
}

} // namespace dnn_torch
