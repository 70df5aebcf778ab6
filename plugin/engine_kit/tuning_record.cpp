// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "tuning_record.h"

#include "base/compose.h"
#include "base/descriptor.h"
#include "base/terminal.h"
#include "content_hash.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

using dnn_torch::Descriptor;

std::string variable(const char *name)
{
    return dnn_torch::text_or_empty(secure_getenv(name));
}

// Returns "" if there is none.
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

std::string name_for(const std::string &line)
{
    return "tuning-" + content_hash(line).substr(0, 16);
}

// Whether it is of that kind and this user's, and lacks these permissions.
bool is_ours(int descriptor, mode_t kind, mode_t forbidden)
{
    struct stat about = {};
    return descriptor >= 0 && fstat(descriptor, &about) == 0 && (about.st_mode & S_IFMT) == kind &&
           about.st_uid == geteuid() && !(about.st_mode & forbidden);
}

// Closed if there is no folder of ours.  It may be a link and be replaced, so all that is done in
// it goes by this descriptor.  Many users have a group of their own, which may write.
Descriptor open_folder(const std::filesystem::path &path)
{
    Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return is_ours(folder.get(), S_IFDIR, S_IWOTH) ? std::move(folder) : Descriptor();
}

Descriptor open_new_folder(const std::filesystem::path &path)
{
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    mkdir(path.c_str(), S_IRWXU);
    return open_folder(path);
}

// Returns "" unless the file is regular: reading must not wait for a pipe.
std::string read(const std::filesystem::path &path, const std::string &name)
{
    const Descriptor there = open_folder(path);
    const Descriptor file(openat(there.get(), name.c_str(),
                                 O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
    std::string contents(longest_tuning_text, '\0');
    ssize_t size = 0;
    if (is_ours(file.get(), S_IFREG, S_IWGRP | S_IWOTH))
        size = ::read(file.get(), contents.data(), contents.size());
    contents.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
    return contents;
}

std::string temporary_name(const std::string &name)
{
    uint64_t number = 0;
    static_cast<void>(!getrandom(&number, sizeof number, GRND_NONBLOCK));
    return dnn_torch::concat(name, ".", getpid(), ".", number);
}

// Writes to a temporary file and renames it, so that nobody reads half a file.
void write(const std::filesystem::path &path, const std::string &name, const std::string &contents)
{
    const Descriptor there = open_new_folder(path);
    const std::string temporary = temporary_name(name);
    Descriptor file(openat(there.get(), temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           S_IRUSR | S_IWUSR));
    if (!file.is_open())
        return;
    const auto written = ::write(file.get(), contents.data(), contents.size());
    const bool whole = written == static_cast<ssize_t>(contents.size());
    if (close(file.release()) < 0 || !whole ||
        renameat(there.get(), temporary.c_str(), there.get(), name.c_str()) < 0)
        unlinkat(there.get(), temporary.c_str(), 0);
}

constexpr std::string_view head = "dnn-torch tuning 6", end = "end";
// A record is invalid if its run takes over a day, or more memory than any machine has.
constexpr double longest_run = 86400;
constexpr int64_t largest_run = int64_t{1} << 50;
constexpr double most_operations = 1e18;
constexpr std::string_view measured = "measured", guessed = "guessed";
constexpr std::string_view kept = "kept", refused = "refused";

template <class Number> std::string number_text(Number number)
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

std::vector<std::string> lines_of(const std::string &contents)
{
    std::vector<std::string> lines;
    for (size_t at = 0, next; (next = contents.find('\n', at)) != std::string::npos; at = next + 1)
        lines.push_back(contents.substr(at, next - at));
    return lines;
}

} // namespace

bool is_tuning_line(std::string_view text)
{
    return text.find_first_of("\n\t") == std::string_view::npos &&
           dnn_torch::printable(text) == text;
}

std::string text_of(const TuningRecord &record, const std::string &line)
{
    for (const std::string &text :
         {record.variant, record.precision, record.notice, record.hint, record.threaded})
        if (!is_tuning_line(text))
            return "";
    std::string contents;
    for (const std::string &each : {std::string(head), line, record.variant, record.precision,
                                    number_text(record.run_seconds), number_text(record.run_bytes),
                                    record.notice, record.hint, number_text(record.run_operations),
                                    std::string(record.is_measured ? measured : guessed),
                                    std::string(record.refused_optimize ? refused : kept),
                                    std::string(record.refused_precision ? refused : kept),
                                    record.threaded, std::string(end)})
        contents += each + "\n";
    return contents;
}

std::optional<TuningRecord> parse_record(const std::string &text, const std::string &line)
{
    const std::vector<std::string> lines = lines_of(text);
    if (lines.size() != 14 || lines[0] != head || lines[1] != line || lines[13] != end ||
        !std::all_of(lines.begin(), lines.end(), is_tuning_line))
        return std::nullopt;
    TuningRecord record = {.variant = lines[2],
                           .precision = lines[3],
                           .notice = lines[6],
                           .hint = lines[7],
                           .is_measured = lines[9] == measured,
                           .refused_optimize = lines[10] == refused,
                           .refused_precision = lines[11] == refused,
                           .threaded = lines[12]};
    if ((!record.is_measured && lines[9] != guessed) ||
        (!record.refused_optimize && lines[10] != kept) ||
        (!record.refused_precision && lines[11] != kept) || !parse(lines[4], record.run_seconds) ||
        !parse(lines[5], record.run_bytes) ||
        !(record.run_seconds >= 0 && record.run_seconds <= longest_run) || record.run_bytes < 0 ||
        record.run_bytes > largest_run || !parse(lines[8], record.run_operations) ||
        !(record.run_operations >= 0 && record.run_operations <= most_operations))
        return std::nullopt;
    return record;
}

std::string read_from_folder(const std::string &line)
{
    const std::filesystem::path path = folder();
    return path.empty() || line.empty() ? "" : read(path, name_for(line));
}

void write_to_folder(const std::string &line, const std::string &text)
{
    if (const std::filesystem::path path = folder(); !path.empty() && !line.empty())
        write(path, name_for(line), text);
}

} // namespace engine_torch
