// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Memory for tensors beside pages that nobody may touch: whoever reads or writes beyond a tensor,
// or one that is freed, gets a signal.  One thread.
#pragma once

namespace fuzz
{

enum class Side { end, begin };

// Gives LibTorch's processor tensors such memory from now on.  Call it once.
void guard_tensors();

// Which side of later tensors touches a page without access, and what they are filled with.
void set_guard(Side side, int filling);

} // namespace fuzz
