// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "clip_frames.h"

#include "base/compose.h"
#include "base/descriptor.h"
#include "base/terminal.h"
#include "colours.h"
#include "formats.h"
#include "host/error.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <fcntl.h>
#include <new>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

using Clock = std::chrono::steady_clock;

constexpr auto time_limit = std::chrono::seconds(30);
// Frames decoded from one key frame on.  Keeps files with few key frames from being decoded whole.
constexpr int most_decoded = 250;
// The distance of two frames in a file of unknown length.
constexpr int frame_distance = 12;
// 8192x8192: decoders allocate a whole picture.
constexpr int64_t most_pixels_decoded = 1 << 26;
// Larger frames are scaled down to this, which shows as much.
constexpr double most_pixels_kept = 1 << 21;

struct Deleter {
    void operator()(AVFormatContext *file) const { avformat_close_input(&file); }
    void operator()(AVCodecContext *decoder) const { avcodec_free_context(&decoder); }
    void operator()(AVPacket *packet) const { av_packet_free(&packet); }
};
template <class Owned> using Owner = std::unique_ptr<Owned, Deleter>;

template <class Pointer> Pointer allocated(Pointer pointer)
{
    if (!pointer)
        throw std::bad_alloc();
    return pointer;
}

std::string words_for(const std::string &path, std::string_view what)
{
    return concat("calibration: '", printable(path), "' cannot be read: ", what);
}

// Opened without waiting for a writer.  Throws Error unless it is a regular file.
Descriptor opened(const std::string &path)
{
    Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat about = {};
    if (!file.is_open() || fstat(file.get(), &about) != 0) {
        const int error = errno;
        throw Error(AVERROR(error), words_for(path, std::generic_category().message(error)));
    }
    if (!S_ISREG(about.st_mode))
        throw Error(AVERROR(EINVAL), words_for(path, "it is no regular file"));
    return file;
}

// Lets libavformat read an open file.  libavformat gets no name, so it can neither take the name
// for a pattern nor open other files that a playlist names.
class FileReader
{
public:
    FileReader(const std::string &path, Clock::time_point deadline)
        : file_(opened(path)), deadline_(deadline)
    {
        constexpr int buffer_size = 1 << 15;
        auto *const buffer = static_cast<unsigned char *>(allocated(av_malloc(buffer_size)));
        context_ = avio_alloc_context(buffer, buffer_size, 0, this, read, nullptr, seek);
        if (context_)
            return;
        av_free(buffer);
        throw std::bad_alloc();
    }
    // libavformat may have replaced the buffer.
    ~FileReader()
    {
        av_freep(&context_->buffer);
        avio_context_free(&context_);
    }
    FileReader(const FileReader &) = delete;
    FileReader &operator=(const FileReader &) = delete;

    AVIOContext *context() const { return context_; }

private:
    static int read(void *reader, uint8_t *to, int size) noexcept
    {
        auto &it = *static_cast<FileReader *>(reader);
        if (Clock::now() > it.deadline_)
            return AVERROR_EXIT;
        const ssize_t got = pread(it.file_.get(), to, static_cast<size_t>(size), it.position_);
        if (got < 0)
            return AVERROR(errno);
        it.position_ += got;
        return got == 0 ? AVERROR_EOF : static_cast<int>(got);
    }

    static int64_t seek(void *reader, int64_t offset, int whence) noexcept
    {
        auto &it = *static_cast<FileReader *>(reader);
        struct stat about = {};
        if (fstat(it.file_.get(), &about) != 0)
            return AVERROR(errno);
        if (whence & AVSEEK_SIZE)
            return about.st_size;
        const int from = whence & ~AVSEEK_FORCE;
        if (from == SEEK_CUR)
            offset += it.position_;
        else if (from == SEEK_END)
            offset += about.st_size;
        if (offset < 0)
            return AVERROR(EINVAL);
        return it.position_ = offset;
    }

    const Descriptor file_;
    const Clock::time_point deadline_;
    off_t position_ = 0;
    AVIOContext *context_ = nullptr;
};

