// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record.h"

#include <algorithm>
#include <cstdlib>

namespace dnn_torch
{
namespace
{

// Replaces control bytes: they could control a terminal, and a line end would begin another line.
std::string without_controls(std::string line)
{
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    return line;
}

} // namespace

void Record::set(std::string key, std::string value)
{
    fields_.emplace_back(std::move(key), std::move(value));
}

const std::string *Record::find(std::string_view key) const
{
    for (const auto &[name, value] : fields_)
        if (name == key)
            return &value;
    return nullptr;
}

std::string Record::text(std::string_view key) const
{
    const std::string *value = find(key);
    return value ? *value : std::string();
}

long long Record::number(std::string_view key) const
{
    const std::string *value = find(key);
    return value ? std::strtoll(value->c_str(), nullptr, 10) : 0;
}

std::string Record::lines() const
{
    std::string all;
    for (const auto &[key, value] : fields_)
        all += without_controls(key + " " + value) + "\n";
    return all + "\n";
}

Records parse_records(std::string_view text)
{
    Records records{.list = {}, .complete = false};
    Record record;
    for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
        const std::string line = without_controls(std::string(text.substr(0, end)));
        size_t blank = line.find(' ');
        records.complete = line == end_of_records;
        if (blank != line.npos && blank > 0)
            record.set(line.substr(0, blank), line.substr(blank + 1));
        else if (line.empty() && !record.empty())
            records.list.push_back(std::exchange(record, {}));
    }
    if (!record.empty())
        records.list.push_back(record);
    return records;
}

} // namespace dnn_torch
