// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// One thread's runs of a program.
#pragma once

#include "program.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace engine_torch::fused
{

// For one thread at a time.
class Run
{
public:
    explicit Run(std::shared_ptr<const Program> program);

    // The memory that compute() needs while it computes a frame.
    size_t memory_bytes() const { return parts_.end; }

    // Computes a frame.  `to` is only written, `from` only read, and they do not overlap.  `memory`
    // begins at a cache line, and may have any content.
    void compute(const Picture &from, const Picture &to, std::byte *memory);

    // Whether the last compute() gave the network's result for the frame.  It did not if int8 cut
    // off too much, or if the program needs finite samples and there were others.
    bool is_sound() const { return is_sound_; }

    // The tiles of the last compute(), and how many of them had no transforms (see winograd.h).
    struct Tiles {
        int64_t all = 0, direct = 0;
    };
    const Tiles &tiles() const { return tiles_; }

    // Calls `watch` with each row that a program in fp32 has made, except rows of the result.
    using Watch = std::function<void(TensorId tensor, const float *row)>;
    void watch(Watch watch) { watch_ = std::move(watch); }

    const Program &program() const { return *program_; }

private:
    // Where the parts of the memory begin.
    struct Parts {
        size_t scratch, tail, end;
    };
    static Parts parts_of(const Program &program);

    template <class Sample> struct RowMaker;

    template <class Sample> void run_all();
    template <class Sample> void run_step(const Step &step);
    template <class Sample> void run_tail(const Step &step);
    template <class Sample> void clear_padding(const Step &step);
    template <class Sample> void make_row(const Stage &stage, int64_t y);
    template <class Sample> Sample *row(TensorId tensor, int64_t y);

    bool range_suffices() const;
    void begin(const Group &group);
    void make_room(const Step &step);
    void clear_rows(TensorId tensor, int64_t first, int64_t end);
    std::byte *address(TensorId tensor, int64_t y);
    void convolve(const Step &step);
    template <class Sample> void convolve_tiles(const Step &step);
    void convolve_rows(const Step &step);
    template <class Sample> const Sample *row_or_null(TensorId tensor, int64_t y);

    const std::shared_ptr<const Program> program_;
    const Parts parts_;
    const bool needs_finite_;
    std::vector<int64_t> bases_; // by tensor: the first row that the buffer holds
    std::vector<std::unique_ptr<ConvolutionRunner>> runners_; // by stage; null for others
    std::vector<const void *> operands_;
    std::vector<const float *> kernel_rows_;
    dnnl::stream stream_;
    // ---- while a frame is computed
    Picture from_, to_;
    std::byte *memory_ = nullptr;
    bool is_sound_ = true;
    Tiles tiles_;
    std::vector<double> cut_off_; // by quantised tensor: the squares, in steps
    Watch watch_;
};

} // namespace engine_torch::fused
