// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// An operator of our own that looks at counts before an operator of LibTorch gets them.
#pragma once

namespace engine_torch
{

// Fails unless these are whole numbers that LibTorch can add up.  It does not look, and writes
// beyond the tensor.  Whoever changes the counts afterwards changes another tensor.
constexpr const char *sound_counts = "dnn_torch::sound_counts";

// Makes it known.  Any thread, any number of times.
void register_sound_counts();

} // namespace engine_torch
