// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Subtitles with the labels of the objects in the picture.  One lasts as long as its text is the
// same.
#include "base/compose.h"
#include "record_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace dnn_torch
{
namespace
{

constexpr size_t most_lines = 20;
constexpr double default_frame_seconds = 0.04;
constexpr double longest_seconds = 3.5e9; // its hours have six digits

// "01:02:03,456"
std::string clock_text(double seconds)
{
    const double shown = std::clamp(seconds, 0.0, longest_seconds);
    const auto all = static_cast<long long>(std::llround(shown * 1000));
    std::array<char, 64> text;
    snprintf(text.data(), text.size(), "%02lld:%02lld:%02lld,%03lld", all / 3600000,
             all / 60000 % 60, all / 1000 % 60, all % 1000);
    return text.data();
}

// An empty line would end the subtitle.
std::string one_line(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text;
}

// Each label once, with its count.
struct Lines {
    std::vector<std::pair<std::string, int>> all;

    // Equal lines must be added one after the other.
    void add(const std::string &line)
    {
        if (all.empty() || all.back().first != line)
            all.emplace_back(line, 1);
        else
            all.back().second++;
    }

    std::string text() const
    {
        std::string text;
        for (size_t i = 0; i < std::min(all.size(), most_lines); i++)
            add_to_list(text,
                        all[i].second == 1 ? all[i].first
                                           : concat(all[i].first, " (", all[i].second, ")"),
                        "\n");
        if (all.size() > most_lines)
            text += concat("\nand ", all.size() - most_lines, " more");
        return text;
    }
};

std::string line_for(const Finding &finding)
{
    std::string line = finding.label;
    if (finding.track != 0)
        line += concat(" #", finding.track);
    if (!finding.classes.empty())
        line += ": " + finding.classes.front().label;
    return one_line(std::move(line));
}

std::string text_for(const Findings &found)
{
    std::vector<std::string> sorted; // the order of confidences changes from frame to frame
    for (const Finding &finding : found.things)
        sorted.push_back(line_for(finding));
    std::sort(sorted.begin(), sorted.end());
    Lines lines;
    if (!found.classes.empty())
        lines.add(one_line(found.classes.front().label));
    for (const std::string &line : sorted)
        lines.add(line);
    return lines.text();
}

class SrtText : public RecordText
{
public:
    std::string record(const FrameFacts &frame, const Findings &found) override
    {
        const double now = time_of(frame);
        std::string text = text_for(found), done;
        // Frames in between, which the timeline excludes, get no subtitle.
        const bool follows = frame.number == last_number_ + 1;
        last_number_ = frame.number;
        if (text != text_ || now < last_ || !follows) {
            done = subtitle(follows ? std::max(now, last_) : last_ + frame_seconds_);
            text_ = std::move(text);
            begin_ = now;
        }
        last_ = now;
        return done;
    }

    std::string end() override
    {
        std::string done = subtitle(last_ + frame_seconds_);
        text_.clear();
        return done;
    }

private:
    // A frame without a time is placed one frame duration after the previous one.
    double time_of(const FrameFacts &frame)
    {
        const std::optional<double> seconds = seconds_of(frame);
        const double now = seconds ? *seconds : has_last_ ? last_ + frame_seconds_ : 0;
        if (has_last_ && now > last_ && frame.number == last_number_ + 1)
            frame_seconds_ = now - last_;
        has_last_ = true;
        return now;
    }

    std::string subtitle(double end)
    {
        if (text_.empty())
            return {};
        return concat(++number_, "\n", clock_text(begin_), " --> ", clock_text(end), "\n", text_,
                      "\n\n");
    }

    std::string text_; // of the current subtitle
    double begin_ = 0, last_ = 0, frame_seconds_ = default_frame_seconds;
    int64_t last_number_ = -1;
    bool has_last_ = false;
    int64_t number_ = 0;
};

} // namespace

std::unique_ptr<RecordText> make_srt_text()
{
    return std::make_unique<SrtText>();
}

} // namespace dnn_torch
