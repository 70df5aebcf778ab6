// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The differences between oneDNN 2 and 3, and what all calls of oneDNN share.
#pragma once

#include "rows.h"

#include <dnnl.hpp>
#include <omp.h>
#include <optional>

namespace engine_torch::fused
{

// oneDNN asks OpenMP how many threads it may use, when a primitive is made and when it runs.
class OneThread
{
public:
    OneThread() : before_(omp_get_max_threads())
    {
        if (before_ != 1)
            omp_set_num_threads(1);
    }
    ~OneThread()
    {
        if (before_ != 1)
            omp_set_num_threads(before_);
    }
    OneThread(const OneThread &) = delete;
    OneThread &operator=(const OneThread &) = delete;

private:
    const int before_;
};

// Whether oneDNN may use the instructions: it may be forbidden to (see machine/processor_quirks.h).
inline bool onednn_has(dnnl::cpu_isa isa)
{
    const auto has = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    return (has & static_cast<unsigned>(isa)) == static_cast<unsigned>(isa);
}

inline bool onednn_has_amx()
{
    return onednn_has(dnnl::cpu_isa::avx512_core_amx);
}
inline bool onednn_has_bf16()
{
    return onednn_has(dnnl::cpu_isa::avx512_core_bf16);
}

inline dnnl::memory::data_type type_of(Precision precision)
{
    return precision == Precision::bf16 ? dnnl::memory::data_type::bf16
                                        : dnnl::memory::data_type::f32;
}

// All primitives and streams must be of one engine.
inline const dnnl::engine &cpu_engine()
{
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

// The parts of a convolution.  Dilations count from 0.
struct ConvolutionDescription {
    dnnl::memory::desc source, weights, bias, result;
    dnnl::memory::dims strides, dilations, padding_before, padding_after;
};

#if DNNL_VERSION_MAJOR >= 3

inline dnnl::convolution_forward::primitive_desc describe(const ConvolutionDescription &it,
                                                          const dnnl::primitive_attr &attributes)
{
    return {cpu_engine(),
            dnnl::prop_kind::forward_inference,
            dnnl::algorithm::convolution_direct,
            it.source,
            it.weights,
            it.bias,
            it.result,
            it.strides,
            it.dilations,
            it.padding_before,
            it.padding_after,
            attributes};
}

inline void append_eltwise(dnnl::post_ops &steps, dnnl::algorithm algorithm, float alpha,
                           float beta)
{
    steps.append_eltwise(algorithm, alpha, beta);
}

#else

inline dnnl::convolution_forward::primitive_desc describe(const ConvolutionDescription &it,
                                                          const dnnl::primitive_attr &attributes)
{
    const dnnl::convolution_forward::desc operation(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, it.source,
        it.weights, it.bias, it.result, it.strides, it.dilations, it.padding_before,
        it.padding_after);
    return {operation, attributes, cpu_engine()};
}

inline void append_eltwise(dnnl::post_ops &steps, dnnl::algorithm algorithm, float alpha,
                           float beta)
{
    steps.append_eltwise(1, algorithm, alpha, beta);
}

#endif

// Returns nullopt if oneDNN has no such convolution for this processor.
inline std::optional<dnnl::convolution_forward::primitive_desc>
find_convolution(const ConvolutionDescription &description, const dnnl::primitive_attr &attributes)
{
    try {
        return describe(description, attributes);
    } catch (const dnnl::error &) {
        return std::nullopt;
    }
}

} // namespace engine_torch::fused
