// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "nonlocal_operator.h"

#include "graph_checks.h"
#include "graph_walk.h"
#include "kernel_reach.h"
#include "node_arguments.h"
#include "operator_reach.h"
#include "picture_axes.h"

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

// What a value was computed from.
enum Origin : unsigned {
    samples = 1U,        // samples of the picture
    extents = 2U,        // its width or height, or a dimension that may be one of them
    statistics = 4U,     // statistics over dimensions that may be spatial
    compared = 8U,       // a comparison, of which only the outcome is left
    discontinuous = 16U, // a step: small changes of samples may not show, in any trial
    places = 32U,        // coordinates of the whole picture
    measures = 64U,      // a tensor whose values follow from the width or the height
    spatial = 128U,      // certainly the width or the height, or both
    counted = 256U,      // a list whose length follows from the width or the height
};

constexpr unsigned of_extents = extents | spatial;

std::string name_of(const Node &node)
{
    std::string name = node.kind().toUnqualString();
    while (name.size() > 1 && name.back() == '_' && name[name.size() - 2] != '_')
        name.pop_back();
    return name;
}

bool is_tensor_value(const Value &value)
{
    return value.type()->isSubtypeOf(*c10::TensorType::get());
}

bool is_number(const Value &value)
{
    const c10::TypeKind kind = value.type()->kind();
    return kind == c10::TypeKind::IntType || kind == c10::TypeKind::FloatType ||
           kind == c10::TypeKind::NumberType;
}

bool is_list(const Value &value)
{
    return value.type()->kind() == c10::TypeKind::ListType;
}

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
        if (makes_tensor && node->blocks().empty() && !changes_borders(name_of(*node)))
            return false;
    }
    return true;
}

