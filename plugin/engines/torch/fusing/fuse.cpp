// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "fuse.h"

#include "engines/torch/fused/calibrate.h"
#include "engines/torch/fused/network.h"
#include "engines/torch/fused/warp.h"
#include "regions.h"

#include <algorithm>
#include <ATen/core/Tensor.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/grid_sampler.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
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

// A sample of up to this many times the largest typical one does not harm others.
constexpr double most_to_typical = 2;

// A network that most videos never need, made when it is first used.
class RareNetwork
{
public:
    RareNetwork(fused::Precision precision, fused::LayoutChoice layouts, fused::NodeChoice nodes)
        : precision_(precision), layouts_(layouts), nodes_(nodes)
    {
    }

    fused::Network &get(const fused::Graph &graph)
    {
        std::call_once(is_made_, [&] {
            network_ = std::make_unique<fused::Network>(graph, precision_, fused::LayerRanges(),
                                                        layouts_, nodes_);
        });
        return *network_;
    }

private:
    const fused::Precision precision_;
    const fused::LayoutChoice layouts_;
    const fused::NodeChoice nodes_;
    std::once_flag is_made_;
    std::unique_ptr<fused::Network> network_;
};

// A picture of a batch, and the place of its result.
struct Work {
    const at::Tensor &from;
    at::Tensor &to; // made with the first picture
    int64_t place;
};

// A program in a node.  Copies of the graph share it.
class Part final : public torch::CustomClassHolder
{
public:
    Part(const fused::Graph &graph, const FusedRequest &request, bool makes_result)
        : graph_(graph), makes_result_(makes_result),
          nodes_({.has_own_weights = request.weights_on_each_node})
    {
        if (request.numbers != FusedNumbers::int8)
            network_ = new_network(request.numbers == FusedNumbers::bf16 ? fused::Precision::bf16
                                                                         : fused::Precision::fp32);
    }

    // Makes the next calibrate_if_asked() calibrate with its pictures.
    void begin_calibration(const Int8Goal &goal, const std::shared_ptr<std::atomic<bool>> &others)
    {
        is_calibrating_ = true;
        goal_ = {
            .decibel = goal.decibel, .peak = makes_result_ ? goal.peak : 0, .judged = goal.judged};
        met_others_ = others;
    }

    const fused::Calibration &calibration() const { return calibration_; }

    void calibrate_if_asked(const at::Tensor &input)
    {
        if (is_calibrating_)
            calibrate(input);
        TORCH_CHECK(network_, "fused layers in int8 were not calibrated");
    }

    const fused::Network &network() const { return *network_; }
    bool has_bf16_tiles() const
    {
        return network_ && network_->precision() == fused::Precision::bf16 &&
               fused::transforms_pay(fused::Precision::bf16);
    }

    // Between these calls all samples count as typical.
    void begin_learning() { is_learning_ = true; }
    void end_learning() { is_learning_ = false; }

    // Throws if no program computes the picture as the model does.
    void run(const Work &work);

private:
    std::unique_ptr<fused::Network> new_network(fused::Precision precision) const
    {
        return std::make_unique<fused::Network>(graph_, precision, calibration_.layers,
                                                fused::LayoutChoice::fastest, nodes_);
    }
    void calibrate(const at::Tensor &input);
    bool has_typical_samples(const Work &work);

    const fused::Graph graph_;
    const bool makes_result_;
    const fused::NodeChoice nodes_;
    bool is_learning_ = false;
    std::optional<double> largest_typical_; // in bf16, if it has learned
    bool is_calibrating_ = false;
    fused::CalibrationGoal goal_;
    fused::Calibration calibration_;
    std::shared_ptr<std::atomic<bool>> met_others_; // null unless in int8
    std::unique_ptr<fused::Network> network_;       // null in int8 until it is calibrated
    // For samples beyond those that int8 was calibrated with.
    RareNetwork plain_{fused::Precision::fp32, fused::LayoutChoice::fastest, nodes_};
    // Without transforms, for pictures whose samples they harm.
    RareNetwork bf16_direct_{fused::Precision::bf16, fused::LayoutChoice::direct, nodes_};
    RareNetwork direct_{fused::Precision::fp32, fused::LayoutChoice::direct, nodes_};
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

// Takes a run of the network and gives it back at the end of the scope.
class Lease
{
public:
    Lease(fused::Network &network, fused::Extent extent)
        : network_(network), taken_(network.take(extent))
    {
    }
    ~Lease()
    {
        try {
            network_.give_back(std::move(taken_));
        } catch (...) {
            // Without memory for the list the next frame makes a run anew.
        }
    }
    Lease(const Lease &) = delete;
    Lease &operator=(const Lease &) = delete;

