// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "probe.h"

#include "output.h"
#include "run_scope.h"

#include <ATen/ATen.h>

namespace engine_torch
{

DnnTorchShape probe(DnnTorchModel &model, const DnnTorchShape &shape)
{
    const ThreadsScope one_thread(1);
    const at::Tensor grey = at::full({shape.batch, shape.channels, shape.height, shape.width}, 0.5,
                                     at::TensorOptions(at::kFloat));
    const at::Tensor result =
        picture_of(model.forward(grey), model.output_name(), shape.batch, model.device());
    const auto extent = [&](std::int64_t dimension) {
        return static_cast<std::int32_t>(result.size(dimension));
    };
    return {extent(0), extent(1), extent(2), extent(3)};
}

} // namespace engine_torch
