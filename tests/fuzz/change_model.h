// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Changes to a TorchScript file: to its bytes, or to what its archive holds.
#pragma once

#include "fuzz.h"

namespace fuzz
{

// As Target::change has it.
std::string change_model(std::string &file, Family family, Random &random, const Inputs &seeds);

} // namespace fuzz
