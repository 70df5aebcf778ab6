// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tuning_cache.h"

#include "base/compose.h"
#include "base/terminal.h"
#include "content_hash.h"
#include "fork_safety.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string_view>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

constexpr std::string_view head = "dnn-torch tuning 2", end = "end";
constexpr size_t longest_file = 8192;
// A record is wrong if its run takes a day, or more memory than any machine has.
constexpr double longest_run = 86400;
constexpr int64_t largest_run = int64_t{1} << 50;

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

bool is_line(std::string_view text)
{
    return text.find_first_of("\n\t") == std::string_view::npos &&
           dnn_torch::printable(text) == text;
}

std::string line_of(const TuningKey &key)
{
    const std::string line = key.contents + "; " + key.settings + "; " + processor();
    return key.contents.empty() || !is_line(line) ? "" : line;
}

// ---- the folder ---------------------------------------------------------------------

std::string variable(const char *name)
{
    return dnn_torch::text_or_empty(secure_getenv(name));
}

// "" for none.
std::filesystem::path folder()
{
    if (secure_getenv("DNN_TORCH_CACHE"))
        return variable("DNN_TORCH_CACHE");
    if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty())
        return std::filesystem::path(caches) / "dnn-torch";
    if (const std::string home = variable("HOME"); !home.empty())
        return std::filesystem::path(home) / ".cache" / "dnn-torch";
    return "";
}

// "" for none.
std::filesystem::path file_for(const std::string &line)
{
    const std::filesystem::path there = folder();
    if (there.empty() || line.empty())
        return "";
    return there / ("tuning-" + content_hash(line).substr(0, 16));
}

template <class Number> std::string text_of(Number number)
{
    char text[64];
    const auto written = std::to_chars(text, text + sizeof text, number);
    return std::string(text, written.ptr);
}

template <class Number> bool parse(std::string_view text, Number &number)
{
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

std::string contents_of(const std::string &line, const TuningRecord &record)
{
    std::string contents;
    for (const std::string &each :
         {std::string(head), line, record.form, record.precision, text_of(record.run_seconds),
          text_of(record.run_bytes), record.notice, record.advice, std::string(end)})
        contents += each + "\n";
    return contents;
}

// Returns "" unless the file is regular: reading must not wait for a pipe.
std::string read(const std::filesystem::path &path)
{
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return "";
    struct stat about = {};
    std::string contents(longest_file, '\0');
    ssize_t size = 0;
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode))
        size = ::read(descriptor, contents.data(), contents.size());
    close(descriptor);
    contents.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
    return contents;
}

std::vector<std::string> lines_of(const std::string &contents)
{
    std::vector<std::string> lines;
    for (size_t at = 0, next; (next = contents.find('\n', at)) != std::string::npos; at = next + 1)
        lines.push_back(contents.substr(at, next - at));
    return lines;
}

std::optional<TuningRecord> parse_record(const std::vector<std::string> &lines,
                                         const std::string &line)
{
    if (lines.size() != 9 || lines[0] != head || lines[1] != line || lines[8] != end ||
        !std::all_of(lines.begin(), lines.end(), is_line))
        return std::nullopt;
    TuningRecord record = {lines[2], lines[3], 0, 0, lines[6], lines[7]};
    if (!parse(lines[4], record.run_seconds) || !parse(lines[5], record.run_bytes) ||
        !(record.run_seconds >= 0 && record.run_seconds <= longest_run) || record.run_bytes < 0 ||
        record.run_bytes > largest_run)
        return std::nullopt;
    return record;
}

// Writes under another name first, so that nobody reads half a file.
void write(const std::filesystem::path &path, const std::string &contents)
{
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    std::string temporary = path.string() + ".XXXXXX";
    const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
    if (descriptor < 0)
        return;
    const auto written = ::write(descriptor, contents.data(), contents.size());
    const bool whole = written == static_cast<ssize_t>(contents.size());
    if (close(descriptor) < 0 || !whole || rename(temporary.c_str(), path.c_str()) < 0)
        unlink(temporary.c_str());
}

} // namespace

TuningCache::TuningCache(const TuningKey &key) : path_(key.path), line_(line_of(key)) {}

std::optional<TuningRecord> TuningCache::recall_from_process() const
{
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = records().find(path_ + '\n' + line_);
    return found == records().end() ? std::nullopt : std::optional(found->second);
}

std::optional<TuningRecord> TuningCache::recall_from_folder() const
{
    const std::filesystem::path path = file_for(line_);
    return path.empty() ? std::nullopt : parse_record(lines_of(read(path)), line_);
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
    const std::filesystem::path path = file_for(line_);
    if (!path.empty() && is_line(record.notice) && is_line(record.advice))
        write(path, contents_of(line_, record));
}

} // namespace engine_torch
