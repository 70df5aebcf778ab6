// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "layouts.h"

#include <map>
#include <tuple>
#include <utility>
#include <variant>

namespace engine_torch::fused
{
namespace
{

// Groups that oneDNN does not take are computed as one convolution with zeros between the groups,
// up to this product of input and output channels.
constexpr int64_t most_of_groups = 1 << 20;

int64_t lanes_of(Arrangement arrangement, int64_t channels)
{
    return arrangement == Arrangement::blocked ? block_lanes() : channels;
}

// oneDNN computes these at no cost as it stores a sum.  Other steps are as fast by themselves, or
// faster: oneDNN 2.6's tanh takes as long as a small convolution.
bool is_cheap(const TailStep &step)
{
    if (const auto *activation = std::get_if<Activation>(&step))
        return activation->kind == ActivationKind::relu ||
               activation->kind == ActivationKind::leaky_relu ||
               activation->kind == ActivationKind::clamp;
    return std::holds_alternative<BinaryWith>(step);
}

size_t cheap_steps(const Stage &stage)
{
    size_t count = 0;
    while (count < stage.tail.size() && is_cheap(stage.tail[count]))
        count++;
    return count;
}

class KernelChooser
{
public:
    KernelChooser(const StageList &list, Precision precision, LayoutChoice choice,
                  const LayerRanges &ranges, const Layouts *like)
        : list_(list), precision_(precision), choice_(choice), ranges_(ranges)
    {
        if (like)
            for (const StageKernel &kernel : like->kernels)
                if (kernel.convolves())
                    known_.push_back(kernel);
    }

    // Call it for each convolution in turn.
    StageKernel choose(const Stage &stage)
    {
        const size_t place = next_++;
        const StageKernel known = place < known_.size() ? known_[place] : StageKernel();
        if (place < ranges_.size() && ranges_[place])
            if (StageKernel made = in_int8(stage, quantisation_for(*ranges_[place]), known);
                made.convolves())
                return made;
        return choose_in_floats(stage, known.int8 ? StageKernel() : known);
    }

private:
    StageKernel choose_in_floats(const Stage &stage, const StageKernel &known)
    {
        const auto &it = std::get<Convolution>(stage.core);
        const int64_t channels = list_.tensors[stage.inputs.front()].channels;
        if (choice_ == LayoutChoice::fastest && transforms_pay(precision_) &&
            WinogradConvolution::takes(it, channels))
            return {.winograd = known.winograd
                                    ? known.winograd
                                    : std::make_shared<const WinogradConvolution>(
                                          it, channels, stage.tail, precision_, gains(stage))};
        if (precision_ == Precision::bf16) {
            if (auto made = by_onednn(stage, known.onednn.get()))
                return {.onednn = std::move(made)};
            // On the processor's bf16 units or not at all: all else would be slower than fp32.
            throw GraphError("oneDNN has no bf16 convolution for this processor");
        }
        if (it.groups > 1 || choice_ == LayoutChoice::interleaved)
            if (auto made = by_onednn(stage, known.onednn.get()))
                return {.onednn = std::move(made)};
        if (it.groups > 1 && channels * it.out_channels > most_of_groups)
            throw GraphError("a convolution has too many channels in groups");
        return {.direct = known.direct ? known.direct
                                       : std::make_shared<const DirectConvolution>(it, channels,
                                                                                   stage.tail)};
    }

    // Computes all gains when the first ones are needed.
    const Gains &gains(const Stage &stage)
    {
        if (gains_.empty())
            gains_ = gains_of(list_);
        return gains_[static_cast<size_t>(&stage - list_.stages.data())];
    }

