// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "run.h"

#include "rounding.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

namespace engine_torch::fused
{
namespace
{

size_t most_kernel_rows(const Program &program)
{
    int64_t most = 0;
    for (const Stage &stage : program.list().stages)
        if (const auto *it = std::get_if<Convolution>(&stage.core))
            most = std::max(most, it->kernel.y);
    return static_cast<size_t>(most);
}

// The mean square that int8 may cut off a tensor, with its step as unit.  Rounding has a twelfth.
constexpr double most_cut_off = 1;

size_t most_operands(const Program &program)
{
    size_t most = 0;
    for (size_t stage = 0; stage < program.list().stages.size(); stage++)
        most = std::max(
            {most, program.tail(stage).others.size(), program.tail(stage).fused_others.size()});
    return most;
}

} // namespace

// oneDNN reads whole blocks, which may end after the last row.
Run::Parts Run::parts_of(const Program &program)
{
    Parts parts;
    parts.scratch = aligned(program.schedule().arena_bytes + cache_line);
    parts.tail = parts.scratch + aligned(program.scratch_bytes() + cache_line);
    parts.end = parts.tail + aligned(program.tail_scratch_floats() * sizeof(float));
    return parts;
}

Run::Run(std::shared_ptr<const Program> program)
    : program_(std::move(program)), parts_(parts_of(*program_)),
      needs_finite_(program_->needs_finite()), bases_(program_->list().tensors.size()),
      operands_(most_operands(*program_)), kernel_rows_(most_kernel_rows(*program_)),
      stream_(cpu_engine()), cut_off_(program_->list().tensors.size())
{
    const OneThread one_thread;
    for (size_t stage = 0; stage < program_->list().stages.size(); stage++) {
        const PackedConvolution *const packed = program_->kernel(stage).onednn.get();
        runners_.push_back(packed ? std::make_unique<ConvolutionRunner>(*packed) : nullptr);
    }
}

// The memory is cleared because channels that only pad a block have weights of zero, but zero times
// NaN would be NaN.
void Run::compute(const Picture &from, const Picture &to, std::byte *memory)
{
    const OneThread one_thread;
    from_ = from;
    to_ = to;
    memory_ = memory;
    is_sound_ = true;
    tiles_ = {};
    std::ranges::fill(cut_off_, 0);
    std::memset(memory, 0, parts_.end);
    if (program_->precision() == Precision::bf16)
        run_all<Bf16>();
    else
        run_all<float>();
    is_sound_ = is_sound_ && range_suffices();
}

bool Run::range_suffices() const
{
    for (TensorId tensor = 0; tensor < cut_off_.size(); tensor++) {
        const Tensor &it = program_->list().tensors[tensor];
        const auto samples = static_cast<double>(it.channels * it.extent.height * it.extent.width);
        if (!(cut_off_[tensor] <= most_cut_off * samples)) // also if it is not a number
            return false;
    }
    return true;
}

template <class Sample> void Run::run_all()
{
    for (const Group &group : program_->schedule().groups) {
        begin(group);
        for (const Step &step : group.steps)
            run_step<Sample>(step);
    }
}

void Run::begin(const Group &group)
{
    for (size_t stage = group.first_stage; stage < group.end_stage; stage++) {
        const TensorId tensor = program_->list().stages[stage].output;
        const Buffer &buffer = program_->schedule().buffers[tensor];
        bases_[tensor] = -buffer.pad_top;
        clear_rows(tensor, -buffer.pad_top, 0);
    }
}

std::byte *Run::address(TensorId tensor, int64_t y)
{
    const Buffer &buffer = program_->schedule().buffers[tensor];
    return memory_ + buffer.offset + static_cast<size_t>(y - bases_[tensor]) * buffer.row_bytes;
}

void Run::clear_rows(TensorId tensor, int64_t first, int64_t end)
{
    if (first >= end)
        return;
    const Buffer &buffer = program_->schedule().buffers[tensor];
    std::memset(address(tensor, first),
                buffer.layout.quantisation ? buffer.layout.quantisation->zero : 0,
                static_cast<size_t>(end - first) * buffer.row_bytes);
}

// Moves the rows that are still needed to the front if there is no room for new ones after them.
void Run::make_room(const Step &step)
{
    const TensorId tensor = program_->list().stages[step.stage].output;
    const Buffer &buffer = program_->schedule().buffers[tensor];
    const int64_t end = step.first + step.count;
    const int64_t below = end == buffer.height ? buffer.pad_bottom : 0;
    if (end + below - bases_[tensor] > buffer.capacity) {
        const std::byte *const kept = address(tensor, step.keep_from);
        bases_[tensor] = step.keep_from;
        std::memmove(address(tensor, step.keep_from), kept,
                     static_cast<size_t>(step.first - step.keep_from) * buffer.row_bytes);
    }
    clear_rows(tensor, end, end + below);
}

template <class Sample> Sample *Run::row(TensorId tensor, int64_t y)
{
    return reinterpret_cast<Sample *>(address(tensor, y));
}

template <class Sample> void Run::run_step(const Step &step)
{
    const Stage &stage = program_->list().stages[step.stage];
    if (!std::holds_alternative<Store>(stage.core))
        make_room(step);
    if (runners_[step.stage])
        convolve(step);
    else if (program_->kernel(step.stage).winograd)
        convolve_tiles<Sample>(step);
    else if (program_->kernel(step.stage).direct)
        convolve_rows(step);
    else
        for (int64_t y = step.first; y < step.first + step.count; y++)
            make_row<Sample>(stage, y);
    run_tail<Sample>(step);
    clear_padding<Sample>(step);
    if constexpr (std::is_same_v<Sample, float>)
        if (watch_ && !std::holds_alternative<Store>(stage.core))
            for (int64_t y = step.first; y < step.first + step.count; y++)
                watch_(stage.output, row<float>(stage.output, y));
}

template <class Sample> void Run::run_tail(const Step &step)
{
    const PreparedTail &tail = program_->tail(step.stage);
    if (tail.steps.empty())
        return;
    const TensorId made = program_->list().stages[step.stage].output;
    const Sample **const others = reinterpret_cast<const Sample **>(operands_.data());
    for (int64_t y = step.first; y < step.first + step.count; y++) {
        for (size_t i = 0; i < tail.others.size(); i++)
            others[i] = row<Sample>(tail.others[i], y);
        apply_tail<Sample>(tail.steps, row<Sample>(made, y), program_->layout(made),
                           {others, tail.others.size()},
                           reinterpret_cast<float *>(memory_ + parts_.tail));
    }
}

// What our own code leaves in channels that only pad a block, or a tail makes of their zeros, may
// be infinite, and zero weights would make NaN of it.  oneDNN leaves zeros.
template <class Sample> void Run::clear_padding(const Step &step)
{
    const Stage &stage = program_->list().stages[step.stage];
    const bool is_clear = runners_[step.stage] && program_->tail(step.stage).steps.empty();
    if (is_clear || std::holds_alternative<Store>(stage.core) ||
        std::holds_alternative<Quantise>(stage.core))
        return;
    const RowLayout &layout = program_->layout(stage.output);
    for (int64_t y = step.first; y < step.first + step.count; y++)
        clear_padded_channels(row<Sample>(stage.output, y), layout);
}

void Run::convolve(const Step &step)
{
    const Stage &stage = program_->list().stages[step.stage];
    const auto &convolution = std::get<Convolution>(stage.core);
    const std::vector<TensorId> &others = program_->tail(step.stage).fused_others;
    for (size_t i = 0; i < others.size(); i++)
        operands_[i] = address(others[i], step.first);
    const int64_t first = step.first * convolution.stride.y - convolution.padding.y;
    runners_[step.stage]->run(stream_, step.count, address(stage.inputs.front(), first),
                              address(stage.output, step.first), {operands_.data(), others.size()},
                              memory_ + parts_.scratch);
}

// Returns null for a row above or below the picture.
template <class Sample> const Sample *Run::row_or_null(TensorId tensor, int64_t y)
{
    const bool is_inside = y >= 0 && y < program_->schedule().buffers[tensor].height;
    return is_inside ? row<Sample>(tensor, y) : nullptr;
}

void Run::convolve_rows(const Step &step)
{
    const Stage &stage = program_->list().stages[step.stage];
    const auto &it = std::get<Convolution>(stage.core);
    const TensorId from = stage.inputs.front();
    for (int64_t y = step.first; y < step.first + step.count; y++) {
        for (int64_t i = 0; i < it.kernel.y; i++)
            kernel_rows_[static_cast<size_t>(i)] =
                row_or_null<float>(from, y * it.stride.y - it.padding.y + i * it.dilation.y);
        program_->kernel(step.stage)
            .direct->make_row(kernel_rows_.data(), program_->layout(from).width,
                              row<float>(stage.output, y), program_->layout(stage.output).width,
                              memory_ + parts_.scratch);
    }
}

template <class Sample> void Run::convolve_tiles(const Step &step)
{
    const Stage &stage = program_->list().stages[step.stage];
    const TensorId from = stage.inputs.front();
    const int64_t padding = std::get<Convolution>(stage.core).padding.y;
    const int64_t end = step.first + step.count;
    WinogradRows<Sample> rows = {.in_width = program_->layout(from).width,
                                 .out_width = program_->layout(stage.output).width};
    for (int64_t y = step.first; y < end; y += winograd_out) {
        for (int64_t i = 0; i < winograd_in; i++)
            rows.in[static_cast<size_t>(i)] = row_or_null<Sample>(from, y - padding + i);
        for (int64_t i = 0; i < winograd_out; i++)
            rows.out[static_cast<size_t>(i)] =
                y + i < end ? row<Sample>(stage.output, y + i) : nullptr;
        const auto &winograd = program_->kernel(step.stage).winograd;
        tiles_.direct += winograd->make_rows(rows, memory_ + parts_.scratch);
        tiles_.all += divide_up(rows.out_width, winograd_out);
    }
}

// Makes one row of a stage that is no convolution.
template <class Sample> struct Run::RowMaker {
    Run &run;
    const Stage &stage;
    const int64_t y;

    const RowLayout &in() const { return run.program_->layout(stage.inputs.front()); }
    const RowLayout &out() const { return run.program_->layout(stage.output); }
    Sample *made() const { return run.row<Sample>(stage.output, y); }

    // The first row of the input that the row depends on, or one that many rows after it.
    const Sample *source(int64_t offset = 0) const
    {
        const TensorId tensor = stage.inputs.front();
        const int64_t first = rows_needed(stage.core, {y, y + 1}).first + offset;
        const int64_t last = run.program_->schedule().buffers[tensor].height - 1;
        return run.row<Sample>(tensor, std::clamp<int64_t>(first, 0, last));
    }

    void operator()(const Load &) const
    {
        const Picture &from = run.from_;
        load_row(from.samples + y * from.strides.row, from.strides, made(), out());
        if (run.needs_finite_ && !is_finite(made(), out()))
            run.is_sound_ = false;
    }

    void operator()(const Store &) const
    {
        const Picture &to = run.to_;
        store_row(source(), in(), to.samples + y * to.strides.row, to.strides);
    }

    void operator()(const Copy &) const
    {
        copy_channels<Sample>({source(), in()}, {made(), out()}, out().channels);
    }

    void operator()(const Convolution &) const {} // convolve() does it

    void operator()(const Concatenation &) const
    {
        int64_t first = 0;
        for (const TensorId input : stage.inputs) {
            const RowLayout &layout = run.program_->layout(input);
            copy_channels<Sample>({run.row<Sample>(input, y), layout}, {made(), out(), first},
                                  layout.channels);
            first += layout.channels;
        }
    }

    void operator()(const Slice &it) const
    {
        copy_channels<Sample>({source(), in(), it.first}, {made(), out()}, it.count);
    }

    void operator()(const Shuffle &it) const
    {
        shuffle_row<Sample>(it, y, source(), in(), made(), out());
    }

    void operator()(const PixelUnshuffle &it) const
    {
        unshuffle_row<Sample>(it, source(), in(), made(), out());
    }

    void operator()(const Interpolation &it) const
    {
        if (it.kind == InterpolationKind::nearest)
            repeat_pixels<Sample>(it.factor.x, source(), in(), made());
        else
            interpolate_row<Sample>(it, y, source(), source(1), in(), made());
    }

    void operator()(const Quantise &it) const
    {
        if constexpr (std::is_same_v<Sample, float>) // int8 is for fp32 only
            run.cut_off_[stage.output] +=
                quantise_row(source(), in(), it.left, run.row<uint8_t>(stage.output, y), out());
    }

    void operator()(const Padding &it) const
    {
        const int64_t from = y - it.top;
        const int64_t height = run.program_->schedule().buffers[stage.inputs.front()].height;
        const bool is_inside = from >= 0 && from < height;
        pad_row<Sample>(it, is_inside ? source() : nullptr, in(), made(), out());
    }
};

template <class Sample> void Run::make_row(const Stage &stage, int64_t y)
{
    std::visit(RowMaker<Sample>{*this, stage, y}, stage.core);
}

} // namespace engine_torch::fused
