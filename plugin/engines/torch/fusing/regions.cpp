// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "regions.h"

#include "reading.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <utility>

namespace engine_torch
{
namespace
{

using torch::jit::Node;
using torch::jit::Use;
using torch::jit::Value;
using Values = std::set<const Value *>;

constexpr int64_t rank_of_pictures = 4;
// Each pass resolves what became known in the one before.
constexpr int most_passes = 8;

// Beyond this, looking for layers that ends have in common takes longer than it saves.
constexpr size_t most_ends = 64;

bool convolves(const Recipe &recipe)
{
    return std::any_of(recipe.steps.begin(), recipe.steps.end(), [](const Recipe::Step &step) {
        return std::holds_alternative<fused::Convolution>(step.operation) ||
               std::holds_alternative<fused::TransposedConvolution>(step.operation);
    });
}

// Divides the known values into parts with one input and one output.
class Division
{
public:
    Division(torch::jit::Graph &graph, const Reading &reading) : graph_(graph), reading_(reading)
    {
        do {
            find_roots();
        } while (end_more_parts() || end_shared_layers());
    }

    std::vector<Region> regions()
    {
        std::vector<Region> found;
        for (Node *node : graph_.nodes())
            for (Value *output : node->outputs())
                if (root_of(output) && escapes(output))
                    if (auto region = region_to(output))
                        found.push_back(std::move(*region));
        return found;
    }

private:
    // Returns the picture that the value's part begins with, or null if it is in no part.
    const Value *root_of(const Value *value) const
    {
        const auto found = roots_.find(value);
        return found == roots_.end() ? nullptr : found->second;
    }

    // Returns the root for parts that use the value: its own root, or the value if it is an end.
    const Value *root_for_users(const Value *value) const
    {
        const Value *const root = root_of(value);
        return root && !ends_.count(value) ? root : value;
    }

    void find_roots()
    {
        roots_.clear();
        for (const Node *node : graph_.nodes())
            for (const Value *output : node->outputs())
                if (const Recipe *const recipe = reading_.recipe(output))
                    if (const Value *const root = common_root(recipe->pictures))
                        roots_[output] = root;
    }

    const Value *common_root(const std::vector<const Value *> &pictures) const
    {
        const Value *const first = root_for_users(pictures.front());
        const bool all = std::all_of(pictures.begin(), pictures.end(),
                                     [&](const Value *it) { return root_for_users(it) == first; });
        return all ? first : nullptr;
    }

    // If several pictures of a part are used outside, all but the last one become ends of their
    // own, so that nothing is computed twice.  Returns false if there is no such part.
    bool end_more_parts()
    {
        std::map<const Value *, const Value *> last; // the last one so far, by root
        bool ended = false;
        for (const Node *node : graph_.nodes())
            for (const Value *output : node->outputs()) {
                const Value *const root = root_of(output);
                if (!root || ends_.count(output) || !escapes(output))
                    continue;
                const auto [before, is_first] = last.try_emplace(root, output);
                if (!is_first)
                    ended |= ends_.insert(std::exchange(before->second, output)).second;
            }
        return ended;
    }

    // Ends that do not depend on one another may still share layers, which then end there.
    // Returns false if there are none.
    bool end_shared_layers()
    {
        std::map<const Value *, std::vector<Values>> needs; // of each end, by root
        for (const Node *node : graph_.nodes())
            for (const Value *output : node->outputs())
                if (root_of(output) && escapes(output))
                    need(output, root_of(output), needs[root_of(output)].emplace_back());
        bool ended = false;
        for (const auto &[root, ends] : needs)
            for (size_t i = 0; i < ends.size() && ends.size() <= most_ends; i++)
                for (size_t j = 0; j < i; j++)
                    ended |= end_where_they_diverge(ends[i], ends[j]);
        return ended;
    }

    bool end_where_they_diverge(const Values &one, const Values &other)
    {
        Values shared;
        std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                              std::inserter(shared, shared.begin()));
        const bool has_layers = std::any_of(shared.begin(), shared.end(), [&](const Value *it) {
            return convolves(*reading_.recipe(it));
        });
        bool ended = false;
        for (const Value *value : shared) {
            const bool is_last = std::none_of(shared.begin(), shared.end(), [&](const Value *it) {
                const auto &pictures = reading_.recipe(it)->pictures;
                return std::count(pictures.begin(), pictures.end(), value) > 0;
            });
            ended |= has_layers && is_last && ends_.insert(value).second;
        }
        return ended;
    }

    bool escapes(const Value *value) const
    {
        if (ends_.count(value))
            return true;
        return std::any_of(value->uses().begin(), value->uses().end(),
                           [&](const Use &use) { return !stays_in(*use.user, root_of(value)); });
    }

