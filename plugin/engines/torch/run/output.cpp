// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "output.h"

#include "base/compose.h"
#include "engines/torch/failure.h"
#include "engines/torch/program/returned_tensors.h"

#include <algorithm>
#include <ATen/core/Tensor.h>
#include <limits>
#include <sstream>
#include <vector>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using Tensors = std::vector<ReturnedTensor>;

[[noreturn]] void refuse_result(const std::string &words)
{
    throw Failure(DNN_TORCH_BAD_OUTPUT, "the model returned " + words);
}

[[noreturn]] void refuse_value(const c10::IValue &returned)
{
    const std::string kind = kind_in_words(returned);
    refuse_result("no tensor but " +
                  (kind.empty() ? returned.type()->repr_str() : kind + " without any"));
}

std::string text_of(at::IntArrayRef sizes)
{
    std::ostringstream words;
    words << sizes;
    return words.str();
}

// ---- which tensor it is

bool is_number_type(at::ScalarType type)
{
    return type == at::kFloat || type == at::kHalf || type == at::kBFloat16 ||
           type == at::kDouble || type == at::kBool || at::isIntegralType(type, false);
}

std::optional<Layout> layout_of(const at::Tensor &tensor, const OutputRequest &request)
{
    if (!request.layout && request.segment.length > 0)
        return tensor.dim() == rank_of(request.input) ? std::optional(request.input) : std::nullopt;
    if (!request.layout && request.is_map)
        return guess_map_layout(tensor.sizes(), request.input, request.batch, request.height,
                                request.width);
    if (!request.layout)
        return guess_layout(tensor.sizes(), request.input, request.height, request.width);
    return tensor.dim() == rank_of(*request.layout) ? request.layout : std::nullopt;
}

bool can_be_picture(const at::Tensor &tensor, const OutputRequest &request)
{
    if (!tensor.defined() || tensor.is_quantized() || !is_number_type(tensor.scalar_type()) ||
        (tensor.layout() != at::kStrided && tensor.layout() != at::kMkldnn))
        return false;
    const std::optional<Layout> layout = layout_of(tensor, request);
    if (!layout)
        return false;
    if (request.segment.length > 0)
        return tensor.numel() > 0;
    const auto extents = tensor.sizes();
    const size_t place = ends_with_channels(*layout) ? extents.size() - 1 : extents.size() - 3;
    const int64_t channels = has_channels(*layout) ? extents[place] : 1;
    const bool fits = request.is_map ? channels <= 65536 : channels <= 4 && channels != 2;
    return tensor.numel() > 0 && fits;
}

// Tensors of another rank may look like pictures by chance.
bool has_expected_rank(const at::Tensor &tensor, const OutputRequest &request)
{
    return tensor.dim() == rank_of(request.layout.value_or(request.input));
}

// A dict has no first tensor.  If none can be a picture, the error is about the first one.
const ReturnedTensor &choose_by_kind(const c10::IValue &returned, const Tensors &tensors,
                                     const OutputRequest &request)
{
    const ReturnedTensor *chosen = nullptr;
    size_t pictures = 0;
    if (request.is_map)
        for (const ReturnedTensor &each : tensors)
            if (each.name == "out" && can_be_picture(each.tensor, request))
                return each;
    for (const ReturnedTensor &each : tensors)
        if (can_be_picture(each.tensor, request)) {
            const bool is_likelier = chosen && !has_expected_rank(chosen->tensor, request) &&
                                     has_expected_rank(each.tensor, request);
            chosen = pictures++ == 0 || is_likelier ? &each : chosen;
        }
    const bool is_clear = tensors.size() == 1 || pictures == 1;
    if (returned.isGenericDict() && !is_clear)
        refuse_result(concat("a dict of ", tensors.size(),
                             " tensors; choose one with output=NAME: ", names_of(tensors)));
    return chosen ? *chosen : tensors.front();
}

const ReturnedTensor &choose(const c10::IValue &returned, const Tensors &tensors,
                             const OutputRequest &request)
{
    if (tensors.empty())
        refuse_value(returned);
    if (request.name.empty())
        return choose_by_kind(returned, tensors, request);
    if (const ReturnedTensor *const named = find(tensors, request.name))
        return *named;
    refuse_result(concat(kind_in_words(returned), " without ", request.name,
                         "; choose output=NAME among ", names_of(tensors)));
}

