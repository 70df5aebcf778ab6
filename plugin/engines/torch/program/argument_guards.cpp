// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "argument_guards.h"

#include "graph_checks.h"
#include "operator_traits.h"
#include "sound_arguments.h"
#include "vision_operators.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <torch/csrc/jit/ir/constants.h>
#include <vector>

namespace engine_torch
{
namespace
{

using torch::jit::Graph;
using torch::jit::Node;
using torch::jit::Value;

enum class Rule {
    modulo,  // one of `bound` choices, from 0 on
    between, // from 1 to `bound`
    samples, // from -1 to `bound`
    length,  // a list of `bound` numbers
    divisor  // not 0
};

struct Guard {
    std::string_view name;
    std::string_view argument;
    Rule rule;
    int64_t bound;
};

// What goes wrong without the guard: grid_sampler* leaves its result uninitialised; interpolation
// reads beyond its input if the scale is tiny; the others divide by zero, or read weights that do
// not exist.
constexpr int64_t enough = 1 << 20, enough_layers = 1 << 10, most_samples = 16;
constexpr std::array guards = {
    Guard{"aten::grid_sampler", "interpolation_mode", Rule::modulo, 3},
    Guard{"aten::grid_sampler", "padding_mode", Rule::modulo, 3},
    Guard{"aten::grid_sampler_2d", "interpolation_mode", Rule::modulo, 3},
    Guard{"aten::grid_sampler_2d", "padding_mode", Rule::modulo, 3},
    Guard{"aten::grid_sampler_3d", "interpolation_mode", Rule::modulo, 2},
    Guard{"aten::grid_sampler_3d", "padding_mode", Rule::modulo, 3},
    Guard{"aten::reflection_pad1d", "padding", Rule::length, 2},
    Guard{"aten::reflection_pad2d", "padding", Rule::length, 4},
    Guard{"aten::reflection_pad3d", "padding", Rule::length, 6},
    Guard{"aten::pixel_shuffle", "upscale_factor", Rule::between, enough_layers},
    Guard{"aten::pixel_unshuffle", "downscale_factor", Rule::between, enough_layers},
    Guard{"aten::channel_shuffle", "groups", Rule::between, enough},
    Guard{"aten::conv1d", "groups", Rule::between, enough},
    Guard{"aten::conv2d", "groups", Rule::between, enough},
    Guard{"aten::conv3d", "groups", Rule::between, enough},
    Guard{"aten::conv_transpose1d", "groups", Rule::between, enough},
    Guard{"aten::conv_transpose2d", "groups", Rule::between, enough},
    Guard{"aten::conv_transpose3d", "groups", Rule::between, enough},
    Guard{"aten::convolution", "groups", Rule::between, enough},
    Guard{"aten::_convolution", "groups", Rule::between, enough},
    Guard{"aten::_convolution_mode", "groups", Rule::between, enough},
    Guard{"aten::group_norm", "num_groups", Rule::between, enough},
    Guard{"aten::lstm", "num_layers", Rule::between, enough_layers},
    Guard{"aten::gru", "num_layers", Rule::between, enough_layers},
    Guard{"aten::rnn_tanh", "num_layers", Rule::between, enough_layers},
    Guard{"aten::rnn_relu", "num_layers", Rule::between, enough_layers},
    Guard{"aten::_native_multi_head_attention", "num_head", Rule::between, enough},
    Guard{"aten::_transformer_encoder_layer_fwd", "num_heads", Rule::between, enough},
    Guard{"torchvision::roi_align", "pooled_height", Rule::between, enough_layers},
    Guard{"torchvision::roi_align", "pooled_width", Rule::between, enough_layers},
    Guard{"torchvision::roi_align", "sampling_ratio", Rule::samples, most_samples},
    Guard{"torchvision::roi_pool", "pooled_height", Rule::between, enough_layers},
    Guard{"torchvision::roi_pool", "pooled_width", Rule::between, enough_layers},
    Guard{"torchvision::ps_roi_align", "pooled_height", Rule::between, enough_layers},
    Guard{"torchvision::ps_roi_align", "pooled_width", Rule::between, enough_layers},
    Guard{"torchvision::ps_roi_align", "sampling_ratio", Rule::samples, most_samples},
    Guard{"torchvision::ps_roi_pool", "pooled_height", Rule::between, enough_layers},
    Guard{"torchvision::ps_roi_pool", "pooled_width", Rule::between, enough_layers},
    Guard{"torchvision::deform_conv2d", "stride_h", Rule::between, enough},
    Guard{"torchvision::deform_conv2d", "stride_w", Rule::between, enough},
    Guard{"torchvision::deform_conv2d", "dilation_h", Rule::between, enough_layers},
    Guard{"torchvision::deform_conv2d", "dilation_w", Rule::between, enough_layers},
    Guard{"torchvision::deform_conv2d", "groups", Rule::between, enough},
    Guard{"torchvision::deform_conv2d", "offset_groups", Rule::between, enough},
    Guard{"aten::remainder", "b", Rule::divisor, 0},
    Guard{"aten::floordiv", "b", Rule::divisor, 0},
    Guard{"aten::divmod", "y", Rule::divisor, 0},
    Guard{"aten::divmod", "b", Rule::divisor, 0},
    Guard{"aten::mathremainder", "b", Rule::divisor, 0},
    Guard{"aten::__round_to_zero_floordiv", "b", Rule::divisor, 0},
};

constexpr std::array<std::string_view, 4> scale_arguments = {"scales", "scales_d", "scales_h",
                                                             "scales_w"};

// ---- new values ------------------------------------------------------------------

Value *constant(Node *before, int64_t number)
{
    torch::jit::WithInsertPoint here(before);
    return before->owningGraph()->insertConstant(number);
}

Value *computed(Node *before, const char *name, c10::ArrayRef<Value *> inputs,
                const c10::TypePtr &type)
{
    Node *node = before->owningGraph()->create(c10::Symbol::fromQualString(name), inputs);
    node->insertBefore(before);
    node->output()->setType(type);
    return node->output();
}

Value *number(Node *before, const char *name, c10::ArrayRef<Value *> inputs)
{
    return computed(before, name, inputs, c10::IntType::get());
}

// Reads each element by its index, which throws if the list is shorter.
Value *of_length(Node *node, Value *list, int64_t length)
{
    std::vector<Value *> elements;
    for (int64_t i = 0; i < length; i++)
        elements.push_back(number(node, "aten::__getitem__", {list, constant(node, i)}));
    Node *result = node->owningGraph()->createList(c10::IntType::get(), elements);
    result->insertBefore(node);
    return result->output();
}

// Builds [b][b == 0], which is b, or throws if b is 0.  It has no branch.
Value *not_zero(Node *node, Value *divisor)
{
    Node *list = node->owningGraph()->createList(c10::IntType::get(), {divisor});
    list->insertBefore(node);
    Value *is_zero = computed(node, "aten::eq", {divisor, constant(node, 0)}, c10::BoolType::get());
    Value *index = number(node, "aten::Int", {is_zero});
    return number(node, "aten::__getitem__", {list->output(), index});
}

// ---- the rules --------------------------------------------------------------------

bool keeps(const Guard &guard, const c10::IValue &value)
{
    if (guard.rule == Rule::length)
        return value.isIntList() && value.toIntList().size() == static_cast<size_t>(guard.bound);
    if (!value.isInt())
        return true;
    const int64_t number = value.toInt();
    if (guard.rule == Rule::divisor)
        return number != 0;
    if (guard.rule == Rule::samples)
        return number >= -1 && number <= guard.bound;
    return guard.rule == Rule::modulo ? number >= 0 && number < guard.bound
                                      : number >= 1 && number <= guard.bound;
}

Value *kept(const Guard &guard, Node *node, Value *value)
{
    switch (guard.rule) {
    case Rule::modulo:
        return number(node, "aten::remainder", {value, constant(node, guard.bound)});
    case Rule::between:
        return number(
            node, "prim::min",
            {number(node, "prim::max", {value, constant(node, 1)}), constant(node, guard.bound)});
    case Rule::samples:
        return number(
            node, "prim::min",
            {number(node, "prim::max", {value, constant(node, -1)}), constant(node, guard.bound)});
    case Rule::length:
        return of_length(node, value, guard.bound);
    default:
        return not_zero(node, value);
    }
}

bool applies(const Guard &guard, const Value &value)
{
    return guard.rule == Rule::length ? value.type()->isSubtypeOf(*c10::ListType::ofInts())
                                      : value.type()->kind() == c10::TypeKind::IntType;
}

// Returns the argument's index in the declaration of this overload.
std::optional<size_t> place_of(std::string_view argument, const Node &node)
{
    const c10::FunctionSchema *schema = node.maybeSchema();
    if (!schema)
        return std::nullopt;
    const auto index = schema->argumentIndexWithName(std::string(argument));
    if (!index || static_cast<size_t>(*index) >= node.inputs().size())
        return std::nullopt;
    return static_cast<size_t>(*index);
}

void apply(const Guard &guard, Node *node)
{
    const auto place = place_of(guard.argument, *node);
    if (!place)
        return;
    Value *value = node->input(*place);
    const auto known = torch::jit::toIValue(value);
    if (applies(guard, *value) && !(known && keeps(guard, *known)))
        node->replaceInput(*place, kept(guard, node, value));
}

// PyTorch writes a constant or None.  Any other value may make the operator read arbitrary memory.
bool is_safe_scale(const Value *scale)
{
    constexpr double least = 1e-3, most = 1e3;
    const auto known = torch::jit::toIValue(scale);
    if (!known)
        return false;
    if (known->isNone())
        return true;
    return known->isDouble() && known->toDouble() >= least && known->toDouble() <= most;
}

bool has_unsafe_scale(const Node &node)
{
    for (const std::string_view argument : scale_arguments)
        if (const auto place = place_of(argument, node);
            place && !is_safe_scale(node.input(*place)))
            return true;
    return false;
}

// Functions of TorchScript (aten::__*) that take a size and a scale may pass both on.
bool may_have_both(const Node &node)
{
    const auto size = place_of("size", node), scale = place_of("scale_factor", node);
    return std::string_view(node.kind().toQualString()).starts_with("aten::__") && size && scale &&
           !node.input(*size)->mustBeNone() && !node.input(*scale)->mustBeNone();
}

bool may_be_none(std::string_view argument, const Node &node)
{
    const auto place = place_of(argument, node);
    return !place || node.input(*place)->type()->kind() == c10::TypeKind::NoneType ||
           node.input(*place)->type()->kind() == c10::TypeKind::OptionalType;
}

// TorchScript's own to() reads the type even if none was given, when it has to copy.
bool copies_to_nothing(const Node &node)
{
    const c10::FunctionSchema *schema = node.maybeSchema();
    const auto copy = place_of("copy", node);
    if (node.kind() != c10::aten::to || !schema || !copy ||
        schema->overload_name().rfind("prim_", 0) != 0)
        return false;
    const auto copies = torch::jit::toIValue(node.input(*copy));
    const bool never_copies = copies && copies->isBool() && !copies->toBool();
    return !never_copies && may_be_none("dtype", node) && may_be_none("device", node);
}

// Other interpolations do not read beyond the last sample.
bool trusts_scales(std::string_view name)
{
    return interpolates(name) &&
           (name.ends_with("_aa") || name.find("linear") != std::string_view::npos);
}

// The scale of the last dimension comes last.
void check_sizes(Node *node)
{
    const auto sizes = place_of("output_size", *node);
    int64_t from_last = 0;
    for (auto argument = scale_arguments.rbegin(); sizes && argument != scale_arguments.rend();
         argument++) {
        const auto place = place_of(*argument, *node);
        if (!place)
            continue;
        Value *scale = node->input(*place);
        if (scale->type()->kind() == c10::TypeKind::FloatType)
            node->replaceInput(*sizes, computed(node, sound_sizes,
                                                {node->input(0), node->input(*sizes),
                                                 constant(node, from_last), scale},
                                                c10::ListType::ofInts()));
        from_last++;
    }
}

// ---- results in given tensors (out=) ------------------------------------------------

// LibTorch uses the given tensors after it has released them.  With a single one, it returns before
// that.
bool fills_several(const Node &node)
{
    const c10::FunctionSchema *schema = node.maybeSchema();
    return schema && std::count_if(schema->returns().begin(), schema->returns().end(),
                                   [](const c10::Argument &result) {
                                       return result.alias_info() && result.alias_info()->isWrite();
                                   }) > 1;
}

// In LibTorch 2.6, aten::copy with out= uses an invalid reference.
bool copies_into(const Node &node)
{
    return std::string_view(node.kind().toQualString()) == "aten::copy" && place_of("out", node);
}

// ---- the weights' norm ------------------------------------------------------------

// aten::_weight_norm sizes its buffer of norms by the lengths, but writes as many as the direction
// has.  This computes the same in parts: v * (g / norm of v).
void replace_weight_norm(Node *node)
{
    Value *direction = node->input(0), *length = node->input(1);
    Value *norm = computed(node, "aten::norm_except_dim",
                           {direction, constant(node, 2), node->input(2)}, c10::TensorType::get());
    Value *factor = computed(node, "aten::div", {length, norm}, c10::TensorType::get());
    node->output()->replaceAllUsesWith(
        computed(node, "aten::mul", {direction, factor}, c10::TensorType::get()));
    node->destroy();
}

// ---- counts -----------------------------------------------------------------------

struct Counts {
    std::string_view name, argument;
    bool may_be_empty;
};

constexpr std::array counts = {
    Counts{"aten::bincount", "self", true},
    Counts{"aten::repeat_interleave", "repeats", true},
    Counts{"aten::lstm", "batch_sizes", false},
    Counts{"aten::gru", "batch_sizes", false},
    Counts{"aten::rnn_tanh", "batch_sizes", false},
    Counts{"aten::rnn_relu", "batch_sizes", false},
};

void check_counts(const Counts &checked, Node *node)
{
    const auto place = place_of(checked.argument, *node);
    if (!place || node->input(*place)->type()->kind() != c10::TypeKind::TensorType)
        return;
    torch::jit::WithInsertPoint here(node);
    Value *may_be_empty = node->owningGraph()->insertConstant(checked.may_be_empty);
    node->replaceInput(*place, computed(node, sound_counts, {node->input(*place), may_be_empty},
                                        c10::TensorType::get()));
}

// ---- types ------------------------------------------------------------------------

// The operators declare ScalarType; TorchScript's primitives declare int.
bool is_type_argument(const c10::Argument &argument)
{
    return argument.name() == "dtype" ||
           argument.real_type()->str().find("ScalarType") != std::string::npos;
}

bool is_sound_type(const Value &value)
{
    if (value.node()->kind() == c10::prim::dtype) // a tensor's own type
        return true;
    const auto known = torch::jit::toIValue(&value);
    return known && (known->isNone() || (known->isInt() && is_type(known->toInt())));
}

void check_types(Node *node)
{
    const c10::FunctionSchema *schema = node->maybeSchema();
    if (!schema)
        return;
    const size_t count = std::min(schema->arguments().size(), node->inputs().size());
    for (size_t i = 0; i < count; i++) {
        Value *value = node->input(i);
        const bool is_number =
            value->type()->isSubtypeOf(*c10::OptionalType::create(c10::IntType::get()));
        if (is_number && is_type_argument(schema->arguments()[i]) && !is_sound_type(*value))
            node->replaceInput(i, computed(node, sound_type, {value}, value->type()));
    }
}

// ---- decompositions ---------------------------------------------------------------

bool decomposes(std::string_view name, const Node &node)
{
    static constexpr std::array<std::string_view, 16> names = {
        "cond",  "eig",         "eigh",   "eigvals",     "eigvalsh",    "lstsq",
        "orgqr", "matrix_norm", "pinv",   "pinverse",    "matrix_rank", "qr",
        "svd",   "svdvals",     "symeig", "nuclear_norm"};
    for (const std::string_view prefix : {"aten::linalg_", "aten::"})
        if (name.starts_with(prefix)) {
            name.remove_prefix(prefix.size());
            break;
        }
    if (name == "norm") { // norms of vectors decompose nothing
        const auto order = place_of("ord", node);
        return order && !node.input(*order)->mustBeNone();
    }
    return std::find(names.begin(), names.end(), name) != names.end();
}

void check_reals(Node *node)
{
    node->replaceInput(0, computed(node, sound_reals, {node->input(0)}, node->input(0)->type()));
}

// ---- Fourier transforms -------------------------------------------------------------

// Over no dimension, LibTorch 1.13 returns uninitialised memory.
void check_dimensions(Node *node)
{
    const auto place = place_of("dim", *node);
    if (!place)
        return;
    Value *dimensions = node->input(*place);
    const bool is_list =
        dimensions->type()->isSubtypeOf(*c10::OptionalType::create(c10::ListType::ofInts()));
    const auto known = torch::jit::toIValue(dimensions);
    const bool is_sound =
        known && (known->isNone() || (known->isIntList() && !known->toIntList().empty()));
    if (is_list && !is_sound)
        node->replaceInput(*place,
                           computed(node, sound_dimensions, {dimensions}, dimensions->type()));
}

// ---- circular padding -----------------------------------------------------------------

bool may_be_circular(const Node &node)
{
    const std::string_view name = node.kind().toQualString();
    if (name != "aten::pad")
        return name == "aten::_pad_circular" || name == "aten::_pad_enum";
    const auto place = place_of("mode", node);
    if (!place)
        return false;
    const auto mode = torch::jit::toIValue(node.input(*place));
    return !mode || !mode->isString() || mode->toStringRef() == "circular";
}

void check_padding(Node *node)
{
    const auto place = place_of("pad", *node);
    if (!place)
        return;
    Value *sides = node->input(*place);
    const auto known = torch::jit::toIValue(sides);
    if (!(known && known->isIntList() && is_padding(known->toIntVector())))
        node->replaceInput(*place, computed(node, sound_padding, {sides}, sides->type()));
}

// ---- torchvision ------------------------------------------------------------------

// The operator turns sample positions into integers; NaN becomes an arbitrary one.
void clear_offsets(Node *node)
{
    const auto offsets = place_of("offset", *node);
    if (!offsets)
        return;
    torch::jit::WithInsertPoint here(node);
    Graph &graph = *node->owningGraph();
    Value *none = graph.insertConstant(c10::IValue());
    Value *zero = graph.insertConstant(0.0);
    node->replaceInput(*offsets,
                       computed(node, "aten::nan_to_num", {node->input(*offsets), zero, none, none},
                                c10::TensorType::get()));
}

void check_boxes(Node *node)
{
    const auto boxes = place_of("rois", *node), input = place_of("input", *node),
               scale = place_of("spatial_scale", *node);
    if (boxes && input && scale)
        node->replaceInput(*boxes,
                           computed(node, sound_boxes,
                                    {node->input(*boxes), node->input(*input), node->input(*scale)},
                                    c10::TensorType::get()));
}

void replace_overlaps_of_rotated(Node *node)
{
    torch::jit::WithInsertPoint here(node);
    node->output()->replaceAllUsesWith(computed(
        node, overlaps_of_rotated, {node->input(0), node->input(1)}, c10::TensorType::get()));
    node->destroy();
}

} // namespace

std::optional<UnsoundCall> find_unsound_call(const torch::jit::Module &module)
{
    std::optional<UnsoundCall> found;
    visit_nodes(module, [&](const Node &node) {
        const std::string name = node.kind().toQualString();
        if (found)
            return;
        if (interpolates(name) && has_unsafe_scale(node))
            found = {name, "a scale that PyTorch does not write; export it with a constant one"};
        else if (may_have_both(node))
            found = {name, "a size and a scale at once; give one of them"};
        else if (copies_to_nothing(node))
            found = {name, "neither a type nor a device; write clone()"};
        else if (fills_several(node))
            found = {name, "tensors for several results (out=); call it without out="};
        else if (copies_into(node))
            found = {name, "a tensor for its result (out=); call it without out="};
    });
    return found;
}

void guard_arguments(const torch::jit::Module &module)
{
    register_sound_arguments();
    for (Node *node : nodes_to_change(module)) {
        const std::string name = node->kind().toQualString();
        for (const Guard &guard : guards)
            if (guard.name == name)
                apply(guard, node);
        for (const Counts &checked : counts)
            if (checked.name == name)
                check_counts(checked, node);
        check_types(node);
        if (trusts_scales(name))
            check_sizes(node);
        if (decomposes(name, *node))
            check_reals(node);
        if (name.starts_with("aten::fft_"))
            check_dimensions(node);
        if (may_be_circular(*node))
            check_padding(node);
        if (name == "aten::_weight_norm")
            replace_weight_norm(node);
        else if (name == "torchvision::deform_conv2d")
            clear_offsets(node);
        else if (name == "torchvision::box_iou_rotated")
            replace_overlaps_of_rotated(node);
        else if (name.find("roi_") != std::string::npos)
            check_boxes(node);
    }
}

} // namespace engine_torch
