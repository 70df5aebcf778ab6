// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "reading.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <torch/csrc/jit/ir/alias_analysis.h>
#include <utility>

namespace engine_torch
{
namespace
{

using torch::jit::Node;
using torch::jit::Value;

// No network has more.  This bounds the memory for numbers of each channel.
constexpr int64_t most_channels = 1 << 16;
// Whether the node writes to another argument than the first, such as out=.
bool writes_elsewhere(const Node &node)
{
    const auto *const schema = node.maybeSchema();
    if (!schema)
        return node.kind().is_aten();
    const auto &arguments = schema->arguments();
    return std::any_of(arguments.begin(), arguments.end(), [&](const c10::Argument &argument) {
        return &argument != arguments.data() && argument.alias_info() &&
               argument.alias_info()->isWrite();
    });
}

bool writes_to_input(const Node &node)
{
    const std::string name = node.kind().toUnqualString();
    return node.kind().is_aten() && name.back() == '_' && !name.ends_with("__");
}

int64_t channels_after(const fused::Operation &operation, const std::vector<int64_t> &inputs)
{
    const int64_t first = inputs.front();
    if (const auto *it = std::get_if<fused::Convolution>(&operation))
        return it->out_channels;
    if (const auto *it = std::get_if<fused::TransposedConvolution>(&operation))
        return it->out_channels;
    if (const auto *it = std::get_if<fused::Slice>(&operation))
        return it->count;
    if (const auto *it = std::get_if<fused::PixelShuffle>(&operation))
        return first % (it->factor * it->factor) ? 0 : first / (it->factor * it->factor);
    if (const auto *it = std::get_if<fused::PixelUnshuffle>(&operation))
        return first * it->factor * it->factor;
    if (std::holds_alternative<fused::Concatenation>(operation))
        return std::accumulate(inputs.begin(), inputs.end(), int64_t{0});
    return first;
}

// How many channels the first layer takes, or 0 if there is none.
int64_t taken_by(const std::vector<Recipe::Step> &steps)
{
    for (const Recipe::Step &step : steps) {
        if (const auto *it = std::get_if<fused::Convolution>(&step.operation))
            return static_cast<int64_t>(it->weights.size()) /
                   (it->out_channels * it->kernel.y * it->kernel.x) * it->groups;
        if (const auto *it = std::get_if<fused::TransposedConvolution>(&step.operation))
            return static_cast<int64_t>(it->weights.size()) /
                   (it->out_channels / it->groups * it->kernel.y * it->kernel.x);
    }
    return 0;
}

} // namespace

Reading::Reading(const std::shared_ptr<torch::jit::Graph> &graph, const Value *input,
                 int64_t channels)
    : graph_(graph)
{
    if (input) {
        channels_[input] = channels;
        of_known_rank_.insert(input);
    }
    for (const Node *node : graph->nodes())
        for (const Value *output : node->outputs())
            read(*output);
}

int64_t Reading::of(const Value *picture) const
{
    const auto known = channels_.find(picture);
    return known == channels_.end() ? 0 : known->second;
}

const Recipe *Reading::recipe(const Value *value) const
{
    const auto known = recipes_.find(value);
    return known == recipes_.end() ? nullptr : &known->second;
}

bool Reading::is_disturbed() const
{
    torch::jit::ValueSet pictures;
    for (const auto &[picture, channels] : channels_)
        pictures.insert(picture);
    const torch::jit::AliasDb aliases(graph_);
    for (Node *node : graph_->nodes()) {
        const bool is_known = node->outputs().size() > 0 &&
                              std::all_of(node->outputs().begin(), node->outputs().end(),
                                          [&](auto *output) { return recipe(output) != nullptr; });
        if (!is_known && aliases.writesToAlias(node, pictures))
            return true;
    }
    return false;
}

void Reading::read(const Value &value)
{
    auto found = writes_elsewhere(*value.node()) ? std::nullopt : recipe_of(value, *this);
    if (!found || (writes_to_input(*value.node()) && !may_be_written(value.node()->input(0))))
        return;
    for (const Value *picture : found->pictures)
        if (!of(picture)) // only convolutions show how many they take
            channels_[picture] = taken_by(found->steps);
    const int64_t channels = channels_made(*found);
    if (channels < 1 || channels > most_channels)
        return;
    channels_[&value] = channels;
    const bool knows_rank = std::all_of(found->pictures.begin(), found->pictures.end(),
                                        [&](auto *it) { return has_known_rank(it); });
    if (knows_rank)
        of_known_rank_.insert(&value);
    recipes_.emplace(&value, std::move(*found));
}

// Whether nothing else reads the value.
bool Reading::may_be_written(const Value *value) const
{
    const Recipe *const made = recipe(value);
    return made && !made->is_view && value->uses().size() == 1;
}

int64_t Reading::channels_made(const Recipe &recipe) const
{
    std::vector<int64_t> made;
    for (const Recipe::Step &step : recipe.steps) {
        std::vector<int64_t> inputs;
        for (const Recipe::Operand &operand : step.operands)
            inputs.push_back(operand.picture ? of(operand.picture) : made[operand.step]);
        made.push_back(channels_after(step.operation, inputs));
    }
    return made.empty() ? of(recipe.pictures.front()) : made.back();
}

} // namespace engine_torch