[[noreturn]] void refuse_layout(const at::Tensor &tensor, const OutputRequest &request)
{
    const std::string what =
        concat("a tensor of rank ", tensor.dim(), " (", text_of(tensor.sizes()), ")");
    if (request.layout || request.segment.length > 0)
        refuse_result(concat(what, ", which cannot be of the layout ",
                             name_of(request.layout.value_or(request.input)),
                             request.layout
                                 ? ""
                                 : "; if it is another, say so with layout=IN|OUT, and if it is "
                                   "one frame of several, with frames=FIRST..LAST"));
    const bool is_empty = tensor.numel() == 0;
    if (is_empty && tensor.dim() <= 4)
        refuse_result(concat("an empty tensor (", text_of(tensor.sizes()),
                             "); all extents must be at least 1"));
    if (tensor.dim() > 4 || tensor.dim() < 2)
        refuse_result(concat(what,
                             "; the filter needs rank 4, [batch, channels, height, width], or 2 or "
                             "3 of a picture alone"));
    refuse_result(concat(what,
                         " that does not look like a picture; the filter needs [batch, channels, "
                         "height, width], or the layout of the result: layout=IN|OUT, of ",
                         layout_names()));
}

// ---- checks of the chosen tensor

// Whole numbers have another range than fractions of white.
void check_type(const at::Tensor &tensor, const OutputChoice &choice)
{
    const bool both_fractions =
        at::isFloatingType(tensor.scalar_type()) && at::isFloatingType(choice.type);
    if (!both_fractions && tensor.scalar_type() != choice.type)
        refuse_result(concat("a tensor of ", type_name(tensor.scalar_type()),
                             " where it returned one of ", type_name(choice.type),
                             " before; its type must not depend on the picture"));
}

void check_shape(const at::Tensor &pictures, const at::Tensor &tensor, int64_t batch)
{
    if (pictures.size(0) != batch)
        refuse_result(concat("a batch of ", pictures.size(0), " for a batch of ", batch,
                             "; it must return one picture for each",
                             pictures.size(0) == 1 ? ", or run with batch_size=1" : ""));
    for (const int64_t extent : tensor.sizes())
        if (extent < 1 || extent > std::numeric_limits<int32_t>::max())
            refuse_result(concat(extent < 1 ? "an empty" : "too large a", " tensor (",
                                 text_of(tensor.sizes()), "); all extents must be at least 1"));
}

at::Tensor tensor_of(const c10::IValue &returned, const OutputChoice &choice)
{
    if (returned.isTensor())
        return returned.toTensor();
    const Tensors tensors = tensors_in(returned);
    const auto same = std::find_if(tensors.begin(), tensors.end(),
                                   [&](const auto &each) { return each.name == choice.name; });
    if (same != tensors.end())
        return same->tensor;
    if (tensors.empty())
        refuse_value(returned);
    refuse_result(concat(kind_in_words(returned), " without ", choice.name,
                         ", which it returned before; it has ", names_of(tensors)));
}

} // namespace

void check_kind(const at::Tensor &tensor, const c10::Device &device)
{
    if (!tensor.defined())
        refuse_result("no tensor but an undefined one");
    if (!tensor.device().is_cpu() && tensor.device().type() != device.type())
        refuse_result("a tensor on the device " + tensor.device().str() +
                      "; leave it on the input's");
    if (tensor.is_quantized())
        refuse_result("a quantised tensor; let it end with dequantize()");
    if (tensor.layout() != at::kStrided && tensor.layout() != at::kMkldnn)
        refuse_result("a sparse tensor; let it end with to_dense()");
    if (!is_number_type(tensor.scalar_type()))
        refuse_result(concat("a tensor of ", type_name(tensor.scalar_type()),
                             "; the filter needs real numbers, such as float32"));
}

OutputChoice choose_output(const c10::IValue &returned, const OutputRequest &request)
{
    std::string name;
    at::Tensor tensor;
    if (returned.isTensor()) {
        tensor = returned.toTensor();
    } else {
        const Tensors tensors = tensors_in(returned);
        const ReturnedTensor &chosen = choose(returned, tensors, request);
        name = chosen.name;
        tensor = chosen.tensor;
    }
    if (!tensor.defined())
        refuse_result("no tensor but an undefined one");
    const std::optional<Layout> layout = layout_of(tensor, request);
    if (!layout)
        refuse_layout(tensor, request);
    return {.name = name,
            .layout = *layout,
            .type = tensor.scalar_type(),
            .is_segment = request.segment.length > 0};
}

at::Tensor picture_of(const c10::IValue &returned, const OutputChoice &choice, int64_t batch,
                      const c10::Device &device)
{
    at::Tensor tensor = tensor_of(returned, choice);
    check_kind(tensor, device);
    check_type(tensor, choice);
    if (tensor.dim() != rank_of(choice.layout))
        refuse_result(concat("a tensor of rank ", tensor.dim(), " (", text_of(tensor.sizes()),
                             "); as a picture of the layout ", name_of(choice.layout),
                             " it must be of rank ", rank_of(choice.layout)));
    if (tensor.layout() == at::kMkldnn)
        tensor = tensor.to_dense();
    const at::Tensor pictures = choice.is_segment ? from_segment(tensor, choice.layout, batch)
                                                  : from_layout(tensor, choice.layout);
    check_shape(pictures, tensor, batch);
    return pictures.to(device, at::kFloat);
}

} // namespace engine_torch
