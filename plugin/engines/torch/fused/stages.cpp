// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "stages.h"

#include "rounding.h"
#include "transposed.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace engine_torch::fused
{
namespace
{

// How often nodes that the output depends on read each value.  The output itself counts once.
std::vector<int> count_uses(const Graph &graph)
{
    std::vector<int> uses(graph.values().size());
    uses[graph.output()] = 1;
    for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); node++)
        if (uses[node->output])
            for (const ValueId input : node->inputs)
                uses[input]++;
    return uses;
}

class Lowering
{
public:
    Lowering(const Graph &graph, Extent input)
        : graph_(graph), extents_(extents_of(graph, input)), uses_(count_uses(graph)),
          tensor_of_(graph.values().size())
    {
    }

    StageList run()
    {
        add_stage(graph_.input(), Load(), {});
        for (const Node &node : graph_.nodes())
            if (uses_[node.output])
                std::visit([&](const auto &it) { add(node, it); }, node.operation);
        const TensorId result = tensor_of_[graph_.output()];
        const TensorId stored =
            add_tensor(list_.tensors[result].channels, list_.tensors[result].extent);
        list_.stages.push_back({Store(), {result}, stored, {}});
        return std::move(list_);
    }

private:
    std::vector<TensorId> tensors_of(const std::vector<ValueId> &values) const
    {
        std::vector<TensorId> tensors;
        for (const ValueId value : values)
            tensors.push_back(tensor_of_[value]);
        return tensors;
    }

    TensorId add_tensor(int64_t channels, Extent extent)
    {
        list_.tensors.push_back({channels, extent});
        return list_.tensors.size() - 1;
    }

    Stage &add_stage(ValueId value, Core core, std::vector<TensorId> inputs)
    {
        tensor_of_[value] = add_tensor(graph_.values()[value].channels, extents_[value]);
        list_.stages.push_back({std::move(core), std::move(inputs), tensor_of_[value], {}});
        return list_.stages.back();
    }

    Stage &producer_of(TensorId tensor)
    {
        return *std::find_if(list_.stages.begin(), list_.stages.end(),
                             [&](const Stage &stage) { return stage.output == tensor; });
    }

    size_t place_of(ValueId value)
    {
        return static_cast<size_t>(&producer_of(tensor_of_[value]) - list_.stages.data());
    }

    // The stage whose tail may be extended by the value's only use, or null.
    Stage *open_stage(ValueId value)
    {
        return uses_[value] == 1 ? &producer_of(tensor_of_[value]) : nullptr;
    }

    // The node's result takes the place of the stage's.
    void append(Stage &stage, TailStep step, ValueId result)
    {
        stage.tail.push_back(std::move(step));
        tensor_of_[result] = stage.output;
    }

    Stage &stage_to_append_to(const Node &node)
    {
        if (Stage *open = open_stage(node.inputs.front()))
            return *open;
        return add_stage(node.output, Copy(), {tensor_of_[node.inputs.front()]});
    }

    void add(const Node &node, const Activation &it)
    {
        append(stage_to_append_to(node), it, node.output);
    }

    void add(const Node &node, const Prelu &it)
    {
        append(stage_to_append_to(node), it, node.output);
    }

    void add(const Node &node, const Affine &it)
    {
        Stage &stage = stage_to_append_to(node);
        auto *const convolution = std::get_if<Convolution>(&stage.core);
        if (!convolution || !stage.tail.empty())
            return append(stage, it, node.output);
        fold(*convolution, it);
        tensor_of_[node.output] = stage.output;
    }

    static void fold(Convolution &into, const Affine &affine)
    {
        into.bias.resize(static_cast<size_t>(into.out_channels));
        std::vector<float> weights = into.weights.copy();
        const size_t each = weights.size() / into.bias.size();
        for (size_t channel = 0; channel < into.bias.size(); channel++) {
            const double scale = affine.scales[channel];
            for (size_t i = channel * each; i < (channel + 1) * each; i++)
                weights[i] = static_cast<float>(weights[i] * scale);
            into.bias[channel] =
                static_cast<float>(into.bias[channel] * scale + affine.shifts[channel]);
        }
        into.weights = std::move(weights);
    }