    // Whether all outputs of the node belong to the part of that root.
    bool stays_in(const Node &user, const Value *root) const
    {
        if (user.owningBlock() != graph_.block() || user.outputs().empty())
            return false;
        return std::all_of(user.outputs().begin(), user.outputs().end(), [&](const Value *output) {
            if (root_of(output) == root)
                return true;
            // Lists are no pictures: what uses them counts.
            const bool is_list = output->type()->kind() == c10::TypeKind::ListType;
            return is_list &&
                   std::all_of(output->uses().begin(), output->uses().end(), [&](const Use &use) {
                       return use.user->kind() != c10::prim::Return && stays_in(*use.user, root);
                   });
        });
    }

    // Returns nullopt if the part has no convolution, or its layers do not fit together.
    std::optional<Region> region_to(Value *output) const
    {
        const Value *const root = root_of(output);
        Values needed;
        need(output, root, needed);
        const bool has_layers = std::any_of(needed.begin(), needed.end(), [&](const Value *it) {
            return convolves(*reading_.recipe(it));
        });
        if (!has_layers)
            return std::nullopt;
        try {
            return Region{const_cast<Value *>(root), output, graph_of(root, output, needed)};
        } catch (const fused::GraphError &) {
            return std::nullopt;
        }
    }

    void need(const Value *value, const Value *root, Values &needed) const
    {
        std::vector<const Value *> open = {value};
        while (!open.empty()) {
            const Value *const next = open.back();
            open.pop_back();
            if (next == root || !needed.insert(next).second)
                continue;
            const auto &pictures = reading_.recipe(next)->pictures;
            open.insert(open.end(), pictures.begin(), pictures.end());
        }
    }

    fused::Graph graph_of(const Value *root, const Value *output, const Values &needed) const
    {
        fused::Graph made(reading_.of(root));
        std::map<const Value *, fused::ValueId> ids = {{root, made.input()}};
        for (const Node *node : graph_.nodes())
            for (const Value *value : node->outputs())
                if (needed.count(value))
                    ids[value] = add(*reading_.recipe(value), ids, made);
        made.set_output(ids.at(output));
        return made;
    }

    static fused::ValueId add(const Recipe &recipe,
                              const std::map<const Value *, fused::ValueId> &ids,
                              fused::Graph &made)
    {
        std::vector<fused::ValueId> steps;
        for (const Recipe::Step &step : recipe.steps) {
            std::vector<fused::ValueId> inputs;
            for (const Recipe::Operand &operand : step.operands)
                inputs.push_back(operand.picture ? ids.at(operand.picture) : steps[operand.step]);
            steps.push_back(made.add(step.operation, std::move(inputs)));
        }
        return steps.empty() ? ids.at(recipe.pictures.front()) : steps.back();
    }

    torch::jit::Graph &graph_;
    const Reading &reading_;
    std::map<const Value *, const Value *> roots_;
    Values ends_; // pictures at which one part ends and others may begin
};

void collect_ranks(torch::jit::Block &block, const Reading &reading, std::vector<Node *> &found)
{
    for (Node *node : block.nodes()) {
        if (node->kind() == c10::aten::dim && reading.has_known_rank(node->input(0)))
            found.push_back(node);
        for (torch::jit::Block *inner : node->blocks())
            collect_ranks(*inner, reading, found);
    }
}

// Replaces requests for a picture's rank, as in torch.nn.functional.interpolate(), by constants.
// Returns whether there were any.
bool put_ranks(torch::jit::Graph &graph, const Reading &reading)
{
    std::vector<Node *> ranks;
    collect_ranks(*graph.block(), reading, ranks);
    for (Node *node : ranks) {
        const torch::jit::WithInsertPoint here(node);
        node->output()->replaceAllUsesWith(graph.insertConstant(rank_of_pictures));
        node->destroy();
    }
    return !ranks.empty();
}

} // namespace

std::vector<Region> find_regions(const std::shared_ptr<torch::jit::Graph> &graph,
                                 const std::string &input_name, int64_t channels)
{
    const Value *input = nullptr;
    for (const Value *each : graph->inputs())
        if (each->debugNameBase() == input_name &&
            each->type()->kind() == c10::TypeKind::TensorType)
            input = each;
    for (int pass = 0; pass < most_passes; pass++) {
        const Reading reading(graph, input, channels);
        if (put_ranks(*graph, reading)) {
            auto shared = graph;
            torch::jit::ConstantPropagation(shared);
            torch::jit::EliminateDeadCode(shared);
            continue;
        }
        return reading.is_disturbed() ? std::vector<Region>() : Division(*graph, reading).regions();
    }
    return {};
}

} // namespace engine_torch