// Returns the frame in that format, scaled down if it is large; null for null.  Throws Error.
FramePointer converted(FramePointer frame, AVPixelFormat format)
{
    if (!frame)
        return nullptr;
    const auto from = static_cast<AVPixelFormat>(frame->format);
    const double pixels = static_cast<double>(frame->width) * frame->height;
    const double part = std::min(1.0, std::sqrt(most_pixels_kept / pixels));
    if (from == format && part == 1)
        return frame;
    FramePointer other(allocated(av_frame_alloc()));
    other->format = format;
    other->width = std::max(1, static_cast<int>(frame->width * part));
    other->height = std::max(1, static_cast<int>(frame->height * part));
    if (av_frame_get_buffer(other.get(), 0) < 0 ||
        av_frame_copy_props(other.get(), frame.get()) < 0)
        throw std::bad_alloc();
    const bool was_full = is_full_range(frame.get()) || is_rgb(from);
    const bool is_full = is_rgb(format) || (was_full && !is_rgb(from));
    const int *const matrix = matrix_of(frame.get());
    other->color_range = is_full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    if (is_rgb(format))
        other->colorspace = AVCOL_SPC_RGB;
    else if (frame->colorspace == AVCOL_SPC_RGB)
        other->colorspace = AVCOL_SPC_UNSPECIFIED;
    const ScalerPointer scaler(sws_getContext(frame->width, frame->height, from, other->width,
                                              other->height, format, SWS_BICUBIC | SWS_ACCURATE_RND,
                                              nullptr, nullptr, nullptr));
    constexpr int unit = 1 << 16;
    if (!scaler)
        throw Error(AVERROR(EINVAL), concat("calibration: frames of ", av_get_pix_fmt_name(from),
                                            " cannot become ", av_get_pix_fmt_name(format)));
    sws_setColorspaceDetails(scaler.get(), matrix, was_full, matrix, is_full, 0, unit, unit);
    if (const int ret = sws_scale(scaler.get(), frame->data, frame->linesize, 0, frame->height,
                                  other->data, other->linesize);
        ret < 0)
        throw Error(ret, "libswscale failed");
    return other;
}

