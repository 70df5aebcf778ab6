// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "network.h"

#include <algorithm>
#include <utility>

namespace engine_torch::fused
{
namespace
{

// A video has one or two.  Trials of a model take some more.
constexpr size_t most_sizes = 4;

} // namespace

Network::Network(Graph graph, Precision precision, LayerRanges int8, LayoutChoice layouts)
    : graph_(std::move(graph)), options_{.precision = precision,
                                         .int8 = std::move(int8),
                                         .layouts = layouts}
{
}

Network::Size &Network::size_for(Extent extent)
{
    const auto known = std::find_if(sizes_.begin(), sizes_.end(), [&](const Size &size) {
        return size.program->input_extent() == extent;
    });
    if (known != sizes_.end()) {
        sizes_.splice(sizes_.begin(), sizes_, known);
        return sizes_.front();
    }
    const Program *const like = sizes_.empty() ? nullptr : sizes_.front().program.get();
    sizes_.push_front({Program::compile(graph_, extent, options_, like), {}});
    if (sizes_.size() > most_sizes)
        sizes_.pop_back();
    return sizes_.front();
}

std::unique_ptr<Run> Network::take(Extent extent)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    Size &size = size_for(extent);
    if (size.idle.empty())
        return std::make_unique<Run>(size.program);
    std::unique_ptr<Run> run = std::move(size.idle.back());
    size.idle.pop_back();
    return run;
}

void Network::give_back(std::unique_ptr<Run> run)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Size &size : sizes_)
        if (size.program.get() == &run->program())
            return size.idle.push_back(std::move(run));
}

} // namespace engine_torch::fused
