// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Bars in SVG.  Replaces characters that XML does not allow.
#include "bars.h"
#include "base/terminal.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace dnn_torch
{
namespace
{

// Pixels.
constexpr int width = 860, margin = 24, row_height = 30, bar_height = 18, line_height = 20;
constexpr int gap = 12, rate_width = 140, time_width = 100;
constexpr double character_width = 7.9; // of the fixed-width font below
constexpr size_t longest_label = 44, longest_line = 100;

constexpr const char *style = R"(<style>
text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1f2328; }
.page { fill: #ffffff; }
.title { font-weight: bold; }
.muted { fill: #59636e; }
.bar { fill: #8fb1d9; }
.chosen { fill: #1f6fca; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .page { fill: #161b22; }
  .muted { fill: #9da7b1; }
  .bar { fill: #43658f; }
  .chosen { fill: #58a6ff; }
}
</style>
)";

// Detects surrogates, the noncharacters U+FFFE and U+FFFF, and code points beyond Unicode.
bool is_invalid_in_xml(std::string_view character)
{
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 3)
        return (byte(0) == 0xed && byte(1) >= 0xa0) ||
               (byte(0) == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe);
    return character.size() == 4 && (byte(0) > 0xf4 || (byte(0) == 0xf4 && byte(1) >= 0x90));
}

std::string escaped(std::string_view character)
{
    switch (character.front()) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&apos;";
    case '\n':
    case '\t':
        return " ";
    default:
        return is_invalid_in_xml(character) ? "\xef\xbf\xbd" : std::string(character);
    }
}

// Shortens the text to `columns` characters.
std::string xml_text(const std::string &text, size_t columns)
{
    const std::string clean = printable(text); // valid UTF-8 without control characters
    const bool is_cut = columns_of(clean) > columns;
    std::string out;
    std::string_view remaining = clean;
    for (size_t left = is_cut ? columns - 1 : columns; left > 0 && !remaining.empty(); left--) {
        const size_t length = std::max<size_t>(character_length(remaining), 1);
        out += escaped(remaining.substr(0, length));
        remaining.remove_prefix(length);
    }
    return is_cut ? out + "…" : out;
}

class Drawing
{
public:
    explicit Drawing(const BarChart &chart) : chart_(chart), most_(fastest(chart.bars))
    {
        size_t columns = 0;
        for (const Bar &bar : chart.bars)
            columns = std::max(columns, columns_of(printable(bar.label)));
        columns = std::min(columns, longest_label);
        bars_left_ =
            margin + gap + static_cast<int>(static_cast<double>(columns) * character_width);
        bars_width_ = width - margin - rate_width - time_width - bars_left_;
    }

    std::string text()
    {
        line(chart_.title, "title");
        if (!chart_.subtitle.empty())
            line(chart_.subtitle, "muted");
        top_ += gap;
        for (const Bar &bar : chart_.bars)
            row(bar);
        top_ += gap;
        for (const std::string &footnote : chart_.footnotes)
            line(footnote, "muted");
        return head() + body_ + "</svg>\n";
    }

private:
    // For a standalone file: has the size in pixels, and a title for screen readers.
    std::string head() const
    {
        const std::string size = std::to_string(width) + "\" height=\"" + std::to_string(height());
        const std::string box = std::to_string(width) + ' ' + std::to_string(height());
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"" +
               size + "\" viewBox=\"0 0 " + box + "\">\n<title>" +
               xml_text(chart_.title, std::string::npos) + "</title>\n" + style +
               "<rect class=\"page\" width=\"" + size + "\"/>\n";
    }

    int height() const { return top_ + margin; }

    void put(const char *kind, int x, int y, const char *anchor, const std::string &words)
    {
        char start[128];
        snprintf(start, sizeof(start), R"(<text class="%s" x="%d" y="%d" text-anchor="%s">)", kind,
                 x, y, anchor);
        body_ += start + words + "</text>\n";
    }

    void line(const std::string &words, const char *kind)
    {
        top_ += line_height;
        put(kind, margin, top_, "start", xml_text(words, longest_line));
    }

    void row(const Bar &bar)
    {
        constexpr int text_below_middle = 5;
        const int middle = top_ + row_height / 2, baseline = middle + text_below_middle;
        put("label", bars_left_ - gap, baseline, "end", xml_text(bar.label, longest_label));
        char shape[160];
        snprintf(shape, sizeof(shape),
                 R"(<rect class="%s" x="%d" y="%d" width="%.2f" height="%d" rx="2"/>)",
                 bar.is_chosen ? "bar chosen" : "bar", bars_left_, middle - bar_height / 2,
                 share_of(bar, most_) * bars_width_, bar_height);
        body_ += shape;
        body_ += '\n';
        put("rate", width - margin - time_width, baseline, "end", rate_of(bar));
        put("muted", width - margin, baseline, "end", time_of(bar));
        top_ += row_height;
    }

    const BarChart &chart_;
    const double most_;
    int bars_left_ = 0, bars_width_ = 0, top_ = margin / 2;
    std::string body_;
};

} // namespace

std::string bars_as_svg(const BarChart &chart)
{
    return Drawing(chart).text();
}

} // namespace dnn_torch
