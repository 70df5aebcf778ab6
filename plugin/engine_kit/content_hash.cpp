// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "content_hash.h"

#include "base/compose.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace engine_torch
{
namespace
{

using Hash = std::array<unsigned char, 32>;

// sodium_init() detects the processor's instructions.  Without it the hash is the same, but slow to
// compute.
void prepare()
{
    static const int initialised = sodium_init();
    static_cast<void>(initialised);
}

std::string text_of(const Hash &hash)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : hash) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

} // namespace

std::string content_hash(std::string_view bytes)
{
    prepare();
    Hash hash;
    crypto_generichash(hash.data(), hash.size(),
                       reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(), nullptr,
                       0);
    return text_of(hash);
}

std::string content_hash_of_file(int descriptor)
{
    struct stat about = {};
    if (fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode))
        return "";
    prepare();
    crypto_generichash_state state;
    Hash hash;
    crypto_generichash_init(&state, nullptr, 0, hash.size());
    std::vector<unsigned char> piece(size_t{1} << 20);
    for (off_t at = 0; at < about.st_size;) {
        const ssize_t got = pread(descriptor, piece.data(), piece.size(), at);
        // 0: somebody made the file shorter.
        if (got == 0 || (got < 0 && errno != EINTR))
            return "";
        if (got > 0) {
            crypto_generichash_update(&state, piece.data(), static_cast<size_t>(got));
            at += got;
        }
    }
    crypto_generichash_final(&state, hash.data(), hash.size());
    return text_of(hash);
}

std::string joined_hash(const std::vector<std::string> &hashes)
{
    if (hashes.empty() || std::find(hashes.begin(), hashes.end(), "") != hashes.end())
        return "";
    return hashes.size() == 1 ? hashes.front() : content_hash(dnn_torch::joined(hashes));
}

} // namespace engine_torch
