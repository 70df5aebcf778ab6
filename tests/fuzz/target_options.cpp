// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A filter's options and, one to a line below them, commands that it gets between two frames.
#include "changes.h"
#include "digest.h"
#include "filters_under_fuzz.h"
#include "host/filters/filters.h"

extern "C" {
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
}

#include <sstream>
#include <sys/stat.h>

namespace
{

using dnn_torch::FramePointer;
using dnn_torch::GraphPointer;
using fuzz::Ending;
using fuzz::Outcome;

constexpr int width = 16, height = 8, frames = 3;

int create(AVFilterContext **ctx, const AVFilter *filter, const char *name, const char *options,
           const GraphPointer &graph)
{
    return avfilter_graph_create_filter(ctx, filter, name, options, nullptr, graph.get());
}

int send(AVFilterContext *source, const FramePointer &frame, int number)
{
    frame->width = width;
    frame->height = height;
    frame->format = AV_PIX_FMT_GRAY8;
    frame->pts = number;
    if (const int status = av_frame_get_buffer(frame.get(), 0); status < 0)
        return status;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            frame->data[0][y * frame->linesize[0] + x] = static_cast<uint8_t>(x + y + number);
    return av_buffersrc_add_frame_flags(source, frame.get(), AV_BUFFERSRC_FLAG_PUSH);
}

// All frames that are there; the status that ended it.
int receive(AVFilterContext *sink, const FramePointer &frame, fuzz::Digest &digest)
{
    int status = 0;
    while ((status = av_buffersink_get_frame(sink, frame.get())) >= 0) {
        digest.add(&frame->pts, sizeof frame->pts);
        for (int y = 0; y < frame->height; y++)
            digest.add(frame->data[0] + y * frame->linesize[0], static_cast<size_t>(frame->width));
        av_frame_unref(frame.get());
    }
    return status == AVERROR(EAGAIN) ? 0 : status;
}

int command(const GraphPointer &graph, const std::string &line)
{
    const size_t blank = line.find(' ');
    const std::string name = line.substr(0, blank);
    const std::string argument = blank == line.npos ? "" : line.substr(blank + 1);
    char answer[512];
    const int status = avfilter_graph_send_command(graph.get(), "dnn", name.c_str(),
                                                   argument.c_str(), answer, sizeof answer, 0);
    return status == AVERROR_BUG || status == AVERROR_BUG2 ? status : 0;
}

// Frames through a graph, with the commands after the first.
class Film
{
public:
    int open(const std::string &options)
    {
        int status = create(&source_, avfilter_get_by_name("buffer"), "in",
                            "video_size=16x8:pix_fmt=gray:time_base=1/25", graph_);
        if (status >= 0)
            status = create(&sink_, avfilter_get_by_name("buffersink"), "out", nullptr, graph_);
        if (status >= 0)
            status =
                create(&filter_, dnn_torch::dnn_torch_filter(), "dnn", options.c_str(), graph_);
        if (status >= 0)
            status = avfilter_link(source_, 0, filter_, 0);
        if (status >= 0)
            status = avfilter_link(filter_, 0, sink_, 0);
        return status >= 0 ? avfilter_graph_config(graph_.get(), nullptr) : status;
    }

    int play(std::istream &commands, fuzz::Digest &digest)
    {
        int status = 0;
        for (int i = 0; i < frames && status >= 0; i++) {
            status = send(source_, frame_, i);
            for (std::string line; i == 0 && status >= 0 && std::getline(commands, line);)
                status = command(graph_, line);
            if (status >= 0)
                status = receive(sink_, frame_, digest);
        }
        if (status >= 0)
            status = av_buffersrc_close(source_, frames, AV_BUFFERSRC_FLAG_PUSH);
        if (status >= 0)
            status = receive(sink_, frame_, digest);
        return status == AVERROR_EOF ? 0 : status;
    }

private:
    const GraphPointer graph_{avfilter_graph_alloc()};
    const FramePointer frame_{av_frame_alloc()};
    AVFilterContext *source_ = nullptr, *filter_ = nullptr, *sink_ = nullptr;
};

Outcome run(std::string_view input)
{
    fuzz::write_fake_model();
    fuzz::take_log();
    std::istringstream lines(std::string(input.substr(0, input.find('\0'))));
    std::string options;
    std::getline(lines, options);
    fuzz::Digest digest;
    int status = 0;
    {
        Film film;
        status = film.open(options);
        if (status >= 0)
            status = film.play(lines, digest);
    }
    const std::string log = fuzz::take_log();
    if (const std::string words = fuzz::own_fault(status, log); !words.empty())
        return {Ending::fault, 0, words};
    if (status < 0 && log.empty())
        return {Ending::fault, 0, "a refusal without a word: " + std::to_string(status)};
    return {status < 0 ? Ending::refused : Ending::accepted, digest.value(), log};
}

const fuzz::Language language = {{"model",
                                  "device",
                                  "async",
                                  "nireq",
                                  "batch_size",
                                  "workers",
                                  "threads",
                                  "precision",
                                  "optimize",
                                  "tune",
                                  "input",
                                  "output",
                                  "timeout",
                                  "stats",
                                  "watch",
                                  "engine",
                                  "dnn_backend",
                                  "torch",
                                  "backend_configs",
                                  "options",
                                  "enable",
                                  "m.txt",
                                  "fake",
                                  "cpu",
                                  "cuda",
                                  "cuda:0",
                                  "auto",
                                  "0",
                                  "1",
                                  "2",
                                  "16",
                                  "256",
                                  "1024",
                                  "1s",
                                  "1ms",
                                  "100us",
                                  "00:00:01",
                                  "fp32",
                                  "bf16",
                                  "gt(n\\,1)",
                                  "between(n,0,1)",
                                  "statistics.json",
                                  "=",
                                  ":",
                                  "&",
                                  "'",
                                  "\\",
                                  "-",
                                  ".",
                                  "\n",
                                  "progress",
                                  "stats",
                                  "ping",
                                  "reinit",
                                  "async=0",
                                  "async=1",
                                  "batch_size=2",
                                  "workers=2"},
                                 2000};

std::string change(std::string &input, fuzz::Family family, fuzz::Random &random,
                   const fuzz::Inputs &seeds)
{
    return fuzz::change_by_family(input, family, random, language, seeds);
}

void prepare(const fuzz::Inputs &)
{
    fuzz::prepare_filters();
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "options",
    .prepare = prepare,
    .run = run,
    .change = change,
    .damage_must_show = false,
    .seconds = 10,
    .memory = uint64_t{1} << 33, // a thread wants eight megabytes, and there may be 256
    .inputs_a_fork = 200,
};
