// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Processors that report instructions that they cannot run, or that oneDNN uses wrongly.  Needs no
// LibTorch.
#pragma once

namespace engine_torch
{

// Some hypervisors show the flags of AMX but hide its palettes, without which no tile can be
// configured.  oneDNN trusts the flags and ends the program with SIGILL at a layer in bf16: version
// 2.6 at the first, 3.7 at some.
//
// Others hide the caches.  Version 3.7, of Debian 13, then takes their size to be 0: its
// convolutions for AVX-512 leave out input channels if there are more than 16 and no multiple of
// it, those for AVX2 are wrong for some small pictures, and some end the program with SIGFPE.
// Those for SSE4.1 are right, and so are versions 2.6 and 3.12.
//
// Forbids oneDNN the instructions that are missing or wrong.  Call it before anything runs.
// Returns false if bf16 and optimize_for_inference() must not be tried unless the user asks: not
// everything that is wrong can be forbidden, or nothing is left for bf16.
bool avoid_unsound_instructions();

} // namespace engine_torch
