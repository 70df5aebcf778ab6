// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The forms in which LibTorch can be asked to run one and the same model.
#pragma once

#include <string>
#include <torch/csrc/jit/api/module.h>
#include <torch/version.h>

// May run on several threads at once.
class Model
{
public:
    // Variants: saved, saved_channels_last, frozen, channels_last (frozen too),
    // inference.  Precisions: fp32, bf16.  Throws for another name.
    Model(const std::string &path, const std::string &form, const std::string &precision);

    // A copy of the picture as this form takes it best.
    at::Tensor prepare(const at::Tensor &picture) const;

    at::Tensor forward(const at::Tensor &input) const;

private:
    torch::jit::Module module_;
    bool channels_last_, low_precision_;
};
