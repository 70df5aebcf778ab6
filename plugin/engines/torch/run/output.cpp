// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "output.h"

#include "base/compose.h"
#include "engines/torch/failure.h"

#include <ATen/core/Tensor.h>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

[[noreturn]] void refuse(const std::string &words)
{
    throw Failure(DNN_TORCH_BAD_OUTPUT, "the model returned " + words);
}

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

NamedTensors tensors_of_dict(const c10::IValue &dict)
{
    NamedTensors tensors;
    for (const auto &entry : dict.toGenericDict()) {
        if (!entry.value().isTensor())
            continue;
        std::ostringstream key;
        if (entry.key().isString())
            key << entry.key().toStringRef();
        else
            key << entry.key();
        tensors.emplace_back(key.str(), entry.value().toTensor());
    }
    return tensors;
}

NamedTensors tensors_of_sequence(const c10::IValue &sequence)
{
    NamedTensors tensors;
    const auto elements =
        sequence.isTuple() ? sequence.toTupleRef().elements().vec() : sequence.toListRef().vec();
    for (size_t i = 0; i < elements.size(); i++)
        if (elements[i].isTensor())
            tensors.emplace_back(std::to_string(i), elements[i].toTensor());
    return tensors;
}

std::string names_of(const NamedTensors &tensors)
{
    std::string names;
    for (const auto &[name, tensor] : tensors)
        dnn_torch::add_to_list(names, name);
    return names;
}

const at::Tensor *find(const NamedTensors &tensors, const std::string &name)
{
    for (const auto &entry : tensors)
        if (entry.first == name)
            return &entry.second;
    return nullptr;
}

at::Tensor choose(const NamedTensors &tensors, const std::string &name, const std::string &what,
                  bool take_first)
{
    if (tensors.empty())
        refuse("no tensor but " + what + " without any");
    const at::Tensor *named = find(tensors, name);
    if (named)
        return *named;
    if (!name.empty())
        refuse(what + " without " + name + "; choose output=NAME among " + names_of(tensors));
    if (tensors.size() > 1 && !take_first)
        refuse(what + " of " + std::to_string(tensors.size()) +
               " tensors; choose one with output=NAME: " + names_of(tensors));
    return tensors.front().second;
}

at::Tensor tensor_of(const c10::IValue &returned, const std::string &name)
{
    if (returned.isTensor())
        return returned.toTensor();
    if (returned.isGenericDict())
        return choose(tensors_of_dict(returned), name, "a dict", false);
    if (returned.isTuple())
        return choose(tensors_of_sequence(returned), name, "a tuple", true);
    if (returned.isList())
        return choose(tensors_of_sequence(returned), name, "a list", true);
    refuse("no tensor but " + returned.type()->repr_str());
}

std::string words_of(at::IntArrayRef sizes)
{
    std::ostringstream words;
    words << sizes;
    return words.str();
}

std::string lower_case_type(const at::Tensor &tensor)
{
    std::string name = c10::toString(tensor.scalar_type());
    for (char &c : name)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return name;
}

bool is_picture_type(at::ScalarType type)
{
    return type == at::kFloat || type == at::kHalf || type == at::kBFloat16 || type == at::kDouble;
}

void check_kind(const at::Tensor &tensor, const c10::Device &device)
{
    if (!tensor.defined())
        refuse("no tensor but an undefined one");
    if (!tensor.device().is_cpu() && tensor.device().type() != device.type())
        refuse("a tensor on the device " + tensor.device().str() + "; leave it on the input's");
    if (tensor.is_quantized())
        refuse("a quantised tensor; let it end with dequantize()");
    if (tensor.layout() != at::kStrided && tensor.layout() != at::kMkldnn)
        refuse("a sparse tensor; let it end with to_dense()");
    if (!is_picture_type(tensor.scalar_type()))
        refuse("a tensor of " + lower_case_type(tensor) + "; the filter needs float32");
}

void check_shape(at::IntArrayRef sizes, int64_t batch)
{
    if (sizes.size() != 4)
        refuse("a tensor of rank " + std::to_string(sizes.size()) + " (" + words_of(sizes) +
               "); the filter needs rank 4, [batch, channels, height, width]");
    if (sizes[0] != batch)
        refuse("a batch of " + std::to_string(sizes[0]) + " for a batch of " +
               std::to_string(batch) + "; it must return one picture for each");
    for (const int64_t extent : sizes)
        if (extent < 1 || extent > std::numeric_limits<int32_t>::max())
            refuse(std::string(extent < 1 ? "an empty" : "too large a") + " tensor (" +
                   words_of(sizes) + "); all extents must be at least 1");
}

} // namespace

at::Tensor picture_of(const c10::IValue &returned, const std::string &name, int64_t batch,
                      const c10::Device &device)
{
    at::Tensor tensor = tensor_of(returned, name);
    check_kind(tensor, device);
    check_shape(tensor.sizes(), batch);
    if (tensor.layout() == at::kMkldnn)
        tensor = tensor.to_dense();
    return tensor.to(device, at::kFloat);
}

} // namespace engine_torch
