// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "text.h"

#include "base/terminal.h"

#include <algorithm>

namespace engine_kit
{
namespace
{

constexpr std::string_view traceback = "Traceback of TorchScript";
constexpr size_t longest_message = 300;

bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

// Finds "ValueError: text" or "builtins.ValueError: text".  Other lines of a traceback are
// indented, are paths, or end with a colon.
bool is_error_line(std::string_view line)
{
    size_t end = 0;
    while (end < line.size() && is_name_character(line[end]))
        end++;
    return end > 0 && line.substr(end, 2) == ": ";
}

std::string_view next_line(std::string_view &text)
{
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

bool is_blank(char c)
{
    return static_cast<unsigned char>(c) <= ' ';
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && is_blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back()))
        text.remove_suffix(1);
    return text;
}

// Returns the text after the last traceback, or all of it if there is none.
std::string_view after_traceback(std::string_view text)
{
    const size_t last = text.rfind(traceback);
    if (last == std::string_view::npos)
        return text;
    std::string_view rest = text.substr(last);
    next_line(rest);
    for (std::string_view ahead = rest; !ahead.empty(); rest = ahead)
        if (is_error_line(next_line(ahead)))
            return rest;
    return {};
}

std::string_view first_line(std::string_view text)
{
    while (!text.empty())
        if (const std::string_view line = trimmed(next_line(text)); !line.empty())
            return line;
    return {};
}

void drop_prefix(std::string_view &text, std::string_view prefix)
{
    if (text.substr(0, prefix.size()) == prefix)
        text.remove_prefix(prefix.size());
}

// Returns the line without a beginning such as "[enforce fail at inline_container.cc:165] . ".
std::string_view without_check(std::string_view line)
{
    if (line.substr(0, 9) != "[enforce ")
        return line;
    const size_t end = line.find("] ");
    if (end == std::string_view::npos)
        return line;
    line.remove_prefix(end + 2);
    drop_prefix(line, ". ");
    return line;
}

bool continues_character(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Returns at most `size` bytes and does not cut a character.
std::string_view cut(std::string_view text, size_t size)
{
    if (text.size() <= size)
        return text;
    while (size > 0 && continues_character(text[size]))
        size--;
    return text.substr(0, size);
}

// Returns whole sentences, if at least one ends.
std::string_view up_to_sentence(std::string_view text)
{
    const size_t end = text.rfind(". ");
    return end == std::string_view::npos ? text : text.substr(0, end);
}

} // namespace

std::string short_message(std::string_view text)
{
    std::string_view line = first_line(after_traceback(text));
    if (line.empty())
        line = first_line(text);
    drop_prefix(line, "builtins.");
    drop_prefix(line, "RuntimeError: ");
    line = without_check(line);
    if (line.size() > longest_message)
        line = up_to_sentence(cut(line, longest_message));
    while (!line.empty() && (line.back() == '.' || is_blank(line.back())))
        line.remove_suffix(1);
    return std::string(line);
}

std::string printable(std::string_view text)
{
    return dnn_torch::printable(text);
}

void copy_as_line(std::string_view text, char *line, size_t size)
{
    std::string shown = printable(trimmed(text));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    const std::string_view kept = cut(shown, size - 1);
    *std::copy(kept.begin(), kept.end(), line) = '\0';
}

} // namespace engine_kit
