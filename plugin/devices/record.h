// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How a probe's process tells what it found: lines of "key value", a blank line
// between one thing and the next, and a last line that says that this is all.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dnn_torch
{

class Record
{
public:
    void set(std::string key, std::string value);

    bool has(std::string_view key) const { return find(key) != nullptr; }
    // Empty, or 0, where the key is missing or its value is no number.
    std::string text(std::string_view key) const;
    long long number(std::string_view key) const;

    bool empty() const { return fields_.empty(); }
    // Ready for the pipe: control bytes become blanks.
    std::string lines() const;

private:
    const std::string *find(std::string_view key) const;

    std::vector<std::pair<std::string, std::string>> fields_;
};

// The last line of a probe that was not cut short.
inline constexpr std::string_view end_of_records = "end";

struct Records {
    std::vector<Record> list;
    bool complete; // the last line was there
};

// Takes any text; lines that are none of ours are skipped, control bytes become blanks.
Records parse_records(std::string_view text);

} // namespace dnn_torch
