// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The output format of a probe: lines of "key value", a blank line after each record, and
// a last line that marks the list as complete.
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
    // Return an empty text, or 0, if the key is missing or its value is not a number.
    std::string text(std::string_view key) const;
    long long number(std::string_view key) const;

    bool empty() const { return fields_.empty(); }
    // Returns the text to print; control bytes become blanks.
    std::string lines() const;

private:
    const std::string *find(std::string_view key) const;

    std::vector<std::pair<std::string, std::string>> fields_;
};

// The last line of a probe that was not cut short.
inline constexpr std::string_view end_of_records = "end";

struct Records {
    std::vector<Record> list;
    bool complete; // whether the last line was there
};

// Takes any text.  Skips lines in another format; control bytes become blanks.
Records parse_records(std::string_view text);

} // namespace dnn_torch
