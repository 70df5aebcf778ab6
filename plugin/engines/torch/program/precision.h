// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model computes with.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>

namespace engine_torch
{

// fp32 stands for whatever the model was saved with.
enum class Precision { fp32, bf16, fp16 };

struct PrecisionOption {
    Precision precision;
    bool is_automatic; // the user may want to hear of others
};

// Of the option's text.  Throws a Failure that lists the names.
PrecisionOption parse_precision(const std::string &text);

const char *name_of(Precision precision);

// bf16 and fp16 only.
c10::ScalarType scalar_type_of(Precision precision);

// Whether the processor has instructions for it; without them it is slow.
bool computes_bf16_fast();

} // namespace engine_torch
