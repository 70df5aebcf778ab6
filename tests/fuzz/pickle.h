// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Changes to a pickle, opcode by opcode, so that most of it still is one.
#pragma once

#include "fuzz.h"

#include <optional>
#include <string>
#include <vector>

namespace fuzz
{

// Each opcode with its argument; nothing where the bytes are no pickle.
std::optional<std::vector<std::string>> opcodes_of(const std::string &pickle);

// Makes one change and says which; at bytes that are no pickle as at any.
std::string change_pickle(std::string &pickle, Random &random, const Inputs &others);

} // namespace fuzz
