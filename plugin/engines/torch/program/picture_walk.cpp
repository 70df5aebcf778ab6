// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "picture_walk.h"

#include "node_arguments.h"
#include "operator_reach.h"

#include <algorithm>

namespace engine_torch
{

using torch::jit::Node;
using torch::jit::Value;

namespace
{

bool is_number(const c10::Type &type)
{
    switch (type.kind()) {
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::NumberType:
    case c10::TypeKind::ComplexType:
    case c10::TypeKind::BoolType:
    case c10::TypeKind::StringType:
        return true;
    case c10::TypeKind::OptionalType:
        return is_number(*type.containedType(0));
    default:
        return false;
    }
}

bool is_number_or_list(const c10::Type &type)
{
    switch (type.kind()) {
    case c10::TypeKind::ListType:
    case c10::TypeKind::OptionalType:
        return is_number_or_list(*type.containedType(0));
    default:
        return is_number(type);
    }
}

bool are_other_axes(const std::vector<int64_t> &dimensions, const PictureAxes &axes)
{
    return std::none_of(dimensions.begin(), dimensions.end(),
                        [&](int64_t each) { return axes.is_spatial(each); });
}

bool keeps_extents(const std::string &name)
{
    return name == "sort" || name == "argsort" || name == "topk";
}

bool is_shape(const Value &list)
{
    return operator_name(*list.node()) == "size" && list.node()->inputs().size() == 1;
}

} // namespace

std::string operator_name(const Node &node)
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

bool is_list(const Value &value)
{
    return value.type()->kind() == c10::TypeKind::ListType;
}

const PictureAxes &PictureWalk::axes_of(const Value *value) const
{
    static const PictureAxes none;
    const auto found = axes_.find(value);
    return found == axes_.end() ? none : found->second;
}

void PictureWalk::merge_axes(const Value *value, const PictureAxes &axes)
{
    if (axes_[value].join(axes))
        changed_ = true;
}

bool PictureWalk::is_none(const Value *value) const
{
    const auto known = value ? known_.value_of(value) : std::nullopt;
    return known && known->isNone();
}

std::optional<std::vector<int64_t>> PictureWalk::numbers(const Value *value) const
{
    return engine_torch::numbers(known_, value);
}

// ---- operators

bool PictureWalk::stays_in_place(const Node &node, const std::string &name) const
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
               name == "stack" || name == "__getitem__" || name == "append" || name == "expand" ||
               name == "expand_as" || name == "unsqueeze" || name == "one_hot" ||
               keeps_places(node, name, axes);
    }
}

bool PictureWalk::keeps_places(const Node &node, const std::string &name,
                               const PictureAxes &axes) const
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

bool PictureWalk::joins_along_other_axis(const Node &node) const
{
    const auto over = numbers(argument(node, "dim"));
    const PictureAxes &axes = axes_of(node.input(0));
    return over && axes.is_known() && are_other_axes(*over, axes);
}

