// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "columns.h"

#include "base/compose.h"
#include "base/counted.h"
#include "base/json.h"
#include "model_tool/command_line.h"

#include <algorithm>
#include <chrono>
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

// A picture as a player shows it.
constexpr const char *to_rgb = "scale=flags=bicubic+accurate_rnd+full_chroma_int,format=rgb24";
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
    return without(without(text, absolute), fs::path(file).parent_path().string() + "/");
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
                                        "-r",
                                        "25",
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
    const auto start = std::chrono::steady_clock::now();
    add_facts(column, options_.timeout_seconds);
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start;
    const std::string statistics = folder_.path("stats.json");
    std::string graph =
        concat("dnn_torch=model=", graph_quoted(for_ffmpeg(model)), ":stats=", statistics);
    if (!options_.filter.empty())
        graph += ":" + options_.filter;
    const Outcome outcome =
        draw(column, cut, graph + ",", std::max(options_.timeout_seconds - used.count(), 0.5));
    add_statistics(column, statistics);
    if (!column.pictures.empty())
        column.facts.emplace_back("memory",
                                  bytes_in_words(static_cast<double>(outcome.peak_bytes)));
    const std::string only = concat(column.pictures.size(), " of ", counted(frames_, "picture"));
    if (outcome.timed_out)
        column.failure =
            concat("took more than ", std::lround(options_.timeout_seconds), " s; raise --timeout");
    else if (!outcome.succeeded())
        column.failure = without_folder_of(outcome.reason(), model);
    else if (column.pictures.size() < frames_)
        column.failure = "gave fewer pictures than frames";
    if (!column.failure.empty() && !column.pictures.empty())
        column.failure += concat(" (", only, ")");
    return column;
}

void ColumnMaker::add_facts(Column &column, double limit_seconds) const
{
    const Outcome outcome =
        programs_.dnn_torch({"inspect", "--json", "--", column.file}, limit_seconds);
    const json::Value facts = parsed(outcome.output);
    const std::string licence = text_in(facts, {"contract", "licence", "value"});
    if (const std::string name = architecture_of(facts); !name.empty())
        column.facts.emplace_back("architecture", name);
    column.facts.emplace_back("licence", licence.empty() ? "unknown" : licence);
    std::error_code error;
    const auto bytes = fs::file_size(column.file, error);
    if (!error)
        column.facts.emplace_back("file", bytes_in_words(static_cast<double>(bytes)));
}

// A worker's time for a frame, divided by the workers that run at once.  With few frames that is
// what a long clip would take; the time from the first frame to the last is not.
void ColumnMaker::add_statistics(Column &column, const std::string &file) const
{
    const json::Value statistics = parsed(contents_of(file));
    fs::remove(file);
    if (!statistics.is_object() || !statistics.contains("frame_ms"))
        return;
    const json::Value &times = statistics["frame_ms"];
    const double milliseconds = number_in(times, "convert_in") + number_in(times, "forward") +
                                number_in(times, "convert_out");
    const double workers =
        std::clamp(number_in(statistics, "workers"), 1.0, static_cast<double>(frames_));
    column.seconds = milliseconds / 1000 / workers;
    if (const std::string variant = text_in(statistics, {"form"}); !variant.empty())
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

std::string bytes_in_words(double bytes)
{
    constexpr const char *units[] = {"KB", "MB", "GB"};
    size_t unit = 0;
    for (bytes /= 1000; bytes >= 1000 && unit < 2; unit++)
        bytes /= 1000;
    char text[32];
    snprintf(text, sizeof(text), bytes < 10 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

} // namespace dnn_torch
