// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "bars.h"

#include "base/terminal.h"

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

std::string with_two_digits(double number)
{
    char text[32];
    snprintf(text, sizeof(text), "%.2f", number);
    return text;
}

constexpr size_t shortest_bar = 8, longest_bar = 60;

// Does not change the process's locale, which is used to read and write numbers.
bool has_utf8()
{
    const locale_t user = newlocale(LC_CTYPE_MASK, "", nullptr);
    if (!user)
        return false;
    const bool found = strcmp(nl_langinfo_l(CODESET, user), "UTF-8") == 0;
    freelocale(user);
    return found;
}

// Returns a bar of that many eighths of a column.
std::string bar_of(size_t eighths, bool has_blocks)
{
    static constexpr const char *parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    std::string text;
    for (size_t column = 0; column < (has_blocks ? eighths / 8 : (eighths + 4) / 8); column++)
        text += has_blocks ? "█" : "#";
    return has_blocks ? text + parts[eighths % 8] : text;
}

std::string spaces_after(size_t columns, const std::string &text)
{
    return std::string(columns - std::min(columns_of(text), columns), ' ');
}

// How many columns each part of a line takes.
struct Widths {
    size_t label = 0, bar = 0, rate = 0, time = 0;
};

Widths widths_of(const std::vector<Bar> &bars, size_t columns)
{
    constexpr size_t gaps = 6;
    Widths widths;
    for (const Bar &bar : bars) {
        widths.label = std::max(widths.label, columns_of(printable(bar.label)));
        widths.rate = std::max(widths.rate, rate_of(bar).size());
        widths.time = std::max(widths.time, time_of(bar).size());
    }
    const size_t others = widths.label + widths.rate + widths.time + gaps;
    widths.bar = std::clamp(columns > others ? columns - others : 0, shortest_bar, longest_bar);
    return widths;
}

} // namespace

BarPlace place_of_output()
{
    BarPlace place = {.columns = 80, .has_blocks = has_utf8()};
    winsize size = {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        place.columns = size.ws_col;
    return place;
}

std::string bars_as_text(const std::vector<Bar> &bars, const BarPlace &place)
{
    const double most = fastest(bars);
    const Widths widths = widths_of(bars, place.columns);
    std::string text;
    for (const Bar &bar : bars) {
        const double eighths = share_of(bar, most) * 8 * static_cast<double>(widths.bar);
        const std::string drawn = bar_of(static_cast<size_t>(lround(eighths)), place.has_blocks);
        const std::string label = printable(bar.label), rate = rate_of(bar), time = time_of(bar);
        text += label + spaces_after(widths.label, label) + "  " + drawn +
                spaces_after(widths.bar, drawn) + "  " + spaces_after(widths.rate, rate) + rate +
                "  " + spaces_after(widths.time, time) + time + "\n";
    }
    return text;
}

double fastest(const std::vector<Bar> &bars)
{
    double most = 0;
    for (const Bar &bar : bars)
        most = std::max(most, bar.frames_per_second);
    return most;
}

double share_of(const Bar &bar, double most)
{
    return most > 0 && bar.frames_per_second > 0 ? bar.frames_per_second / most : 0;
}

std::string rate_of(const Bar &bar)
{
    return with_two_digits(std::max(bar.frames_per_second, 0.0)) + " frames/s";
}

std::string time_of(const Bar &bar)
{
    return bar.frames_per_second > 0 ? with_two_digits(1000 / bar.frames_per_second) + " ms" : "-";
}

size_t columns_of(std::string_view text)
{
    const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) >> 6) != 2; };
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins));
}

} // namespace dnn_torch
