// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "file_identity.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>
#include <new>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <xxhash.h>

namespace dnn_torch
{
namespace
{

struct FreeState {
    void operator()(XXH3_state_t *state) const { XXH3_freeState(state); }
};

int64_t nanoseconds(const struct timespec &time)
{
    return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

// Returns whether a further change could leave the stamp as it is: two changes within one tick of
// the system's clock have the same stamp.
bool may_change_unseen(const FileStamp &stamp)
{
    constexpr int64_t longest_tick_ns = 20'000'000;
    struct timespec now {
    };
    clock_gettime(CLOCK_REALTIME, &now);
    return nanoseconds(now) - stamp.changed_ns < longest_tick_ns;
}

std::optional<FileStamp> stamp_from(const struct stat &status)
{
    if (!S_ISREG(status.st_mode))
        return std::nullopt;
    return FileStamp{.device = status.st_dev,
                     .inode = status.st_ino,
                     .size = status.st_size,
                     .modified_ns = nanoseconds(status.st_mtim),
                     .changed_ns = nanoseconds(status.st_ctim)};
}

std::optional<XXH128_hash_t> hash_of(const Descriptor &file)
{
    constexpr size_t piece = size_t{256} << 10;
    std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
    if (!state)
        throw std::bad_alloc();
    XXH3_128bits_reset(state.get());
    std::vector<char> buffer(piece);
    for (off_t position = 0;;) {
        ssize_t bytes = pread(file.get(), buffer.data(), buffer.size(), position);
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes < 0)
            return std::nullopt;
        if (bytes == 0)
            return XXH3_128bits_digest(state.get());
        XXH3_128bits_update(state.get(), buffer.data(), static_cast<size_t>(bytes));
        position += bytes;
    }
}

bool is_same_file(const std::optional<FileStamp> &one, const FileStamp &other)
{
    return one && one->device == other.device && one->inode == other.inode;
}

} // namespace

std::optional<FileStamp> stamp_of(const std::string &path)
{
    struct stat status {
    };
    return stat(path.c_str(), &status) == 0 ? stamp_from(status) : std::nullopt;
}

std::optional<FileStamp> stamp_of(const Descriptor &file)
{
    struct stat status {
    };
    return fstat(file.get(), &status) == 0 ? stamp_from(status) : std::nullopt;
}

std::optional<FileStamp> settled_stamp_of(const Descriptor &file)
{
    std::optional<FileStamp> stamp = stamp_of(file);
    return stamp && may_change_unseen(*stamp) ? std::nullopt : stamp;
}

std::optional<FileIdentity> identity_of(const Descriptor &file)
{
    // Larger files are mostly sparse files, not models.  The engine will refuse those.
    constexpr int64_t largest = int64_t{16} << 30;
    std::optional<FileStamp> before = settled_stamp_of(file);
    if (!before || before->size > largest)
        return std::nullopt;
    std::optional<XXH128_hash_t> hash = hash_of(file);
    if (!hash || stamp_of(file) != before)
        return std::nullopt;
    return FileIdentity{.stamp = *before, .hash = {hash->low64, hash->high64}};
}

void FileWatch::add(const std::string &path)
{
    if (std::none_of(files_.begin(), files_.end(),
                     [&](const File &file) { return file.path == path; }))
        files_.push_back({.path = path, .known = stamp_of(path)});
}

bool FileWatch::File::has_changed()
{
    std::optional<FileStamp> before = std::exchange(seen, stamp_of(path));
    // A file that disappears for a moment counts as changed once it is back.
    if (!seen || seen == known)
        return false;
    if (is_same_file(known, *seen) && seen != before)
        return false;
    known = seen;
    return true;
}

bool FileWatch::has_changed(Time now)
{
    if (now < next_check_)
        return false;
    next_check_ = now + interval;
    return std::count_if(files_.begin(), files_.end(),
                         [](File &file) { return file.has_changed(); }) > 0;
}

} // namespace dnn_torch
