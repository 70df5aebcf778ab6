// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Turns the calls in a pickle into values.  Needs no LibTorch.
#pragma once

#include "pickle.h"

#include <string_view>

namespace engine_torch
{

// Whether it runs programs or code, as os.system does.  No checkpoint has a reason to name it.
bool runs_programs(std::string_view name);

using Values = std::vector<PickledValue>;

// Returns what `function` creates from `arguments`, a tuple: a tensor or a dictionary, or a value
// of the kind `opaque`.  It is one of `values`, or is added to them.  Throws a WeightFault if
// PyTorch would not call one of its functions like that.
ValueId call(Values &values, ValueId function, ValueId arguments);

// Returns the storage that a persistent id, a tuple, stands for.  Throws a WeightFault.
ValueId find_storage(Values &values, ValueId id);

} // namespace engine_torch
