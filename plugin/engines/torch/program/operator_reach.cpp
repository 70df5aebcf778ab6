// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "operator_reach.h"

#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

using Names = std::unordered_set<std::string>;

std::vector<std::string> words_of(const char *text)
{
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

Names names_of(const char *text)
{
    const std::vector<std::string> words = words_of(text);
    return {words.begin(), words.end()};
}

constexpr std::pair<OperatorReach, const char *> table[] = {
    {OperatorReach::elementwise,
     "abs acos add addcdiv addcmul alias atan atan2 batch_norm cat celu ceil channel_shuffle "
     "clamp clamp_max clamp_min clip clone constant_pad_nd contiguous copy cos cosh cpu data "
     "detach "
     "div divide dropout double elu erf exp expm1 feature_dropout float floor floor_divide "
     "fmod frac gelu glu half hardshrink hardsigmoid hardswish hardtanh leaky_relu lerp linear log "
     "log10 log1p log2 log_sigmoid logit maximum minimum mish mul multiply neg negative pad pow "
     "prelu reciprocal reflection_pad2d relu relu6 remainder replication_pad2d requires_grad "
     "roll rrelu rsqrt rsub selu sigmoid silu sin sinh slice softplus softshrink softsign sqrt "
     "square sub subtract tan tanh tanhshrink threshold to true_divide trunc type_as where "
     "masked_fill flip narrow round zeros_like ones_like full_like empty_like"},
    {OperatorReach::picture,
     "conv2d _convolution convolution conv_transpose2d avg_pool2d max_pool2d "
     "lp_pool2d pixel_shuffle pixel_unshuffle"},
    {OperatorReach::statistic,
     "mean sum prod var std var_mean std_mean amax amin aminmax max min median logsumexp norm "
     "linalg_vector_norm linalg_norm frobenius_norm cumsum cumprod logcumsumexp softmax "
     "log_softmax layer_norm renorm quantile trace"},
    {OperatorReach::choice,
     "sort argsort topk msort kthvalue mode argmax argmin any all count_nonzero "
     "nanmean nansum nanmedian nanquantile cummax cummin"},
    {OperatorReach::whole_picture,
     "instance_norm group_norm native_group_norm histc histogram bincount "
     "nonzero nonzero_numpy argwhere masked_select masked_scatter unique "
     "_unique _unique2 unique_consecutive unique_dim nms roi_align roi_pool "
     "ps_roi_align ps_roi_pool fractional_max_pool2d"},
    {OperatorReach::gather,
     "grid_sampler grid_sampler_2d grid_sampler_3d gather take take_along_dim "
     "index index_select embedding deform_conv2d"},
    {OperatorReach::scatter, "scatter scatter_add scatter_reduce index_add index_copy index_reduce "
                             "put index_put _index_put_impl max_unpool2d"},
    {OperatorReach::number, "item Bool Int Float ScalarImplicit IntImplicit FloatImplicit "
                            "_local_scalar_dense is_nonzero equal allclose tolist"},
    {OperatorReach::loses_nan,
     "eq ne lt le gt ge greater greater_equal less less_equal not_equal isnan isfinite isinf "
     "isposinf isneginf isclose nan_to_num logical_and logical_or logical_xor logical_not "
     "bitwise_and bitwise_or bitwise_xor bitwise_not __and__ __or__ __xor__ byte char short int "
     "long bool sign sgn signbit heaviside fmax fmin searchsorted bucketize isin"},
    {OperatorReach::resize,
     "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
     "adaptive_max_pool2d adaptive_max_pool3d upsample_nearest1d upsample_nearest2d "
     "upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d "
     "_upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d upsample_trilinear3d "
     "upsample_bicubic2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa"},
};

std::unordered_map<std::string, OperatorReach> read_table()
{
    std::unordered_map<std::string, OperatorReach> reaches;
    for (const auto &[reach, names] : table)
        for (const std::string &name : words_of(names))
            reaches.emplace(name, reach);
    return reaches;
}

} // namespace

OperatorReach operator_reach(const std::string &name)
{
    static const std::unordered_map<std::string, OperatorReach> reaches = read_table();
    const auto found = reaches.find(name);
    if (found != reaches.end())
        return found->second;
    return name.rfind("fft_", 0) == 0 ? OperatorReach::statistic : OperatorReach::other;
}

bool compares(const std::string &name)
{
    static const Names names = names_of(
        "eq ne lt le gt ge greater greater_equal less less_equal not_equal isnan isfinite isinf "
        "isposinf isneginf isclose logical_and logical_or logical_xor logical_not __and__ __or__ "
        "__xor__ bitwise_and bitwise_or bitwise_xor bitwise_not");
    return names.count(name) > 0;
}

bool rounds(const std::string &name)
{
    static const Names names = names_of("floor ceil round trunc floor_divide threshold "
                                        "hardshrink softshrink one_hot quantize_per_tensor "
                                        "quantize_per_channel quantize_per_tensor_dynamic");
    return names.count(name) > 0;
}

bool makes_places(const std::string &name)
{
    return name == "arange" || name == "linspace" || name == "range";
}

bool takes_sizes(const std::string &name)
{
    static const Names names = names_of(
        "view reshape _unsafe_view expand broadcast_to repeat tile unflatten slice narrow pad "
        "constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d "
        "replication_pad2d replication_pad3d split split_with_sizes unsafe_split "
        "unsafe_split_with_sizes chunk unsafe_chunk tensor_split unfold im2col col2im new_zeros "
        "new_ones new_empty new_full zeros_like ones_like empty_like full_like "
        "append insert _set_item");
    return names.count(name) > 0 || operator_reach(name) == OperatorReach::resize;
}

bool takes_shape_of_other(const std::string &name)
{
    return name == "view_as" || name == "expand_as" || name == "type_as" || name == "reshape_as";
}

bool arranges(const std::string &name)
{
    static const Names names =
        names_of("zeros ones empty rand randn eye permute transpose swapaxes "
                 "swapdims movedim moveaxis t T mT numpy_T unsqueeze squeeze flatten stack select "
                 "meshgrid broadcast_tensors ListUnpack TupleUnpack TupleIndex __getitem__ unbind "
                 "extend");
    return names.count(name) > 0 || takes_shape_of_other(name) ||
           (takes_sizes(name) && operator_reach(name) != OperatorReach::resize);
}

bool fills(const std::string &name)
{
    return name == "full" || name == "full_like" || name == "new_full" || name == "fill";
}

bool makes_pieces(const std::string &name)
{
    static const Names names = names_of("split unsafe_split chunk unsafe_chunk unbind tolist");
    return names.count(name) > 0;
}

bool makes_view(const std::string &name)
{
    static const Names names =
        names_of("slice select narrow view reshape permute transpose "
                 "unsqueeze squeeze expand view_as alias data detach to float "
                 "double half type_as contiguous flatten unbind split chunk "
                 "ListUnpack __getitem__ T mT t swapaxes movedim diagonal "
                 "unflatten");
    return names.count(name) > 0;
}

bool moves_samples(const std::string &name)
{
    return changes_borders(name) || name == "roll" || name == "flip";
}

bool changes_borders(const std::string &name)
{
    static const Names names =
        names_of("pad constant_pad_nd reflection_pad2d replication_pad2d slice narrow");
    return names.count(name) > 0;
}

} // namespace engine_torch
