// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Processors that report instructions that they cannot run.  Needs no LibTorch.
#pragma once

namespace engine_torch
{

// Some hypervisors show the flags of AMX but hide its palettes, without which no tile can be
// configured.  oneDNN trusts the flags and ends the program with SIGILL at a layer in bf16: version
// 2.6 at the first, 3.7 at some.  This function forbids oneDNN what is missing.  Call it before
// anything runs.  Returns false if it cannot forbid it: then bf16 must not be tried unless the user
// asks.
bool avoid_missing_instructions();

} // namespace engine_torch
