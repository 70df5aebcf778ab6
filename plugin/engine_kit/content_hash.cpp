// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "content_hash.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace engine_torch
{
namespace
{

using Words = std::array<uint64_t, 8>;
using Block = std::array<uint64_t, 16>;
using Order = std::array<uint8_t, 16>;

constexpr size_t block_size = 128, hash_size = 32;

constexpr Words start = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

constexpr std::array<Order, 10> orders = {{
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}};

uint64_t rotated(uint64_t word, int bits)
{
    return word >> bits | word << (64 - bits);
}

void mix(Block &v, int a, int b, int c, int d, uint64_t x, uint64_t y)
{
    v[a] += v[b] + x;
    v[d] = rotated(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotated(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 63);
}

void compress(Words &state, const char *bytes, uint64_t hashed, bool is_last)
{
    Block message, v;
    std::memcpy(message.data(), bytes, block_size); // its words are little-endian, as we are
    std::copy(state.begin(), state.end(), v.begin());
    std::copy(start.begin(), start.end(), v.begin() + 8);
    v[12] ^= hashed;
    v[14] ^= is_last ? ~uint64_t{0} : 0;
    for (int round = 0; round < 12; round++) {
        const Order &at = orders[static_cast<size_t>(round) % orders.size()];
        for (int i = 0; i < 4; i++)
            mix(v, i, i + 4, i + 8, i + 12, message[at[2 * i]], message[at[2 * i + 1]]);
        for (int i = 0; i < 4; i++)
            mix(v, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, message[at[8 + 2 * i]],
                message[at[9 + 2 * i]]);
    }
    for (size_t i = 0; i < state.size(); i++)
        state[i] ^= v[i] ^ v[i + 8];
}

std::string hexadecimal(const Words &state)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::array<unsigned char, hash_size> bytes;
    std::memcpy(bytes.data(), state.data(), hash_size);
    std::string text;
    for (const unsigned char byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

} // namespace

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

std::string content_hash(std::string_view bytes)
{
    Words state = start;
    state[0] ^= 0x01010000 ^ hash_size;
    uint64_t hashed = 0;
    while (bytes.size() > block_size) {
        hashed += block_size;
        compress(state, bytes.data(), hashed, false);
        bytes.remove_prefix(block_size);
    }
    std::array<char, block_size> last = {};
    std::copy(bytes.begin(), bytes.end(), last.begin());
    compress(state, last.data(), hashed + bytes.size(), true);
    return hexadecimal(state);
}

} // namespace engine_torch
