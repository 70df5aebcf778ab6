// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What our own convolutions do with a sum before they store it.
#pragma once

#include "rows.h"
#include "stages.h"
#include "vectors.h"

#include <vector>

namespace engine_torch::fused
{

// A bias, and the first step of a tail if that is a ReLU of some kind.
class LayerEnd
{
public:
    LayerEnd(const Convolution &convolution, const std::vector<TailStep> &tail)
        : bias_(convolution.bias)
    {
        const int64_t lanes = block_lanes();
        bias_.resize(static_cast<size_t>(divide_up(convolution.out_channels, lanes) * lanes));
        if (tail.empty())
            return;
        const auto *const activation = std::get_if<Activation>(&tail.front());
        if (const auto *prelu = std::get_if<Prelu>(&tail.front()))
            slopes_ = prelu->slopes;
        else if (activation && activation->kind == ActivationKind::leaky_relu)
            slopes_.resize(bias_.size(), activation->alpha);
        else if (activation && activation->kind == ActivationKind::relu)
            is_relu_ = true;
        else
            return;
        slopes_.resize(bias_.size());
    }

    // How many steps of the tail it does.
    size_t steps() const { return slopes_.empty() ? 0 : 1; }

    // Finishes and stores a pixel's sums, of the channels of one plane.
    template <class V> FUSED_INLINE void store_sum(const V &sum, int64_t plane, float *to) const
    {
        constexpr int64_t lanes = sizeof(V) / sizeof(float);
        V made;
        load(bias_.data() + plane * lanes, made);
        made += sum;
        if (is_relu_) {
            made = made < 0 ? V{} : made; // an infinity times a slope of 0 would be NaN
        } else if (!slopes_.empty()) {
            V slopes;
            load(slopes_.data() + plane * lanes, slopes);
            made = made < 0 ? made * slopes : made;
        }
        store(made, to);
    }

private:
    std::vector<float> bias_, slopes_; // for each padded channel; no slopes: the sum as it is
    bool is_relu_ = false;
};

} // namespace engine_torch::fused
