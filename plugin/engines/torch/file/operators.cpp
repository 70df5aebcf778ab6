// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "operators.h"

#include "engines/torch/failure.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <unordered_set>

namespace engine_torch
{
namespace
{

// Chosen from the lists of LibTorch 1.13, 2.6 and 2.14.  An operator is left out if it
//  - reads or writes files, talks to other processes or calls Python;
//  - makes a tensor of memory that it does not own, or changes what a tensor owns: as_strided,
//    set_, resize_, from_file, sparse and nested tensors from their parts, packed weights;
//  - takes indices or sizes that it does not check: training (_backward, dropout states),
//    operators that LibTorch calls from its own, cells of recurrent nets (argument_guards.h
//    bounds the arguments of those that models need);
//  - returns memory that it did not write: matrix_exp of NaN;
//  - needs a device or a library of its own: cudnn, mkldnn, quantised kernels.
// An operator that changes its tensor ("add_") is as safe as the one that does not.
constexpr std::string_view elementwise =
    "abs absolute acos acosh add addcdiv addcmul angle arccos arccosh arcsin arcsinh arctan "
    "arctan2 arctanh asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_not "
    "bitwise_or bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min clip conj "
    "conj_physical copysign cos cosh deg2rad degrees digamma div divide divmod eq equal erf erfc "
    "erfinv exp exp2 expm1 fabs factorial fix float_power floor floor_divide floordiv fmax fmin "
    "fmod frac frexp gamma gcd ge greater greater_equal gt heaviside hypot i0 igamma igammac imag "
    "isclose isfinite isinf isnan isneginf isposinf isreal lcm ldexp le lerp less less_equal "
    "lgamma "
    "log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor "
    "logit "
    "lt mathremainder maximum minimum modf mul multiply mvlgamma nan_to_num ne neg negative "
    "nextafter not_equal polar polygamma positive pow rad2deg radians real reciprocal remainder "
    "round rsqrt rsub sgn sign signbit sin sinc sinh sqrt square sub subtract tan tanh true_divide "
    "trunc where xlogy special_digamma special_entr special_erf special_erfc special_erfcx "
    "special_erfinv special_exp2 special_expit special_expm1 special_gammaln special_i0 "
    "special_i0e special_i1 special_i1e special_log1p special_log_ndtr special_log_softmax "
    "special_logit special_logsumexp special_ndtr special_ndtri special_psi special_round "
    "special_sinc special_softmax special_xlog1py special_xlogy __and__ __iand__ __ilshift__ "
    "__ior__ __irshift__ __ixor__ __lshift__ __or__ __rshift__ __xor__ masked_fill "
    "__round_to_zero_floordiv";

constexpr std::string_view activations =
    "celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid "
    "log_softmax "
    "mish prelu _prelu_kernel relu relu6 rrelu selu sigmoid silu softmax softplus softshrink "
    "threshold _softmax _log_softmax _safe_softmax alpha_dropout dropout feature_alpha_dropout "
    "feature_dropout ";

constexpr std::string_view reductions =
    "all amax amin aminmax any argmax argmin argsort count_nonzero cov corrcoef cummax cummin "
    "cumprod cumsum cumulative_trapezoid diff dist frobenius_norm histc kthvalue logcumsumexp "
    "logsumexp max mean median min mode msort nanmean nanmedian nanquantile nansum norm "
    "norm_except_dim nuclear_norm prod quantile renorm sort std std_mean sum topk "
    "trace "
    "trapezoid trapz unique_consecutive unique_dim unique_dim_consecutive _unique _unique2 var "
    "var_mean cosine_similarity pairwise_distance cdist pdist gradient";

constexpr std::string_view layers =
    "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
    "adaptive_max_pool2d adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear "
    "channel_shuffle col2im conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d "
    "conv_transpose3d convolution _convolution _convolution_mode embedding group_norm "
    "grid_sampler grid_sampler_2d grid_sampler_3d affine_grid_generator im2col instance_norm "
    "layer_norm linear rms_norm max_pool1d max_pool1d_with_indices max_pool2d "
    "max_pool2d_with_indices max_pool3d max_pool3d_with_indices "
    "native_layer_norm one_hot pixel_shuffle "
    "pixel_unshuffle _weight_norm gru "
    "lstm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell upsample_bicubic2d "
    "upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d "
    "upsample_nearest3d "
    "upsample_trilinear3d _upsample_bicubic2d_aa _upsample_lanczos2d_aa _upsample_bilinear2d_aa "
    "_upsample_nearest_exact1d "
    "_upsample_nearest_exact2d _upsample_nearest_exact3d __interpolate __upsample "
    "__upsample_bilinear __upsample_nearest constant_pad_nd pad _pad_circular _pad_enum "
    "reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d "
    "replication_pad3d mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy "
    "binary_cross_entropy_with_logits cross_entropy_loss nll_loss nll_loss2d nll_loss_nd "
    "";

// The operators of torch.nn's attention and transformers in code.
constexpr std::string_view attention =
    "scaled_dot_product_attention _scaled_dot_product_attention _native_multi_head_attention "
    "_transformer_encoder_layer_fwd _nested_tensor_from_mask _nested_tensor_from_mask_left_aligned "
    "to_padded_tensor";

constexpr std::string_view algebra =
    "addbmm addmm addmv addr adjoint baddbmm block_diag bmm cartesian_prod chain_matmul cholesky "
    "cholesky_inverse cholesky_solve combinations cross det dot einsum fft_fft fft_fft2 "
    "fft_fftfreq fft_fftn fft_fftshift fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn "
    "fft_ifftshift fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft "
    "fft_rfft2 fft_rfftfreq fft_rfftn stft istft ger inner inverse kron linalg_cholesky "
    "linalg_cond linalg_cross linalg_det linalg_diagonal linalg_eig linalg_eigh linalg_eigvals "
    "linalg_eigvalsh linalg_inv linalg_lstsq linalg_matmul linalg_matrix_norm "
    "linalg_matrix_power linalg_matrix_rank linalg_multi_dot linalg_norm linalg_pinv linalg_qr "
    "linalg_slogdet linalg_solve linalg_solve_triangular linalg_svd linalg_svdvals "
    "linalg_tensorinv "
    "linalg_tensorsolve linalg_vander linalg_vecdot linalg_vector_norm logdet matmul "
    "matrix_power mm mv orgqr outer pinverse qr slogdet svd symeig tensordot triangular_solve "
    "vander "
    "vdot bartlett_window blackman_window hamming_window hann_window kaiser_window";

constexpr std::string_view arrangement =
    "alias atleast_1d atleast_2d atleast_3d broadcast_tensors broadcast_to cat chunk "
    "clone column_stack complex concat concatenate contiguous copy detach diag diag_embed diagflat "
    "diagonal diagonal_scatter dsplit dstack expand expand_as flatten flip fliplr flipud hsplit "
    "hstack mH mT matrix_H meshgrid moveaxis movedim narrow numpy_T permute ravel repeat "
    "repeat_interleave lift lift_fresh _unsafe_view reshape reshape_as resolve_conj resolve_neg "
    "roll rot90 row_stack select "
    "select_scatter slice slice_scatter split split_with_sizes squeeze stack swapaxes swapdims t "
    "tensor_split tile transpose tril tril_indices triu triu_indices unbind unflatten unfold "
    "unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze view view_as view_as_complex "
    "view_as_real vsplit vstack pad_sequence flatten_dense_tensors ";

constexpr std::string_view indexing =
    "argwhere bincount bucketize gather index index_add index_copy index_fill index_put "
    "index_reduce index_select isin masked_scatter masked_select nonzero nonzero_numpy "
    "nonzero_static put scatter scatter_add scatter_reduce take take_along_dim fill "
    "fill_diagonal zero";

constexpr std::string_view creation =
    "arange as_tensor empty empty_like eye full full_like linspace logspace new_empty new_full "
    "new_ones new_zeros ones ones_like scalar_tensor tensor zeros zeros_like bernoulli cauchy "
    "exponential geometric log_normal multinomial normal poisson rand rand_like randint "
    "randint_like randn randn_like random randperm uniform binomial";

constexpr std::string_view properties =
    "Bool Complex ComplexImplicit Float FloatImplicit Int IntImplicit ScalarImplicit Size can_cast "
    "cpu cuda data dense_dim dim element_size get_device is_complex is_conj is_contiguous "
    "is_floating_point is_grad_enabled is_leaf is_neg is_nonzero is_same_size "
    "is_scripting is_signed item len numel promote_types result_type set_grad_enabled size "
    "stride to to_dense to_mkldnn to_sparse type_as _autocast_to_full_precision "
    "_autocast_to_reduced_precision is_autocast_enabled is_autocast_cpu_enabled get_autocast_dtype "
    "_shape_as_tensor _cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int "
    "_cast_Long _cast_Short _to_copy _infer_size broadcast_shapes requires_grad device "
    "_assert_async _assert_tensor_metadata "
    "_get_tracing_state has_torch_function dequantize quantize_per_tensor quantize_per_channel "
    "fake_quantize_per_tensor_affine fake_quantize_per_channel_affine";

// torchvision's operators.  argument_guards.h bounds the arguments that they do not check.
constexpr std::string_view vision =
    "nms box_iou_rotated roi_align roi_pool ps_roi_align ps_roi_pool deform_conv2d";

// Operators on numbers, texts, lists and dicts.
constexpr std::string_view language =
    "Delete __contains__ __derive_index __getitem__ __is__ __isnot__ __not__ __range_length "
    "_set_item _unwrap_optional append bin capitalize center chr clear count dict endswith "
    "expandtabs extend find format get hash hex index insert isalnum isalpha isdecimal isdigit "
    "isidentifier islower isnumeric isprintable isspace istitle isupper items join keys len list "
    "ljust local_value lower lstrip oct ord partition percentFormat pop popitem range remove "
    "replace "
    "reverse rfind rindex rjust rpartition rsplit rstrip setdefault sorted split splitlines "
    "startswith str strip swapcase title update upper values wait warn zfill";

// Primitives of TorchScript that code can name: "ops.prim.device(x)".
constexpr std::string_view named_primitives =
    "NumToTensor RaiseException StringIndex abs data device dtype index is_cpu is_cuda is_ipu "
    "is_maia is_meta is_mkldnn is_mps is_mtia is_nested is_ort is_quantized is_sparse "
    "is_sparse_csr is_vulkan is_xla is_xpu itemsize layout max min name nbytes rangelist "
    "requires_grad type";

// Primitives that only graphs have.  Code has syntax for them.
constexpr std::string_view unnamed_primitives =
    "CallFunction CallMethod Constant CreateObject DictConstruct EnumName EnumValue Enter Exit "
    "GetAttr If ListConstruct ListUnpack Loop ModuleContainerIndex Param Print Return SetAttr "
    "TupleConstruct TupleIndex TupleSlice TupleUnpack Uninitialized fork isinstance tolist "
    "unchecked_cast";

constexpr std::array<std::string_view, 3> raw_memory = {"empty", "empty_like", "new_empty"};

using Names = std::unordered_set<std::string_view>;

void add_words(std::string_view words, Names &names)
{
    while (!words.empty()) {
        const size_t end = std::min(words.find(' '), words.size());
        names.insert(words.substr(0, end));
        words.remove_prefix(std::min(end + 1, words.size()));
    }
}

// The result lives as long as the process.
const Names &names_of(std::initializer_list<std::string_view> groups)
{
    auto *all = new Names;
    for (const std::string_view words : groups)
        add_words(words, *all);
    return *all;
}

bool is_tensor_operator(std::string_view plain)
{
    static const Names &names =
        names_of({elementwise, activations, reductions, layers, attention, algebra, arrangement,
                  indexing, creation, properties, language});
    if (names.count(plain))
        return true;
    return plain.size() > 1 && plain.back() == '_' && plain[plain.size() - 2] != '_' &&
           names.count(plain.substr(0, plain.size() - 1)) > 0;
}

std::string_view without_space(std::string_view name, std::string_view space)
{
    return name.substr(0, space.size()) == space ? name.substr(space.size()) : std::string_view();
}

bool is_known(std::string_view name)
{
    static const Names &primitives = names_of({named_primitives});
    static const Names &of_torchvision = names_of({vision});
    return primitives.count(without_space(name, "prim::")) > 0 ||
           of_torchvision.count(without_space(name, "torchvision::")) > 0 ||
           is_tensor_operator(without_space(name, "aten::"));
}

bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == ':' || c == '*';
}

constexpr std::string_view class_prefix = "torch.classes.";

[[noreturn]] void refuse_names()
{
    throw Failure(DNN_TORCH_BAD_OPTION,
                  "allow takes names of operators with a plus sign between them, as in "
                  "allow=as_strided+aten.set_");
}

// Returns "aten::relu" for "relu", "aten.relu" and "aten::relu".
std::string whole_name(std::string_view name)
{
    if (!std::all_of(name.begin(), name.end(), is_name_character))
        refuse_names();
    std::string whole(name);
    if (name.substr(0, class_prefix.size()) == class_prefix || name == loading_code ||
        name == compiled_code || name.find("::") != std::string_view::npos)
        return whole;
    const size_t dot = whole.find('.');
    if (dot == std::string::npos)
        return std::string("aten::").append(whole);
    return whole.substr(0, dot).append("::").append(whole, dot + 1);
}

} // namespace

