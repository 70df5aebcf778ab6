// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A network compiled for one frame size, and runs of it.
#pragma once

#include "convolution.h"
#include "graph.h"
#include "layouts.h"
#include "rearrange.h"
#include "schedule.h"
#include "tail.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace engine_torch::fused
{

struct CompileOptions {
    Precision precision = Precision::fp32;
    LayerRanges int8 = {}; // of convolutions in int8; see choose_layouts()
    LayoutChoice layouts = LayoutChoice::fastest;
    int64_t band_rows = 8;  // of a group's tallest convolution; 0: whole layers
    size_t cache_bytes = 0; // what a group of layers may use; 0: what is fast and fits into memory
};

// What runs of a program share.  Does not change once it is made: any number of threads may run it.
class Program
{
public:
    // Throws GraphError if the graph, the size or the precision is not supported, and what oneDNN
    // throws.  Shares weights with `like`, which is null or was made of the same graph with the
    // same options for another size, or in fp32 with other ranges.
    static std::shared_ptr<const Program> compile(const Graph &graph, Extent input,
                                                  const CompileOptions &options,
                                                  const Program *like = nullptr);

    // The same network with other bands, for tests and benchmarks.  Weights and primitives are
    // shared with `base`.
    static std::shared_ptr<const Program> with_bands(const Program &base, int64_t band_rows,
                                                     size_t cache_bytes);

    const StageList &list() const { return layouts_->list; }
    const RowLayout &layout(TensorId tensor) const { return layouts_->layouts[tensor]; }
    const Schedule &schedule() const { return schedule_; }
    const StageKernel &kernel(size_t stage) const { return kernels_[stage]; }
    const PreparedTail &tail(size_t stage) const { return tails_[stage]; }
    Precision precision() const { return precision_; }
    Extent input_extent() const { return list().tensors[list().stages.front().output].extent; }
    Extent output_extent() const { return list().tensors[list().stages.back().output].extent; }

    // How many convolutions there are, and how many of them are computed in int8.
    size_t convolutions() const;
    size_t in_int8() const;

    // Whether frames with samples that are not finite cannot be computed.
    bool needs_finite() const;

    size_t scratch_bytes() const; // for a convolution
    size_t tail_scratch_floats() const;
    size_t weight_bytes() const;

    // How each stage is computed, a line each.
    std::string text() const;

private:
    Program() = default;
    static std::shared_ptr<const Program> make(std::shared_ptr<const Layouts> layouts,
                                               Precision precision, int64_t band_rows,
                                               size_t cache_bytes);
    void prepare_heights();

    std::shared_ptr<const Layouts> layouts_;
    std::vector<StageKernel> kernels_; // by stage; those of oneDNN for this program's heights
    std::vector<PreparedTail> tails_;  // by stage
    Schedule schedule_;
    Precision precision_ = Precision::fp32;
};

// A frame in memory.
struct Picture {
    float *samples = nullptr;
    PictureStrides strides;
};

// [channels][height][width] without gaps.
PictureStrides planar_strides(Extent extent);

} // namespace engine_torch::fused
