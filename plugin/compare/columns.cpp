// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "columns.h"

#include "base/compose.h"
#include "base/json.h"
#include "model_tool/command_line.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>

namespace dnn_torch
{
namespace
{

namespace fs = std::filesystem;

// A picture as a player shows it: what is transparent becomes black.  FFmpeg 9.0's filter
// premultiply takes one from each opaque sample.
constexpr const char *to_rgb =
    "scale=flags=bicubic+accurate_rnd+full_chroma_int,format=rgba,split[above][below];"
    "[below]lutrgb=r=0:g=0:b=0:a=255[black];[black][above]overlay=format=rgb,format=rgb24";
constexpr const char *to_luma =
    ":flags=bicubic+accurate_rnd+full_chroma_int,format=yuv444p,setsar=1";

// Null if the text is no JSON.
json::Value parsed(const std::string &text)
{
    const json::Value value = json::Value::parse(text, nullptr, false);
    return value.is_discarded() ? json::Value() : value;
}

// Returns "" if one of the members is missing or the last is no text.
std::string text_in(json::Value value, std::initializer_list<const char *> path)
{
    for (const char *name : path) {
        json::Value member = value.is_object() && value.contains(name) ? value[name] : nullptr;
        value = std::move(member);
    }
    return value.is_string() ? value.get<std::string>() : "";
}

double number_in(const json::Value &value, const char *name)
{
    return value.is_object() && value.contains(name) && value[name].is_number()
               ? value[name].get<double>()
               : 0;
}

std::string short_number(double number)
{
    char text[32];
    snprintf(text, sizeof(text), "%g", number);
    return text;
}

// Returns "" unless the model is for another filter, and makes no pictures.
std::string other_filter(const json::Value &facts)
{
    auto is = [&](const char *kind) {
        return facts.is_object() && facts.contains(kind) && facts[kind].is_object();
    };
    if (is("detector"))
        return "finds objects and makes no pictures; it is for dnn_torch_detect";
    if (is("classifier"))
        return "classifies and makes no pictures; it is for dnn_torch_classify";
    return {};
}

std::string architecture_of(const json::Value &facts)
{
    const std::string name = text_in(facts, {"architecture", "name"});
    if (name.empty())
        return text_in(facts, {"format"});
    const auto scale = static_cast<int>(number_in(facts["architecture"], "scale"));
    return scale ? concat(name, ", x", scale) : name;
}

// The page tells nothing of the machine's folders.
std::string without(std::string text, const std::string &part)
{
    for (size_t at; !part.empty() && (at = text.find(part)) != text.npos;)
        text.erase(at, part.size());
    return text;
}

std::string without_folder_of(const std::string &text, const std::string &file)
{
    const std::string absolute = fs::absolute(file).parent_path().string() + "/";
    const std::string folder = fs::path(file).parent_path().string();
    return without(without(text, absolute), folder.empty() ? "" : folder + "/");
}

// Returns the number behind the name in "n:1 psnr_y:31.2 Y:0.92", or nullopt.
std::optional<double> number_after(const std::string &line, const std::string &name)
{
    const size_t at = (" " + line).find(" " + name);
    if (at == line.npos || at >= line.size())
        return std::nullopt;
    return strtod(line.c_str() + at + name.size(), nullptr);
}

std::vector<double> numbers_in(const std::string &file, const std::string &name)
{
    std::vector<double> numbers;
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
        if (const std::optional<double> number = number_after(line, name))
            numbers.push_back(*number);
    return numbers;
}

std::vector<std::string> pictures_of(const Column &column)
{
    return {"-framerate",    "25", "-f", "image2",
            "-start_number", "0",  "-i", column.prefix + "%d.png"};
}

} // namespace

std::string Column::name() const
{
    return fs::path(file).filename().string();
}

std::string Column::picture(size_t frame) const
{
    return concat(prefix, frame, ".png");
}

Outcome ColumnMaker::draw(Column &column, const Cut &cut, const std::string &graph,
                          double limit_seconds)
{
    column.prefix = folder_.path(concat("column", columns_++, "-"));
    Outcome outcome = programs_.ffmpeg({"-loglevel",
                                        "level+error",
                                        "-f",
                                        "concat",
                                        "-safe",
                                        "0",
                                        "-i",
                                        cut.list,
                                        "-vf",
                                        concat("settb=1/25,setpts=N,", graph, to_rgb),
                                        "-fps_mode",
                                        "passthrough",
                                        "-c:v",
                                        "png",
                                        "-compression_level",
                                        "1",
                                        "-f",
                                        "image2",
                                        "-atomic_writing",
                                        "1",
                                        "-start_number",
                                        "0",
                                        column.prefix + "%d.png"},
                                       limit_seconds);
    for (size_t i = 0; i < frames_; i++)
        if (const std::optional<PictureSize> size = size_of_png(column.picture(i)))
            column.pictures.push_back(*size);
        else
            break;
    if (!column.pictures.empty())
        column.facts.emplace_back(
            "size", concat(column.pictures.front().width, "x", column.pictures.front().height));
    return outcome;
}

Column ColumnMaker::show(ColumnKind kind, const std::string &clip, const Cut &cut)
{
    constexpr double limit_seconds = 600;
    Column column{};
    column.kind = kind;
    column.file = clip;
    const Outcome outcome = draw(column, cut, "", limit_seconds);
    if (column.pictures.size() < frames_)
        throw std::runtime_error(
            concat("the frames of '", column.name(), "' cannot be shown: ", outcome.reason()));
    return column;
}

Column ColumnMaker::run_model(const std::string &model, const Cut &cut)
{
    Column column{};
    column.kind = ColumnKind::model;
    column.file = model;
    const std::string statistics = folder_.path("stats.json");
    const std::string graph = filter_for(model, statistics) + ",";
    const Outcome outcome = draw(column, cut, graph, options_.timeout_seconds);
    add_statistics(column, statistics);
    if (outcome.succeeded() && column.seconds)
        measure_time(column, cut);
    const json::Value facts = inspect(model);
    add_facts(column, facts);
    if (!column.pictures.empty())
        column.facts.emplace_back("memory",
                                  bytes_in_words(static_cast<double>(outcome.peak_bytes)));
    column.failure = failure_of(column, outcome, facts);
    if (!column.failure.empty())
        column.seconds.reset();
    return column;
}

// Returns "" if all pictures are there.
std::string ColumnMaker::failure_of(const Column &column, const Outcome &outcome,
                                    const json::Value &facts) const
{
    std::string failure;
    if (outcome.timed_out)
        failure = concat("took more than ", short_number(options_.timeout_seconds),
                         " s; raise --timeout");
    else if (const std::string other = other_filter(facts); !other.empty())
        failure = other;
    else if (!outcome.succeeded())
        failure = without_folder_of(outcome.reason(), column.file);
    else if (column.pictures.size() < frames_)
        failure = "gave fewer pictures than frames";
    if (!failure.empty() && !column.pictures.empty())
        failure += concat(" (", column.pictures.size(), " of ", counted(frames_, "picture"), ")");
    return failure;
}

std::string ColumnMaker::filter_for(const std::string &model, const std::string &statistics) const
{
    std::string graph =
        concat("dnn_torch=model=", graph_quoted(for_ffmpeg(model)), ":stats=", statistics);
    if (!options_.filter.empty())
        graph += ":" + options_.filter;
    return graph;
}

// Each worker's first frame takes longer, up to twice as long, so that a few frames tell too much:
// unless the model is slow, it gets them again and again.
void ColumnMaker::measure_time(Column &column, const Cut &cut)
{
    constexpr double seconds_to_spend = 4, fewest = 6, most = 60;
    const double frames = std::min(seconds_to_spend / std::max(*column.seconds, 1e-6), most);
    if (frames < fewest)
        return;
    const std::string list = folder_.path("again.txt"), statistics = folder_.path("stats.json");
    const std::string once = contents_of(cut.list);
    std::ofstream again(list);
    for (size_t i = 0; i < static_cast<size_t>(frames) / frames_ + 1; i++)
        again << once;
    again.close();
    const Outcome outcome = programs_.ffmpeg(
        {"-loglevel", "level+error", "-f", "concat", "-safe", "0", "-i", list, "-vf",
         concat("settb=1/25,setpts=N,", filter_for(column.file, statistics)), "-f", "null", "-"},
        options_.timeout_seconds);
    if (outcome.succeeded())
        add_statistics(column, statistics);
}

// What `inspect` tells; null if it takes too long.
json::Value ColumnMaker::inspect(const std::string &model) const
{
    const double limit_seconds = std::min(options_.timeout_seconds, 30.0);
    return parsed(programs_
                      .dnn_torch({"inspect", "--json",
                                  concat("--timeout=", short_number(limit_seconds)), "--", model},
                                 limit_seconds)
                      .output);
}

void ColumnMaker::add_facts(Column &column, const json::Value &facts)
{
    const std::string licence = text_in(facts, {"contract", "licence", "value"});
    if (const std::string name = architecture_of(facts); !name.empty())
        column.facts.emplace_back("architecture", name);
    column.facts.emplace_back("licence", licence.empty() ? "unknown" : licence);
    std::error_code error;
    const auto bytes = fs::file_size(column.file, error);
    if (!error)
        column.facts.emplace_back("file", bytes_in_words(static_cast<double>(bytes)));
}

// A worker's time for a frame, divided by the workers that run at once.  The time from the first
// frame to the last says nothing if there are few.
void ColumnMaker::add_statistics(Column &column, const std::string &file) const
{
    const json::Value statistics = parsed(contents_of(file));
    fs::remove(file);
    const double frames = number_in(statistics, "frames");
    if (!statistics.is_object() || !statistics.contains("frame_ms") || frames < 1)
        return;
    const json::Value &times = statistics["frame_ms"];
    const double milliseconds = number_in(times, "convert_in") + number_in(times, "forward") +
                                number_in(times, "convert_out");
    const double workers = std::clamp(number_in(statistics, "workers"), 1.0, std::max(frames, 1.0));
    const bool is_first = !column.seconds;
    column.seconds = milliseconds / 1000 / workers;
    const std::string variant = text_in(statistics, {"form"});
    if (is_first && !variant.empty())
        column.facts.emplace_back("variant", variant);
}

ColumnMaker::Pair ColumnMaker::pair_of(const Column &column, const Column &reference)
{
    const PictureSize size = reference.pictures.front();
    const std::string scale = concat("scale=", size.width, ":", size.height, to_luma);
    Pair pair = {.inputs = {"-loglevel", "level+error"},
                 .graph = concat("[0:v]", scale, "[a];[1:v]", scale, "[b];")};
    for (const Column *each : {&column, &reference}) {
        const std::vector<std::string> input = pictures_of(*each);
        pair.inputs.insert(pair.inputs.end(), input.begin(), input.end());
    }
    return pair;
}

void ColumnMaker::score(Column &column, const Column &reference) const
{
    if (column.pictures.empty())
        return;
    const Pair pair = pair_of(column, reference);
    const std::string psnr = folder_.path("psnr.txt"), ssim = folder_.path("ssim.txt");
    std::vector<std::string> words = pair.inputs;
    words.insert(words.end(), {"-filter_complex",
                               concat(pair.graph, "[a]split[a1][a2];[b]split[b1][b2];",
                                      "[a1][b1]psnr=shortest=1:stats_file=", psnr, "[x];",
                                      "[a2][b2]ssim=shortest=1:stats_file=", ssim, "[y]"),
                               "-map", "[x]", "-f", "null", "-", "-map", "[y]", "-f", "null", "-"});
    programs_.need_ffmpeg(words, "PSNR and SSIM cannot be measured");
    const std::vector<double> first = numbers_in(psnr, "psnr_y:"), second = numbers_in(ssim, "Y:");
    column.scores.resize(std::min({column.pictures.size(), first.size(), second.size()}));
    for (size_t i = 0; i < column.scores.size(); i++)
        column.scores[i] = {.psnr = first[i], .ssim = second[i], .vmaf = std::nullopt};
    if (has_vmaf())
        score_vmaf(column, pair);
}

// Not every ffmpeg has it, and it refuses small pictures.
void ColumnMaker::score_vmaf(Column &column, const Pair &pair) const
{
    const std::string log = folder_.path("vmaf.json");
    std::vector<std::string> words = pair.inputs;
    words.insert(words.end(),
                 {"-filter_complex",
                  concat(pair.graph, "[a][b]libvmaf=shortest=1:log_fmt=json:log_path=", log, "[x]"),
                  "-map", "[x]", "-f", "null", "-"});
    if (!programs_.ffmpeg(words, options_.timeout_seconds).succeeded())
        return;
    const json::Value found = parsed(contents_of(log));
    if (!found.is_object() || !found.contains("frames") || !found["frames"].is_array())
        return;
    for (size_t i = 0; i < column.scores.size() && i < found["frames"].size(); i++) {
        const json::Value &frame = found["frames"][i];
        if (frame.is_object() && frame.contains("metrics") &&
            number_in(frame["metrics"], "vmaf") > 0)
            column.scores[i].vmaf = number_in(frame["metrics"], "vmaf");
    }
}

bool ColumnMaker::has_vmaf() const
{
    constexpr double limit_seconds = 60;
    if (!has_vmaf_)
        has_vmaf_ = programs_.ffmpeg({"-filters"}, limit_seconds).output.find(" libvmaf ") !=
                    std::string::npos;
    return *has_vmaf_;
}

std::optional<PictureSize> size_of_png(const std::string &file)
{
    constexpr std::string_view signature = "\x89PNG\r\n\x1a\n";
    unsigned char head[24] = {};
    std::ifstream stream(file, std::ios::binary);
    if (!stream.read(reinterpret_cast<char *>(head), sizeof(head)) ||
        !std::equal(signature.begin(), signature.end(), reinterpret_cast<const char *>(head)))
        return std::nullopt;
    auto number = [&](size_t at) {
        return head[at] << 24 | head[at + 1] << 16 | head[at + 2] << 8 | head[at + 3];
    };
    return PictureSize{.width = number(16), .height = number(20)};
}

std::string contents_of(const std::string &file)
{
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

} // namespace dnn_torch
