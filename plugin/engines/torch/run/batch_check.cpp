// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "batch_check.h"

#include "engines/torch/failure.h"
#include "engines/torch/machine/quiet.h"
#include "engines/torch/machine/run_scope.h"
#include "engines/torch/tuning/trial.h"
#include "output.h"

#include <algorithm>
#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/TensorOperators.h>
#include <exception>
#include <optional>
#include <vector>

namespace engine_torch
{
namespace
{

// Larger than differences by rounding, which depends on the size of a batch.
constexpr double tolerance = 1e-3;

// The darkest comes first and the brightest last.
at::Tensor unlike_pictures(const Shape &shape)
{
    Shape fractions = shape;
    fractions.low = 0;
    fractions.high = 1;
    const at::Tensor brightness =
        at::arange(1, shape.batch + 1, at::kFloat).div(shape.batch).view({-1, 1, 1, 1});
    return in_range(test_picture(fractions) * brightness, shape);
}

// Returns nullopt if the model does not take them.
std::optional<at::Tensor> result_of(const Source &source, const at::Tensor &images)
{
    const Quiet quiet;
    try {
        return picture_of(run_as(plain_variant(source), source, images), *source.output,
                          images.size(0), source.device);
    } catch (const std::exception &error) {
        if (is_out_of_memory(error))
            throw;
        return std::nullopt;
    }
}

bool is_same(const at::Tensor &one, const at::Tensor &other)
{
    if (one.sizes() != other.sizes())
        return false;
    const double largest = one.abs().nan_to_num(0, 0, 0).max().item<double>();
    return at::allclose(one, other, tolerance, tolerance * largest, /*equal_nan=*/true);
}

// Returns nullopt if the model does not take the pictures alone.
std::optional<bool> mixes_of_size(const Source &source, const Shape &shape)
{
    const at::Tensor images = unlike_pictures(shape);
    std::vector<at::Tensor> alone;
    for (int64_t i = 0; i < shape.batch; i++) {
        const auto result = result_of(source, images.narrow(0, i, 1));
        if (!result)
            return std::nullopt;
        alone.push_back(*result);
    }
    const auto together = result_of(source, images);
    if (!together || together->size(0) != shape.batch)
        return true;
    for (int64_t i = 0; i < shape.batch; i++)
        if (!is_same(alone[static_cast<size_t>(i)], together->narrow(0, i, 1)))
            return true;
    return false;
}

} // namespace

bool mixes_pictures(const Source &source, const Shape &shape)
{
    constexpr int32_t small = 64;
    const ThreadsScope own_thread(1);
    for (const int32_t batch : {shape.batch, std::min(shape.batch, 2)})
        try {
            const Shape reduced =
                shape.sized(batch, std::min(shape.height, small), std::min(shape.width, small));
            if (const auto found = mixes_of_size(source, reduced))
                return *found;
            return mixes_of_size(source, shape.sized(batch, shape.height, shape.width))
                .value_or(false);
        } catch (const std::exception &error) {
            if (!is_out_of_memory(error))
                throw;
        }
    return false;
}

} // namespace engine_torch
