// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// On which processors a child's threads run.
#pragma once

#include <sys/types.h>

namespace isolation
{

// Has a thread of that process run where the calling thread may.  The cage keeps the process from
// doing so itself.  `thread` is what the process says: nothing is done, and false is returned, if
// it has no such thread, or if the system refuses.
bool share_affinity(pid_t process, pid_t thread) noexcept;

} // namespace isolation
