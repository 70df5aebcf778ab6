// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The cage's layers, one function each.  Each acts on this process for good, and returns
// why it could not: an empty text if it could.  Call them in this order.
#pragma once

#include "cage.h"

#include <string>

namespace dnn_torch
{

// Bounds memory, written files and descriptors.  No core is dumped, and the kernel ends this
// process before others when memory runs out.
std::string close_limits(const CageRules &rules);

// Gives up what the user's rights exceed: no capabilities, none by execve(), and no way for
// processes of the same user to look into this one.
std::string close_privileges();

// Files by path: libraries and `rules.readable` are read, nothing else is opened.
// close_privileges() comes before, for the kernel asks for that.
std::string close_landlock(const CageRules &rules);

// System calls by a list of those that running a model takes.  The last layer, because it
// refuses the calls by which the others close.
std::string close_system_calls(const CageRules &rules);

// "3 threads run already", or nothing if this process has one thread.
std::string other_threads();

// "WHAT: Permission denied", from errno.
std::string failed_call(const char *what);

} // namespace dnn_torch
