// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "nonlocal_operator.h"

#include "graph_checks.h"
#include "kernel_reach.h"
#include "node_arguments.h"
#include "operator_reach.h"
#include "picture_walk.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <torch/csrc/jit/passes/inliner.h>
#include <vector>

namespace engine_torch
{
namespace
{

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Module;
using torch::jit::Node;
using torch::jit::Value;
namespace prim = c10::prim;

bool raises(const Block &block)
{
    return std::any_of(block.nodes().begin(), block.nodes().end(),
                       [](const Node *node) { return node->kind() == prim::RaiseException; });
}

// Whether the block only computes pictures by changing borders.
bool only_changes_borders(const Block &block)
{
    for (const Node *node : nodes_in(block)) {
        const bool makes_tensor =
            std::any_of(node->outputs().begin(), node->outputs().end(),
                        [](const Value *each) { return is_tensor_value(*each); });
        if (makes_tensor && node->blocks().empty() && !changes_borders(operator_name(*node)))
            return false;
    }
    return true;
}

class Search final : PictureWalk
{
public:
    Search(const Module &module, const std::shared_ptr<Graph> &graph, size_t input, Layout layout)
        : PictureWalk(module, graph)
    {
        const Value *picture = graph->inputs().at(input);
        mark(picture, samples);
        merge_axes(picture, PictureAxes(layout));
        dependence_[picture] = Footprints();
    }

    Locality find()
    {
        follow_all();
        reports_ = true;
        walk(*graph_->block());
        return {.nonlocal_operator = found_, .kernels = kernels()};
    }

private:
    void carry(const Value *from, const Value *to) override
    {
        mark(to, marks_of(from));
        merge_axes(to, axes_of(from));
        if (const auto found = dependence_.find(from); found != dependence_.end())
            merge_dependence(to, found->second);
    }

    // An iteration may widen the reach of the next one without end: then it is unknown.
    void carry_back(const Value *from, const Value *to) override
    {
        mark(to, marks_of(from));
        merge_axes(to, axes_of(from));
        const auto found = dependence_.find(from), known = dependence_.find(to);
        const bool is_other = found != dependence_.end() &&
                              (known == dependence_.end() || known->second != found->second);
        if (is_other)
            merge_dependence(to, std::nullopt);
    }

    void report(const std::string &what)
    {
        if (reports_ && found_.empty())
            found_ = what;
    }

    // ---- how far kernels reach

    // Once the reach is unknown, it is unknown for all that depends on it.
    void merge_dependence(const Value *value, const std::optional<Footprints> &on)
    {
        const auto [known, is_new] = dependence_.try_emplace(value, on);
        if (is_new) {
            changed_ = true;
            return;
        }
        const auto joined = known->second && on ? hull(*known->second, *on) : std::nullopt;
        changed_ = changed_ || joined != known->second;
        known->second = joined;
    }

    // Returns the hull over all inputs that depend on samples.  Returns nullopt if one is unknown.
    std::optional<Footprints> dependence_of_inputs(const Node &node) const
    {
        std::optional<Footprints> all;
        for (const Value *input : node.inputs()) {
            const auto found = is_of_samples(input) ? dependence_.find(input) : dependence_.end();
            if (found == dependence_.end())
                continue;
            all = !found->second ? std::nullopt : all ? hull(*all, *found->second) : found->second;
            if (!all)
                return std::nullopt;
        }
        return all;
    }

    std::optional<Footprints> dependence_after(const Node &node, const std::string &name) const
    {
        const auto given = dependence_of_inputs(node);
        if (!given)
            return std::nullopt;
        if (stays_in_place(node, name))
            return given;
        const bool is_only_one = is_of_samples(node.input(0)) && !others_are_of_samples(node);
        return is_only_one ? after_kernel(node, name, *given, axes_of(node.input(0)), known_)
                           : std::nullopt;
    }

