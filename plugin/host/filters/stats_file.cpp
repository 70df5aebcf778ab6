// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stats_file.h"

#include "base/open_files.h"
#include "host/error.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <optional>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <utility>

namespace dnn_torch
{
namespace
{

constexpr int reader_timeout_ms = 2000;

[[noreturn]] void refuse(const std::string &path, int error, const std::string &words)
{
    throw Error(-error, "stats=" + path + " cannot be written: " + words);
}

[[noreturn]] void refuse(const std::string &path, int error)
{
    refuse(path, error,
           std::string(strerror(error)) + "; name a file in a folder that you may write to");
}

// Returns the descriptor that "/dev/fd/3" or the like names; nullopt for any other path.
std::optional<int> number_in(std::string_view path)
{
    if (path == "/dev/stdout")
        return STDOUT_FILENO;
    if (path == "/dev/stderr")
        return STDERR_FILENO;
    for (std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        int number = -1;
        const char *end = path.data() + path.size();
        if (path.substr(0, folder.size()) == folder &&
            std::from_chars(path.data() + folder.size(), end, number).ptr == end && number >= 0)
            return number;
    }
    return std::nullopt;
}

// Returns true for /dev/null, /dev/zero, /dev/full and terminals.
bool is_harmless(dev_t device)
{
    unsigned kind = major(device), number = minor(device);
    bool swallows = kind == 1 && (number == 3 || number == 5 || number == 7);
    return swallows || kind == 4 || kind == 5 || (kind >= 136 && kind <= 143);
}

bool is_kind_to_write(const struct stat &about)
{
    return S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode) ||
           (S_ISCHR(about.st_mode) && is_harmless(about.st_rdev));
}

// Checks the path before it opens it, because opening some devices has effects.
Descriptor open_path(const std::string &path, int flags)
{
    struct stat about = {};
    bool is_there = stat(path.c_str(), &about) == 0;
    if (is_there && S_ISDIR(about.st_mode))
        refuse(path, EISDIR);
    if (is_there && !is_kind_to_write(about))
        refuse(path, EINVAL, "it is a device or a socket; name a file");
    if (is_open_here(path))
        refuse(path, EBUSY, "the program uses this very file; name another one");
    Descriptor opened(open(path.c_str(),
                           O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags,
                           S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH));
    if (!opened.is_open() && errno == ENXIO)
        refuse(path, ENXIO, "nobody reads this pipe; start its reader first, or name a file");
    if (!opened.is_open())
        refuse(path, errno);
    return opened;
}

Descriptor open_for_writing(const std::string &path, int flags)
{
    std::optional<int> number = number_in(path);
    if (!number)
        return open_path(path, flags);
    Descriptor opened(fcntl(*number, F_DUPFD_CLOEXEC, 0));
    if (!opened.is_open())
        refuse(path, errno);
    return opened;
}

bool is_pipe(int descriptor)
{
    struct stat about = {};
    return fstat(descriptor, &about) == 0 && S_ISFIFO(about.st_mode);
}

// Writes pieces that a pipe accepts without blocking once poll() finds it ready.
void write_all(int descriptor, const std::string &path, std::string_view text)
{
    NoPipeSignal no_signal;
    while (!text.empty()) {
        pollfd room = {descriptor, POLLOUT, 0};
        if (poll(&room, 1, reader_timeout_ms) == 0)
            refuse(path, ETIMEDOUT, "its reader does not read");
        ssize_t written = ::write(descriptor, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            refuse(path, errno, strerror(errno));
        text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
    }
}

// ---- pipes between two graphs -------------------------------------------------

// ffmpeg builds each graph once more than it runs it.  If the first graph closed the pipe, its
// reader would see the end.
std::mutex mutex;
// Under the mutex: pipes to which nothing was written.  Never destroyed, because filters may be
// freed at the end of the program.
std::map<std::string, Descriptor> &kept_pipes()
{
    static auto *const pipes = new std::map<std::string, Descriptor>;
    return *pipes;
}

Descriptor take_kept(const std::string &path)
{
    std::lock_guard lock(mutex);
    auto kept = kept_pipes().extract(path);
    return kept ? std::move(kept.mapped()) : Descriptor();
}

// Closes the pipe if one is already kept.
void keep(const std::string &path, Descriptor pipe)
{
    std::lock_guard lock(mutex);
    kept_pipes().try_emplace(path, std::move(pipe));
}

} // namespace

// Opens the file now, so that a mistyped path is found before hours of work.
StatsFile::StatsFile(std::string path) : path_(std::move(path))
{
    if (path_.empty())
        return;
    pipe_ = take_kept(path_);
    if (pipe_.is_open())
        return;
    Descriptor opened = open_for_writing(path_, O_APPEND);
    if (!number_in(path_) && is_pipe(opened.get()))
        pipe_ = std::move(opened);
}

StatsFile::~StatsFile()
{
    if (pipe_.is_open())
        keep(path_, std::move(pipe_));
}

void StatsFile::check(const std::string &text)
{
    if (!pipe_.is_open() && !number_in(path_))
        write(text);
}

void StatsFile::write(const std::string &text)
{
    if (path_.empty())
        return;
    Descriptor opened = pipe_.is_open() ? std::move(pipe_) : open_for_writing(path_, O_TRUNC);
    write_all(opened.get(), path_, text);
    // A network file system may report only now that it is full.
    if (close(opened.release()) != 0 && errno != EINTR)
        refuse(path_, errno, strerror(errno));
}

} // namespace dnn_torch