class Clip
{
public:
    explicit Clip(const std::string &path) : path_(path), reader_(path, deadline_)
    {
        AVFormatContext *file = allocated(avformat_alloc_context());
        file->pb = reader_.context();
        file->interrupt_callback = {.callback = is_late, .opaque = this};
        AVDictionary *options = nullptr;
        av_dict_set(&options, "protocol_whitelist", "none", 0);
        const int ret = avformat_open_input(&file, nullptr, nullptr, &options);
        const DictionaryPointer unused(options);
        check(ret); // a failure has freed the file
        file_.reset(file);
        check(avformat_find_stream_info(file_.get(), nullptr));
        const AVCodec *codec = nullptr;
        index_ = av_find_best_stream(file_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
        if (index_ < 0)
            throw Error(AVERROR_INVALIDDATA, words_for(path_, "there is no video in it that can be "
                                                              "decoded"));
        decoder_.reset(allocated(avcodec_alloc_context3(codec)));
        check(avcodec_parameters_to_context(decoder_.get(), stream().codecpar));
        decoder_->max_pixels = most_pixels_decoded;
        check(avcodec_open2(decoder_.get(), codec, nullptr));
    }

    // Some files have only a first frame and none after a seek.
    std::vector<FramePointer> spread(size_t count, AVPixelFormat format)
    {
        std::vector<FramePointer> frames;
        FramePointer first = converted(decoded(), format);
        const int64_t length = this->length();
        for (size_t i = 0; i < count; i++) {
            const auto place =
                static_cast<int64_t>((static_cast<double>(i) + 0.5) / static_cast<double>(count) *
                                     static_cast<double>(length));
            FramePointer frame =
                length > 0 && seek(start() + place) ? next(start() + place) : after(frame_distance);
            if (frame)
                frames.push_back(converted(std::move(frame), format));
        }
        if (frames.empty() && first)
            frames.push_back(std::move(first));
        if (frames.empty())
            throw Error(AVERROR_INVALIDDATA, words_for(path_, "there is no picture in it"));
        return frames;
    }

private:
    static int is_late(void *clip) noexcept
    {
        return Clock::now() > static_cast<Clip *>(clip)->deadline_ ? 1 : 0;
    }

    void check(int ret) const
    {
        if (ret >= 0)
            return;
        if (is_late(const_cast<Clip *>(this)))
            throw Error(AVERROR(ETIMEDOUT), words_for(path_, "it takes too long"));
        const bool is_misread = ret == AVERROR_EOF || ret == AVERROR(EAGAIN);
        throw Error(is_misread ? AVERROR_INVALIDDATA : ret, words_for(path_, words_of_code(ret)));
    }

    const AVStream &stream() const { return *file_->streams[index_]; }

    int64_t start() const
    {
        return stream().start_time == AV_NOPTS_VALUE ? 0 : stream().start_time;
    }

    // In the stream's time base; 0 if it is not known.
    int64_t length() const
    {
        if (stream().duration > 0)
            return stream().duration;
        return file_->duration > 0
                   ? av_rescale_q(file_->duration, {1, AV_TIME_BASE}, stream().time_base)
                   : 0;
    }

    bool seek(int64_t place)
    {
        if (av_seek_frame(file_.get(), index_, place, AVSEEK_FLAG_BACKWARD) < 0)
            return false;
        avcodec_flush_buffers(decoder_.get());
        has_ended_ = false;
        return true;
    }

    // Returns the frame that a seek to that place led to, or a later one if that was taken before.
    FramePointer next(int64_t place)
    {
        for (int i = 0; i < most_decoded; i++) {
            FramePointer frame = decoded();
            if (!frame)
                break;
            const int64_t pts = frame->best_effort_timestamp;
            const bool is_new = !last_ || pts == AV_NOPTS_VALUE || pts > *last_;
            if (is_new && (i == 0 || pts >= place)) {
                last_ = pts;
                return frame;
            }
        }
        return nullptr;
    }

    FramePointer after(int count)
    {
        FramePointer frame;
        for (int i = 0; i < count; i++)
            if (frame = decoded(); !frame)
                break;
        return frame;
    }

    // Returns null at the end.
    FramePointer decoded()
    {
        FramePointer frame(allocated(av_frame_alloc()));
        while (!is_late(this)) {
            const int ret = avcodec_receive_frame(decoder_.get(), frame.get());
            if (ret >= 0)
                return frame;
            if (ret != AVERROR(EAGAIN) || has_ended_)
                return nullptr;
            send();
        }
        return nullptr;
    }

    // Skips damaged packets: the decoder's errors are ignored.
    void send()
    {
        av_packet_unref(packet_.get());
        if (av_read_frame(file_.get(), packet_.get()) < 0) {
            has_ended_ = true;
            avcodec_send_packet(decoder_.get(), nullptr);
        } else if (packet_->stream_index == index_) {
            avcodec_send_packet(decoder_.get(), packet_.get());
        }
    }

    const std::string &path_;
    const Clock::time_point deadline_ = Clock::now() + time_limit;
    const FileReader reader_; // must outlive file_
    Owner<AVFormatContext> file_;
    Owner<AVCodecContext> decoder_;
    const Owner<AVPacket> packet_{allocated(av_packet_alloc())};
    int index_ = 0;
    bool has_ended_ = false;
    std::optional<int64_t> last_; // the timestamp of the last frame that was taken
};

} // namespace

void check_clip(const std::string &path)
{
    opened(path);
}

std::vector<FramePointer> frames_of_clip(const std::string &path, AVPixelFormat format,
                                         size_t count)
{
    std::vector<FramePointer> frames;
    for (FramePointer &frame : Clip(path).spread(count, format))
        if (frames.empty() ||
            (frame->width == frames[0]->width && frame->height == frames[0]->height))
            frames.push_back(std::move(frame));
    return frames;
}

} // namespace dnn_torch
