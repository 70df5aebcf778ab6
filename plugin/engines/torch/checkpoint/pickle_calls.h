// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What becomes of the calls in a pickle.  Needs no LibTorch.
#pragma once

#include "pickle.h"

#include <string_view>

namespace engine_torch
{

// Whether a checkpoint has no reason to name this: it runs programs or code, as os.system does.
bool runs_programs(std::string_view name);

using Values = std::vector<PickledValue>;

// What `function` makes of `arguments`, a tuple: a tensor or a dictionary, or a value of the kind
// `made`.  Returns one of `values`, or adds to them.  Throws a WeightFault if PyTorch would
// not call one of its functions so.
ValueId call(Values &values, ValueId function, ValueId arguments);

// The tensor's numbers that a persistent id, a tuple, stands for.  Throws a WeightFault.
ValueId find_storage(Values &values, ValueId id);

} // namespace engine_torch
