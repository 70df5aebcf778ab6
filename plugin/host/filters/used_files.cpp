// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "used_files.h"

#include "base/compose.h"
#include "host/error.h"
#include "host/findings/destination.h"
#include "host/libavfilter/parked_graphs.h"
#include "host/model/contract.h"

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
}

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

namespace dnn_torch
{
namespace
{

struct UsedFile {
    const AVFilterContext *ctx;
    std::string words; // "stats=FILE" of what is written, "the model" of what is read
    std::string option;
    std::string place; // see place_of()
    bool is_written;
    bool is_of_ffmpeg = false; // its graph is known to be ffmpeg's
};

std::mutex used_mutex;

// Under used_mutex.  Never destroyed, because filters may be freed at the end of the program.
std::list<UsedFile> &all_used()
{
    static auto *const all = new std::list<UsedFile>;
    return *all;
}

// Returns "" if the filter has no such option.
std::string value_of(const AVFilterContext *ctx, const char *option)
{
    uint8_t *value = nullptr;
    if (!av_opt_find(ctx->priv, option, nullptr, 0, 0) ||
        av_opt_get(ctx->priv, option, 0, &value) < 0)
        return "";
    const std::string text = reinterpret_cast<const char *>(value);
    av_free(value);
    return text;
}

// Pipes, terminals, addresses and what the program has open may have several writers.
bool is_stream(const std::string &name)
{
    for (const std::string_view beginning : {"/dev/fd/", "/proc/self/fd/", "/dev/std", "pipe:"})
        if (name.starts_with(beginning))
            return true;
    struct stat about = {};
    return name.empty() || name == "-" || name.find("://") != name.npos ||
           (stat(name.c_str(), &about) == 0 && !S_ISREG(about.st_mode));
}

void add_file(std::list<UsedFile> &files, const AVFilterContext *ctx, const char *option,
              const std::string &name, const std::string &read_as)
{
    if (!is_stream(name))
        files.push_back({.ctx = ctx,
                         .words = read_as.empty() ? concat(option, "=", name) : read_as,
                         .option = option,
                         .place = place_of(name),
                         .is_written = read_as.empty()});
}

std::list<UsedFile> files_of(const AVFilterContext *ctx)
{
    std::list<UsedFile> files;
    const std::string model = value_of(ctx, "model");
    add_file(files, ctx, "model", model, "the model");
    if (!model.empty())
        add_file(files, ctx, "model", contract_path(model), "the model's contract");
    add_file(files, ctx, "labels", value_of(ctx, "labels"), "the labels");
    add_file(files, ctx, "calibration", value_of(ctx, "calibration"), "the calibration's clip");
    for (const char *option : {"stats", "destination"})
        add_file(files, ctx, option, value_of(ctx, option), "");
    return files;
}

// Compares names as well, because a file that does not exist yet has no inode.
bool is_same_file(const UsedFile &one, const UsedFile &other)
{
    std::error_code absent;
    return one.place == other.place || std::filesystem::equivalent(one.place, other.place, absent);
}

// A program that rebuilds its graph may free the old one later; ffmpeg frees it first.
bool may_follow(const UsedFile &one, const UsedFile &other)
{
    return one.ctx->graph != other.ctx->graph && one.option == other.option &&
           !(one.is_of_ffmpeg && other.is_of_ffmpeg) &&
           one.ctx->filter->priv_class == other.ctx->filter->priv_class;
}

[[noreturn]] void refuse(const UsedFile &written, const UsedFile &other)
{
    const char *const whose = written.ctx == other.ctx ? "" : " of another filter";
    if (!other.is_written)
        throw Error(AVERROR(EBUSY), concat(written.words, " names ", other.words, whose,
                                           ", which it would overwrite; name another file"));
    if (written.ctx == other.ctx)
        throw Error(AVERROR(EBUSY),
                    concat(written.words, " is ", other.option, " as well; name another file"));
    throw Error(AVERROR(EBUSY),
                concat(written.words, " is written by another filter; name another one"));
}

void check(const UsedFile &own, const UsedFile &other)
{
    if ((!own.is_written && !other.is_written) || !is_same_file(own, other))
        return;
    if (own.is_written && other.is_written && may_follow(own, other))
        return;
    if (own.is_written)
        refuse(own, other);
    refuse(other, own);
}

} // namespace

UsedFiles::UsedFiles(const AVFilterContext *ctx) : ctx_(ctx)
{
    std::list<UsedFile> files = files_of(ctx);
    const std::lock_guard lock(used_mutex);
    for (auto own = files.begin(); own != files.end(); own++) {
        for (auto other = files.begin(); other != own; other++)
            check(*own, *other);
        for (const UsedFile &other : all_used())
            check(*own, other);
    }
    all_used().splice(all_used().end(), files);
}

void UsedFiles::add_model_part(const std::string &path)
{
    const UsedFile own = {.ctx = ctx_,
                          .words = "a file of the model",
                          .option = "model",
                          .place = place_of(path),
                          .is_written = false};
    const std::lock_guard lock(used_mutex);
    for (const UsedFile &other : all_used())
        check(own, other);
    all_used().push_back(own);
}

void UsedFiles::check_graph()
{
    if (!is_of_ffmpeg(*ctx_->graph))
        return;
    const std::lock_guard lock(used_mutex);
    for (UsedFile &own : all_used())
        if (own.ctx == ctx_)
            own.is_of_ffmpeg = true;
    for (const UsedFile &own : all_used())
        for (const UsedFile &other : all_used())
            if (own.ctx == ctx_ && other.ctx != ctx_)
                check(own, other);
}

UsedFiles::~UsedFiles()
{
    const std::lock_guard lock(used_mutex);
    all_used().remove_if([this](const UsedFile &file) { return file.ctx == ctx_; });
}

} // namespace dnn_torch
