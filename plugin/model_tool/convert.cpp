// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch convert: writes a file of weights in another format.
//
// The engine may run in a process that cannot open or write files, so it writes into a pipe.
#include "base/descriptor.h"
#include "base/terminal.h"
#include "host/model/contract.h"
#include "model_commands.h"
#include "new_file.h"
#include "progress.h"
#include "subject.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

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

// Copies until the pipe's other end is closed.  Returns an error number; 0: none.  Keeps reading
// after an error, so that the writer does not block.
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

void say(const std::string &words)
{
    fprintf(stderr, "dnn-torch: %s\n", printable(words).c_str());
}

// Copies the contract as well, because the file itself does not say what the numbers mean.
class ContractCopy
{
public:
    // Begins the copy, if there is a contract.  Throws Error if it must not replace a file.
    ContractCopy(const Request &request, Existing existing)
        : model_(request.output_file), from_(contract_path(request.path)),
          to_(contract_path(model_))
    {
        if (from_ == to_)
            return;
        text_ = contract_text(from_);
        if (text_ && contract_text(to_) != text_)
            file_ = std::make_unique<NewFile>(to_, existing);
    }

    void keep()
    {
        if (file_) {
            file_->write(*text_);
            file_->keep();
            say("the contract '" + from_ + "' was copied to '" + to_ + "'");
        } else if (!text_ && from_ != to_ && contract_text(to_)) {
            say("the contract '" + to_ + "' was there before; it holds for '" + model_ + "' now");
        }
    }

private:
    const std::string model_, from_, to_;
    std::optional<std::string> text_;
    std::unique_ptr<NewFile> file_;
};

void refuse_same_file(const Request &request)
{
    std::error_code error;
    if (std::filesystem::equivalent(request.output_file, request.path, error))
        throw UsageError(request.output_file + " is the file to convert; give another name");
}

} // namespace

int convert(const Request &request)
{
    const char *format = format_of(request.output_file);
    refuse_same_file(request);
    const Existing existing = request.force ? Existing::replaced : Existing::kept;
    const Backend backend = find_backend(request);
    NewFile file(request.output_file, existing);
    ContractCopy contract(request, existing);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        file.refuse(errno);
    std::packaged_task<int()> copying(
        [from = Descriptor(ends[0]), to = file.descriptor()] { return copy(from, to); });
    std::future<int> copied = copying.get_future();
    auto sink = std::make_shared<const Descriptor>(ends[1]);
    // Detached, because the pipe may never be closed if the engine fails.
    std::thread(std::move(copying)).detach();
    std::string notice;
    {
        const Progress progress("converting " + request.path + " ...");
        notice = export_model(backend, request, format, std::move(sink));
    }
    if (const int error = copied.get())
        file.refuse(error);
    file.keep();
    if (!notice.empty())
        say(notice);
    contract.keep();
    return 0;
}

} // namespace dnn_torch
