// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "archive.h"

#include "failure.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace engine_torch
{
namespace
{

constexpr const char *how_to_export =
    "; export the model with torch.jit.trace or torch.jit.script and its save()";

[[noreturn]] void refuse(DnnTorchStatus status, const std::string &path, const std::string &words)
{
    throw Failure(status, "'" + path + "' " + words);
}

[[noreturn]] void refuse_as_damaged(const std::string &path)
{
    refuse(DNN_TORCH_BAD_MODEL, path, "is cut short or damaged; copy or download it again");
}

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

// A regular file that is open for reading.
class File
{
public:
    // O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
    explicit File(const std::string &path)
        : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))
    {
        if (descriptor_.value < 0)
            refuse(DNN_TORCH_NO_FILE, path_, std::string("cannot be opened: ") + strerror(errno));
        measure();
    }

    std::uint64_t size() const { return size_; }
    const std::string &path() const { return path_; }

    // Exactly these bytes; damaged is the file where they are not there.
    std::string read(std::uint64_t offset, std::uint64_t size) const
    {
        if (offset > size_ || size > size_ - offset)
            refuse_as_damaged(path_);
        std::string bytes(size, '\0');
        for (std::size_t done = 0; done < size;) {
            const ssize_t got = pread(descriptor_.value, bytes.data() + done, size - done,
                                      static_cast<off_t>(offset + done));
            if (got < 0 && errno != EINTR)
                refuse(DNN_TORCH_NO_FILE, path_, std::string("cannot be read: ") + strerror(errno));
            if (got == 0)
                refuse_as_damaged(path_);
            done += got < 0 ? 0 : static_cast<std::size_t>(got);
        }
        return bytes;
    }

private:
    void measure()
    {
        struct stat about;
        if (fstat(descriptor_.value, &about) < 0)
            refuse(DNN_TORCH_NO_FILE, path_, std::string("cannot be read: ") + strerror(errno));
        if (S_ISDIR(about.st_mode))
            refuse(DNN_TORCH_NO_FILE, path_, "is a directory; name the model file in it");
        if (!S_ISREG(about.st_mode))
            refuse(DNN_TORCH_NO_FILE, path_, "is not a regular file");
        if (about.st_size == 0)
            refuse(DNN_TORCH_BAD_MODEL, path_, "is empty; export or download the model again");
        size_ = static_cast<std::uint64_t>(about.st_size);
    }

    std::string path_;
    Descriptor descriptor_;
    std::uint64_t size_ = 0;
};

// The little-endian number of `size` bytes at `offset`.
std::uint64_t number(std::string_view bytes, std::size_t offset, std::size_t size)
{
    std::uint64_t value = 0;
    for (std::size_t i = size; i > 0; --i)
        value = value << 8 | static_cast<unsigned char>(bytes[offset + i - 1]);
    return value;
}

// A zip archive's list of its members.
struct Directory {
    std::uint64_t offset, size;
};

constexpr std::string_view end_mark("PK\5\6", 4), end64_mark("PK\6\6", 4),
    locator_mark("PK\6\7", 4), member_mark("PK\1\2", 4);
constexpr std::size_t end_size = 22, end64_size = 56, locator_size = 20, member_size = 46;
constexpr std::uint64_t longest_comment = 0xffff;

// PyTorch writes the 64-bit form as well, whatever the size.
Directory find_directory(const File &file)
{
    const std::uint64_t tail_size = std::min(file.size(), longest_comment + end_size);
    const std::uint64_t tail_offset = file.size() - tail_size;
    const std::string tail = file.read(tail_offset, tail_size);
    const std::size_t end = tail.rfind(end_mark);
    if (end == std::string::npos || tail.size() - end < end_size)
        refuse_as_damaged(file.path());
    const Directory directory = {number(tail, end + 16, 4), number(tail, end + 12, 4)};
    if (end < locator_size || tail.compare(end - locator_size, 4, locator_mark) != 0)
        return directory;
    const std::string end64 = file.read(number(tail, end - locator_size + 8, 8), end64_size);
    if (end64.compare(0, 4, end64_mark) != 0)
        refuse_as_damaged(file.path());
    return {number(end64, 48, 8), number(end64, 40, 8)};
}

std::vector<std::string> member_names(const File &file)
{
    const Directory directory = find_directory(file);
    const std::string bytes = file.read(directory.offset, directory.size);
    std::vector<std::string> names;
    for (std::size_t at = 0; at < bytes.size();) {
        if (bytes.size() - at < member_size || bytes.compare(at, 4, member_mark) != 0)
            refuse_as_damaged(file.path());
        const std::size_t name_size = number(bytes, at + 28, 2);
        names.push_back(bytes.substr(at + member_size, name_size));
        at += member_size + name_size + number(bytes, at + 30, 2) + number(bytes, at + 32, 2);
    }
    return names;
}

bool any_contains(const std::vector<std::string> &names, std::string_view part)
{
    for (const std::string &name : names)
        if (name.find(part) != std::string::npos)
            return true;
    return false;
}

void check_archive(const File &file)
{
    const std::vector<std::string> names = member_names(file);
    if (any_contains(names, "/constants.pkl"))
        return;
    if (any_contains(names, "serialized_exported_program") ||
        any_contains(names, "/archive_format"))
        refuse(DNN_TORCH_BAD_MODEL, file.path(),
               std::string("is a torch.export package, not TorchScript") + how_to_export);
    if (any_contains(names, "data.pkl"))
        refuse(DNN_TORCH_BAD_MODEL, file.path(),
               std::string("is a torch.save checkpoint (weights only), not TorchScript") +
                   how_to_export);
    refuse(DNN_TORCH_BAD_MODEL, file.path(),
           std::string("is a zip archive but no TorchScript model") + how_to_export);
}

// torch.save()'s form before 1.6: the pickle of a magic number.
constexpr std::string_view old_checkpoint("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20", 10);

bool is_safetensors(const File &file, std::string_view head)
{
    return head.size() > 9 && number(head, 0, 8) < file.size() && head.substr(8, 2) == "{\"";
}

} // namespace

void check_model_file(const std::string &path)
{
    const File file(path);
    const std::string head = file.read(0, std::min<std::uint64_t>(file.size(), 16));
    if (head.compare(0, 4, "PK\3\4") == 0)
        return check_archive(file);
    if (head.compare(0, old_checkpoint.size(), old_checkpoint) == 0)
        refuse(DNN_TORCH_BAD_MODEL, path,
               std::string("is an old torch.save checkpoint (weights only), not TorchScript") +
                   how_to_export);
    if (is_safetensors(file, head))
        refuse(DNN_TORCH_BAD_MODEL, path,
               std::string("is a safetensors file (weights only), not TorchScript") +
                   how_to_export);
    refuse(DNN_TORCH_BAD_MODEL, path, std::string("is no TorchScript model") + how_to_export);
}

} // namespace engine_torch