class Search final : GraphWalk
{
public:
    Search(const Module &module, const std::shared_ptr<Graph> &graph, size_t input, Layout layout)
        : GraphWalk(module, graph)
    {
        const Value *picture = graph->inputs().at(input);
        mark(picture, samples);
        axes_[picture] = PictureAxes(layout);
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
    // ---- what is known of values

    bool is_of_samples(const Value *value) const { return (marks_of(value) & samples) != 0; }

    const PictureAxes &axes_of(const Value *value) const
    {
        static const PictureAxes none;
        const auto found = axes_.find(value);
        return found == axes_.end() ? none : found->second;
    }

    void merge_axes(const Value *value, const PictureAxes &axes)
    {
        if (axes_[value].join(axes))
            changed_ = true;
    }

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

    bool is_none(const Value *value) const
    {
        const auto known = value ? known_.value_of(value) : std::nullopt;
        return known && known->isNone();
    }

    std::optional<std::vector<int64_t>> numbers(const Value *value) const
    {
        return engine_torch::numbers(known_, value);
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

    // Whether a sample of the result only depends on the inputs' samples at the same place.
    bool stays_in_place(const Node &node, const std::string &name) const
    {
        const Value *first = node.inputs().empty() ? nullptr : node.input(0);
        const PictureAxes &axes = axes_of(first);
        if (moves_samples(name))
            return false;
        switch (operator_reach(name)) {
        case OperatorReach::elementwise:
            return name == "linear" ? axes.is_known() && !axes.is_spatial(-1)
                                    : name != "cat" || joins_along_other_axis(node);
        case OperatorReach::loses_nan:
            return true;
        case OperatorReach::statistic:
        case OperatorReach::choice:
            return argument(node, "other") || is_along_other_axes(node, name, axes);
        case OperatorReach::gather: // of a table
            return !is_of_samples(first) || is_along_other_axis(node);
        case OperatorReach::scatter:
            return is_along_other_axis(node) || writes_through_mask(node, name);
        default:
            return name == "ListUnpack" || name == "TupleUnpack" || name == "TupleIndex" ||
                   name == "stack" || name == "__getitem__" || name == "append" ||
                   name == "expand" || name == "expand_as" || name == "unsqueeze" ||
                   name == "one_hot" || keeps_places(node, name, axes);
        }
    }

    // Operators along one or more dimensions, which may be width or height.
    bool keeps_places(const Node &node, const std::string &name, const PictureAxes &axes) const
    {
        if (!axes.is_known())
            return false;
        if (name == "permute" || name == "transpose")
            return keeps_order(node, name, axes);
        const auto over = numbers(axis_argument(node));
        const bool is_cut = name == "select" || name == "squeeze" || name == "chunk" ||
                            name == "split" || name == "split_with_sizes" || name == "unbind" ||
                            name == "tensor_split" || name == "index_select";
        return is_cut && over && are_other_axes(*over, axes);
    }

    bool joins_along_other_axis(const Node &node) const
    {
        const auto over = numbers(argument(node, "dim"));
        const PictureAxes &axes = axes_of(node.input(0));
        return over && axes.is_known() && are_other_axes(*over, axes);
    }

    static bool are_other_axes(const std::vector<int64_t> &dimensions, const PictureAxes &axes)
    {
        return std::none_of(dimensions.begin(), dimensions.end(),
                            [&](int64_t each) { return axes.is_spatial(each); });
    }

    // Whether height still comes before width.
    bool keeps_order(const Node &node, const std::string &name, const PictureAxes &axes) const
    {
        if (name == "transpose") {
            const auto one = numbers(argument(node, "dim0")),
                       other = numbers(argument(node, "dim1"));
            return one && other && are_other_axes({one->front(), other->front()}, axes);
        }
        std::optional<size_t> before;
        for (const int64_t each : numbers(argument(node, "dims")).value_or(std::vector<int64_t>()))
            if (const auto place = axes.spatial_place(each)) {
                if (before && *before > *place)
                    return false;
                before = place;
            }
        return before.has_value();
    }

    bool is_along_other_axes(const Node &node, const std::string &name,
                             const PictureAxes &axes) const
    {
        if (!axes.is_known())
            return false;
        if (name == "layer_norm") {
            const auto shape = numbers(argument(node, "normalized_shape"));
            return shape && !axes.any_of_last(shape->size());
        }
        const auto over = numbers(axis_argument(node));
        return over && !over->empty() && are_other_axes(*over, axes);
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

    bool others_are_of_samples(const Node &node) const
    {
        return std::any_of(node.inputs().begin() + 1, node.inputs().end(), [&](const Value *each) {
            return is_tensor_value(*each) && is_of_samples(each);
        });
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
            report(name_of(node));
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
        const std::string name = name_of(node);
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

    // Elements that are put into a list do not say how long it becomes.
    bool makes_counted_list(const Node &node, const std::string &name) const
    {
        if (node.outputs().size() != 1 || !is_list(*node.output()) || name == "append" ||
            name == "insert" || name == "_set_item" || name == "ListConstruct")
            return false;
        return takes_extents(node) || (makes_pieces(name) && cuts_picture(node));
    }

    bool cuts_picture(const Node &node) const
    {
        const Value *dimension = argument(node, "dim");
        const auto over = dimension ? numbers(dimension) : std::vector<int64_t>{0};
        return !over || (extent_of(node.input(0), over->front()) & spatial);
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

    // Whether a single number, or a text, follows from the extents.
    bool takes_extents(const Node &node) const
    {
        return std::any_of(node.inputs().begin(), node.inputs().end(), [&](const Value *input) {
            const bool is_text = input->type()->kind() == c10::TypeKind::StringType;
            return (is_number(*input) || is_text) && (marks_of(input) & spatial);
        });
    }

    static bool computes_each(const std::string &name)
    {
        const OperatorReach reach = operator_reach(name);
        return (reach == OperatorReach::elementwise || reach == OperatorReach::loses_nan) &&
               !moves_samples(name) && name != "cat";
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
            if (maker.inputs().empty() || !makes_view(name_of(maker)))
                return;
            into = maker.input(0);
        }
    }

    // Whether writes to views of the value change it at the same places.
    bool is_unmoved(const Value &value) const
    {
        return std::all_of(value.uses().begin(), value.uses().end(), [&](const auto &use) {
            const std::string name = name_of(*use.user);
            return !makes_view(name) || stays_in_place(*use.user, name);
        });
    }

    // Handles operators that read extents, strides and lengths but no samples.
    bool reads_only_extents(const Node &node, const std::string &name)
    {
        if (name == "size" || name == "numel" || name == "sym_size" || name == "sym_numel") {
            read_size(node, name);
            return true;
        }
        if (name == "stride" || name == "storage_offset") {
            const unsigned marks = marks_of(node.input(0));
            mark(node.output(), marks & samples ? of_extents : marks & of_extents);
            return true;
        }
        if (name == "len") {
            read_length(*node.input(0), *node.output());
            return true;
        }
        if ((name == "__getitem__" && reads_extent(node)) ||
            (name == "ListUnpack" && reads_extents(node)))
            return true;
        const bool is_attribute = node.kind().is_prim() && name != "tolist" && name != "min" &&
                                  name != "max" && node.inputs().size() == 1 &&
                                  node.outputs().size() == 1 && is_tensor_value(*node.input(0)) &&
                                  !is_tensor_value(*node.output());
        return name == "dim" || name == "is_cuda" || name == "is_floating_point" ||
               name == "ndimension" || name == "__is__" || name == "__isnot__" || is_attribute;
    }

    void read_size(const Node &node, const std::string &name)
    {
        const Value *of = node.input(0);
        const bool is_all = name == "numel" || name == "sym_numel";
        if (const auto which = numbers(argument(node, "dim")))
            mark(node.output(), extent_of(of, which->front()));
        else if (!is_of_samples(of))
            mark(node.output(), marks_of(of) & of_extents);
        else
            mark(node.output(), is_all || axes_of(of).is_known() ? of_extents : unsigned{extents});
    }

    void read_length(const Value &of, const Value &length)
    {
        if (is_tensor_value(of))
            mark(&length, extent_of(&of, 0));
        else if (!is_list(of))
            mark(&length, marks_of(&of) & of_extents);
        else if (marks_of(&of) & counted)
            mark(&length, of_extents);
    }

    // What the extent of a dimension follows from.  The batch and the channels do not depend on the
    // picture's size.
    unsigned extent_of(const Value *of, int64_t dimension) const
    {
        for (int depth = 0; depth < 16; depth++) {
            if (!is_of_samples(of))
                return marks_of(of) & of_extents;
            if (const PictureAxes &axes = axes_of(of); axes.is_known())
                return axes.is_spatial(dimension) ? of_extents : 0U;
            const Node &node = *of->node();
            const std::string name = name_of(node);
            if (name == "view" || name == "reshape")
                return extent_in_shape(node.input(1), dimension);
            if (name == "flatten")
                return extent_of_flat(node, dimension);
            if (name == "im2col")
                return dimension == 2 || dimension == -1 ? of_extents : 0U;
            if (name == "linear" || !computes_each(name) || others_are_of_samples(node))
                return extents;
            of = node.input(0);
        }
        return extents;
    }

    unsigned extent_in_shape(const Value *shape, int64_t dimension) const
    {
        const Node *list = builder_of_list(known_, shape);
        const auto rank = list ? static_cast<int64_t>(list->inputs().size()) : 0;
        const int64_t index = dimension < 0 ? dimension + rank : dimension;
        if (index < 0 || index >= rank)
            return extents;
        const Value *extent = list->input(static_cast<size_t>(index));
        const auto number = numbers(extent);
        if (!number)
            return marks_of(extent) & of_extents;
        if (number->front() >= 0)
            return 0;
        return marks_of_inputs(*list) & spatial ? unsigned{extents} : of_extents;
    }

    unsigned extent_of_flat(const Node &node, int64_t dimension) const
    {
        const auto first = numbers(argument(node, "start_dim")),
                   last = numbers(argument(node, "end_dim"));
        if (!first || !last)
            return extents;
        const PictureAxes axes = axes_of(node.input(0)).flattened(first->front(), last->front());
        if (!axes.is_known())
            return extents;
        return axes.is_spatial(dimension) ? of_extents : 0U;
    }

    static bool is_shape(const Value &list)
    {
        return name_of(*list.node()) == "size" && list.node()->inputs().size() == 1;
    }

    bool reads_extent(const Node &node)
    {
        const auto which = numbers(node.input(1));
        if (!is_shape(*node.input(0)) || !which)
            return false;
        mark(node.output(), extent_of(node.input(0)->node()->input(), which->front()));
        return true;
    }

    bool reads_extents(const Node &node)
    {
        if (!is_shape(*node.input()))
            return false;
        for (size_t i = 0; i < node.outputs().size(); i++)
            mark(node.output(i), extent_of(node.input()->node()->input(), static_cast<int64_t>(i)));
        return true;
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

    // Returns null if the operator has no such argument.
    const Value *axis_argument(const Node &node) const
    {
        const Value *axis = argument(node, "dim");
        return axis ? axis : argument(node, "axis");
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

    bool rest_is_of_samples(const Node &node) const
    {
        return std::any_of(node.inputs().begin() + 1, node.inputs().end(),
                           [&](const Value *each) { return is_of_samples(each); });
    }

    // Whether places are given along a dimension that is not spatial.
    bool is_along_other_axis(const Node &node) const
    {
        const auto over = numbers(axis_argument(node));
        const PictureAxes &axes = axes_of(node.input(0));
        return over && over->size() == 1 && axes.is_known() && !axes.is_spatial(over->front());
    }

    static const Value *index_of(const Node &node)
    {
        const Value *index = argument(node, "index");
        return index ? index : argument(node, "indices");
    }

    // A mask selects places of the picture and moves nothing.
    bool writes_through_mask(const Node &node, const std::string &name) const
    {
        const Value *index = index_of(node), *values = argument(node, "values");
        return index && name.find("index_put") != std::string::npos && is_mask_list(*index) &&
               values && !is_of_samples(values);
    }

    void check_scatter(const Node &node, const std::string &name)
    {
        const Value *index = index_of(node);
        const unsigned marks = index ? marks_of(index) : unsigned{samples};
        if ((marks & samples) && !writes_through_mask(node, name) && !is_along_other_axis(node))
            report(name);
    }

    bool is_mask_list(const Value &list) const
    {
        return list.node()->kind() == prim::ListConstruct && list.node()->inputs().size() == 1 &&
               (marks_of(list.node()->input(0)) & compared);
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

    // ---- the axes of results

    PictureAxes axes_after(const Node &node, const std::string &name) const
    {
        const Value *first = node.inputs().empty() ? nullptr : node.input(0);
        const PictureAxes &axes = axes_of(first);
        const auto over = numbers(argument(node, "dim"));
        if (name == "permute")
            return axes.permuted(numbers(argument(node, "dims")).value_or(std::vector<int64_t>()));
        if (name == "transpose") {
            const auto one = numbers(argument(node, "dim0")),
                       other = numbers(argument(node, "dim1"));
            return one && other ? axes.transposed(one->front(), other->front())
                                : PictureAxes::unknown();
        }
        if ((name == "unsqueeze" || name == "stack") && over)
            return axes.with(over->front());
        if ((name == "select" || name == "squeeze") && over)
            return axes.without(*over);
        switch (operator_reach(name)) {
        case OperatorReach::picture:
        case OperatorReach::resize:
            return axes.is_known() ? axes : PictureAxes(Layout::nchw);
        case OperatorReach::statistic:
        case OperatorReach::choice:
            return after_statistic(node, name, axes);
        case OperatorReach::gather:
            return after_look_up(node, name);
        case OperatorReach::elementwise:
        case OperatorReach::loses_nan:
            return common_axes(node);
        default:
            return name == "ListUnpack" || name == "chunk" || name == "split" ||
                           name == "tensor_split" || name == "__getitem__" || name == "append" ||
                           name == "instance_norm" || name == "group_norm"
                       ? axes
                       : PictureAxes::unknown();
        }
    }

    // A lookup in a table of scalars, rows or channels yields one entry for each place.
    PictureAxes after_look_up(const Node &node, const std::string &name) const
    {
        if (is_of_samples(node.input(0)))
            return PictureAxes::unknown();
        if (const Value *grid = argument(node, "grid"))
            return axes_of(grid).without({-1}).with(1);
        const Value *index = index_of(node);
        if (!index)
            return PictureAxes::unknown();
        const PictureAxes &axes = axes_of(index);
        if (name == "embedding")
            return axes.with(-1);
        const auto table = known_.value_of(node.input(0));
        const bool is_flat = table && table->isTensor() && table->toTensor().dim() == 1;
        const bool is_one = name == "take" || index->node()->inputs().size() == 1;
        return is_one && (name == "take" || is_flat) ? axes : PictureAxes::unknown();
    }

    PictureAxes after_statistic(const Node &node, const std::string &name,
                                const PictureAxes &axes) const
    {
        if (name == "softmax" || name == "log_softmax" || name == "layer_norm" ||
            name.rfind("cum", 0) == 0 || argument(node, "other") || keeps_extents(name))
            return axes;
        const Value *keeps = argument(node, "keepdim");
        const auto truth = keeps ? known_.truth_of(keeps) : std::nullopt;
        const auto over = numbers(argument(node, "dim"));
        if (!truth || !over)
            return PictureAxes::unknown();
        return *truth ? axes : axes.without(*over);
    }

    static bool keeps_extents(const std::string &name)
    {
        return name == "sort" || name == "argsort" || name == "topk";
    }

    // Operands are broadcast to the largest rank.
    PictureAxes common_axes(const Node &node) const
    {
        PictureAxes common;
        for (const Value *input : node.inputs())
            if (is_of_samples(input))
                common.join(axes_of(input));
        return common;
    }

    std::map<const Value *, PictureAxes> axes_;
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
