// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The cage's layers, one function each.  Each acts on this process for good.  It returns why it
// failed, or an empty text.  Call them in this order.
#pragma once

#include "cage.h"

#include <string>

namespace dnn_torch
{

// Limits memory, written files and descriptors.  No core is dumped, and the kernel ends this
// process before others when memory runs out.
std::string close_limits(const CageRules &rules);

// Gives up privileges: drops capabilities, gains none by execve(), and keeps processes of the
// same user from looking into this one.
std::string close_privileges();

// Restricts files by path: libraries and `rules.readable` may be read, nothing else is opened.
// Call close_privileges() first: the kernel demands it.
std::string close_landlock(const CageRules &rules);

// Allows only the system calls that running a model takes.  The last layer, because it refuses
// the calls that close the others.
std::string close_system_calls(const CageRules &rules);

// "3 threads run already", or nothing if this process has one thread.
std::string other_threads();

// "WHAT: Permission denied", from errno.
std::string failed_call(const char *what);

} // namespace dnn_torch
