// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "destination.h"

#include "base/compose.h"
#include "base/open_files.h"
#include "host/error.h"
#include "text.h"

extern "C" {
#include <libavformat/avio.h>
#include <libavutil/dict.h>
#include <libavutil/error.h>
}

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <poll.h>
#include <sys/stat.h>
#include <thread>

namespace dnn_torch
{
namespace
{

using std::chrono::steady_clock;

constexpr size_t piece_bytes = PIPE_BUF; // a writable pipe takes that much at once
constexpr std::string_view used_here =
    " cannot be written: the program uses this very file; name another one";
constexpr std::string_view pipe_protocol = "pipe:";

// Returns the descriptor that "-", "pipe:" or "pipe:3" names.
std::optional<int> number_in(std::string_view name)
{
    if (name == "-" || name == pipe_protocol)
        return STDOUT_FILENO;
    if (!name.starts_with(pipe_protocol))
        return std::nullopt;
    return whole_number<int>(name.substr(pipe_protocol.size()));
}

bool is_named_pipe(const std::string &name)
{
    struct stat about = {};
    return stat(name.c_str(), &about) == 0 && S_ISFIFO(about.st_mode);
}

bool has_address(std::string_view name)
{
    return name.find("://") != name.npos;
}

std::string without_file_protocol(const std::string &name)
{
    constexpr std::string_view file_protocol = "file:";
    return name.starts_with(file_protocol) ? name.substr(file_protocol.size()) : name;
}

} // namespace

std::string place_of(const std::string &destination)
{
    if (destination == "/dev/stdout")
        return concat(pipe_protocol, STDOUT_FILENO);
    if (const std::optional<int> number = number_in(destination))
        return concat(pipe_protocol, *number);
    std::string path = without_file_protocol(destination);
    if (has_address(path))
        return path;
    // weakly_canonical() leaves a relative path relative if nothing exists there.
    std::error_code unknown;
    const std::string whole =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path, unknown), unknown)
            .string();
    return unknown || whole.empty() ? path : whole;
}

Destination::Destination(std::string name, bool truncates) : name_(std::move(name))
{
    begin_wait();
    if (const std::optional<int> number = number_in(name_))
        open_descriptor(*number);
    else if (is_named_pipe(name_))
        open_named_pipe();
    else
        open(name_.c_str(), truncates);
}

void Destination::open_descriptor(int number)
{
    polled_ = number;
    open(concat(pipe_protocol, number).c_str(), true);
}

// libavformat would wait for a reader without limit.
void Destination::open_named_pipe()
{
    constexpr std::chrono::milliseconds between_trials{20};
    for (;;) {
        pipe_ = Descriptor(::open(name_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
        if (pipe_.is_open())
            return open_descriptor(pipe_.get());
        const int error = errno;
        if (error != ENXIO)
            refuse(AVERROR(error), "");
        if (is_too_late(this))
            refuse(AVERROR(ETIMEDOUT), "; start the reader of this pipe first");
        std::this_thread::sleep_for(between_trials);
    }
}

Destination::~Destination()
{
    begin_wait();
    avio_close(context_);
}

int Destination::is_too_late(void *destination) noexcept
{
    return steady_clock::now() > static_cast<Destination *>(destination)->deadline_ ? 1 : 0;
}

void Destination::begin_wait()
{
    deadline_ = steady_clock::now() + patience_;
}

void Destination::open(const char *address, bool truncates)
{
    if (truncates && is_open_here(without_file_protocol(name_)))
        throw Error(AVERROR(EBUSY), concat("destination=", name_, used_here));
    const AVIOInterruptCB interrupt = {.callback = is_too_late, .opaque = this};
    AVDictionary *options = nullptr;
    if (!truncates)
        av_dict_set(&options, "truncate", "0", 0);
    const int ret = avio_open2(&context_, address, AVIO_FLAG_WRITE, &interrupt, &options);
    av_dict_free(&options);
    if (ret < 0)
        refuse(ret, has_address(name_) ? "; is its reader there?"
                                       : "; name a file in a folder that you may write to");
}

void Destination::refuse(int error, std::string_view hint) const
{
    const bool is_late = error == AVERROR_EXIT || error == AVERROR(ETIMEDOUT);
    const std::string words = is_late
                                  ? concat("nothing was read for ", patience_.count(), " seconds")
                                  : words_of_code(error);
    throw Error(is_late ? AVERROR(ETIMEDOUT) : error,
                concat("destination=", name_, " cannot be written: ", words, hint));
}

void Destination::write(std::string_view text)
{
    const NoPipeSignal no_signal;
    begin_wait();
    while (!text.empty()) {
        const std::string_view piece = text.substr(0, piece_bytes);
        write_piece(piece);
        text.remove_prefix(piece.size());
    }
}

void Destination::write_piece(std::string_view piece)
{
    if (polled_ >= 0) {
        pollfd room = {polled_, POLLOUT, 0};
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - steady_clock::now());
        if (poll(&room, 1, static_cast<int>(std::max<int64_t>(left.count(), 0))) == 0)
            refuse(AVERROR(ETIMEDOUT), "");
    }
    avio_write(context_, reinterpret_cast<const unsigned char *>(piece.data()),
               static_cast<int>(piece.size()));
    avio_flush(context_);
    if (context_->error < 0)
        refuse(context_->error, "");
}

void Destination::close()
{
    begin_wait();
    if (const int ret = avio_closep(&context_); ret < 0)
        refuse(ret, "");
}

std::optional<int64_t> Destination::position() const
{
    // What has no size, such as a device, cannot be continued.
    const bool is_file = polled_ < 0 && (context_->seekable & AVIO_SEEKABLE_NORMAL) != 0;
    return is_file ? std::optional(avio_tell(context_)) : std::nullopt;
}

std::unique_ptr<Destination> Destination::reopen(std::string name, int64_t position)
{
    std::unique_ptr<Destination> file(new Destination(std::move(name), false));
    if (avio_size(file->context_) < position || avio_seek(file->context_, position, SEEK_SET) < 0)
        return nullptr;
    return file;
}

} // namespace dnn_torch