Permissions::Permissions(std::string_view allow)
{
    constexpr std::string_view between = "+|, \t\n";
    if (!allow.empty() && allow.find_first_not_of(between) == std::string_view::npos)
        refuse_names();
    while (!allow.empty()) {
        const size_t end = std::min(allow.find_first_of(between), allow.size());
        if (end > 0)
            allowed_.insert(whole_name(allow.substr(0, end)));
        allow.remove_prefix(std::min(end + 1, allow.size()));
    }
}

Permissions Permissions::of_generated_code(std::string_view own_operator)
{
    Permissions permissions;
    permissions.own_ = own_operator;
    return permissions;
}

bool Permissions::is_allowed(std::string_view name) const
{
    if (is_our_own(name))
        return name == own_;
    const std::string space(name.substr(0, name.find("::")));
    return allowed_.count(name) > 0 || allowed_.count(space + "::*") > 0;
}

bool Permissions::has_operator(std::string_view name) const
{
    return is_known(name) || is_allowed(name);
}

bool Permissions::has_node(std::string_view name) const
{
    static const Names &primitives = names_of({unnamed_primitives});
    return primitives.count(without_space(name, "prim::")) > 0 || has_operator(name);
}

bool Permissions::has_class(std::string_view name) const
{
    return is_allowed(name);
}

bool gives_raw_memory(std::string_view name)
{
    const std::string_view plain = without_space(name, "aten::");
    return std::find(raw_memory.begin(), raw_memory.end(), plain) != raw_memory.end();
}

std::string name_to_allow(std::string_view name)
{
    if (const std::string_view plain = without_space(name, "aten::"); !plain.empty())
        return std::string(plain);
    const size_t colons = name.find("::");
    if (colons == std::string_view::npos)
        return std::string(name);
    return std::string(name.substr(0, colons)).append(".").append(name.substr(colons + 2));
}

} // namespace engine_torch
