// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "all_tensors.h"

#include "base/compose.h"
#include "engine_kit/text.h"
#include "engines/torch/failure.h"
#include "engines/torch/program/returned_tensors.h"
#include "images.h"
#include "output.h"

#include <algorithm>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

[[noreturn]] void refuse(const std::string &words)
{
    throw Failure(DNN_TORCH_BAD_OUTPUT, "the model returned " + words);
}

bool is_at_or_below(const std::string &name, const std::string &wanted)
{
    return name == wanted || name.starts_with(wanted + ".");
}

// A bare tensor has no name that could be wrong, so any `wanted` fits.
std::vector<ReturnedTensor> wanted_of(const c10::IValue &returned, const std::string &wanted)
{
    std::vector<ReturnedTensor> all = tensors_in(returned);
    if (all.empty() && kind_in_words(returned).empty())
        refuse("no tensor but " + returned.type()->repr_str());
    if (wanted.empty() || returned.isTensor() || all.empty())
        return all;
    std::vector<ReturnedTensor> chosen;
    for (const ReturnedTensor &each : all)
        if (is_at_or_below(each.name, wanted) || is_at_or_below(each.number, wanted))
            chosen.push_back(each);
    if (chosen.empty())
        refuse(concat(kind_in_words(returned), " without ", wanted, "; choose output=NAME among ",
                      names_of(all)));
    return chosen;
}

at::Tensor handed_out(const at::Tensor &given, const c10::Device &device)
{
    check_kind(given, device);
    if (given.dim() > DNN_TORCH_DIMENSIONS)
        refuse(concat("a tensor of rank ", given.dim(), "; at most ", DNN_TORCH_DIMENSIONS,
                      " is known here"));
    const at::Tensor dense = given.layout() == at::kMkldnn ? given.to_dense() : given;
    const auto type = at::isFloatingType(dense.scalar_type()) ? at::kFloat : at::kLong;
    return dense.to(at::kCPU, type).contiguous();
}

// LibTorch gives tensors without elements arbitrary strides.
void pack(DnnTorchTensor &view)
{
    int64_t stride = view.type == DNN_TORCH_F32 ? sizeof(float) : sizeof(int64_t);
    for (int32_t i = view.rank - 1; i >= 0; i--) {
        view.strides[i] = stride;
        stride *= std::max<int64_t>(view.dims[i], 1);
    }
}

} // namespace

std::vector<HandedTensor> all_tensors(const c10::IValue &returned, const std::string &wanted,
                                      const c10::Device &device)
{
    std::vector<HandedTensor> handed;
    for (const ReturnedTensor &each : wanted_of(returned, wanted))
        if (each.tensor.defined())
            handed.push_back({.name = each.name, .tensor = handed_out(each.tensor, device)});
    return handed;
}

DnnTorchTensor view_of(const HandedTensor &handed)
{
    static char no_elements = 0; // not null: that would be a shape alone
    DnnTorchTensor view = view_of(handed.tensor);
    if (!view.data)
        view.data = &no_elements;
    pack(view);
    engine_kit::copy_as_line(handed.name, view.name, sizeof view.name);
    return view;
}

} // namespace engine_torch
