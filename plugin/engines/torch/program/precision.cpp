// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "precision.h"

#include "base/compose.h"
#include "engines/torch/failure.h"
#include "engines/torch/machine/processor_quirks.h"

namespace engine_torch
{
namespace
{

constexpr Precision precisions[] = {Precision::fp32, Precision::bf16, Precision::fp16,
                                    Precision::int8};

} // namespace

PrecisionOption parse_precision(const std::string &text)
{
    if (text.empty() || text == "auto")
        return {Precision::fp32, true};
    for (const Precision precision : precisions)
        if (text == name_of(precision))
            return {precision, false};
    throw Failure(DNN_TORCH_BAD_OPTION,
                  "precision=" + text + " is unknown; choose among " + precision_values());
}

std::string precision_values()
{
    std::string values = "auto";
    for (const Precision precision : precisions)
        dnn_torch::add_to_list(values, name_of(precision));
    return values;
}

const char *name_of(Precision precision)
{
    switch (precision) {
    case Precision::bf16:
        return "bf16";
    case Precision::fp16:
        return "fp16";
    case Precision::int8:
        return "int8";
    default:
        return "fp32";
    }
}

c10::ScalarType scalar_type_of(Precision precision)
{
    return precision == Precision::fp16 ? c10::ScalarType::Half : c10::ScalarType::BFloat16;
}

bool is_half(Precision precision)
{
    return precision == Precision::bf16 || precision == Precision::fp16;
}

bool computes_bf16_fast()
{
#if defined(__x86_64__)
    // Processors with AMX also have AVX-512 BF16.
    return __builtin_cpu_supports("avx512bf16") != 0 && avoid_unsound_instructions();
#else
    return false;
#endif
}

} // namespace engine_torch
