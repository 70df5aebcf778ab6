// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The precision that a model computes with.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>

namespace engine_torch
{

// fp32 means the precision of the saved model.  In int8, fused programs compute some layers;
// everything else is as in fp32.
enum class Precision { fp32, bf16, fp16, int8 };

struct PrecisionOption {
    Precision precision;
    bool is_automatic; // precision=auto: the user may be interested in other precisions
};

// Parses the option's text.  Throws a Failure that lists the names.
PrecisionOption parse_precision(const std::string &text);
// Returns the accepted texts: "auto, fp32, ...".
std::string precision_values();

const char *name_of(Precision precision);

// Call it with bf16 or fp16 only: in fp32 and int8 tensors stay as they were saved.
c10::ScalarType scalar_type_of(Precision precision);

// Whether the model is converted to that precision, in which LibTorch then computes.
bool is_half(Precision precision);

// Whether the processor has instructions for bf16.  Without them bf16 is slow.
bool computes_bf16_fast();

} // namespace engine_torch
