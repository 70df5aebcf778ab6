// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "operator_traits.h"

#include <algorithm>
#include <set>

namespace engine_torch
{
namespace
{

using NameSet = std::set<std::string>;

bool has(const c10::FunctionSchema &schema, const char *argument)
{
    return schema.argumentIndexWithName(argument).has_value();
}

bool overlap(const std::unordered_set<c10::Symbol> &a, const std::unordered_set<c10::Symbol> &b)
{
    return std::any_of(a.begin(), a.end(), [&b](c10::Symbol set) { return b.count(set) > 0; });
}

} // namespace

bool writes_elements(const c10::AliasInfo &alias)
{
    return std::any_of(alias.containedTypes().begin(), alias.containedTypes().end(),
                       [](const auto &inner) { return inner.isWrite() || writes_elements(inner); });
}

bool may_alias(const c10::AliasInfo &returned, const c10::AliasInfo &given)
{
    if (returned.isWildcardBefore() || returned.isWildcardAfter() ||
        overlap(returned.beforeSets(), given.beforeSets()) ||
        overlap(returned.afterSets(), given.afterSets()))
        return true;
    const auto &inner = returned.containedTypes(), &inside = given.containedTypes();
    return std::any_of(inner.begin(), inner.end(),
                       [&](const auto &each) { return may_alias(each, given); }) ||
           std::any_of(inside.begin(), inside.end(),
                       [&](const auto &each) { return may_alias(returned, each); });
}

// Most such operators take a generator.  The others are listed here.
bool draws_random_numbers(const c10::FunctionSchema &schema)
{
    static const NameSet others = {"aten::rand",
                                   "aten::rand_like",
                                   "aten::randn",
                                   "aten::randn_like",
                                   "aten::randint",
                                   "aten::randint_like",
                                   "aten::randperm",
                                   "aten::normal",
                                   "aten::dropout",
                                   "aten::dropout_",
                                   "aten::native_dropout",
                                   "aten::feature_dropout",
                                   "aten::lstm",
                                   "aten::feature_dropout_",
                                   "aten::alpha_dropout",
                                   "aten::gru",
                                   "aten::alpha_dropout_",
                                   "aten::feature_alpha_dropout",
                                   "aten::rnn_tanh",
                                   "aten::rnn_relu",
                                   "aten::feature_alpha_dropout_",
                                   "aten::_fused_dropout",
                                   "aten::scaled_dot_product_attention"};
    return others.count(schema.name()) > 0 || has(schema, "generator");
}

bool is_for_training(const c10::FunctionSchema &schema)
{
    return std::any_of(std::begin(mode_arguments), std::end(mode_arguments),
                       [&](const char *argument) { return has(schema, argument); }) &&
           draws_random_numbers(schema);
}

bool may_return_input(const std::string &name)
{
    static const NameSet names = {"aten::dropout",       "aten::feature_dropout",
                                  "aten::alpha_dropout", "aten::feature_alpha_dropout",
                                  "aten::type_as",       "aten::pad",
                                  "aten::atleast_1d",    "aten::atleast_2d",
                                  "aten::atleast_3d",    "aten::wait",
                                  "aten::einsum",        "aten::cartesian_prod",
                                  "aten::chain_matmul",  "aten::flatten_dense_tensors",
                                  "aten::conj_physical", "aten::dequantize",
                                  "aten::lift",          "aten::to_dense",
                                  "aten::sum_to_size",   "aten::_unsafe_view"};
    return names.count(name) > 0 || name.starts_with("aten::_cast_");
}

bool interpolates(std::string_view name)
{
    return name.starts_with("aten::upsample_") || name.starts_with("aten::_upsample_");
}

bool has_dynamic_extents(const c10::FunctionSchema &schema)
{
    static const NameSet names = {"aten::nonzero",       "aten::nonzero_numpy",
                                  "aten::masked_select", "aten::unique_consecutive",
                                  "aten::unique_dim",    "aten::_unique",
                                  "aten::_unique2",      "aten::repeat_interleave",
                                  "aten::bincount",      "aten::argwhere",
                                  "torchvision::nms"};
    const bool is_where = schema.name() == "aten::where" && schema.arguments().size() == 1;
    return is_where || names.count(schema.name()) > 0;
}

bool reads_no_samples(const std::string &name)
{
    static const NameSet names = {
        "aten::size",     "aten::dim",         "aten::len",        "aten::numel",
        "aten::stride",   "aten::get_device",  "aten::ndimension", "aten::storage_offset",
        "aten::device",   "aten::__is__",      "aten::__isnot__",  "aten::element_size",
        "aten::can_cast", "aten::result_type", "aten::sym_size",   "aten::sym_numel"};
    const bool asks = name.starts_with("aten::is_") && name != "aten::is_nonzero";
    const bool is_attribute = name.starts_with("prim::") && name != "prim::tolist";
    return asks || is_attribute || names.count(name) > 0;
}

} // namespace engine_torch
