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
#include <set>
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

constexpr int most_views = 64; // of one memory that are followed

bool makes_tensor(const Node &node)
{
    return std::any_of(node.outputs().begin(), node.outputs().end(), [](const Value *each) {
        return is_tensor_value(*each) ||
               (is_list(*each) &&
                each->type()->containedType(0)->isSubtypeOf(*c10::TensorType::get()));
    });
}

class Search final : PictureWalk
{
public:
    Search(const Module &module, const std::shared_ptr<Graph> &graph, size_t input, Layout layout)
        : PictureWalk(module, graph), picture_(graph->inputs().at(input))
    {
        mark(picture_, samples);
        merge_axes(picture_, PictureAxes(layout));
        set_dependence(picture_, Footprints()); // also where no code follows
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

    // Outside of loops, code is followed in its order: what a value depends on is found anew in
    // each pass, and is what it was when it was computed, before anything else was written to it.
    void set_dependence(const Value *value, const std::optional<Footprints> &on)
    {
        forget_dependence(value);
        merge_dependence(value, on);
    }

    void forget_dependence(const Value *of)
    {
        if (loops_ == 0 && !written_in_loops_.count(of))
            dependence_.erase(of);
    }

    void forget_dependences(const Node &of)
    {
        for (const Value *output : of.outputs())
            forget_dependence(output);
    }

    // Once the reach is unknown, it is unknown for all that depends on it.  What a loop writes may
    // depend on what it wrote before, and so on without an end.
    void merge_dependence(const Value *value, const std::optional<Footprints> &on)
    {
        constexpr int most_passes = 16;
        const auto [known, is_new] = dependence_.try_emplace(value, on);
        const bool is_known = known->second && on && passes_ <= most_passes;
        const auto joined = is_known ? hull(*known->second, *on) : std::nullopt;
        changed_ = changed_ || (loops_ > 0 && (is_new || joined != known->second));
        known->second = joined;
    }

    void merge_written(const Value *value, const std::optional<Footprints> &on)
    {
        if (loops_ > 0)
            written_in_loops_.insert(value);
        merge_dependence(value, on);
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
        if (&node == *graph_->block()->nodes().begin())
            set_dependence(picture_, Footprints()); // again in each pass
        switch (node.kind()) {
        case prim::If:
            forget_dependences(node);
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
            forget_dependences(node);
            return carry(node.input(), node.output());
        case prim::SetAttr:
            if (marks_of(node.input(1)) & extents)
                report("a picture's size that an object keeps");
            return;
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
        if ((marks & extents) && !raises(*yes) && !raises(*no) && !only_changes_borders(node))
            report("a branch on the picture's size");
        for (const Value *output : node.outputs())
            if (!is_tensor_value(*output))
                mark(output, marks);
    }

    // Whether both branches return the same pictures, but for their borders.
    bool only_changes_borders(const Node &branch) const
    {
        for (const Block *block : branch.blocks())
            for (const Node *node : nodes_in(*block))
                if (makes_tensor(*node) && node->blocks().empty() && !changes_borders(*node))
                    return false;
        for (size_t i = 0; i < branch.outputs().size(); i++)
            if (is_tensor_value(*branch.outputs()[i]) &&
                without_borders(branch.blocks().at(0)->outputs()[i]) !=
                    without_borders(branch.blocks().at(1)->outputs()[i]))
                return false;
        return true;
    }

    // Whether nothing but width and height becomes larger or smaller.
    bool changes_borders(const Node &node) const
    {
        const std::string name = operator_name(node);
        if (!engine_torch::changes_borders(name))
            return false;
        const PictureAxes &axes = axes_of(node.input(0));
        if (name == "slice" || name == "narrow") {
            const auto over = numbers(argument(node, "dim"));
            return !axes.is_known() || (over && axes.is_spatial(over->front()));
        }
        const Node *sides = builder_of_list(known_, node.input(1));
        return !axes.is_known() || !sides || !axes.is_spatial(-1) || !axes.is_spatial(-2) ||
               sides->inputs().size() <= 4;
    }

    const Value *without_borders(const Value *value) const
    {
        for (int depth = 0; depth < 64; depth++) {
            const Node &node = *value->node();
            if (node.kind() == prim::If) {
                const auto truth = known_.truth_of(node.input());
                value = node.blocks().at(truth == false ? 1 : 0)->outputs().at(value->offset());
            } else if (node.kind() == prim::unchecked_cast ||
                       engine_torch::changes_borders(operator_name(node))) {
                value = node.input(0);
            } else {
                return value;
            }
        }
        return value;
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
        forget_dependences(node);
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
                set_dependence(output, result);
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
        if (!(given & spatial) || (given & samples) || !makes_tensor(node))
            return 0;
        if (makes_places(name))
            return begins_with_extent(node, name) ? places | measures : unsigned{places};
        const bool is_arranged = computes_each(name) || moves_samples(name) || arranges(name);
        const bool is_compared =
            (given & places) && (compares(name) || rounds(name) || name == "select");
        const bool is_filled = fills(name) && takes_extent(node);
        const bool is_scaled = !node.inputs().empty() && !fills(name) && !takes_sizes(name) &&
                               !moves_samples(name) && takes_extent(node);
        return !(is_arranged || fills(name)) || is_compared || is_filled || is_scaled
                   ? unsigned{measures}
                   : 0U;
    }

    // Whether rows or columns are picked: how a border that repeats is made without a pad.
    bool reads_borders(const Node &node, const std::string &name) const
    {
        const PictureAxes &axes = axes_of(node.inputs().empty() ? nullptr : node.input(0));
        if (name == "index_select") {
            const auto over = numbers(argument(node, "dim"));
            return !axes.is_known() || (over && axes.is_spatial(over->front()));
        }
        const Node *places = name == "index" ? builder_of_list(known_, node.input(1)) : nullptr;
        if (!places)
            return false;
        for (size_t i = 0; i < places->inputs().size(); i++)
            if (axes.is_known() && is_measured(*places->input(i)) &&
                !axes.is_spatial(static_cast<int64_t>(i)))
                return false;
        return true;
    }

    bool begins_with_extent(const Node &node, const std::string &name) const
    {
        const Value *end = name == "linspace" ? argument(node, "end") : nullptr;
        for (const Value *each : {argument(node, "start"), argument(node, "step"), end})
            if (each && (marks_of(each) & spatial))
                return true;
        return false;
    }

    // Whether the operator computes samples with numbers that follow from the extents.
    bool computes_with_extents(const Node &node, const std::string &name) const
    {
        if (!makes_tensor(node))
            return false;
        if (reads_borders(node, name))
            return false;
        const size_t computing = takes_shape_of_other(name) ? 1 : node.inputs().size();
        for (size_t i = 0; i < computing; i++)
            if (is_measured(*node.input(i)))
                return true;
        if (!takes_sizes(name))
            return takes_extents(node);
        for (const char *each : {"value", "fill_value", "step"})
            if (const Value *number = argument(node, each); number && (marks_of(number) & spatial))
                return true;
        return takes_extents(node) && engine_torch::changes_borders(name) && !changes_borders(node);
    }

    // Whether values that are not samples follow from the extents.
    bool is_measured(const Value &value) const
    {
        if (is_tensor_value(value))
            return (marks_of(&value) & measures) && !is_of_samples(&value);
        const Node *list = builder_of_list(known_, &value);
        return list &&
               std::any_of(list->inputs().begin(), list->inputs().end(), [&](const Value *each) {
                   return is_tensor_value(*each) && is_measured(*each);
               });
    }

    // Whether a change of samples may not show in the result.
    bool is_discontinuous(const Node &node, const std::string &name) const
    {
        const bool looks_up =
            operator_reach(name) == OperatorReach::gather && rest_is_of_samples(node);
        const bool has_mode = argument(node, "rounding_mode") != nullptr; // of a division
        const auto power = fractions(known_, argument(node, "p"));        // of a norm: 0 counts
        const bool counts = power && !power->empty() && power->front() == 0;
        const bool reads_bits = name == "view" && argument(node, "dtype");
        const bool returns_place =
            (name == "max" || name == "min" || name == "median") && node.outputs().size() > 1;
        return rounds(name) || counts || reads_bits ||
               (has_mode && !is_none(argument(node, "rounding_mode"))) || looks_up ||
               returns_place || operator_reach(name) == OperatorReach::loses_nan ||
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

    // What is written to a view also changes the memory that it is a view of, and its other views.
    void write(const Value *into, unsigned marks, const std::optional<Footprints> &result)
    {
        const Value *written = into;
        for (int depth = 0; depth < most_views; depth++) {
            mark_result(into, marks);
            if (marks & samples)
                merge_written(into, depth == 0 || is_unmoved(*into) ? result : std::nullopt);
            if ((marks & samples) && is_tensor_value(*into) && !axes_of(into).is_met())
                merge_axes(into, PictureAxes::unknown());
            const Node &maker = *into->node();
            if (maker.kind() == prim::GetAttr && (marks & extents))
                report("a picture's size that an object keeps");
            if (maker.kind() == prim::ListConstruct || maker.kind() == prim::DictConstruct)
                for (const Value *element : maker.inputs())
                    write_element(*element, marks);
            if (maker.inputs().empty() || !makes_view(operator_name(maker))) {
                if (marks & samples)
                    write_to_views(*into, *written);
                return;
            }
            into = maker.input(0);
        }
        report("writes to memory with many views");
    }

    // It may have been written to through the container.
    void write_element(const Value &element, unsigned marks)
    {
        if (is_tensor_value(element) || is_list(element)) {
            mark_result(&element, marks);
            if (marks & samples)
                merge_written(&element, std::nullopt);
        }
    }

    // Those that were made before.
    void write_to_views(const Value &of, const Value &written)
    {
        std::vector<const Value *> views = {&of};
        for (size_t i = 0; i < views.size(); i++)
            for (const auto &use : views[i]->uses())
                for (const Value *view : use.user->outputs()) {
                    const bool is_new = makes_view(operator_name(*use.user)) &&
                                        dependence_.count(view) > 0 && view != &written &&
                                        std::find(views.begin(), views.end(), view) == views.end();
                    if (!is_new)
                        continue;
                    if (views.size() == size_t{most_views})
                        return report("writes to memory with many views");
                    merge_written(view, std::nullopt);
                    views.push_back(view);
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
    std::set<const Value *> written_in_loops_;
    const Value *const picture_;
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
