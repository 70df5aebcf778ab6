// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "file_bytes.h"

#include "base/compose.h"
#include "engines/torch/failure.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace engine_torch
{
namespace
{

// The most bytes for one read().
constexpr size_t largest_read = size_t{1} << 30;

} // namespace

FileBytes::FileBytes(const DnnTorchSource &source) : name_(dnn_torch::text_or_empty(source.name))
{
    if (source.fd < 0 && name_.empty())
        throw Failure(DNN_TORCH_BAD_OPTION, "no model is given; name one with model=FILE");
    if (source.fd < 0)
        size_ = source.data ? source.data_size : 0;
    else
        take_size_of(source.fd);
    if (size_ == 0)
        refuse("is empty; export or download the model again");
    // Does not clear the memory first: that takes as long as reading a large model.
    bytes_.reset(new char[size_]);
    if (source.fd < 0)
        std::memcpy(bytes_.get(), source.data, size_);
    else
        read(source.fd);
}

void FileBytes::take_size_of(int descriptor)
{
    struct stat about;
    if (fstat(descriptor, &about) < 0)
        refuse(std::string("cannot be read: ") + strerror(errno), DNN_TORCH_NO_FILE);
    if (S_ISDIR(about.st_mode))
        refuse("is a directory; name the model file in it", DNN_TORCH_NO_FILE);
    if (!S_ISREG(about.st_mode))
        refuse("is not a regular file", DNN_TORCH_NO_FILE);
    size_ = static_cast<size_t>(about.st_size);
}

// Uses pread(), because the position of the descriptor belongs to the caller.
void FileBytes::read(int descriptor)
{
    for (size_t done = 0; done < size_;) {
        const ssize_t got = pread(descriptor, bytes_.get() + done,
                                  std::min(size_ - done, largest_read), static_cast<off_t>(done));
        if (got < 0 && errno != EINTR)
            refuse(std::string("cannot be read: ") + strerror(errno), DNN_TORCH_NO_FILE);
        if (got == 0)
            refuse("became shorter while it was read; try again when it is complete");
        done += got < 0 ? 0 : static_cast<size_t>(got);
    }
}

void FileBytes::refuse(const std::string &words, DnnTorchStatus status) const
{
    throw Failure(status, "'" + name_ + "' " + words);
}

} // namespace engine_torch