    std::optional<std::array<KernelReach, 2>> kernels() const
    {
        std::optional<Footprints> all;
        for (const Value *output : graph_->outputs()) {
            const auto found = dependence_.find(output);
            if (!is_of_samples(output))
                continue;
            if (found == dependence_.end() || !found->second)
                return std::nullopt;
            all = all ? hull(*all, *found->second) : found->second;
            if (!all)
                return std::nullopt;
        }
        if (!all)
            return std::nullopt;
        return std::array{reach_of((*all)[0]), reach_of((*all)[1])};
    }

    // ---- the walk

    void visit(const Node &node) override
    {
        switch (node.kind()) {
        case prim::If:
            return choose(node);
        case prim::Loop:
            return repeat(node);
        case prim::Constant:
        case prim::GetAttr:
        case prim::RaiseException:
        case prim::Uninitialized:
            return;
        case prim::ListConstruct:
        case prim::TupleConstruct:
            return visit_list(node);
        case prim::unchecked_cast:
        case prim::unchecked_unwrap_optional:
            return carry(node.input(), node.output());
        default:
            break;
        }
        const bool is_unknown = node.hasAttribute(c10::attr::Subgraph) || !node.blocks().empty() ||
                                node.kind() == prim::CallMethod;
        if (is_unknown && (marks_of_inputs(node) & samples))
            report(operator_name(node));
        compute(node);
    }

    void decide(const Node &node, unsigned marks) override
    {
        if (node.kind() == prim::Loop)
            return report_loop(marks);
        const Block *yes = node.blocks().at(0), *no = node.blocks().at(1);
        if (marks & samples)
            report("a branch on samples");
        if ((marks & extents) && !raises(*yes) && !raises(*no) &&
            !(only_changes_borders(*yes) && only_changes_borders(*no)))
            report("a branch on the picture's size");
        for (const Value *output : node.outputs())
            if (!is_tensor_value(*output))
                mark(output, marks);
    }

    void report_loop(unsigned marks)
    {
        if (marks & samples)
            report("a loop over samples");
        else if (marks & extents)
            report("a loop over the picture's size");
    }

    // A list stands for what its elements have in common.
    void visit_list(const Node &node)
    {
        for (const Value *input : node.inputs()) {
            mark(node.output(), marks_of(input));
            if (is_of_samples(input)) {
                merge_axes(node.output(), axes_of(input));
                carry(input, node.output());
            }
        }
    }

    // ---- operators

    void compute(const Node &node)
    {
        const std::string name = operator_name(node);
        if (reads_only_extents(node, name))
            return;
        const unsigned given = marks_of_inputs(node);
        unsigned marks = (given & ~unsigned{compared}) | marks_of_extents(node, name, given);
        std::optional<Footprints> result;
        if (given & samples) {
            if (computes_with_extents(node, name))
                report("samples that are computed with the picture's size");
            check(node, name, marks);
            if (compares(name))
                marks |= compared;
            if (is_discontinuous(node, name))
                marks |= discontinuous;
            result = dependence_after(node, name);
            if ((given & discontinuous) && !result && !stays_in_place(node, name))
                report(name + " of the outcome of a comparison or lookup");
            else if (compares(name) && !result)
                report("a comparison that may depend on far samples");
        }
        if (makes_counted_list(node, name))
            marks |= counted;
        for (const Value *output : node.outputs()) {
            mark_result(output, marks);
            if (given & samples) {
                merge_axes(output, axes_after(node, name));
                merge_dependence(output, result);
            }
        }
        if (writes_first(node))
            write(node.input(0), marks, result);
    }

    void mark_result(const Value *result, unsigned marks)
    {
        mark(result, is_tensor_value(*result) ? marks & ~unsigned{counted} : marks);
    }

