// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page.h"

#include "base/compose.h"
#include "base/json.h"
#include "base/terminal.h"
#include "devices/cpu.h"
#include "page_template.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>

namespace dnn_torch
{
namespace
{

constexpr size_t most_bytes = 30'000'000; // of a page
constexpr PictureSize largest_crop = {1280, 960};

// ---- crops

PictureSize largest_result(const Comparison &comparison, size_t frame)
{
    PictureSize largest;
    auto area = [](PictureSize size) { return static_cast<double>(size.width) * size.height; };
    for (const Column &column : comparison.columns)
        if (frame < column.pictures.size() && area(column.pictures[frame]) > area(largest))
            largest = column.pictures[frame];
    return largest;
}

// A result keeps the frame's shape, whatever its size is.
double pixel_aspect_of(const Comparison &comparison, size_t frame, PictureSize whole,
                       const Cut &source)
{
    const PictureSize own = comparison.columns.front().pictures[frame];
    return source.pixel_aspect * own.width / own.height * whole.height / whole.width;
}

// Crops begin and end between pixels of all pictures if the sizes are multiples of each other.
int common_step(const Comparison &comparison, size_t frame, int PictureSize::*extent, int whole)
{
    constexpr int most = 64;
    int step = 1;
    for (const Column &column : comparison.columns)
        if (frame < column.pictures.size())
            if (const int own = column.pictures[frame].*extent; whole % own == 0)
                if (const int both = std::lcm(step, whole / own); both <= most)
                    step = both;
    return step;
}

int round_down(double value, int step)
{
    return static_cast<int>(value / step) * step;
}

std::optional<Crop> choose_crop(const Comparison &comparison, size_t frame, PictureSize whole,
                                const DetailMap &details, double share)
{
    const int across = common_step(comparison, frame, &PictureSize::width, whole.width);
    const int down = common_step(comparison, frame, &PictureSize::height, whole.height);
    const int width = std::max(round_down(share * largest_crop.width, across), across);
    const int height = std::max(round_down(share * largest_crop.height, down), down);
    if (width >= whole.width && height >= whole.height)
        return std::nullopt;
    Crop crop{.left = 0,
              .top = 0,
              .width = std::min(width, whole.width),
              .height = std::min(height, whole.height)};
    const Place place = details.best_place(static_cast<double>(crop.width) / whole.width,
                                           static_cast<double>(crop.height) / whole.height);
    crop.left = std::min(round_down(place.left * whole.width, across), whole.width - crop.width);
    crop.top = std::min(round_down(place.top * whole.height, down), whole.height - crop.height);
    return crop;
}

// Returns the crop in the pixels of a picture that shows the whole frame.
Crop scaled(const Crop &crop, PictureSize whole, PictureSize own)
{
    auto scale = [](int value, int from, int to) {
        return static_cast<int>(std::lround(static_cast<double>(value) * to / from));
    };
    Crop result = {.left = std::min(scale(crop.left, whole.width, own.width), own.width - 1),
                   .top = std::min(scale(crop.top, whole.height, own.height), own.height - 1),
                   .width = std::max(scale(crop.width, whole.width, own.width), 1),
                   .height = std::max(scale(crop.height, whole.height, own.height), 1)};
    result.width = std::min(result.width, own.width - result.left);
    result.height = std::min(result.height, own.height - result.top);
    return result;
}

ShownPicture cut_picture(const Programs &programs, const Column &column, size_t frame,
                         const ShownFrame &shown)
{
    const PictureSize own = column.pictures[frame];
    const Crop crop = shown.crop
                          ? scaled(*shown.crop, shown.size, own)
                          : Crop{.left = 0, .top = 0, .width = own.width, .height = own.height};
    const std::string file = concat(column.prefix, "shown", frame, ".png");
    programs.need_ffmpeg(
        {"-loglevel", "level+error", "-i", column.picture(frame), "-vf",
         concat("crop=", crop.width, ":", crop.height, ":", crop.left, ":", crop.top), "-frames:v",
         "1", "-c:v", "png", "-pred", "mixed", "-f", "image2", "-update", "1", file},
        concat("a picture of '", column.name(), "' cannot be cut"));
    return {.file = file, .size = {.width = crop.width, .height = crop.height}};
}

// Returns the size of the pictures in the page.
size_t cut_all(const Programs &programs, Comparison &comparison)
{
    size_t bytes = 0;
    comparison.pictures.clear();
    for (const Column &column : comparison.columns) {
        std::vector<ShownPicture> &pictures = comparison.pictures.emplace_back();
        for (size_t i = 0; i < comparison.frames.size(); i++) {
            pictures.emplace_back();
            if (i >= column.pictures.size())
                continue;
            pictures.back() = cut_picture(programs, column, i, comparison.frames[i]);
            bytes += std::filesystem::file_size(pictures.back().file) / 3 * 4 + 256;
        }
    }
    return bytes;
}

// Returns about what cut_all() would return, which takes long.
size_t expected_bytes(const Comparison &comparison)
{
    constexpr double smaller = 0.95; // than the files, which are compressed in a hurry
    double bytes = 0;
    for (const Column &column : comparison.columns)
        for (size_t i = 0; i < column.pictures.size(); i++) {
            const ShownFrame &frame = comparison.frames[i];
            const Crop crop = frame.crop.value_or(Crop{0, 0, frame.size.width, frame.size.height});
            bytes += static_cast<double>(std::filesystem::file_size(column.picture(i))) *
                     crop.width / frame.size.width * crop.height / frame.size.height;
        }
    return static_cast<size_t>(smaller * bytes / 3 * 4);
}

// ---- the page

std::string base64(std::string_view bytes)
{
    constexpr const char *digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve(bytes.size() / 3 * 4 + 4);
    for (size_t i = 0; i < bytes.size(); i += 3) {
        unsigned group = 0;
        for (size_t k = 0; k < 3; k++)
            group =
                group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        for (size_t k = 0; k < 4; k++)
            text += i + k > bytes.size() ? '=' : digits[group >> (18 - 6 * k) & 63];
    }
    return text;
}

json::Value json_of(const ShownFrame &frame)
{
    json::Value crop;
    if (frame.crop)
        crop = {{"left", frame.crop->left},
                {"top", frame.crop->top},
                {"width", frame.crop->width},
                {"height", frame.crop->height}};
    return {{"seconds", json::rounded(frame.seconds, 3)},
            {"width", frame.size.width},
            {"height", frame.size.height},
            {"pixel_aspect", json::rounded(frame.pixel_aspect, 4)},
            {"crop", crop}};
}

json::Value json_of(const ShownPicture &picture)
{
    if (picture.file.empty())
        return nullptr;
    return {{"uri", "data:image/png;base64," + base64(contents_of(picture.file))},
            {"width", picture.size.width},
            {"height", picture.size.height}};
}

json::Value json_of(const Scores &scores)
{
    json::Value value = json::Value::object();
    if (scores.psnr)
        value["psnr"] =
            std::isfinite(*scores.psnr) ? json::rounded(*scores.psnr, 3) : json::Value();
    if (scores.ssim)
        value["ssim"] = json::rounded(*scores.ssim, 5);
    if (scores.vmaf)
        value["vmaf"] = json::rounded(*scores.vmaf, 2);
    return value;
}

const char *name_of(ColumnKind kind)
{
    return kind == ColumnKind::source      ? "source"
           : kind == ColumnKind::reference ? "reference"
                                           : "model";
}

json::Value json_of(const Column &column, const std::vector<ShownPicture> &pictures)
{
    json::Value value = {{"kind", name_of(column.kind)},         {"name", column.name()},
                         {"failure", printable(column.failure)}, {"seconds", json::Value()},
                         {"facts", json::Value::array()},        {"pictures", json::Value::array()},
                         {"scores", json::Value::array()}};
    if (column.seconds)
        value["seconds"] = json::rounded(*column.seconds, 6);
    for (const auto &[name, fact] : column.facts)
        value["facts"].push_back(json::Value::array({name, fact}));
    for (size_t i = 0; i < pictures.size(); i++) {
        value["pictures"].push_back(json_of(pictures[i]));
        value["scores"].push_back(i < column.scores.size() ? json_of(column.scores[i])
                                                           : json::Value());
    }
    return value;
}

json::Value json_of(const Comparison &comparison)
{
    const CpuInfo cpu = cpu_info();
    auto base_name = [](const std::string &path) {
        return std::filesystem::path(path).filename().string();
    };
    json::Value value = {{"clip", base_name(comparison.options.clip)},
                         {"program", "dnn-torch " PROJECT_VERSION},
                         {"machine", concat(cpu.model, cpu.model.empty() ? "" : ", ", cpu.cores,
                                            cpu.cores == 1 ? " core" : " cores")},
                         {"options", comparison.options.filter},
                         {"reference", base_name(comparison.options.reference)},
                         {"frames", json::Value::array()},
                         {"columns", json::Value::array()}};
    for (const ShownFrame &frame : comparison.frames)
        value["frames"].push_back(json_of(frame));
    for (size_t i = 0; i < comparison.columns.size(); i++)
        value["columns"].push_back(json_of(comparison.columns[i], comparison.pictures[i]));
    return value;
}

// Returns a text in which nothing ends the script element.
std::string for_script(const std::string &ascii)
{
    std::string text;
    text.reserve(ascii.size());
    for (const char c : ascii)
        if (c == '<')
            text += "\\u003c";
        else if (c == '>')
            text += "\\u003e";
        else if (c == '&')
            text += "\\u0026";
        else
            text += c;
    return text;
}

// ---- the contact sheet

constexpr int cell_width = 480, name_height = 28;

// Returns the size of all pictures in the sheet.
PictureSize cell_of(const ShownFrame &frame)
{
    constexpr int least_height = 16, most_height = 4 * cell_width;
    const Crop part = frame.crop.value_or(Crop{0, 0, frame.size.width, frame.size.height});
    const double aspect = frame.pixel_aspect * part.width / part.height;
    const int height = std::clamp(static_cast<int>(cell_width / aspect), least_height, most_height);
    return {.width = std::clamp(static_cast<int>(height * aspect), 1, cell_width),
            .height = height};
}

// Returns ffmpeg's filters for one cell; its input is [i:v].
std::string cell_graph(size_t number, PictureSize cell, const std::string &name_file)
{
    std::string graph = concat("[", number, ":v]scale=", cell.width, ":", cell.height,
                               ":flags=lanczos,format=rgb24,setsar=1,pad=", cell_width, ":",
                               cell.height + name_height, ":(ow-iw)/2:", name_height, ":white");
    if (!name_file.empty())
        graph += concat(",drawtext=expansion=none:fontsize=16:fontcolor=black:x=6:y=6:textfile=",
                        name_file);
    return concat(graph, "[c", number, "];");
}

std::vector<std::string> sheet_command(const TemporaryFolder &folder, const Comparison &comparison,
                                       bool with_names, const std::string &file)
{
    const PictureSize cell = cell_of(comparison.frames.front());
    std::vector<std::string> words = {"-loglevel", "level+error"};
    std::string graph, cells, layout;
    size_t number = 0;
    for (size_t frame = 0; frame < comparison.frames.size(); frame++)
        for (size_t i = 0; i < comparison.columns.size(); i++, number++) {
            const std::string &picture = comparison.pictures[i][frame].file;
            if (picture.empty())
                words.insert(words.end(), {"-f", "lavfi", "-i", "color=gray:s=32x32:d=0.04"});
            else
                words.insert(words.end(), {"-i", picture});
            graph +=
                cell_graph(number, cell, with_names ? folder.path(concat("name", i, ".txt")) : "");
            cells += concat("[c", number, "]");
            add_to_list(
                layout,
                concat(i * cell_width, "_", frame * static_cast<size_t>(cell.height + name_height)),
                "|");
        }
    graph += number == 1 ? "[c0]null" : concat(cells, "xstack=inputs=", number, ":layout=", layout);
    words.insert(words.end(), {"-filter_complex", graph, "-frames:v", "1", "-c:v", "png", "-f",
                               "image2", "-update", "1", file});
    return words;
}

} // namespace

void cut_pictures(const Programs &programs, const Cut &source, Comparison &comparison)
{
    constexpr size_t for_texts = 1'000'000; // the page and all but the pictures
    constexpr int most_tries = 20;
    double share = 1;
    for (int i = 0; i < most_tries; i++) {
        comparison.frames.clear();
        for (size_t frame = 0; frame < source.times.size(); frame++) {
            const PictureSize whole = largest_result(comparison, frame);
            comparison.frames.push_back(
                {.seconds = source.times[frame],
                 .size = whole,
                 .pixel_aspect = pixel_aspect_of(comparison, frame, whole, source),
                 .crop = choose_crop(comparison, frame, whole, source.details[frame], share)});
        }
        size_t bytes = expected_bytes(comparison);
        if (bytes <= most_bytes - for_texts)
            bytes = cut_all(programs, comparison);
        if (bytes <= most_bytes - for_texts)
            return;
        share *= 0.95 * std::sqrt(static_cast<double>(most_bytes - for_texts) /
                                  static_cast<double>(bytes));
    }
    throw std::runtime_error("the page would have more than 30 MB; name fewer models or frames");
}

std::string page_of(const Comparison &comparison)
{
    constexpr std::string_view place = "@DATA@";
    std::string page(page_template);
    page.replace(page.find(place), place.size(), for_script(json::line_of(json_of(comparison))));
    return page;
}

void draw_sheet(const Programs &programs, const TemporaryFolder &folder,
                const Comparison &comparison, const std::string &file)
{
    constexpr double limit_seconds = 600;
    for (size_t i = 0; i < comparison.columns.size(); i++)
        std::ofstream(folder.path(concat("name", i, ".txt")))
            << printable(comparison.columns[i].name())
            << (comparison.columns[i].kind == ColumnKind::reference ? " (reference)" : "");
    const bool is_drawn =
        programs.ffmpeg(sheet_command(folder, comparison, true, file), limit_seconds).succeeded();
    if (!is_drawn) // without fonts, for example
        programs.need_ffmpeg(sheet_command(folder, comparison, false, file),
                             "the contact sheet cannot be drawn");
}

} // namespace dnn_torch
