// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "picture_layout.h"

#include "base/compose.h"
#include "engines/torch/failure.h"

#include <algorithm>
#include <array>
#include <ATen/ops/stack.h>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace engine_torch
{
namespace
{

constexpr std::array<Layout, 10> layouts = {
    Layout::nchw, Layout::nhwc,  Layout::chw,   Layout::hwc,  Layout::nhw,
    Layout::hw,   Layout::ntchw, Layout::ncthw, Layout::tchw, Layout::cthw};

bool has(Layout layout, char dimension)
{
    return std::string_view(name_of(layout)).find(dimension) != std::string_view::npos;
}

bool can_be_channels(int64_t extent)
{
    return extent == 1 || extent == 3 || extent == 4;
}

// Distinguishes pictures from tables of numbers, such as a classifier's or a transformer's.
bool has_aspect(int64_t height, int64_t width, int64_t of_height, int64_t of_width)
{
    constexpr double most = 1.25;
    const double ratio = static_cast<double>(width) * static_cast<double>(of_height) /
                         (static_cast<double>(height) * static_cast<double>(of_width));
    return std::abs(std::log(ratio)) <= std::log(most);
}

} // namespace

at::Tensor filled_up(const at::Tensor &frames, const Segment &segment)
{
    const int64_t count = frames.size(0);
    if (count >= segment.length)
        return frames;
    const int64_t period = std::max<int64_t>(2 * (count - 1), 1);
    std::vector<at::Tensor> all;
    for (int64_t i = 0; i < segment.length; i++)
        all.push_back(frames.select(0, segment.repeats
                                           ? std::min(i, count - 1)
                                           : count - 1 - std::abs(i % period - (count - 1))));
    return at::stack(all);
}

namespace
{

bool has_frames_first(Layout layout)
{
    return layout == Layout::ntchw || layout == Layout::tchw;
}

std::optional<Layout> guess_without_batch(at::IntArrayRef extents, Layout input, int64_t height,
                                          int64_t width)
{
    const bool has_aspect_first = has_aspect(extents[0], extents[1], height, width);
    const bool has_aspect_last = has_aspect(extents[1], extents[2], height, width);
    const bool hwc = can_be_channels(extents[2]) && has_aspect_first;
    const bool chw = can_be_channels(extents[0]) && has_aspect_last;
    if (hwc && (!chw || ends_with_channels(input)))
        return Layout::hwc;
    if (chw)
        return extents[0] == 1 && has_batch(input) ? Layout::nhw : Layout::chw;
    return std::nullopt;
}

} // namespace

const char *name_of(Layout layout)
{
    switch (layout) {
    case Layout::nhwc:
        return "nhwc";
    case Layout::chw:
        return "chw";
    case Layout::hwc:
        return "hwc";
    case Layout::nhw:
        return "nhw";
    case Layout::hw:
        return "hw";
    case Layout::ntchw:
        return "ntchw";
    case Layout::ncthw:
        return "ncthw";
    case Layout::tchw:
        return "tchw";
    case Layout::cthw:
        return "cthw";
    default:
        return "nchw";
    }
}

std::optional<Layout> find_layout(const std::string &name)
{
    for (const Layout layout : layouts)
        if (name == name_of(layout))
            return layout;
    return std::nullopt;
}

std::string layout_names()
{
    std::string names;
    for (const Layout layout : layouts)
        dnn_torch::add_to_list(names, name_of(layout));
    return names;
}

int64_t rank_of(Layout layout)
{
    return static_cast<int64_t>(std::string_view(name_of(layout)).size());
}

bool has_batch(Layout layout)
{
    return has(layout, 'n');
}

bool has_channels(Layout layout)
{
    return has(layout, 'c');
}

bool has_frames(Layout layout)
{
    return has(layout, 't');
}

bool ends_with_channels(Layout layout)
{
    return layout == Layout::nhwc || layout == Layout::hwc;
}

at::Tensor in_layout(const at::Tensor &pictures, Layout layout, int64_t frames)
{
    if (!has_batch(layout) && pictures.size(0) != 1)
        throw Failure(DNN_TORCH_RUN_FAILED,
                      dnn_torch::concat("the model takes one picture at a time (layout ",
                                        name_of(layout), "), not ", pictures.size(0)));
    if (!has_channels(layout) && pictures.size(1) != 1)
        throw Failure(DNN_TORCH_WRONG_CHANNELS,
                      dnn_torch::concat("the model takes pictures of 1 channel (layout ",
                                        name_of(layout), "), not of ",
                                        dnn_torch::counted(pictures.size(1), "channel")));
    if (has_frames(layout)) {
        at::Tensor tensor = pictures.unflatten(1, {frames, pictures.size(1) / frames});
        if (!has_frames_first(layout))
            tensor = tensor.transpose(1, 2);
        return has_batch(layout) ? tensor : tensor.select(0, 0);
    }
    at::Tensor tensor = ends_with_channels(layout) ? pictures.permute({0, 2, 3, 1}) : pictures;
    if (!has_channels(layout))
        tensor = tensor.select(1, 0);
    return has_batch(layout) ? tensor : tensor.select(0, 0);
}

at::Tensor from_layout(const at::Tensor &tensor, Layout layout)
{
    at::Tensor pictures = has_batch(layout) ? tensor : tensor.unsqueeze(0);
    if (!has_channels(layout))
        pictures = pictures.unsqueeze(1);
    return ends_with_channels(layout) ? pictures.permute({0, 3, 1, 2}) : pictures;
}

bool can_be_segment(Layout layout)
{
    return has_frames(layout) || layout == Layout::nchw;
}

at::Tensor as_segment(const at::Tensor &frames, Layout layout, const Segment &segment)
{
    if (frames.size(0) > segment.length)
        throw Failure(DNN_TORCH_BAD_INPUT,
                      dnn_torch::concat(frames.size(0), " frames are more than a segment has, ",
                                        segment.length));
    if (layout == Layout::nchw)
        return frames.reshape({1, frames.size(0) * frames.size(1), frames.size(2), frames.size(3)});
    const at::Tensor tensor = has_frames_first(layout) ? frames : frames.transpose(0, 1);
    return has_batch(layout) ? tensor.unsqueeze(0) : tensor;
}

at::Tensor from_segment(const at::Tensor &tensor, Layout layout, int64_t count)
{
    const auto refuse = [&](int64_t made, const char *what) {
        throw Failure(DNN_TORCH_BAD_OUTPUT,
                      dnn_torch::concat("the model returned ", dnn_torch::counted(made, what),
                                        " for a segment of ", dnn_torch::counted(count, "frame"),
                                        "; it must return one frame for each.  A model that makes "
                                        "one of several has a window: frames=FIRST..LAST"));
    };
    if (has_batch(layout) && tensor.size(0) != 1)
        refuse(tensor.size(0), "segment");
    at::Tensor frames = has_batch(layout) ? tensor.select(0, 0) : tensor;
    if (layout == Layout::nchw) {
        if (frames.size(0) % count != 0)
            refuse(frames.size(0), "channel");
        frames = frames.unflatten(0, {count, frames.size(0) / count});
    } else if (!has_frames_first(layout)) {
        frames = frames.transpose(0, 1);
    }
    if (frames.size(0) != count)
        refuse(frames.size(0), "frame");
    return frames;
}

std::optional<Layout> guess_layout(at::IntArrayRef extents, Layout input, int64_t height,
                                   int64_t width)
{
    for (const int64_t extent : extents)
        if (extent < 1)
            return std::nullopt;
    if (extents.size() == 4) {
        const bool first = can_be_channels(extents[1]), last = can_be_channels(extents[3]);
        const bool is_last = first == last ? ends_with_channels(input) : last;
        return is_last ? Layout::nhwc : Layout::nchw;
    }
    if (extents.size() == 3)
        return guess_without_batch(extents, input, height, width);
    if (extents.size() == 2 && has_aspect(extents[0], extents[1], height, width))
        return Layout::hw;
    return std::nullopt;
}

std::optional<Layout> guess_map_layout(at::IntArrayRef extents, Layout input, int64_t batch,
                                       int64_t height, int64_t width)
{
    const auto is_plane = [&](size_t first) {
        return has_aspect(extents[first], extents[first + 1], height, width);
    };
    if (std::any_of(extents.begin(), extents.end(), [](int64_t extent) { return extent < 1; }))
        return std::nullopt;
    if (extents.size() == 4) {
        const bool first = is_plane(2), last = is_plane(1);
        const bool is_last = first == last ? ends_with_channels(input) : last;
        return is_last ? Layout::nhwc : Layout::nchw;
    }
    if (extents.size() == 3 && extents[0] == batch)
        return Layout::nhw;
    if (extents.size() == 3 && batch == 1)
        return is_plane(0) && !is_plane(1) ? Layout::hwc : Layout::chw;
    return extents.size() == 2 && is_plane(0) ? std::optional(Layout::hw) : std::nullopt;
}

} // namespace engine_torch
