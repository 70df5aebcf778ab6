// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json.h"

#include "terminal.h"

#include <cmath>
#include <cstdio>

namespace dnn_torch::json
{
namespace
{

std::string escaped(char c)
{
    if (c == '"' || c == '\\')
        return {'\\', c};
    if (static_cast<unsigned char>(c) >= ' ' && c != 0x7f)
        return {c};
    char text[8];
    snprintf(text, sizeof(text), "\\u%04x", static_cast<unsigned>(c));
    return text;
}

template <class Items, class Write>
Value joined(char open, const Items &items, char close, Write write)
{
    std::string text(1, open);
    for (const auto &item : items) {
        if (text.size() > 1)
            text += ", ";
        text += write(item);
    }
    return {text + close};
}

Value printed(const char *format, int precision, double value)
{
    // DBL_MAX has 309 digits before its point.
    char text[384];
    snprintf(text, sizeof(text), format, precision, value);
    return {std::isfinite(value) ? text : "null"};
}

} // namespace

Value string(std::string_view text)
{
    std::string out = "\"";
    while (!text.empty()) {
        size_t length = character_length(text);
        if (length == 0)
            out += "\\ufffd";
        else if (length == 1)
            out += escaped(text.front());
        else if (printable(text.substr(0, length)) != text.substr(0, length))
            out += "\\ufffd"; // it would act on a terminal

        else
            out += text.substr(0, length);
        text.remove_prefix(length ? length : 1);
    }
    return {out + "\""};
}

Value string_or_null(std::string_view text)
{
    return text.empty() ? Value{"null"} : string(text);
}

Value number(long long value)
{
    return {std::to_string(value)};
}

Value number(double value)
{
    return printed("%.*g", 6, value);
}

Value number(double value, int decimals)
{
    return printed("%.*f", decimals, value);
}

Value boolean(bool value)
{
    return {value ? "true" : "false"};
}

Value array(const std::vector<Value> &values)
{
    return joined('[', values, ']', [](const Value &value) { return value.text; });
}

Value object(const Members &members)
{
    return joined('{', members, '}', [](const auto &member) {
        return string(member.first).text + ": " + member.second.text;
    });
}

} // namespace dnn_torch::json
