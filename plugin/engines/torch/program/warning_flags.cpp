// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "warning_flags.h"

#include "graph_checks.h"
#include "known_values.h"

#include <algorithm>
#include <map>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <vector>

namespace engine_torch
{
namespace
{

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;

// All places in the code that read or set attributes of one name.
struct Places {
    std::vector<const Node *> reads, sets;
};

class FlagFinder
{
public:
    explicit FlagFinder(const Block &block)
    {
        for (const Node *node : nodes_in(block)) {
            if (node->kind() == c10::prim::GetAttr)
                places_[node->s(c10::attr::name)].reads.push_back(node);
            if (node->kind() == c10::prim::SetAttr)
                places_[node->s(c10::attr::name)].sets.push_back(node);
            has_fork_ = has_fork_ || node->hasAttribute(c10::attr::Subgraph);
        }
    }

    // False if there is code outside the graph, which may read a flag.
    bool sees_all() const { return !has_fork_; }

    // Returns the flags by name; a name stands for all objects that have such an attribute.
    std::map<std::string, Places> flags() const
    {
        std::map<std::string, Places> found;
        for (const auto &[name, places] : places_)
            if (!places.sets.empty() && is_set_to_one_constant(places.sets) &&
                std::all_of(places.reads.begin(), places.reads.end(),
                            [&](const Node *read) { return decides_over_warnings(*read, name); }))
                found.emplace(name, places);
        return found;
    }

private:
    static std::optional<bool> constant_of(const Value *value)
    {
        const auto constant = torch::jit::toIValue(value);
        return constant && constant->isBool() ? std::optional(constant->toBool()) : std::nullopt;
    }

    static bool is_set_to_one_constant(const std::vector<const Node *> &sets)
    {
        const auto first = constant_of(sets.front()->input(1));
        return first && std::all_of(sets.begin(), sets.end(), [&](const Node *set) {
                   return constant_of(set->input(1)) == first;
               });
    }

    // Whether the flag that is read, or its opposite, controls nothing but warnings.
    static bool decides_over_warnings(const Node &read, const std::string &flag)
    {
        const auto &uses = read.output()->uses();
        return std::all_of(uses.begin(), uses.end(), [&](const Use &use) {
            const Node &user = *use.user;
            if (user.kind() == c10::aten::__not__)
                return decides_over_warnings(user, flag);
            return user.kind() == c10::prim::If && only_warns(user, flag);
        });
    }

    static bool only_warns(const Node &choice, const std::string &flag)
    {
        const auto only_harmless = [&](const Block *block) {
            return std::all_of(block->nodes().begin(), block->nodes().end(),
                               [&](const Node *node) { return is_harmless(*node, flag); });
        };
        return choice.outputs().empty() &&
               std::all_of(choice.blocks().begin(), choice.blocks().end(), only_harmless);
    }

    static bool is_harmless(const Node &node, const std::string &flag)
    {
        const bool sets_flag = node.kind() == c10::prim::SetAttr && node.s(c10::attr::name) == flag;
        return sets_flag || node.kind() == c10::prim::Constant ||
               node.kind() == c10::prim::GetAttr || node.kind() == c10::aten::warn;
    }

    std::map<std::string, Places> places_;
    bool has_fork_ = false;
};

// Skips an object that the run itself creates.
void preset(const Node &place, const KnownValues &known, const std::string &name,
            const c10::IValue &value)
{
    const auto object = known.value_of(place.input(0));
    if (!object || !object->isObject())
        return;
    const auto slot = object->toObjectRef().type()->findAttributeSlot(name);
    if (slot && object->toObjectRef().getSlot(*slot).isBool())
        object->toObject()->setSlot(*slot, value);
}

} // namespace

void preset_warning_flags(const torch::jit::Module &module)
{
    const auto graph = module.get_method("forward").graph()->copy();
    torch::jit::Inline(*graph);
    const FlagFinder finder(*graph->block());
    if (!finder.sees_all())
        return;
    const KnownValues known(module, *graph);
    for (const auto &[name, places] : finder.flags())
        for (const Node *set : places.sets)
            preset(*set, known, name, *torch::jit::toIValue(set->input(1)));
}

} // namespace engine_torch
