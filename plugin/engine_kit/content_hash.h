// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A name for contents that nobody can give to other contents.  Needs no LibTorch.
#pragma once

#include <string>
#include <string_view>

namespace engine_torch
{

// BLAKE2b (RFC 7693) with 32 bytes, as 64 hexadecimal digits.  Any thread.
//
// It is a cryptographic hash because SECURITY.md promises that what was found of
// one model file is never taken for another's, whoever made them.  XXH3 is many
// times as fast, and files with the same XXH3 can be made on purpose.
std::string content_hash(std::string_view bytes);

} // namespace engine_torch
