// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Processors that promise what they have not.  Needs no LibTorch.
#pragma once

namespace engine_torch
{

// Some hypervisors show the flags of AMX and hide its palettes, without which no
// tile can be configured.  oneDNN goes by the flags and ends the program with SIGILL
// at a layer in bf16: 2.6 at the first, 3.7 at some.  Call this before anything runs:
// it forbids oneDNN what is not there.
// Returns false where it cannot: bf16 must then not be tried unasked.
bool avoid_missing_instructions();

} // namespace engine_torch
