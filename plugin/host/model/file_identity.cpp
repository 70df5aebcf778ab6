// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "file_identity.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
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
