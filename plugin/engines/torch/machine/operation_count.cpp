// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "operation_count.h"

#include <algorithm>
#include <ATen/core/Tensor.h>
#include <cstring>
#include <memory>
#include <vector>

namespace engine_torch
{
namespace
{

using Inputs = c10::ArrayRef<const c10::IValue>;

thread_local double *counted = nullptr;

// A multiplication and an addition.
constexpr double of_a_product = 2;

double elements(const c10::IValue &value)
{
    return value.isTensor() ? static_cast<double>(value.toTensor().numel()) : 0;
}

int64_t at_or_last(const std::vector<int64_t> &list, size_t i)
{
    return list.empty() ? 1 : list[std::min(i, list.size() - 1)];
}

// How many positions the kernel takes along one axis.
int64_t places(int64_t extent, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation)
{
    return (extent + 2 * padding - dilation * (kernel - 1) - 1) / std::max<int64_t>(stride, 1) + 1;
}

// input, weight, bias, stride, padding, dilation, transposed, ...  A whole kernel is multiplied
// with each sample of the result or, if transposed, of the input.
double of_convolution(Inputs inputs)
{
    if (inputs.size() < 7 || !inputs[0].isTensor() || !inputs[1].isTensor() ||
        !inputs[3].isIntList() || !inputs[4].isIntList() || !inputs[5].isIntList() ||
        !inputs[6].isBool())
        return 0;
    const at::Tensor &input = inputs[0].toTensor(), &weight = inputs[1].toTensor();
    if (input.dim() < 3 || weight.dim() != input.dim())
        return 0;
    if (inputs[6].toBool())
        return of_a_product * static_cast<double>(input.numel()) *
               static_cast<double>(weight.numel()) / static_cast<double>(weight.size(0));
    const std::vector<int64_t> stride = inputs[3].toIntVector(), padding = inputs[4].toIntVector(),
                               dilation = inputs[5].toIntVector();
    auto all = static_cast<double>(input.size(0));
    for (int64_t axis = 2; axis < input.dim(); axis++) {
        const auto i = static_cast<size_t>(axis - 2);
        all *=
            static_cast<double>(places(input.size(axis), weight.size(axis), at_or_last(stride, i),
                                       at_or_last(padding, i), at_or_last(dilation, i)));
    }
    return of_a_product * all * static_cast<double>(weight.numel());
}

// Of [..., rows, inner] by [..., inner, columns].
double of_product(const c10::IValue &left, const c10::IValue &right)
{
    if (!left.isTensor() || !right.isTensor() || right.toTensor().dim() < 1)
        return 0;
    const at::Tensor &factor = right.toTensor();
    return of_a_product * elements(left) *
           static_cast<double>(factor.dim() > 1 ? factor.size(-1) : 1);
}

// query, key, value, each [batch, heads, length, features].
double of_attention(Inputs inputs)
{
    if (inputs.size() < 3 || !inputs[0].isTensor() || !inputs[1].isTensor() ||
        inputs[1].toTensor().dim() < 2)
        return 0;
    return 2 * of_a_product * elements(inputs[0]) *
           static_cast<double>(inputs[1].toTensor().size(-2));
}

bool is(const char *name, const char *other)
{
    return std::strcmp(name, other) == 0;
}

// Operators that are made of these are not counted themselves.
double operations_of(const char *name, Inputs inputs)
{
    if (is(name, "aten::_convolution"))
        return of_convolution(inputs);
    if (inputs.size() >= 2 &&
        (is(name, "aten::mm") || is(name, "aten::bmm") || is(name, "aten::mv")))
        return of_product(inputs[0], inputs[1]);
    if (inputs.size() >= 3 && (is(name, "aten::addmm") || is(name, "aten::baddbmm")))
        return of_product(inputs[1], inputs[2]);
    if (is(name, "aten::_scaled_dot_product_flash_attention_for_cpu"))
        return of_attention(inputs);
    return 0;
}

// LibTorch calls it for each operator.
std::unique_ptr<at::ObserverContext> count(const at::RecordFunction &function)
{
    if (counted)
        *counted += operations_of(function.name(), function.inputs());
    return nullptr;
}

} // namespace

OperationCount::OperationCount()
    : handle_(at::addThreadLocalCallback(
          at::RecordFunctionCallback(&count).needsInputs(true).scopes({at::RecordScope::FUNCTION})))
{
    counted = &operations_;
}

OperationCount::~OperationCount()
{
    counted = nullptr;
    at::removeCallback(handle_);
}

} // namespace engine_torch