    // Shares weights if the quantisation is the same.
    StageKernel in_int8(const Stage &stage, const Quantisation &quantisation,
                        const StageKernel &known) const
    {
        const auto &it = std::get<Convolution>(stage.core);
        const Tensor &in = list_.tensors[stage.inputs.front()];
        const Tensor &out = list_.tensors[stage.output];
        if (it.groups > 1 || precision_ != Precision::fp32)
            return {};
        const bool is_known = known.int8 && known.int8->quantisation.step == quantisation.step &&
                              known.int8->quantisation.zero == quantisation.zero;
        Int8Layer layer = is_known ? Int8Layer{*known.int8, it} : int8_layer(it, quantisation);
        layer.scales.left = it.padding.x;
        layer.scales.right = right_padding(it, in.extent.width, out.extent.width);
        layer.convolution.padding.x = 0;
        const Stage alone = {layer.convolution, stage.inputs, stage.output, {}};
        const int64_t width = layer.scales.left + in.extent.width + layer.scales.right;
        auto made =
            PackedConvolution::make(alone, {in.channels, width, out.extent.width, precision_, true},
                                    0, is_known ? known.onednn.get() : nullptr);
        if (!made)
            return {};
        return {.onednn = std::move(made),
                .int8 = std::make_shared<const Int8Scales>(std::move(layer.scales))};
    }

    // Returns null, or a convolution with as many steps of the tail as oneDNN can and should do.
    std::shared_ptr<PackedConvolution> by_onednn(const Stage &stage,
                                                 const PackedConvolution *known) const
    {
        const Tensor &in = list_.tensors[stage.inputs.front()];
        const Tensor &out = list_.tensors[stage.output];
        const bool all = precision_ == Precision::bf16 || choice_ != LayoutChoice::fastest;
        const size_t most = all ? stage.tail.size() : cheap_steps(stage);
        for (size_t left = 0; left <= most; left++)
            if (auto made = PackedConvolution::make(
                    stage, {in.channels, in.extent.width, out.extent.width, precision_},
                    most - left, known))
                return made;
        return nullptr;
    }

    const StageList &list_;
    const Precision precision_;
    const LayoutChoice choice_;
    const LayerRanges &ranges_;
    std::vector<StageKernel> known_; // of convolutions, in order
    std::vector<Gains> gains_;       // by stage
    size_t next_ = 0;
};

class Arranger
{
public:
    Arranger(StageList list, std::vector<StageKernel> kernels)
        : list_(std::move(list)), kernels_(std::move(kernels)),
          before_(list_.tensors.size(), Arrangement::interleaved)
    {
        for (size_t stage = 0; stage < list_.stages.size(); stage++)
            before_[list_.stages[stage].output] = output_arrangement(stage);
        after_ = before_;
        result_.list.tensors = list_.tensors;
    }

    Layouts run()
    {
        for (size_t stage = 0; stage < list_.stages.size(); stage++)
            add(stage);
        for (TensorId tensor = 0; tensor < after_.size(); tensor++) {
            const Tensor &it = result_.list.tensors[tensor];
            result_.layouts.push_back({it.channels, lanes_of(after_[tensor], it.channels),
                                       it.extent.width, quantisation_of(tensor)});
        }
        return std::move(result_);
    }

private:
    std::optional<Quantisation> quantisation_of(TensorId tensor) const
    {
        const auto found = quantisations_.find(tensor);
        return found == quantisations_.end() ? std::nullopt : std::optional(found->second);
    }

    // The quantised tensor.  Convolutions that read the same one mostly have the same padding.
    TensorId as_quantised(TensorId tensor, const Int8Scales &scales)
    {
        const auto [found, is_new] =
            quantised_.try_emplace({tensor, scales.left, scales.right}, after_.size());
        if (is_new) {
            Tensor padded = list_.tensors[tensor];
            padded.extent.width += scales.left + scales.right;
            result_.list.tensors.push_back(padded);
            after_.push_back(Arrangement::interleaved);
            quantisations_[found->second] = scales.quantisation;
            result_.list.stages.push_back(
                {Quantise{scales.left, scales.right}, {tensor}, found->second, {}});
            result_.kernels.emplace_back();
        }
        return found->second;
    }

    // The arrangement in which a stage's core reads a tensor.
    Arrangement input_arrangement(size_t stage, TensorId tensor) const
    {
        const Stage &it = list_.stages[stage];
        if (kernels_[stage].convolves())
            return kernels_[stage].in();
        const bool takes_any = std::holds_alternative<Store>(it.core) ||
                               std::holds_alternative<Shuffle>(it.core) ||
                               std::holds_alternative<PixelUnshuffle>(it.core);
        return before_[takes_any ? tensor : it.output];
    }

