// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "fuse.h"

#include "engines/torch/fused/calibrate.h"
#include "engines/torch/fused/network.h"
#include "regions.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <map>
#include <memory>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/custom_class.h>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

using torch::jit::Node;
using torch::jit::Value;

// A program in a node.  Copies of the graph share it.
class Part final : public torch::CustomClassHolder
{
public:
    // `peak` is the result's largest sample, or 0 if it is not known.
    Part(const fused::Graph &graph, FusedNumbers numbers, double peak) : graph_(graph), peak_(peak)
    {
        if (numbers != FusedNumbers::int8)
            network_ = std::make_unique<fused::Network>(graph, numbers == FusedNumbers::bf16
                                                                   ? fused::Precision::bf16
                                                                   : fused::Precision::fp32);
    }

    // The next call of network_for() calibrates with its pictures.
    void begin_calibration(double decibel)
    {
        is_calibrating_ = true;
        decibel_ = decibel;
    }

    const fused::Calibration &calibration() const { return calibration_; }

    fused::Network &network_for(const at::Tensor &input)
    {
        if (is_calibrating_)
            calibrate(input);
        TORCH_CHECK(network_, "fused layers in int8 were not calibrated");
        return *network_;
    }

private:
    void calibrate(const at::Tensor &input);

    const fused::Graph graph_;
    const double peak_;
    bool is_calibrating_ = false;
    double decibel_ = 0;
    fused::Calibration calibration_;
    std::unique_ptr<fused::Network> network_; // null in int8 until it is calibrated
};

const c10::Symbol &node_kind()
{
    static const auto kind = c10::Symbol::fromQualString("dnn_torch::fused_layers");
    return kind;
}

const c10::Symbol &part_attribute()
{
    static const auto name = c10::Symbol::attr("part");
    return name;
}

// Gives the run back wherever the frame ends.
class Lease
{
public:
    Lease(fused::Network &network, fused::Extent extent)
        : network_(network), run_(network.take(extent))
    {
    }
    ~Lease()
    {
        try {
            network_.give_back(std::move(run_));
        } catch (...) {
            // Without memory for the list the next frame makes a run anew.
        }
    }
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;

    fused::Run *operator->() const { return run_.get(); }

private:
    fused::Network &network_;
    std::unique_ptr<fused::Run> run_;
};

fused::Picture picture_of(const at::Tensor &pictures, int64_t place)
{
    return {pictures.data_ptr<float>() + place * pictures.stride(0),
            {pictures.stride(1), pictures.stride(2), pictures.stride(3)}};
}

void expect_pictures(const at::Tensor &input, int64_t channels)
{
    TORCH_CHECK(input.dim() == 4 && input.size(1) == channels, "fused layers take [N, ", channels,
                ", H, W], not ", input.sizes());
}

void Part::calibrate(const at::Tensor &input)
{
    expect_pictures(input, graph_.values()[graph_.input()].channels);
    const at::Tensor pictures = input.to(at::kFloat).contiguous();
    std::vector<fused::CalibrationPicture> samples;
    for (int64_t place = 0; place < pictures.size(0); place++)
        samples.push_back({{pictures.size(2), pictures.size(3)}, picture_of(pictures, place)});
    calibration_ = fused::calibrate(graph_, samples, {.decibel = decibel_, .peak = peak_});
    network_ =
        std::make_unique<fused::Network>(graph_, fused::Precision::fp32, calibration_.layers);
    is_calibrating_ = false;
}

at::Tensor run_part(fused::Network &network, const at::Tensor &input)
{
    expect_pictures(input, network.in_channels());
    const bool is_half = network.precision() == fused::Precision::bf16;
    TORCH_CHECK(input.device().is_cpu() &&
                    input.scalar_type() == (is_half ? at::kBFloat16 : at::kFloat),
                "fused layers take other numbers");
    const at::Tensor from = is_half ? input.to(at::kFloat) : input;
    const Lease run(network, {input.size(2), input.size(3)});
    const fused::Extent made = run->program().output_extent();
    const at::Tensor to =
        at::empty({input.size(0), network.out_channels(), made.height, made.width}, at::kFloat);
    const at::Tensor memory =
        at::empty({static_cast<int64_t>(run->memory_bytes())}, at::TensorOptions(at::kByte));
    for (int64_t place = 0; place < input.size(0); place++)
        run->compute(picture_of(from, place), picture_of(to, place),
                     static_cast<std::byte *>(memory.data_ptr()));
    return is_half ? to.to(at::kBFloat16) : to;
}

c10::intrusive_ptr<Part> part_of(const Node &node)
{
    return c10::static_intrusive_pointer_cast<Part>(node.ival(part_attribute()).toCapsule());
}

// A node that comes from a file has no program, and no node of ours can be written to one.
torch::jit::Operation operation_of(const Node *node)
{
    TORCH_CHECK(node->hasAttribute(part_attribute()) && node->inputs().size() == 1,
                "fused layers cannot be called by a model");
    const auto part = part_of(*node);
    return [part](torch::jit::Stack &stack) {
        const at::Tensor input = torch::jit::pop(stack).toTensor();
        torch::jit::push(stack, run_part(part->network_for(input), input));
    };
}

void register_node()
{
    static const torch::jit::RegisterOperators registered(
        {torch::jit::Operator(node_kind(), operation_of, c10::AliasAnalysisKind::PURE_FUNCTION)});
}

// Returns what the new node makes.
Value *replace(torch::jit::Graph &graph, const Region &region, Value *input, FusedNumbers numbers)
{
    Node *const node = graph.create(node_kind(), {input}, 1);
    const auto &uses = region.output->uses();
    const bool is_result = uses.size() == 1 && uses.front().user == graph.return_node();
    const auto part = c10::make_intrusive<Part>(region.graph, numbers, is_result ? 1 : 0);
    node->ival_(part_attribute(), c10::IValue::make_capsule(part));
    node->output()->setType(c10::TensorType::get());
    node->insertBefore(region.output->node());
    region.output->replaceAllUsesWith(node->output());
    return node->output();
}

} // namespace

bool can_fuse()
{
    return true;
}

std::optional<torch::jit::Module> fused_copy(const torch::jit::Module &frozen,
                                             const std::string &input_name, int64_t channels,
                                             FusedNumbers numbers)
{
    register_node();
    torch::jit::Module copy = frozen.clone(true);
    const auto graph = copy.get_method("forward").graph();
    const std::vector<Region> regions = find_regions(graph, input_name, channels);
    if (regions.empty())
        return std::nullopt;
    std::map<Value *, Value *> replaced;
    for (const Region &region : regions) {
        const auto before = replaced.find(region.input);
        Value *const input = before == replaced.end() ? region.input : before->second;
        replaced[region.output] = replace(*graph, region, input, numbers);
    }
    torch::jit::EliminateDeadCode(graph);
    return copy;
}

Int8Layers calibrate_fused(const torch::jit::Module &copy, double decibel,
                           const std::function<void()> &run)
{
    std::vector<c10::intrusive_ptr<Part>> parts;
    for (const Node *node : copy.get_method("forward").graph()->nodes())
        if (node->kind() == node_kind())
            parts.push_back(part_of(*node));
    for (const auto &part : parts)
        part->begin_calibration(decibel);
    run();
    Int8Layers found;
    for (const auto &part : parts) {
        found.all += part->calibration().layers.size();
        found.in_int8 += part->calibration().in_int8;
    }
    return found;
}

} // namespace engine_torch
