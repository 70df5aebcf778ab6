// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tensor_views.h"

#include <algorithm>
#include <iterator>

namespace isolation
{

int64_t element_bytes(int32_t type)
{
    switch (type) {
    case DNN_TORCH_U8:
    case DNN_TORCH_BOOL:
        return 1;
    case DNN_TORCH_U16:
    case DNN_TORCH_F16:
    case DNN_TORCH_BF16:
        return 2;
    case DNN_TORCH_F32:
    case DNN_TORCH_I32:
        return 4;
    case DNN_TORCH_I64:
        return 8;
    default:
        return 0;
    }
}

namespace
{

bool is_empty(const WireTensor &tensor)
{
    return std::any_of(tensor.dims, tensor.dims + tensor.rank,
                       [](int64_t extent) { return extent == 0; });
}

} // namespace

bool has_shape(const WireTensor &tensor, Extents extents)
{
    const int64_t least = extents == Extents::from_zero ? 0 : 1;
    return element_bytes(tensor.type) > 0 && tensor.rank >= 0 &&
           tensor.rank <= DNN_TORCH_DIMENSIONS &&
           std::all_of(tensor.dims, tensor.dims + tensor.rank,
                       [=](int64_t extent) { return extent >= least; });
}

std::optional<int64_t> span_of(const WireTensor &tensor, Extents extents)
{
    if (!has_shape(tensor, extents))
        return std::nullopt;
    if (is_empty(tensor))
        return 0;
    const int64_t element = element_bytes(tensor.type);
    int64_t span = element;
    for (int i = 0; i < tensor.rank; i++) {
        int64_t reach = 0;
        const int64_t stride = tensor.strides[i];
        if (stride < 0 || stride % element != 0 ||
            __builtin_mul_overflow(tensor.dims[i] - 1, stride, &reach) ||
            __builtin_add_overflow(span, reach, &span))
            return std::nullopt;
    }
    return span;
}

bool lies_within(const WireTensor &tensor, size_t bytes, Extents extents)
{
    const std::optional<int64_t> span = span_of(tensor, extents);
    int64_t end = 0;
    return span && tensor.offset >= 0 && tensor.offset % element_bytes(tensor.type) == 0 &&
           !__builtin_add_overflow(tensor.offset, *span, &end) &&
           static_cast<uint64_t>(end) <= bytes;
}

std::optional<int64_t> packed_bytes(const WireTensor &tensor, Extents extents)
{
    if (!has_shape(tensor, extents))
        return std::nullopt;
    int64_t bytes = element_bytes(tensor.type);
    for (int i = 0; i < tensor.rank; i++)
        if (__builtin_mul_overflow(bytes, std::max<int64_t>(tensor.dims[i], 1), &bytes))
            return std::nullopt;
    return is_empty(tensor) ? 0 : bytes;
}

void pack_strides(WireTensor &tensor)
{
    int64_t stride = element_bytes(tensor.type);
    for (int i = tensor.rank - 1; i >= 0; i--) {
        tensor.strides[i] = stride;
        stride *= std::max<int64_t>(tensor.dims[i], 1);
    }
}

size_t count_there(std::span<const DnnTorchTensor> tensors)
{
    const auto absent = [](const DnnTorchTensor &tensor) { return tensor.type == 0; };
    return static_cast<size_t>(std::find_if(tensors.begin(), tensors.end(), absent) -
                               tensors.begin());
}

std::optional<size_t> count_there(std::span<const WireTensor> tensors)
{
    const auto absent = [](const WireTensor &tensor) { return tensor.type == 0; };
    const auto end = std::find_if(tensors.begin(), tensors.end(), absent);
    if (!std::all_of(end, tensors.end(), absent))
        return std::nullopt;
    return static_cast<size_t>(end - tensors.begin());
}

WireTensor to_wire(const DnnTorchTensor &tensor)
{
    WireTensor wire = {.type = tensor.type,
                       .rank = tensor.rank,
                       .dims = {},
                       .strides = {},
                       .white = tensor.white,
                       .low = tensor.low,
                       .high = tensor.high,
                       .area = Area::given,
                       .offset = 0,
                       .name = ""};
    std::copy(std::begin(tensor.name), std::end(tensor.name), wire.name);
    std::copy(std::begin(tensor.dims), std::end(tensor.dims), wire.dims);
    std::copy(std::begin(tensor.strides), std::end(tensor.strides), wire.strides);
    return wire;
}

DnnTorchTensor from_wire(const WireTensor &wire)
{
    DnnTorchTensor tensor = {.size = sizeof(tensor),
                             .data = nullptr,
                             .type = wire.type,
                             .rank = wire.rank,
                             .dims = {},
                             .strides = {},
                             .white = wire.white,
                             .name = "",
                             .low = wire.low,
                             .high = wire.high};
    std::copy(std::begin(wire.dims), std::end(wire.dims), tensor.dims);
    std::copy(std::begin(wire.strides), std::end(wire.strides), tensor.strides);
    std::copy(std::begin(wire.name), std::end(wire.name), tensor.name);
    return tensor;
}

} // namespace isolation