bool PictureWalk::keeps_order(const Node &node, const std::string &name,
                              const PictureAxes &axes) const
{
    if (name == "transpose") {
        const auto one = numbers(argument(node, "dim0")), other = numbers(argument(node, "dim1"));
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

bool PictureWalk::is_along_other_axes(const Node &node, const std::string &name,
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

bool PictureWalk::is_along_other_axis(const Node &node) const
{
    const auto over = numbers(axis_argument(node));
    const PictureAxes &axes = axes_of(node.input(0));
    return over && over->size() == 1 && axes.is_known() && !axes.is_spatial(over->front());
}

bool PictureWalk::others_are_of_samples(const Node &node) const
{
    return std::any_of(node.inputs().begin() + 1, node.inputs().end(), [&](const Value *each) {
        return is_tensor_value(*each) && is_of_samples(each);
    });
}

bool PictureWalk::rest_is_of_samples(const Node &node) const
{
    return std::any_of(node.inputs().begin() + 1, node.inputs().end(),
                       [&](const Value *each) { return is_of_samples(each); });
}

const Value *PictureWalk::axis_argument(const Node &node) const
{
    const Value *axis = argument(node, "dim");
    return axis ? axis : argument(node, "axis");
}

const Value *PictureWalk::index_of(const Node &node)
{
    const Value *index = argument(node, "index");
    return index ? index : argument(node, "indices");
}

bool PictureWalk::writes_through_mask(const Node &node, const std::string &name) const
{
    const Value *index = index_of(node), *values = argument(node, "values");
    return index && name.find("index_put") != std::string::npos && is_mask_list(*index) && values &&
           !is_of_samples(values);
}

bool PictureWalk::is_mask_list(const Value &list) const
{
    return list.node()->kind() == c10::prim::ListConstruct && list.node()->inputs().size() == 1 &&
           (marks_of(list.node()->input(0)) & compared);
}

// ---- extents

bool PictureWalk::reads_only_extents(const Node &node, const std::string &name)
{
    if (name == "size" || name == "numel" || name == "sym_size" || name == "sym_numel") {
        read_size(node, name);
        return true;
    }
    if (name == "_shape_as_tensor") {
        mark(node.output(), of_extents | measures);
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
    if (name == "__is__" || name == "__isnot__") {
        for (const Value *input : node.inputs())
            if (!is_tensor_value(*input))
                mark(node.output(), marks_of(input) & of_extents);
        return true;
    }
    const bool is_attribute = node.kind().is_prim() && name != "tolist" && name != "min" &&
                              name != "max" && node.inputs().size() == 1 &&
                              node.outputs().size() == 1 && is_tensor_value(*node.input(0)) &&
                              !is_tensor_value(*node.output());
    return name == "dim" || name == "is_cuda" || name == "is_floating_point" ||
           name == "ndimension" || is_attribute;
}

void PictureWalk::read_size(const Node &node, const std::string &name)
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

void PictureWalk::read_length(const Value &of, const Value &length)
{
    if (is_tensor_value(of))
        mark(&length, extent_of(&of, 0));
    else if (!is_list(of))
        mark(&length, marks_of(&of) & of_extents);
    else if (marks_of(&of) & counted)
        mark(&length, of_extents);
}

unsigned PictureWalk::extent_of(const Value *of, int64_t dimension) const
{
    for (int depth = 0; depth < 16; depth++) {
        if (!is_of_samples(of))
            return marks_of(of) & of_extents;
        if (const PictureAxes &axes = axes_of(of); axes.is_known())
            return axes.is_spatial(dimension) ? of_extents : 0U;
        const Node &node = *of->node();
        const std::string name = operator_name(node);
        if (name == "view" || name == "reshape")
            return extent_in_shape(node.input(1), dimension);
        if (name == "flatten")
            return extent_of_flat(node, dimension);
        if (name == "im2col")
            return dimension == 2 || dimension == -1 ? of_extents : 0U;
        if (name == "transpose") {
            const auto one = numbers(node.input(1)), other = numbers(node.input(2));
            if (!one || !other || (one->front() < 0) != (dimension < 0) ||
                (other->front() < 0) != (dimension < 0))
                return extents;
            dimension = dimension == one->front()     ? other->front()
                        : dimension == other->front() ? one->front()
                                                      : dimension;
            of = node.input(0);
            continue;
        }
        if (name == "linear" || !computes_each(name) || others_are_of_samples(node))
            return extents;
        of = node.input(0);
    }
    return extents;
}

unsigned PictureWalk::extent_in_shape(const Value *shape, int64_t dimension) const
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

unsigned PictureWalk::extent_of_flat(const Node &node, int64_t dimension) const
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

bool PictureWalk::reads_extent(const Node &node)
{
    const auto which = numbers(node.input(1));
    if (!is_shape(*node.input(0)) || !which)
        return false;
    mark(node.output(), extent_of(node.input(0)->node()->input(), which->front()));
    return true;
}

bool PictureWalk::reads_extents(const Node &node)
{
    if (!is_shape(*node.input()))
        return false;
    for (size_t i = 0; i < node.outputs().size(); i++)
        mark(node.output(i), extent_of(node.input()->node()->input(), static_cast<int64_t>(i)));
    return true;
}

bool PictureWalk::takes_extent(const Node &node) const
{
    return std::any_of(node.inputs().begin(), node.inputs().end(), [&](const Value *input) {
        return (marks_of(input) & spatial) && is_number(*input->type());
    });
}

bool PictureWalk::takes_extents(const Node &node) const
{
    return std::any_of(node.inputs().begin(), node.inputs().end(), [&](const Value *input) {
        return (marks_of(input) & spatial) && is_number_or_list(*input->type());
    });
}

bool PictureWalk::computes_each(const std::string &name)
{
    const OperatorReach reach = operator_reach(name);
    return (reach == OperatorReach::elementwise || reach == OperatorReach::loses_nan) &&
           !moves_samples(name) && name != "cat";
}

bool PictureWalk::makes_counted_list(const Node &node, const std::string &name) const
{
    if (node.outputs().size() != 1 || !is_list(*node.output()) || name == "append" ||
        name == "insert" || name == "_set_item")
        return false;
    return takes_extent(node) || (makes_pieces(name) && cuts_picture(node));
}

bool PictureWalk::cuts_picture(const Node &node) const
{
    const Value *dimension = argument(node, "dim");
    const auto over = dimension ? numbers(dimension) : std::vector<int64_t>{0};
    return !over || (extent_of(node.input(0), over->front()) & spatial);
}

// ---- the axes of results

PictureAxes PictureWalk::axes_after(const Node &node, const std::string &name) const
{
    const Value *first = node.inputs().empty() ? nullptr : node.input(0);
    const PictureAxes &axes = axes_of(first);
    const auto over = numbers(argument(node, "dim"));
    if (name == "permute")
        return axes.permuted(numbers(argument(node, "dims")).value_or(std::vector<int64_t>()));
    if (name == "mT")
        return axes.transposed(-2, -1);
    if (name == "t" || name == "T" || name == "numpy_T")
        return axes.reversed();
    if (name == "transpose" || name == "swapaxes" || name == "swapdims") {
        const auto one = numbers(node.input(1)), other = numbers(node.input(2));
        return one && other ? axes.transposed(one->front(), other->front())
                            : PictureAxes::unknown();
    }
    if (name == "unfold")
        return axes.with(-1);
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

PictureAxes PictureWalk::after_look_up(const Node &node, const std::string &name) const
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

PictureAxes PictureWalk::after_statistic(const Node &node, const std::string &name,
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

PictureAxes PictureWalk::common_axes(const Node &node) const
{
    PictureAxes common;
    for (const Value *input : node.inputs())
        if (is_of_samples(input))
            common.join(axes_of(input));
    return common;
}

} // namespace engine_torch
