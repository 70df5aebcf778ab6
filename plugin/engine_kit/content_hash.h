// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Names contents by a hash.  Nobody can make other contents with the same name.  Needs no LibTorch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace engine_torch
{

// BLAKE2b (RFC 7693) with 32 bytes, as 64 hexadecimal digits.  Any thread.
//
// The hash is cryptographic because SECURITY.md promises that what was found about one model file
// is never taken for another's, whoever made the files.  XXH3 is many times as fast, but files with
// the same XXH3 can be made on purpose.
std::string content_hash(std::string_view bytes);

// Hashes a regular file.  Returns "" if it cannot be read.  Does not move its position.
std::string content_hash_of_file(int descriptor);

// Returns the hash of a model in several files, in order.  One file has its own.
std::string joined_hash(const std::vector<std::string> &hashes);

} // namespace engine_torch
