// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "file_bytes.h"

#include "engines/torch/failure.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace engine_torch
{
namespace
{

struct Descriptor {
    int value;
    explicit Descriptor(int opened) : value(opened) {}
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    ~Descriptor()
    {
        if (value >= 0)
            close(value);
    }
};

// One read() takes no more than that.
constexpr size_t largest_read = size_t{1} << 30;

} // namespace

// O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
FileBytes::FileBytes(const std::string &path) : path_(path)
{
    const Descriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (descriptor.value < 0)
        refuse(std::string("cannot be opened: ") + strerror(errno), DNN_TORCH_NO_FILE);
    struct stat about;
    if (fstat(descriptor.value, &about) < 0)
        refuse(std::string("cannot be read: ") + strerror(errno), DNN_TORCH_NO_FILE);
    if (S_ISDIR(about.st_mode))
        refuse("is a directory; name the model file in it", DNN_TORCH_NO_FILE);
    if (!S_ISREG(about.st_mode))
        refuse("is not a regular file", DNN_TORCH_NO_FILE);
    if (about.st_size == 0)
        refuse("is empty; export or download the model again");
    size_ = static_cast<size_t>(about.st_size);
    read(descriptor.value);
}

// Left uninitialised first: clearing a large model takes as long as reading it.
void FileBytes::read(int descriptor)
{
    bytes_.reset(new char[size_]);
    for (size_t done = 0; done < size_;) {
        const ssize_t got =
            ::read(descriptor, bytes_.get() + done, std::min(size_ - done, largest_read));
        if (got < 0 && errno != EINTR)
            refuse(std::string("cannot be read: ") + strerror(errno), DNN_TORCH_NO_FILE);
        if (got == 0)
            refuse("became shorter while it was read; try again when it is complete");
        done += got < 0 ? 0 : static_cast<size_t>(got);
    }
}

void FileBytes::refuse(const std::string &words, DnnTorchStatus status) const
{
    throw Failure(status, "'" + path_ + "' " + words);
}

} // namespace engine_torch