    // What an operator makes of the picture's extents alone.  Trials are of few sizes, and hardly
    // change the area or the shorter side.
    unsigned marks_of_extents(const Node &node, const std::string &name, unsigned given) const
    {
        if (!(given & spatial) || (given & samples))
            return 0;
        if (makes_places(name))
            return places;
        const bool is_scaled = !node.inputs().empty() && is_tensor_value(*node.input(0)) &&
                               (name == "select" || computes_each(name)) && takes_extents(node);
        const bool is_reduced =
            reduces(name) && !node.kind().is_prim() && is_tensor_value(*node.input(0));
        const bool is_compared = (given & places) && (compares(name) || rounds(name));
        const bool is_filled = fills(name) && takes_extents(node);
        return is_scaled || is_reduced || is_compared || is_filled || takes_values(name)
                   ? unsigned{measures}
                   : 0U;
    }

    // Whether the operator computes samples with numbers that follow from the extents.
    bool computes_with_extents(const Node &node, const std::string &name) const
    {
        if (name == "slice") {
            const Value *step = argument(node, "step");
            return step && (marks_of(step) & spatial);
        }
        if (!computes_each(name) && operator_reach(name) != OperatorReach::picture)
            return false;
        return takes_extents(node) ||
               std::any_of(node.inputs().begin(), node.inputs().end(), [&](const Value *input) {
                   const unsigned marks = marks_of(input);
                   return is_tensor_value(*input) && (marks & measures) && !(marks & samples);
               });
    }

    // Whether a change of samples may not show in the result.
    bool is_discontinuous(const Node &node, const std::string &name) const
    {
        const bool looks_up =
            operator_reach(name) == OperatorReach::gather && rest_is_of_samples(node);
        const bool has_mode = argument(node, "rounding_mode") != nullptr; // of a division
        const bool returns_place =
            (name == "max" || name == "min" || name == "median") && node.outputs().size() > 1;
        return rounds(name) || (has_mode && !is_none(argument(node, "rounding_mode"))) ||
               looks_up || returns_place || operator_reach(name) == OperatorReach::loses_nan ||
               operator_reach(name) == OperatorReach::choice ||
               (name == "to" && makes_whole_numbers(node));
    }

    static bool writes_first(const Node &node)
    {
        const c10::FunctionSchema *schema = node.maybeSchema();
        return schema && !schema->arguments().empty() && !node.inputs().empty() &&
               schema->arguments().front().alias_info() &&
               schema->arguments().front().alias_info()->isWrite();
    }

    // What is written to a view also changes the memory that it is a view of.
    void write(const Value *into, unsigned marks, const std::optional<Footprints> &result)
    {
        for (int depth = 0; depth < 16; depth++) {
            mark_result(into, marks);
            if (marks & samples)
                merge_dependence(into, depth == 0 || is_unmoved(*into) ? result : std::nullopt);
            if ((marks & samples) && is_tensor_value(*into) && !axes_of(into).is_met())
                merge_axes(into, PictureAxes::unknown());
            const Node &maker = *into->node();
            if (maker.inputs().empty() || !makes_view(operator_name(maker)))
                return;
            into = maker.input(0);
        }
    }

    // Whether writes to views of the value change it at the same places.
    bool is_unmoved(const Value &value) const
    {
        return std::all_of(value.uses().begin(), value.uses().end(), [&](const auto &use) {
            const std::string name = operator_name(*use.user);
            return !makes_view(name) || stays_in_place(*use.user, name);
        });
    }

