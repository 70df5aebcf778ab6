// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "runtime_operator.h"

#include "base/compose.h"
#include "engines/torch/architectures/element_types.h"

#include <algorithm>
#include <ATen/core/Tensor.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/from_blob.h>
#include <ATen/Parallel.h>
#include <stdexcept>
#include <torch/csrc/jit/frontend/sugared_value.h>
#include <torch/library.h>
#include <vector>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

std::string in_words(const std::vector<int64_t> &shape)
{
    std::string words;
    for (const int64_t extent : shape)
        dnn_torch::add_to_list(words, extent < 0 ? "any" : std::to_string(extent));
    return concat("[", words, "]");
}

// ONNX Runtime's words do not say which of the two it is.
void check_shape(const RuntimeInput &input, const at::Tensor &tensor)
{
    if (!input.shape)
        return;
    const std::vector<int64_t> &expected = *input.shape, given = tensor.sizes().vec();
    if (expected.size() != given.size())
        throw std::runtime_error(concat("the model takes tensors of ", expected.size(), "D as ",
                                        input.name, ", not of ", given.size(), "D"));
    const auto differs = [&](size_t i) { return expected[i] >= 0 && expected[i] != given[i]; };
    if (expected.size() == 4 && differs(1) && !differs(0))
        throw std::runtime_error(concat("the model takes ", expected[1], " channels as ",
                                        input.name, ", not ", given[1]));
    for (size_t i = 0; i < given.size(); i++)
        if (differs(i))
            throw std::runtime_error(concat("the model takes ", in_words(expected), " as ",
                                            input.name, ", not ", in_words(given)));
}

RuntimeTensor given_to(const RuntimeInput &input, const at::Tensor &tensor)
{
    check_shape(input, tensor);
    const auto held = std::make_shared<at::Tensor>(
        tensor.detach().to(at::kCPU, scalar_type(input.type)).contiguous());
    return {.type = input.type,
            .shape = held->sizes().vec(),
            .data = std::shared_ptr<void>(held, held->data_ptr())};
}

// ONNX Runtime returns an input that is an output, too, in the memory in which it came.
bool is_in(const RuntimeTensor &tensor, const RuntimeTensor &input)
{
    const auto *const begin = static_cast<const char *>(input.data.get());
    const auto *const at = static_cast<const char *>(tensor.data.get());
    return at >= begin && at <= begin + bytes_of(input);
}

at::Tensor view_of(const RuntimeTensor &result)
{
    return at::from_blob(
        result.data.get(), result.shape, [data = result.data](void *) {},
        at::TensorOptions().dtype(scalar_type(result.type)));
}

std::vector<at::Tensor> run_graph(at::TensorList inputs, int64_t number)
{
    const auto graph = RuntimeGraph::find(number);
    if (!graph || graph->description().inputs.size() != inputs.size())
        throw std::runtime_error("there is no such graph of ONNX Runtime");
    std::vector<RuntimeTensor> given;
    for (size_t i = 0; i < inputs.size(); i++)
        given.push_back(given_to(graph->description().inputs[i], inputs[i]));
    std::vector<at::Tensor> results;
    for (const RuntimeTensor &result : graph->run(given, at::get_num_threads())) {
        const bool is_given = std::any_of(given.begin(), given.end(),
                                          [&](const auto &input) { return is_in(result, input); });
        results.push_back(is_given ? view_of(result).clone() : view_of(result));
    }
    return results;
}

void register_onnx_operator()
{
    static const torch::Library ours = [] {
        torch::Library made(torch::Library::FRAGMENT, "dnn_torch", {}, __FILE__, __LINE__);
        made.def("run_onnx(Tensor[] inputs, int graph) -> Tensor[]", &run_graph);
        return made;
    }();
}

class GeneratedNames : public torch::jit::NativeResolver
{
public:
    std::shared_ptr<torch::jit::SugaredValue>
    resolveValue(const std::string &name, torch::jit::GraphFunction &function,
                 const torch::jit::SourceRange &place) override
    {
        if (name == "dnn_torch")
            return std::make_shared<torch::jit::BuiltinModule>("dnn_torch");
        return NativeResolver::resolveValue(name, function, place);
    }
};

} // namespace

std::shared_ptr<torch::jit::Resolver> names_of_generated_code()
{
    register_onnx_operator();
    return std::make_shared<GeneratedNames>();
}

} // namespace engine_torch
