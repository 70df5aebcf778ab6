// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What is known of the values of a frozen graph's outer block.
#pragma once

#include "recipe.h"

#include <map>
#include <memory>
#include <set>
#include <torch/csrc/jit/ir/ir.h>
#include <vector>

namespace engine_torch
{

// The graph must outlive the object, and not change meanwhile.
class Reading final : public Channels
{
public:
    // `input` has `channels` and the rank of pictures; null: nothing is known of the input.
    Reading(const std::shared_ptr<torch::jit::Graph> &graph, const torch::jit::Value *input,
            int64_t channels);

    int64_t of(const torch::jit::Value *picture) const override;

    // Returns null if it is not known how the value is computed.
    const Recipe *recipe(const torch::jit::Value *value) const;

    // Whether the value has four dimensions because the input has.
    bool has_known_rank(const torch::jit::Value *value) const
    {
        return of_known_rank_.count(value) > 0;
    }

    // Whether an unknown node may write to a picture.
    bool is_disturbed() const;

private:
    void read(const torch::jit::Value &value);
    bool may_be_written(const torch::jit::Value *value) const;
    int64_t channels_made(const Recipe &recipe) const;

    const std::shared_ptr<torch::jit::Graph> &graph_;
    std::map<const torch::jit::Value *, int64_t> channels_;
    std::map<const torch::jit::Value *, Recipe> recipes_;
    std::set<const torch::jit::Value *> of_known_rank_;
};

} // namespace engine_torch
