// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "content_hash.h"

#include <array>
#include <sodium.h>

namespace engine_torch
{

std::string content_hash(std::string_view bytes)
{
    constexpr std::string_view digits = "0123456789abcdef";
    // sodium_init() detects the processor's instructions.  Without it the hash is the same, but
    // slow to compute.
    static const int initialised = sodium_init();
    static_cast<void>(initialised);
    std::array<unsigned char, 32> hash;
    crypto_generichash(hash.data(), hash.size(),
                       reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(), nullptr,
                       0);
    std::string text;
    for (const unsigned char byte : hash) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

} // namespace engine_torch