    void check(const Node &node, const std::string &name, unsigned &marks)
    {
        if (name == "where" && node.inputs().size() == 1)
            return report(name); // returns places
        switch (operator_reach(name)) {
        case OperatorReach::statistic:
        case OperatorReach::choice:
            return check_statistic(node, name, marks);
        case OperatorReach::whole_picture:
            return report_unless_fixed(node, name);
        case OperatorReach::gather:
            if (is_of_samples(node.input(0)) && rest_is_of_samples(node) &&
                !is_along_other_axis(node))
                report(name);
            return;
        case OperatorReach::scatter:
            return check_scatter(node, name);
        case OperatorReach::number:
            if (is_tensor_value(*node.input(0)) && is_of_samples(node.input(0)))
                report(name == "item" ? name : "a number that is read from a sample");
            return;
        case OperatorReach::resize:
            return check_size(node, name);
        case OperatorReach::loses_nan:
            if (marks & statistics)
                report("a statistic that is compared");
            return;
        default:
            if (name == "to" && (marks & statistics) && makes_whole_numbers(node))
                report("a statistic that is rounded");
            if (name.find("pool") != std::string::npos)
                check_kernel(node, name);
            return;
        }
    }

    bool makes_whole_numbers(const Node &node) const
    {
        const auto type = numbers(argument(node, "dtype"));
        constexpr int64_t last_integer = 4, boolean = 11;
        return type && type->size() == 1 &&
               (type->front() <= last_integer || type->front() == boolean);
    }

    void check_statistic(const Node &node, const std::string &name, unsigned &marks)
    {
        if (argument(node, "other") || node.kind().is_prim() || !is_tensor_value(*node.input(0)))
            return; // the larger of two tensors, or of numbers
        const PictureAxes &axes = axes_of(node.input(0));
        bool is_far = true;
        if (name == "layer_norm") {
            const auto shape = numbers(argument(node, "normalized_shape"));
            is_far = !axes.is_known() || !shape || axes.any_of_last(shape->size());
        } else {
            const Value *which = axis_argument(node);
            const auto over = numbers(which);
            const bool has_default = !which && takes_last(name);
            if ((!which && !has_default) || is_none(which) || (over && over->empty()))
                return report(name);
            const std::vector<int64_t> all =
                has_default ? std::vector<int64_t>{-1} : over.value_or(std::vector<int64_t>());
            is_far = !axes.is_known() || all.empty() ||
                     std::any_of(all.begin(), all.end(),
                                 [&](int64_t each) { return axes.is_spatial(each); });
        }
        if (!is_far)
            return;
        marks |= statistics;
        if (operator_reach(name) == OperatorReach::choice)
            report(name);
    }

    static bool takes_last(const std::string &name)
    {
        return name == "sort" || name == "argsort" || name == "topk" || name == "msort" ||
               name == "kthvalue" || name == "mode" || name.rfind("fft_", 0) == 0;
    }

    void check_scatter(const Node &node, const std::string &name)
    {
        const Value *index = index_of(node);
        const unsigned marks = index ? marks_of(index) : unsigned{samples};
        if ((marks & samples) && !writes_through_mask(node, name) && !is_along_other_axis(node))
            report(name);
    }

    void report_unless_fixed(const Node &node, const std::string &name)
    {
        const Value *measures = argument(node, "use_input_stats");
        if (measures && known_.truth_of(measures) == false)
            return;
        if (is_of_samples(node.input(0)))
            report(name);
    }

    void check_size(const Node &node, const std::string &name)
    {
        const Value *size = argument(node, "output_size");
        if (size && !is_none(size) && !(marks_of(size) & extents))
            report(name);
    }

    void check_kernel(const Node &node, const std::string &name)
    {
        const Value *kernel = argument(node, "kernel_size");
        if (kernel && (marks_of(kernel) & extents))
            report(name);
    }

    std::map<const Value *, std::optional<Footprints>> dependence_; // only of values of samples
    std::string found_;
    bool reports_ = false;
};

} // namespace

Locality locality_of(const Module &module, const std::string &input_name, Layout layout)
{
    const auto method = module.get_method("forward");
    const auto graph = method.graph()->copy();
    torch::jit::Inline(*graph);
    const auto index = method.function().getSchema().argumentIndexWithName(input_name);
    return Search(module, graph, index ? static_cast<size_t>(*index) : 1, layout).find();
}

} // namespace engine_torch
