// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "program.h"

#include <algorithm>
#include <set>
#include <unistd.h>
#include <utility>
#include <variant>

namespace engine_torch::fused
{
namespace
{

const char *const core_names[] = {"load",        "store",   "copy",    "convolution",
                                  "concatenate", "slice",   "shuffle", "unshuffle",
                                  "interpolate", "padding", "quantise"};

// Half of the last level, or 16 MiB if the system does not say.  It may report too much: what all
// cores of the processor have together, though other virtual machines use some of them.
size_t most_cache_for_group()
{
    const long found = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return found > 0 ? static_cast<size_t>(found) / 2 : size_t{16} << 20;
}

// What was fastest for deep networks (AMD EPYC with 32 MiB for eight cores): up to a fifth faster
// than half of the last level, and as fast as less.
size_t cache_for_group(Precision precision)
{
    const size_t fastest = precision == Precision::bf16 ? size_t{4} << 20 : size_t{8} << 20;
    return std::min(fastest, most_cache_for_group());
}

void rescale_first(PreparedTail &tail, const Int8Scales &int8)
{
    tail.steps.insert(tail.steps.begin(), PreparedRescale{int8.scales, int8.shifts});
}

} // namespace

PictureStrides planar_strides(Extent extent)
{
    return {extent.height * extent.width, extent.width, 1};
}

std::shared_ptr<const Program> Program::compile(const Graph &graph, Extent input,
                                                const CompileOptions &options, const Program *like)
{
    auto layouts = std::make_shared<const Layouts>(
        choose_layouts(lower(graph, input), options.precision, options.layouts, options.int8,
                       like ? like->layouts_.get() : nullptr));
    return make(std::move(layouts), options.precision, options.band_rows, options.cache_bytes);
}

std::shared_ptr<const Program> Program::with_bands(const Program &base, int64_t band_rows,
                                                   size_t cache_bytes)
{
    return make(base.layouts_, base.precision_, band_rows, cache_bytes);
}

std::shared_ptr<const Program> Program::make(std::shared_ptr<const Layouts> layouts,
                                             Precision precision, int64_t band_rows,
                                             size_t cache_bytes)
{
    const std::shared_ptr<Program> program(new Program);
    program->precision_ = precision;
    program->layouts_ = std::move(layouts);
    std::vector<size_t> weight_bytes;
    std::vector<int64_t> rows_at_once;
    for (size_t stage = 0; stage < program->list().stages.size(); stage++) {
        StageKernel kernel = program->layouts_->kernels[stage];
        // Each program has primitives for its own heights.
        if (kernel.onednn)
            kernel.onednn = std::make_shared<PackedConvolution>(*kernel.onednn);
        weight_bytes.push_back(kernel.weight_bytes());
        rows_at_once.push_back(kernel.rows_at_once());
        const Stage &it = program->list().stages[stage];
        program->tails_.push_back(
            prepare_tail(it, kernel.fused_steps(), program->layout(it.output)));
        if (kernel.int8)
            rescale_first(program->tails_.back(), *kernel.int8);
        program->kernels_.push_back(std::move(kernel));
    }
    ScheduleRequest request = {program->list(), program->layouts_->layouts,
                               weight_bytes,    rows_at_once,
                               precision,       band_rows,
                               cache_bytes};
    if (cache_bytes) {
        program->schedule_ = make_schedule(request);
    } else {
        request.cache_bytes = cache_for_group(precision);
        program->schedule_ = make_small_schedule(request, most_cache_for_group());
    }
    program->prepare_heights();
    return program;
}

void Program::prepare_heights()
{
    std::set<std::pair<size_t, int64_t>> heights;
    for (const Group &group : schedule_.groups)
        for (const Step &step : group.steps)
            if (kernels_[step.stage].onednn)
                heights.emplace(step.stage, step.count);
    for (const auto &[stage, rows] : heights)
        kernels_[stage].onednn->prepare(rows);
}

size_t Program::convolutions() const
{
    return static_cast<size_t>(std::ranges::count_if(kernels_, &StageKernel::convolves));
}

size_t Program::in_int8() const
{
    return static_cast<size_t>(
        std::ranges::count_if(kernels_, [](const StageKernel &it) { return !!it.int8; }));
}

bool Program::needs_finite() const
{
    return std::ranges::any_of(kernels_, &StageKernel::needs_finite);
}

size_t Program::scratch_bytes() const
{
    size_t most = 0;
    for (const StageKernel &kernel : kernels_)
        most = std::max(most, kernel.scratch_bytes());
    return most;
}

size_t Program::tail_scratch_floats() const
{
    size_t most = 0;
    for (const Stage &stage : list().stages)
        most = std::max(most, tail_scratch(layout(stage.output)));
    return most;
}

size_t Program::weight_bytes() const
{
    size_t bytes = 0;
    for (const StageKernel &kernel : kernels_)
        bytes += kernel.weight_bytes();
    return bytes;
}

std::string Program::text() const
{
    std::string text;
    for (const Group &group : schedule_.groups) {
        text += "group, " + std::to_string(group.cached_bytes >> 10) + " KiB in use\n";
        for (size_t stage = group.first_stage; stage < group.end_stage; stage++) {
            const Stage &it = list().stages[stage];
            const RowLayout &made = layout(it.output);
            text += std::string("  ") + core_names[it.core.index()] + " to " +
                    std::to_string(made.channels) + "/" + std::to_string(made.lanes) + "x" +
                    std::to_string(made.width) + ", " + std::to_string(tail(stage).steps.size()) +
                    " of " + std::to_string(it.tail.size()) + " steps after it";
            if (kernels_[stage].convolves())
                text += std::string(", ") + kernels_[stage].name();
            text += "\n";
        }
    }
    return text;
}

} // namespace engine_torch::fused
