// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "file_watch.h"

#include <utility>

namespace dnn_torch
{
namespace
{

bool is_same_file(const std::optional<FileStamp> &one, const FileStamp &other)
{
    return one && one->device == other.device && one->inode == other.inode;
}

} // namespace

bool FileWatch::has_changed(Time now)
{
    if (now < next_check_)
        return false;
    next_check_ = now + interval;
    std::optional<FileStamp> before = std::exchange(seen_, stamp_of(path_));
    // A file that disappears for a moment counts as changed once it is back.
    if (!seen_ || seen_ == known_)
        return false;
    if (is_same_file(known_, *seen_) && seen_ != before)
        return false;
    known_ = seen_;
    return true;
}

} // namespace dnn_torch
