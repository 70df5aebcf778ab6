// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "clip_windows.h"

#include <algorithm>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/TensorOperators.h>
#include <vector>

namespace engine_torch
{
namespace
{

// Takes the liveliest window of this many pictures, and the windows with the largest and the
// smallest sample of all.
constexpr int64_t most_pictures = 4;
// As many samples as a frame of 960x544 has.
constexpr int64_t most_others = 32;
// As shares of the pictures' range: windows with a smaller range of samples are flat, and with a
// larger one broken.
constexpr double flat_range = 1.0 / 64, wild_range = 100;

// Returns [pictures, windows of each, channels, rows, columns]: a grid in the middle of each
// picture.
at::Tensor all_windows(const at::Tensor &samples, int64_t rows, int64_t columns)
{
    const int64_t down = samples.size(2) / rows, across = samples.size(3) / columns;
    return samples.narrow(2, (samples.size(2) - down * rows) / 2, down * rows)
        .narrow(3, (samples.size(3) - across * columns) / 2, across * columns)
        .reshape({samples.size(0), samples.size(1), down, rows, across, columns})
        .permute({0, 2, 4, 1, 3, 5})
        .reshape({samples.size(0), down * across, samples.size(1), rows, columns});
}

// The contrast of each window; below 0 if it is flat or broken.  A plain colour is flat.
at::Tensor liveliness_of(const at::Tensor &windows, const Shape &shape)
{
    const at::Tensor planes = windows.flatten(3);
    const at::Tensor range = (planes.amax(3) - planes.amin(3)).amax(2);
    const at::Tensor is_informative =
        range.ge(flat_range * shape.range()).logical_and(range.le(wild_range * shape.range()));
    return planes.std(3, false).amax(2).masked_fill(is_informative.logical_not(), -1);
}

// Stretches the range of `all` to that of black to white: a film may begin dark and go on with a
// bright scene.
at::Tensor stretched(const at::Tensor &windows, const at::Tensor &all, const Shape &shape)
{
    const double low = all.min().item<double>(), high = all.max().item<double>();
    return (windows - low) * (shape.range() / (high - low)) + shape.low;
}

// Returns indices into the windows of all pictures.
std::vector<int64_t> liveliest(const at::Tensor &windows, const at::Tensor &liveliness,
                               const Shape &shape)
{
    std::vector<int64_t> chosen;
    const auto choose = [&](int64_t place) {
        const bool is_informative = liveliness.view(-1)[place].item<double>() >= 0;
        if (is_informative && std::find(chosen.begin(), chosen.end(), place) == chosen.end())
            chosen.push_back(place);
    };
    const at::Tensor best = liveliness.argmax(1);
    const at::Tensor order = liveliness.amax(1).argsort(0, true);
    for (int64_t i = 0; i < std::min(most_pictures, order.size(0)); i++) {
        const auto picture = order[i].item<int64_t>();
        choose(picture * windows.size(1) + best[picture].item<int64_t>());
    }
    const at::Tensor ignored = liveliness.view(-1).lt(0), all = windows.flatten(0, 1).flatten(1);
    choose(all.amax(1).masked_fill(ignored, shape.low).argmax().item<int64_t>());
    choose(all.amin(1).masked_fill(ignored, shape.high).argmin().item<int64_t>());
    return chosen;
}

// Keeps at most most_others, evenly spaced.
std::vector<int64_t> thinned(const std::vector<int64_t> &places)
{
    const auto count = std::min(static_cast<int64_t>(places.size()), most_others);
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < count; i++)
        kept.push_back(
            places[static_cast<size_t>(i * static_cast<int64_t>(places.size()) / count)]);
    return kept;
}

} // namespace

ClipWindows windows_of(const at::Tensor &samples, const Shape &shape, int64_t rows, int64_t columns)
{
    const at::Tensor windows =
        all_windows(samples, std::min(rows, samples.size(2)), std::min(columns, samples.size(3)));
    const at::Tensor liveliness = liveliness_of(windows, shape);
    const std::vector<int64_t> chosen = liveliest(windows, liveliness, shape);
    if (chosen.empty())
        return {};
    const at::Tensor all = windows.flatten(0, 1), informative = liveliness.flatten().ge(0);
    std::vector<int64_t> others;
    for (int64_t place = 0; place < all.size(0); place++)
        if (informative[place].item<bool>() &&
            std::find(chosen.begin(), chosen.end(), place) == chosen.end())
            others.push_back(place);
    const at::Tensor found = all.index_select(0, at::tensor(chosen));
    ClipWindows made = {.liveliest =
                            at::cat({found, stretched(found.narrow(0, 0, 1), found, shape)}),
                        .others = {}};
    if (!others.empty())
        made.others = all.index_select(0, at::tensor(thinned(others)));
    return made;
}

} // namespace engine_torch
