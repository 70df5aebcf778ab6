// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tuning_cache.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
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

constexpr std::string_view head = "dnn-torch tuning 1", end = "end";
constexpr std::size_t longest_file = 8192;

// ---- the process ------------------------------------------------------------------

std::mutex mutex;
// ---- under mutex

std::map<std::string, TuningRecord> &records()
{
    static auto *const all = new std::map<std::string, TuningRecord>;
    return *all;
}

// What changes when the file does; cheaper than its contents.
std::string identity_of(const TuningKey &key)
{
    struct stat about = {};
    if (stat(key.path.c_str(), &about) < 0)
        return "";
    std::string identity = key.path + "\n" + key.settings;
    for (const auto number :
         {static_cast<long long>(about.st_dev), static_cast<long long>(about.st_ino),
          static_cast<long long>(about.st_size), static_cast<long long>(about.st_mtim.tv_sec),
          static_cast<long long>(about.st_mtim.tv_nsec)})
        identity += ' ' + std::to_string(number);
    return identity;
}

// ---- the key ------------------------------------------------------------------------

std::string hexadecimal(std::uint64_t number)
{
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    return text;
}

// Of the contents, piece by piece; "" where they cannot be read.
std::string hash_of_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::vector<char> piece(std::size_t{1} << 20);
    std::string hashes;
    while (file) {
        file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        const auto size = static_cast<std::size_t>(file.gcount());
        hashes += hexadecimal(std::hash<std::string_view>{}({piece.data(), size}));
    }
    return file.eof() ? hexadecimal(std::hash<std::string>{}(hashes)) : "";
}

// A name alone is not enough: virtual machines hide some of the instructions.
std::string processor()
{
    std::ifstream about("/proc/cpuinfo");
    std::string name, instructions;
    for (std::string line; (name.empty() || instructions.empty()) && std::getline(about, line);)
        if (const std::size_t colon = line.find(": "); colon != std::string::npos) {
            if (line.rfind("model name", 0) == 0)
                name = line.substr(colon + 2);
            if (line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0)
                instructions = line.substr(colon + 2);
        }
    struct utsname system = {};
    uname(&system);
    return system.machine + (' ' + name) + ' ' +
           hexadecimal(std::hash<std::string>{}(instructions));
}

bool is_line(std::string_view text)
{
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

std::string line_of(const TuningKey &key)
{
    const std::string hash = hash_of_file(key.path);
    const std::string line = hash + "; " + key.settings + "; " + processor();
    return hash.empty() || !is_line(line) ? "" : line;
}

// ---- the folder ---------------------------------------------------------------------

std::string variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value ? value : "";
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
    return there / ("tuning-" + hexadecimal(std::hash<std::string>{}(line)));
}

template <typename Number> std::string text_of(Number number)
{
    char text[64];
    const auto written = std::to_chars(text, text + sizeof text, number);
    return std::string(text, written.ptr);
}

template <typename Number> bool parse(std::string_view text, Number &number)
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

std::vector<std::string> lines_of(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    std::string contents(longest_file, '\0');
    file.read(contents.data(), longest_file);
    contents.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    std::vector<std::string> lines;
    for (std::size_t at = 0, next; (next = contents.find('\n', at)) != std::string::npos;
         at = next + 1)
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
        !std::isfinite(record.run_seconds) || record.run_seconds < 0 || record.run_bytes < 0)
        return std::nullopt;
    return record;
}

// Under a name of its own first, so that nobody ever reads half a file.
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

TuningCache::TuningCache(TuningKey key) : key_(std::move(key)) {}

const std::string &TuningCache::line()
{
    if (!line_)
        line_ = line_of(key_);
    return *line_;
}

std::optional<TuningRecord> TuningCache::recall_from_process() const
{
    const std::string identity = identity_of(key_);
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = records().find(identity);
    return found == records().end() ? std::nullopt : std::optional(found->second);
}

std::optional<TuningRecord> TuningCache::recall_from_folder()
{
    if (folder().empty())
        return std::nullopt;
    const std::filesystem::path path = file_for(line());
    if (path.empty())
        return std::nullopt;
    return parse_record(lines_of(path), line());
}

void TuningCache::remember_in_process(const TuningRecord &record) const
{
    const std::string identity = identity_of(key_);
    if (identity.empty())
        return;
    const std::lock_guard<std::mutex> lock(mutex);
    records()[identity] = record;
}

void TuningCache::remember(const TuningRecord &record)
{
    remember_in_process(record);
    if (folder().empty())
        return;
    const std::filesystem::path path = file_for(line());
    if (!path.empty() && is_line(record.notice) && is_line(record.advice))
        write(path, contents_of(line(), record));
}

} // namespace engine_torch
