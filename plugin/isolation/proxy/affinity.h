// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// On which processors a child's threads run.
#pragma once

#include <sys/types.h>

namespace isolation
{

// Gives a thread of that process the calling thread's CPU affinity.  The cage keeps the process
// from doing so itself.  `thread` comes from the process and is not trusted: returns false, and
// does nothing, if there is no such thread or the system refuses.
bool share_affinity(pid_t process, pid_t thread) noexcept;

} // namespace isolation
