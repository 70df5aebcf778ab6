// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "network.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <sched.h>
#include <utility>

namespace engine_torch::fused
{
namespace
{

// On each node.  A video has one or two.  Trials of a model take some more.
constexpr ptrdiff_t most_sizes = 4;

} // namespace

// The kernel answers from memory that each process maps: no call is made.
int memory_node() noexcept
{
    unsigned processor = 0, node = 0;
    return getcpu(&processor, &node) == 0 ? static_cast<int>(node) : 0;
}

Network::Network(Graph graph, Precision precision, LayerRanges int8, LayoutChoice layouts,
                 NodeChoice nodes)
    : graph_(std::move(graph)), options_{.precision = precision,
                                         .int8 = std::move(int8),
                                         .layouts = layouts},
      nodes_(nodes)
{
}

Network::Size &Network::size_for(Extent extent, int node)
{
    const auto known = std::find_if(sizes_.begin(), sizes_.end(), [&](const Size &size) {
        return size.node == node && size.program->input_extent() == extent;
    });
    if (known != sizes_.end()) {
        sizes_.splice(sizes_.begin(), sizes_, known);
        return sizes_.front();
    }
    sizes_.push_front({program_for(extent, node), node, {}});
    drop_oldest_of(node);
    return sizes_.front();
}

// The calling thread packs the weights, so they are on its node.
std::shared_ptr<const Program> Network::program_for(Extent extent, int node)
{
    const Program *like = nullptr;
    for (const Size &size : sizes_) {
        if (nodes_.has_own_weights && size.node != node)
            continue;
        if (size.program->input_extent() == extent)
            return size.program;
        if (!like)
            like = size.program.get();
    }
    return Program::compile(graph_, extent, options_, like);
}

void Network::drop_oldest_of(int node)
{
    const auto is_of_node = [&](const Size &size) { return size.node == node; };
    if (std::count_if(sizes_.begin(), sizes_.end(), is_of_node) <= most_sizes)
        return;
    const auto oldest = std::find_if(sizes_.rbegin(), sizes_.rend(), is_of_node);
    sizes_.erase(std::next(oldest).base());
}

Network::Taken Network::take(Extent extent)
{
    const int node = nodes_.node();
    const std::lock_guard<std::mutex> lock(mutex_);
    Size &size = size_for(extent, node);
    if (size.idle.empty())
        return {std::make_unique<Run>(size.program), node};
    Taken taken = {std::move(size.idle.back()), node};
    size.idle.pop_back();
    return taken;
}

// The thread may be on another node by now.
void Network::give_back(Taken taken)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Size &size : sizes_)
        if (size.node == taken.node && size.program.get() == &taken.run->program())
            return size.idle.push_back(std::move(taken.run));
}

} // namespace engine_torch::fused
