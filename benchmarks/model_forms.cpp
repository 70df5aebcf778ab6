// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "model_forms.h"

#include <array>
#include <c10/core/GradMode.h>
#include <stdexcept>
#include <string_view>
#include <torch/csrc/jit/serialization/import.h>

namespace
{

void expect_one_of(const std::string &name, std::initializer_list<std::string_view> known)
{
    for (const std::string_view candidate : known)
        if (candidate == name)
            return;
    throw std::runtime_error("unknown: " + name);
}

void to_channels_last(const torch::jit::Module &module)
{
    for (at::Tensor weights : module.parameters())
        if (weights.dim() == 4)
            weights.set_data(weights.contiguous(at::MemoryFormat::ChannelsLast));
}

} // namespace

Model::Model(const std::string &path, const std::string &form, const std::string &precision)
    : module_(torch::jit::load(path)),
      channels_last_(form == "channels_last" || form == "saved_channels_last"),
      low_precision_(precision == "bf16")
{
    expect_one_of(form, {"saved", "saved_channels_last", "frozen", "channels_last", "inference"});
    expect_one_of(precision, {"fp32", "bf16"});
    const at::NoGradGuard no_gradients;
    module_.eval();
    if (low_precision_)
        module_.to(at::kBFloat16);
    if (channels_last_)
        to_channels_last(module_);
    if (form == "frozen" || form == "channels_last" || form == "inference")
        module_ = torch::jit::freeze(module_);
    if (form == "inference")
        module_ = torch::jit::optimize_for_inference(module_);
}

at::Tensor Model::prepare(const at::Tensor &picture) const
{
    return picture.to(
        picture.options().dtype(low_precision_ ? at::kBFloat16 : at::kFloat), false, true,
        channels_last_ ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
}

at::Tensor Model::forward(const at::Tensor &input) const
{
    return module_.get_method("forward")({input}).toTensor();
}