    // The arrangement of a stage's output, given those of its inputs.
    Arrangement output_arrangement(size_t stage) const
    {
        const Stage &it = list_.stages[stage];
        if (kernels_[stage].convolves())
            return kernels_[stage].out();
        const bool follows = !std::holds_alternative<Load>(it.core) &&
                             !std::holds_alternative<Shuffle>(it.core) &&
                             !std::holds_alternative<PixelUnshuffle>(it.core);
        const bool is_blocked = follows && before_[it.inputs.front()] == Arrangement::blocked;
        return is_blocked ? Arrangement::blocked : Arrangement::interleaved;
    }

    // The tensor, or a copy of it in that arrangement.
    TensorId in_arrangement(TensorId tensor, Arrangement arrangement)
    {
        if (arrangement == before_[tensor])
            return tensor;
        const auto [found, is_new] = copies_.try_emplace({tensor, arrangement}, after_.size());
        if (is_new) {
            result_.list.tensors.push_back(list_.tensors[tensor]);
            after_.push_back(arrangement);
            result_.list.stages.push_back({Copy(), {tensor}, found->second, {}});
            result_.kernels.emplace_back();
        }
        return found->second;
    }

    void add(size_t place)
    {
        Stage it = list_.stages[place];
        for (TensorId &tensor : it.inputs)
            tensor = kernels_[place].int8
                         ? as_quantised(tensor, *kernels_[place].int8)
                         : in_arrangement(tensor, input_arrangement(place, tensor));
        for (TailStep &step : it.tail)
            if (auto *binary = std::get_if<BinaryWith>(&step))
                binary->other = in_arrangement(binary->other, before_[it.output]);
        if (auto *convolution = std::get_if<Convolution>(&it.core))
            convolution->weights = {}; // the kernel has its own
        result_.list.stages.push_back(std::move(it));
        result_.kernels.push_back(kernels_[place]);
    }

    const StageList list_;
    const std::vector<StageKernel> kernels_;
    std::vector<Arrangement> before_, after_; // by tensor
    std::map<std::pair<TensorId, Arrangement>, TensorId> copies_;
    std::map<std::tuple<TensorId, int64_t, int64_t>, TensorId> quantised_; // with left and right
    std::map<TensorId, Quantisation> quantisations_;
    Layouts result_;
};

} // namespace

// With AMX plain products take less time than transforms do.
bool transforms_pay(Precision precision)
{
    return WinogradConvolution::computes(precision) &&
           (precision == Precision::fp32 || !onednn_has_amx());
}

Arrangement StageKernel::in() const
{
    if (direct)
        return direct->in();
    return winograd ? Arrangement::blocked : Arrangement::interleaved;
}

// Asks the kernel that there is.
template <class Ask> size_t StageKernel::ask(const Ask &ask_it) const
{
    if (winograd)
        return ask_it(*winograd);
    if (direct)
        return ask_it(*direct);
    return onednn ? ask_it(*onednn) : 0;
}

size_t StageKernel::fused_steps() const
{
    return ask([](const auto &it) { return it.fused_steps(); });
}

bool StageKernel::needs_finite() const
{
    return (direct && direct->is_filled_up()) || (onednn && onednn->hides_nan());
}

size_t StageKernel::scratch_bytes() const
{
    return ask([](const auto &it) { return it.scratch_bytes(); });
}

size_t StageKernel::weight_bytes() const
{
    return ask([](const auto &it) { return it.weight_bytes(); });
}

const char *StageKernel::name() const
{
    if (winograd)
        return "winograd";
    if (direct)
        return "direct";
    return onednn ? onednn->calls().begin()->second.implementation.c_str() : "";
}

Layouts choose_layouts(StageList list, Precision precision, LayoutChoice choice,
                       const LayerRanges &ranges, const Layouts *like)
{
    KernelChooser chooser(list, precision, choice, ranges, like);
    std::vector<StageKernel> kernels;
    for (const Stage &stage : list.stages)
        kernels.push_back(std::holds_alternative<Convolution>(stage.core) ? chooser.choose(stage)
                                                                          : StageKernel());
    return Arranger(std::move(list), std::move(kernels)).run();
}

} // namespace engine_torch::fused
