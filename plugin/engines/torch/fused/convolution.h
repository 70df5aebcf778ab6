// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Convolutions of bands of rows by oneDNN, with the channels of a pixel side by side.
#pragma once

#include "onednn.h"
#include "rows.h"
#include "stages.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace engine_torch::fused
{

// Sizes that the convolution has in the picture.
struct ConvolutionSizes {
    int64_t in_channels = 0, in_width = 0, out_width = 0;
    Precision precision = Precision::fp32;
    // The input is quantised to 8 bits, weights are 8-bit integers, and results are sums of
    // products in 32 bits, without a bias.
    bool is_int8 = false;
};

// One primitive with its memory descriptions.
struct ConvolutionCall {
    dnnl::convolution_forward primitive;
    dnnl::memory::desc source, result;
    std::vector<dnnl::memory::desc> operands; // of fused binary steps
    size_t weights = 0;                       // which of the packed ones
    size_t scratch_bytes = 0;
    std::string implementation;
};

// The weights in oneDNN's order and a primitive for each height.  Does not change while frames are
// computed: all threads may use it.
class PackedConvolution
{
public:
    // Includes the first `fused_steps` of the tail; none in int8.  Returns null if oneDNN has no
    // fast and trusted implementation.  Weights are shared with `like`, which is null or the same
    // convolution for another width.
    static std::shared_ptr<PackedConvolution> make(const Stage &stage,
                                                   const ConvolutionSizes &sizes,
                                                   size_t fused_steps,
                                                   const PackedConvolution *like);

    // Makes what is needed for bands of that many rows.  Throws GraphError.
    void prepare(int64_t rows);

    const std::map<int64_t, ConvolutionCall> &calls() const { return calls_; }
    const dnnl::memory &weights(const ConvolutionCall &call) const { return packed_[call.weights]; }
    const dnnl::memory &bias() const { return bias_; } // null in int8
    const std::vector<dnnl::memory> &slopes() const { return slopes_; }
    std::span<const TailStep> steps() const { return fused_; }
    size_t fused_steps() const { return fused_.size(); }
    // Whether a step may turn NaN into a number.
    bool hides_nan() const;
    size_t weight_bytes() const;
    size_t scratch_bytes() const; // of all calls so far

private:
    PackedConvolution(const Stage &stage, const ConvolutionSizes &sizes, size_t fused_steps);

    std::optional<ConvolutionCall> find(int64_t rows);
    ConvolutionDescription description(int64_t rows) const;
    dnnl::memory::desc source_of(int64_t rows) const;
    dnnl::memory::desc weights_of(dnnl::memory::format_tag tag, dnnl::memory::data_type type) const;
    dnnl::memory::dims weight_sizes() const;
    bool append_steps(dnnl::post_ops &steps, const dnnl::memory::desc &result,
                      std::vector<dnnl::memory::desc> &operands) const;
    size_t pack(const dnnl::memory::desc &wanted);
    void keep_bias_and_slopes();

    const Convolution &core() const { return convolution_; }

    Convolution convolution_;
    ConvolutionSizes sizes_;
    std::vector<TailStep> fused_;
    std::vector<dnnl::memory> packed_, slopes_;
    dnnl::memory bias_;
    std::map<int64_t, ConvolutionCall> calls_; // by the rows that it makes
};

// One thread's arguments for a packed convolution, which must live longer.
class ConvolutionRunner
{
public:
    explicit ConvolutionRunner(const PackedConvolution &packed);

    // Makes `rows` rows.  `operands` are those of the fused binary steps,
    // and `scratch` has as many bytes as the call asks for.
    void run(dnnl::stream &stream, int64_t rows, const void *source, void *result,
             std::span<const void *const> operands, void *scratch);

private:
    struct Bound {
        dnnl_primitive_t primitive;
        dnnl::memory source, result, scratch;
        std::vector<dnnl::memory> operands;
        std::vector<dnnl_exec_arg_t> arguments;
    };

    Bound bind(const PackedConvolution &packed, const ConvolutionCall &call) const;

    std::map<int64_t, Bound> bound_;
};

} // namespace engine_torch::fused
