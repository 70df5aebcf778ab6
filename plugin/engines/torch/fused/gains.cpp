// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "gains.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

namespace engine_torch::fused
{
namespace
{

// The steepest slope of an activation.
long double steepest(const Activation &it)
{
    switch (it.kind) {
    case ActivationKind::leaky_relu:
    case ActivationKind::elu:
        return std::max(1.0L, static_cast<long double>(std::abs(it.alpha)));
    case ActivationKind::gelu_erf:
    case ActivationKind::gelu_tanh:
    case ActivationKind::silu:
        return 1.13L;
    case ActivationKind::hard_swish:
        return 1.5L;
    case ActivationKind::sigmoid:
    case ActivationKind::hard_sigmoid:
        return 0.25L;
    default:
        return 1;
    }
}

class BackwardPass
{
public:
    explicit BackwardPass(const StageList &list) : list_(list)
    {
        for (const Tensor &tensor : list.tensors)
            of_tensors_.emplace_back(static_cast<size_t>(tensor.channels));
        std::ranges::fill(of_tensors_[list.stages.back().output], 1);
    }

    std::vector<Gains> run()
    {
        std::vector<Gains> found(list_.stages.size());
        for (size_t place = list_.stages.size(); place-- > 0;) {
            const Stage &stage = list_.stages[place];
            Gains gains = of_tensors_[stage.output];
            for (size_t step = stage.tail.size(); step-- > 0;)
                std::visit([&](const auto &it) { go_back(it, gains); }, stage.tail[step]);
            found[place] = gains;
            std::visit([&](const auto &it) { pass_on(it, stage, gains); }, stage.core);
        }
        return found;
    }

private:
    // ---- through a tail

    void go_back(const Activation &it, Gains &gains)
    {
        for (long double &gain : gains)
            gain *= steepest(it);
    }

    void go_back(const Prelu &it, Gains &gains)
    {
        for (size_t i = 0; i < gains.size(); i++)
            gains[i] *= std::max(1.0L, static_cast<long double>(std::abs(it.slopes[i])));
    }

    void go_back(const Affine &it, Gains &gains)
    {
        for (size_t i = 0; i < gains.size(); i++)
            gains[i] *= static_cast<long double>(std::abs(it.scales[i]));
    }

    void go_back(const BinaryWith &it, Gains &gains) { add(it.other, gains); }

    // ---- through a core, to its inputs

    void add(TensorId tensor, const Gains &gains, size_t first = 0)
    {
        Gains &all = of_tensors_[tensor];
        for (size_t i = 0; i < all.size(); i++)
            all[i] += gains[first + i];
    }

    void pass_on(const Load &, const Stage &, const Gains &) {}

    void pass_on(const Convolution &it, const Stage &stage, const Gains &gains)
    {
        Gains &all = of_tensors_[stage.inputs.front()];
        const size_t each = all.size() / static_cast<size_t>(it.groups);
        const size_t outs = gains.size() / static_cast<size_t>(it.groups);
        const auto taps = static_cast<size_t>(it.kernel.y * it.kernel.x);
        const float *weight = it.weights.data();
        for (size_t out = 0; out < gains.size(); out++)
            for (size_t in = 0; in < each; in++, weight += taps) {
                double norm = 0;
                for (size_t tap = 0; tap < taps; tap++)
                    norm += static_cast<double>(std::abs(weight[tap]));
                all[out / outs * each + in] += gains[out] * static_cast<long double>(norm);
            }
    }

    void pass_on(const Concatenation &, const Stage &stage, const Gains &gains)
    {
        size_t first = 0;
        for (const TensorId input : stage.inputs) {
            add(input, gains, first);
            first += of_tensors_[input].size();
        }
    }

    void pass_on(const Slice &it, const Stage &stage, const Gains &gains)
    {
        Gains &all = of_tensors_[stage.inputs.front()];
        for (size_t i = 0; i < gains.size(); i++)
            all[static_cast<size_t>(it.first) + i] += gains[i];
    }

    // Samples of several channels become those of one, or the other way round.
    void pass_on(const Shuffle &, const Stage &stage, const Gains &gains) { regroup(stage, gains); }
    void pass_on(const PixelUnshuffle &, const Stage &stage, const Gains &gains)
    {
        regroup(stage, gains);
    }

    void regroup(const Stage &stage, const Gains &gains)
    {
        Gains &all = of_tensors_[stage.inputs.front()];
        if (all.size() >= gains.size())
            for (size_t i = 0; i < all.size(); i++)
                all[i] += gains[i / (all.size() / gains.size())];
        else
            for (size_t i = 0; i < gains.size(); i++)
                all[i / (gains.size() / all.size())] += gains[i];
    }

    template <class SameChannels>
    void pass_on(const SameChannels &, const Stage &stage, const Gains &gains)
    {
        add(stage.inputs.front(), gains);
    }

    const StageList &list_;
    std::vector<Gains> of_tensors_;
};

} // namespace

std::vector<Gains> gains_of(const StageList &list)
{
    return BackwardPass(list).run();
}

} // namespace engine_torch::fused