    // Becomes part of the stage of the operand that is made last, so that the other one exists.
    void add(const Node &node, const Binary &it)
    {
        const bool second_is_later = place_of(node.inputs[1]) > place_of(node.inputs[0]);
        const ValueId later = node.inputs[second_is_later ? 1 : 0];
        const BinaryWith step = {it.kind, tensor_of_[node.inputs[second_is_later ? 0 : 1]],
                                 second_is_later && it.kind == BinaryKind::subtract};
        if (Stage *open = open_stage(later))
            return append(*open, step, node.output);
        append(add_stage(node.output, Copy(), {tensor_of_[later]}), step, node.output);
    }

    // Zeros around a convolution's input become the convolution's own padding.
    void add(const Node &node, Convolution it)
    {
        TensorId input = tensor_of_[node.inputs.front()];
        if (Stage *open = open_stage(node.inputs.front())) {
            const auto *const padding = std::get_if<Padding>(&open->core);
            if (padding && padding->value == 0 && open->tail.empty()) {
                it.padding.y += padding->top;
                it.padding.x += padding->left;
                input = open->inputs.front();
                list_.stages.erase(list_.stages.begin() + (open - list_.stages.data()));
            }
        }
        add_stage(node.output, std::move(it), {input});
    }

    void add(const Node &node, const TransposedConvolution &it)
    {
        const ValueId from = node.inputs.front();
        const PhasedConvolution phased =
            in_phases(it, graph_.values()[from].channels, extents_[from], extents_[node.output]);
        const TensorId phases = add_tensor(phased.convolution.out_channels, phased.extent);
        list_.stages.push_back({phased.convolution, {tensor_of_[from]}, phases, {}});
        add_stage(node.output, Shuffle{it.stride, it.padding}, {phases});
    }

    void add(const Node &node, const PixelShuffle &it)
    {
        add_stage(node.output, Shuffle{{it.factor, it.factor}}, tensors_of(node.inputs));
    }

    template <class Rearrangement> void add(const Node &node, const Rearrangement &it)
    {
        add_stage(node.output, it, tensors_of(node.inputs));
    }

    const Graph &graph_;
    const std::vector<Extent> extents_;
    const std::vector<int> uses_;
    std::vector<TensorId> tensor_of_;
    StageList list_;
};

RowRange needed(const Convolution &it, RowRange made)
{
    return {made.first * it.stride.y - it.padding.y,
            (made.end - 1) * it.stride.y - it.padding.y + it.dilation.y * (it.kernel.y - 1) + 1};
}

RowRange needed(const Shuffle &it, RowRange made)
{
    return {divide_down(made.first + it.crop.y, it.factor.y),
            divide_down(made.end - 1 + it.crop.y, it.factor.y) + 1};
}

RowRange needed(const PixelUnshuffle &it, RowRange made)
{
    return {made.first * it.factor, made.end * it.factor};
}

RowRange needed(const Interpolation &it, RowRange made)
{
    const int64_t factor = it.factor.y;
    if (it.kind == InterpolationKind::nearest)
        return {divide_down(made.first, factor), divide_down(made.end - 1, factor) + 1};
    // Row y is between these two: floor((y + 0.5) / factor - 0.5) and the next one.
    return {divide_down(2 * made.first + 1 - factor, 2 * factor),
            divide_down(2 * (made.end - 1) + 1 - factor, 2 * factor) + 2};
}

RowRange needed(const Padding &it, RowRange made)
{
    return {made.first - it.top, made.end - it.top};
}

template <class Pointwise> RowRange needed(const Pointwise &, RowRange made)
{
    return made;
}

} // namespace

RowRange rows_needed(const Core &core, RowRange made)
{
    return std::visit([&](const auto &it) { return needed(it, made); }, core);
}

std::vector<TensorId> tensors_read(const Stage &stage)
{
    std::vector<TensorId> read = stage.inputs;
    for (const TailStep &step : stage.tail)
        if (const auto *binary = std::get_if<BinaryWith>(&step))
            read.push_back(binary->other);
    return read;
}

StageList lower(const Graph &graph, Extent input)
{
    return Lowering(graph, input).run();
}

} // namespace engine_torch::fused
