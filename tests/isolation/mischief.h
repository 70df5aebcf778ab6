// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What a model's process may do to whom it works for, from within.
#pragma once

#include "dnn_torch/engine.h"

#include <string>
#include <vector>

// Does what `name` says, which may end the process, never return, or return and let the
// caller go on.  "attempts" tries all of attempts.h and tells what came about: the text is
// empty if nothing did.
std::string do_mischief(const std::string &name);

// Names of what ends, one way or another, and of what does not.
std::vector<std::string> sudden_mischief();
std::vector<std::string> endless_mischief();
// Those that send one forged reply each, to everybody.
std::vector<std::string> forged_mischief();

// Writes to what the caller only lent, and beyond it.
void overwrite(const DnnTorchTensor &tensor);