    fused::Run *operator->() const { return taken_.run.get(); }

private:
    fused::Network &network_;
    fused::Network::Taken taken_;
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
    calibration_ = fused::calibrate(graph_, samples, goal_);
    network_ = new_network(fused::Precision::fp32);
    is_calibrating_ = false;
}

// Returns whether the result is sound; see Run.
bool run_one(fused::Network &network, const Work &work)
{
    const at::Tensor &from = work.from;
    const Lease run(network, {from.size(2), from.size(3)});
    if (const fused::Extent made = run->program().output_extent(); !work.to.defined())
        work.to =
            at::empty({from.size(0), network.out_channels(), made.height, made.width}, at::kFloat);
    const at::Tensor memory =
        at::empty({static_cast<int64_t>(run->memory_bytes())}, at::TensorOptions(at::kByte));
    run->compute(picture_of(from, work.place), picture_of(work.to, work.place),
                 static_cast<std::byte *>(memory.data_ptr()));
    return run->is_sound();
}

// NaN is not typical.
bool Part::has_typical_samples(const Work &work)
{
    if (!is_learning_ && !largest_typical_)
        return true;
    const auto [low, high] = at::aminmax(work.from.select(0, work.place));
    const double largest = std::max(-low.item<double>(), high.item<double>());
    if (is_learning_)
        largest_typical_ = std::max(largest_typical_.value_or(0), largest);
    return largest <= most_to_typical * *largest_typical_;
}

void Part::run(const Work &work)
{
    if (has_typical_samples(work) && run_one(*network_, work))
        return;
    if (met_others_) {
        *met_others_ = true;
        if (run_one(plain_.get(graph_), work))
            return;
    }
    if (has_bf16_tiles() && run_one(bf16_direct_.get(graph_), work))
        return;
    TORCH_CHECK(run_one(direct_.get(graph_), work), "fused layers need finite samples");
}

// Runs one picture after the other, so that none depends on the others of its batch.
at::Tensor run_part(Part &part, const at::Tensor &input)
{
    part.calibrate_if_asked(input);
    expect_pictures(input, part.network().in_channels());
    const bool is_half = part.network().precision() == fused::Precision::bf16;
    TORCH_CHECK(input.device().is_cpu() &&
                    input.scalar_type() == (is_half ? at::kBFloat16 : at::kFloat),
                "fused layers take other numbers");
    const at::Tensor from = is_half ? input.to(at::kFloat) : input;
    at::Tensor to;
    for (int64_t place = 0; place < input.size(0); place++)
        part.run({from, to, place});
    return is_half ? to.to(at::kBFloat16) : to;
}

c10::intrusive_ptr<Part> part_of(const Node &node)
{
    return c10::static_intrusive_pointer_cast<Part>(node.ival(part_attribute()).toCapsule());
}

std::vector<c10::intrusive_ptr<Part>> parts_of(const torch::jit::Module &copy)
{
    std::vector<c10::intrusive_ptr<Part>> parts;
    for (const Node *node : copy.get_method("forward").graph()->nodes())
        if (node->kind() == node_kind())
            parts.push_back(part_of(*node));
    return parts;
}

// A node that comes from a file has no program, and no node of ours can be written to one.
torch::jit::Operation operation_of(const Node *node)
{
    TORCH_CHECK(node->hasAttribute(part_attribute()) && node->inputs().size() == 1,
                "fused layers cannot be called by a model");
    const auto part = part_of(*node);
    return [part](torch::jit::Stack &stack) {
        const at::Tensor input = torch::jit::pop(stack).toTensor();
        torch::jit::push(stack, run_part(*part, input));
    };
}

// ---- warps ---------------------------------------------------------------------------------

const c10::Symbol &warp_kind()
{
    static const auto kind = c10::Symbol::fromQualString("dnn_torch::warp");
    return kind;
}

bool are_floats(const at::Tensor &tensor)
{
    return tensor.device().is_cpu() && tensor.scalar_type() == at::kFloat && tensor.dim() == 4 &&
           tensor.numel() != 0;
}

at::Tensor warped(const at::Tensor &from, const at::Tensor &grid)
{
    constexpr int64_t bilinear = 0, border = 1;
    if (!are_floats(from) || !are_floats(grid) || grid.size(0) != from.size(0) || grid.size(3) != 2)
        return at::grid_sampler(from, grid, bilinear, border, true);
    const at::Tensor planes = from.contiguous(), places = grid.contiguous();
    const fused::Extent made = {grid.size(1), grid.size(2)};
    const at::Tensor to =
        at::empty({from.size(0), from.size(1), made.height, made.width}, at::kFloat);
    for (int64_t i = 0; i < from.size(0); i++)
        fused::warp({.samples = planes.data_ptr<float>() + i * planes.stride(0),
                     .channels = from.size(1),
                     .extent = {from.size(2), from.size(3)}},
                    places.data_ptr<float>() + i * places.stride(0), made,
                    to.data_ptr<float>() + i * to.stride(0));
    return to;
}

bool is_warp(const Node &node)
{
    if (node.kind() != c10::aten::grid_sampler)
        return false;
    const auto mode = torch::jit::toIValue(node.input(2)),
               padding = torch::jit::toIValue(node.input(3)),
               aligned = torch::jit::toIValue(node.input(4));
    return mode && mode->toInt() == 0 && padding && padding->toInt() == 1 && aligned &&
           aligned->toBool();
}

void replace_warps(torch::jit::Graph &graph)
{
    for (Node *node : graph.nodes()) {
        if (!is_warp(*node))
            continue;
        Node *const warp = graph.create(warp_kind(), {node->input(0), node->input(1)}, 1);
        warp->output()->setType(c10::TensorType::get());
        warp->insertBefore(node);
        node->output()->replaceAllUsesWith(warp->output());
    }
}

torch::jit::Operation warp_of(const Node *node)
{
    TORCH_CHECK(node->inputs().size() == 2, "a warp takes a picture and a grid");
    return [](torch::jit::Stack &stack) {
        const at::Tensor grid = torch::jit::pop(stack).toTensor();
        const at::Tensor from = torch::jit::pop(stack).toTensor();
        torch::jit::push(stack, warped(from, grid));
    };
}

void register_nodes()
{
    static std::once_flag is_registered;
    std::call_once(is_registered, [] {
        torch::jit::registerOperator(
            torch::jit::Operator(node_kind(), operation_of, c10::AliasAnalysisKind::PURE_FUNCTION));
        torch::jit::registerOperator(
            torch::jit::Operator(warp_kind(), warp_of, c10::AliasAnalysisKind::PURE_FUNCTION));
    });
}

// Returns the new node's output.
Value *replace(torch::jit::Graph &graph, const Region &region, Value *input,
               const FusedRequest &request)
{
    Node *const node = graph.create(node_kind(), {input}, 1);
    const auto &uses = region.output->uses();
    const bool is_result = uses.size() == 1 && uses.front().user == graph.return_node();
    const auto part = c10::make_intrusive<Part>(region.graph, request, is_result);
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

std::optional<torch::jit::Module> with_fused_programs(torch::jit::Module frozen,
                                                      const std::string &input_name,
                                                      int64_t channels, const FusedRequest &request)
{
    register_nodes();
    const auto graph = frozen.get_method("forward").graph();
    const std::vector<Region> regions = find_regions(graph, input_name, channels);
    if (regions.empty())
        return std::nullopt;
    std::map<Value *, Value *> replaced;
    for (const Region &region : regions) {
        const auto before = replaced.find(region.input);
        Value *const input = before == replaced.end() ? region.input : before->second;
        replaced[region.output] = replace(*graph, region, input, request);
    }
    replace_warps(*graph);
    torch::jit::EliminateDeadCode(graph);
    return frozen;
}

Int8Layers calibrate_fused(const torch::jit::Module &copy, const Int8Goal &goal,
                           const std::function<void()> &run)
{
    const auto parts = parts_of(copy);
    Int8Layers found;
    found.exceeded_range = std::make_shared<std::atomic<bool>>(false);
    for (const auto &part : parts)
        part->begin_calibration(goal, found.exceeded_range);
    run();
    for (const auto &part : parts) {
        found.all += part->calibration().layers.size();
        found.in_int8 += part->calibration().in_int8;
    }
    return found;
}

void learn_typical_samples(const torch::jit::Module &copy, const std::function<void()> &run)
{
    auto parts = parts_of(copy);
    std::erase_if(parts, [](const auto &part) { return !part->has_bf16_tiles(); });
    if (parts.empty())
        return;
    for (const auto &part : parts)
        part->begin_learning();
    run();
    for (const auto &part : parts)
        part->end_learning();
}

} // namespace engine_torch
