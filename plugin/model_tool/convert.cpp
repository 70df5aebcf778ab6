// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch convert: writes a file of weights in another format.
//
// The engine may run in a process that can open and write no file, so it writes into a pipe.  The
// file appears under its name when it is complete.
#include "base/descriptor.h"
#include "host/error.h"
#include "model_commands.h"
#include "subject.h"

extern "C" {
#include <libavutil/error.h>
}

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <future>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

[[noreturn]] void refuse(const std::string &path, int error)
{
    throw Error(AVERROR(error),
                "'" + path + "' cannot be written: " + std::generic_category().message(error));
}

bool ends_with(std::string_view text, std::string_view end)
{
    return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

const char *format_of(const std::string &path)
{
    if (ends_with(path, ".safetensors"))
        return "safetensors";
    if (ends_with(path, ".pt"))
        return "torchscript";
    throw UsageError(path + " ends neither with .pt (TorchScript) nor with .safetensors");
}

// Is removed unless it is kept.
class NewFile
{
public:
    explicit NewFile(const std::string &path) : path_(path), draft_(path + ".XXXXXX")
    {
        file_ = Descriptor(mkostemp(draft_.data(), O_CLOEXEC));
        if (!file_.is_open())
            refuse(path_, errno);
    }
    ~NewFile()
    {
        if (!is_kept_)
            unlink(draft_.c_str());
    }
    NewFile(const NewFile &) = delete;
    NewFile &operator=(const NewFile &) = delete;

    int descriptor() const { return file_.get(); }

    void keep()
    {
        const mode_t mask = umask(0);
        umask(mask);
        if (fchmod(file_.get(), 0666 & ~mask) != 0 || fsync(file_.get()) != 0 ||
            rename(draft_.c_str(), path_.c_str()) != 0)
            refuse(path_, errno);
        is_kept_ = true;
    }

private:
    std::string path_, draft_;
    Descriptor file_;
    bool is_kept_ = false;
};

// Copies until the pipe's other end is closed.  Returns an error number; 0: none.  After an error
// it reads on, so that nobody waits.
int copy(const Descriptor &from, int to)
{
    std::array<char, 1 << 16> piece;
    int error = 0;
    for (;;) {
        const ssize_t got = read(from.get(), piece.data(), piece.size());
        if (got < 0 && errno != EINTR)
            return errno;
        if (got == 0)
            return error;
        for (ssize_t done = 0; done < got && !error;) {
            const ssize_t written = write(to, piece.data() + done, static_cast<size_t>(got - done));
            if (written < 0 && errno != EINTR)
                error = errno;
            done += written < 0 ? 0 : written;
        }
    }
}

} // namespace

int convert(const Request &request)
{
    const char *format = format_of(request.output_file);
    const Place place = find_place(request);
    NewFile file(request.output_file);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        refuse(request.output_file, errno);
    std::packaged_task<int()> copying(
        [from = Descriptor(ends[0]), to = file.descriptor()] { return copy(from, to); });
    std::future<int> copied = copying.get_future();
    auto sink = std::make_shared<const Descriptor>(ends[1]);
    // Not waited for if the engine fails: it may never let go of the pipe.
    std::thread(std::move(copying)).detach();
    export_model(place, request, format, std::move(sink));
    if (const int error = copied.get())
        refuse(request.output_file, error);
    file.keep();
    return 0;
}

} // namespace dnn_torch
