// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "terminal.h"

#include <cstdint>
#include <cstdio>

namespace dnn_torch
{
namespace
{

uint32_t code_point(std::string_view character)
{
    const auto first = static_cast<unsigned char>(character.front());
    if (character.size() == 1)
        return first;
    uint32_t code = first & (0x7fU >> character.size());
    for (const char c : character.substr(1))
        code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
    return code;
}

bool is_control(uint32_t code)
{
    return (code < ' ' && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0);
}

// Returns true for marks, embeddings, overrides and isolates of bidirectional text, and
// for the line and paragraph separators.
bool turns_text(uint32_t code)
{
    return code == 0x61c || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::string_view bytes)
{
    std::string out;
    for (const char c : bytes) {
        char text[8];
        snprintf(text, sizeof(text), "\\x%02x", static_cast<unsigned char>(c));
        out += text;
    }
    return out;
}

} // namespace

size_t character_length(std::string_view text)
{
    auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    size_t length = byte(0) < 0x80 ? 1 : byte(0) >> 5 == 6 ? 2 : byte(0) >> 4 == 14 ? 3 : 4;
    if (length == 4 && byte(0) >> 3 != 30)
        return 0;
    if (length > text.size())
        return 0;
    for (size_t i = 1; i < length; i++)
        if (byte(i) >> 6 != 2)
            return 0;
    // Overlong forms are invalid: they would bypass is_control().
    constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint32_t code = code_point(text.substr(0, length));
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    return code >= smallest[length] && !is_surrogate && code <= 0x10FFFF ? length : 0;
}

std::string printable(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const size_t length = character_length(text);
        const std::string_view character = text.substr(0, length ? length : 1);
        const uint32_t code = length ? code_point(character) : 0;
        if (is_control(code))
            out += escaped(character);
        else if (!turns_text(code))
            out += character;
        text.remove_prefix(character.size());
    }
    return out;
}

} // namespace dnn_torch
