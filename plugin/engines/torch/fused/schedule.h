// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which stages run together, band by band, and where their rows are stored.
//
// A group is a run of neighbouring stages.  In each turn every stage of a group makes the rows that
// the next stages need now.  Of a tensor that only its group reads, a window of rows is kept: those
// that later turns still need.  Tensors that leave their group are kept whole.
#pragma once

#include "rows.h"
#include "stages.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace engine_torch::fused
{

// Where rows of a tensor are stored.  Rows from -pad_top to height + pad_bottom exist; those
// outside the picture are zeros, quantised if the tensor is.
struct Buffer {
    RowLayout layout;
    int64_t height = 0, pad_top = 0, pad_bottom = 0;
    int64_t capacity = 0; // rows that there is room for
    size_t row_bytes = 0, offset = 0;

    size_t bytes() const { return static_cast<size_t>(capacity) * row_bytes; }
};

// Makes `count` rows from `first` on.  If there is no room after the older rows, drops those before
// `keep_from`.
struct Step {
    size_t stage = 0;
    int64_t first = 0, count = 0, keep_from = 0;
};

struct Group {
    size_t first_stage = 0, end_stage = 0;
    std::vector<Step> steps;
    size_t cached_bytes = 0; // windows and weights: what is used again and again
};

struct Schedule {
    std::vector<Buffer> buffers; // by tensor
    std::vector<Group> groups;
    size_t arena_bytes = 0; // all buffers together; some overlap
};

struct ScheduleRequest {
    const StageList &list;
    const std::vector<RowLayout> &layouts;    // by tensor
    const std::vector<size_t> &weight_bytes;  // by stage
    const std::vector<int64_t> &rows_at_once; // by stage
    Precision precision = Precision::fp32;
    int64_t band_rows = 0;  // of a group's tallest convolution; 0: all
    size_t cache_bytes = 0; // what a group may use
};

Schedule make_schedule(const ScheduleRequest &request);

// Lets groups use up to `most_cache_bytes`, and more where even these would keep large tensors
// whole.
Schedule make_small_schedule(ScheduleRequest request, size_t most_cache_bytes);

} // namespace engine_torch::fused
