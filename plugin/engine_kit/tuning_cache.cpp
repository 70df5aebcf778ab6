// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tuning_cache.h"

#include "content_hash.h"
#include "fork_safety.h"
#include "tuning_broker.h"
#include "tuning_record.h"

#include <fstream>
#include <map>
#include <mutex>
#include <string_view>
#include <sys/utsname.h>
#include <utility>

namespace engine_torch
{
namespace
{

// ---- the records of this process --------------------------------------------------

std::mutex mutex;
// ---- under mutex

std::map<std::string, TuningRecord> &records()
{
    static auto *const all = [] {
        keep_over_fork<mutex>();
        return new std::map<std::string, TuningRecord>;
    }();
    return *all;
}

// ---- the key ------------------------------------------------------------------------

// The processor's name is not enough: virtual machines hide some of the instructions.
std::string processor()
{
    std::ifstream about("/proc/cpuinfo");
    std::string name, instructions;
    for (std::string line; (name.empty() || instructions.empty()) && std::getline(about, line);)
        if (const size_t colon = line.find(": "); colon != std::string::npos) {
            if (line.rfind("model name", 0) == 0)
                name = line.substr(colon + 2);
            if (line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0)
                instructions = line.substr(colon + 2);
        }
    struct utsname system = {};
    uname(&system);
    return system.machine + (' ' + name) + ' ' + content_hash(instructions);
}

std::string line_of(const TuningKey &key)
{
    const std::string line = key.contents + "; " + key.settings + "; " + processor();
    return key.contents.empty() || !is_tuning_line(line) ? "" : line;
}

// ---- the records of other processes --------------------------------------------------

std::string stored(const std::string &line)
{
    const std::optional<int> broker = tuning_socket();
    return broker ? ask_broker(*broker, TuningRequest::read, line, "") : read_from_folder(line);
}

void store(const std::string &line, const std::string &text)
{
    if (const std::optional<int> broker = tuning_socket())
        ask_broker(*broker, TuningRequest::write, line, text);
    else
        write_to_folder(line, text);
}

} // namespace

TuningCache::TuningCache(const TuningKey &key) : TuningCache(key.path, line_of(key)) {}

TuningCache::TuningCache(std::string path, std::string line)
    : path_(std::move(path)), line_(std::move(line))
{
}

std::optional<TuningRecord> TuningCache::recall_from_process() const
{
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = records().find(path_ + '\n' + line_);
    return found == records().end() ? std::nullopt : std::optional(found->second);
}

std::optional<TuningRecord> TuningCache::recall_from_folder() const
{
    return line_.empty() ? std::nullopt : parse_record(stored(line_), line_);
}

void TuningCache::remember_in_process(const TuningRecord &record) const
{
    if (line_.empty())
        return;
    const std::lock_guard<std::mutex> lock(mutex);
    records()[path_ + '\n' + line_] = record;
}

void TuningCache::remember(const TuningRecord &record) const
{
    remember_in_process(record);
    const std::string text = line_.empty() ? "" : text_of(record, line_);
    if (!text.empty())
        store(line_, text);
}

} // namespace engine_torch
