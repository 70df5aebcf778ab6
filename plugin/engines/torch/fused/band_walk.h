// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Walks through the bands of one group and finds out which rows are computed and kept when.
#pragma once

#include "schedule.h"

#include <cstdint>
#include <vector>

namespace engine_torch::fused
{

struct StageRange {
    size_t first = 0, end = 0;

    bool contains(size_t stage) const { return stage >= first && stage < end; }
};

// Which stage makes a tensor, and which ones read it.
struct Links {
    explicit Links(const StageList &list);

    bool is_read_outside(TensorId tensor, StageRange range) const;

    std::vector<size_t> maker;                // by tensor
    std::vector<std::vector<size_t>> readers; // by tensor, in order
};

class BandWalk
{
public:
    // `buffers` have paddings.  A stage makes multiples of its `rows_at_once`, but for the last
    // rows.  All of these must outlive the object.
    BandWalk(const StageList &list, const Links &links, const std::vector<Buffer> &buffers,
             const std::vector<int64_t> &rows_at_once, StageRange range);

    // `band_rows` are rows of the group's tallest convolution; 0 means all.  Returns the steps.
    std::vector<Step> walk(int64_t band_rows);

    // After walk(): how many rows of the tensor were kept at once.
    int64_t most_rows(TensorId tensor) const { return most_rows_[tensor]; }

private:
    const Tensor &made_by(size_t stage) const { return list_.tensors[list_.stages[stage].output]; }
    int64_t last_height() const { return made_by(range_.end - 1).extent.height; }
    int64_t tallest_convolution() const;
    void aim_at(int64_t last_end);
    void pass_on(const Stage &stage);
    int64_t lag() const;
    void turn(bool is_last, std::vector<Step> &steps);
    int64_t oldest_needed(TensorId tensor, int64_t otherwise) const;

    const StageList &list_;
    const Links &links_;
    const std::vector<Buffer> &buffers_;
    const std::vector<int64_t> &rows_at_once_; // by stage
    const StageRange range_;
    std::vector<int64_t> aims_, done_, most_rows_; // by tensor
};

} // namespace engine_torch::fused
