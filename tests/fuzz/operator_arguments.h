// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Arguments at random for any operator.
#pragma once

#include "operator_call.h"
#include "random.h"

namespace fuzz
{

// Returns a call whose arguments look as a model would have them: tensors of shapes that go
// together, sizes and dimensions by the arguments' names.
Json likely_call(const c10::FunctionSchema &schema, Random &random);

// Makes one argument one that no model would have: zero, negative, huge, of another shape or type,
// too many or too few.  Returns its name.
std::string spoil(Json &call, const c10::FunctionSchema &schema, Random &random);

} // namespace fuzz
