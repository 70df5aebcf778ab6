// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "calibration.h"

#include "engines/torch/failure.h"
#include "engines/torch/fusing/fuse.h"
#include "trial.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>
#include <ATen/TensorOperators.h>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

namespace engine_torch
{
namespace
{

// Large enough for smooth parts, and not so large that deep models take long.
constexpr int32_t height = 96, width = 160;

// All samples from black to white: smooth and rough parts on the left, and on the right sharp edges
// in pure colours, which make layers meet larger numbers than most frames do.
at::Tensor calibration_picture(const Shape &shape)
{
    const at::Tensor soft =
        ((test_picture({1, shape.channels, shape.height, shape.width}) - 0.5) * 1.6 + 0.5)
            .clamp(0, 1);
    const at::Tensor is_right =
        at::arange(shape.width, at::kFloat).view({1, 1, 1, -1}).gt(shape.width / 2.0);
    return at::where(is_right, soft.gt(0.5).to(at::kFloat), soft).contiguous();
}

// Returns nullopt if the model does not take the picture.
std::optional<c10::IValue> plain_result(const Source &source, const at::Tensor &picture)
{
    try {
        return run_form({FormKind::saved, Precision::fp32, source.plain}, source, picture);
    } catch (const std::exception &error) {
        if (is_out_of_memory(error))
            throw;
    }
    return std::nullopt;
}

std::string with_decibel(const Int8Layers &layers, double decibel)
{
    char text[80];
    std::snprintf(text, sizeof text, "%zu of %zu layers, %.1f dB PSNR from fp32", layers.in_int8,
                  layers.all, decibel);
    return text;
}

} // namespace

void calibrate(Form &form, const Source &source, const Shape &shape)
{
    at::Tensor picture = calibration_picture({1, shape.channels, height, width});
    auto plain = plain_result(source, picture);
    if (!plain) {
        picture = calibration_picture(shape);
        plain = plain_result(source, picture);
    }
    if (!plain)
        throw Failure(DNN_TORCH_BAD_MODEL,
                      "the model takes none of the pictures to calibrate with");
    const Int8Layers layers =
        calibrate_fused(form.module, [&] { run_form(form, source, picture); });
    if (layers.in_int8 == 0)
        throw Failure(DNN_TORCH_BAD_MODEL,
                      "no layer of it can be computed in int8 without losing too much");
    const double decibel = psnr_decibel(*plain, run_form(form, source, picture));
    form.about = with_decibel(layers, decibel);
}

} // namespace engine_torch
