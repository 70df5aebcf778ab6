// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frames.h"

#include "base/compose.h"
#include "model_tool/request.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace dnn_torch
{
namespace
{

constexpr size_t map_size = map_width * map_height;
const std::string to_map = concat("scale=", map_width, ":", map_height, ":flags=area,format=gray");

std::string quoted_name(const std::string &path)
{
    return concat("'", std::filesystem::path(path).filename().string(), "'");
}

// ---- choosing

struct Candidate {
    double seconds, detail, motion;
};

// Without its last digits, because ffmpeg rounds a time to microseconds.
std::string time_text(double seconds)
{
    char text[32];
    snprintf(text, sizeof(text), "%.6f", std::max(seconds, 0.0));
    return text;
}

// What ffmpeg tells of a clip without decoding it.
std::string description_of(const Programs &programs, const std::string &clip)
{
    constexpr double limit_seconds = 60;
    return programs.ffmpeg({"-loglevel", "level+info", "-i", for_ffmpeg(clip)}, limit_seconds)
        .errors;
}

// Returns nullopt if ffmpeg does not tell.
std::optional<double> duration_of(const Programs &programs, const std::string &clip)
{
    const std::string told = description_of(programs, clip);
    int hours = 0, minutes = 0;
    double seconds = 0;
    const size_t at = told.find("Duration: ");
    if (at == told.npos ||
        sscanf(told.c_str() + at, "Duration: %d:%d:%lf", &hours, &minutes, &seconds) != 3)
        return std::nullopt;
    return 3600.0 * hours + 60 * minutes + seconds;
}

// The filter showinfo tells a frame's time in microseconds there.
std::vector<double> times_in(const std::string &log)
{
    constexpr std::string_view name = " pts:";
    std::vector<double> times;
    for (size_t at = 0; (at = log.find(name, at)) != log.npos;) {
        at += name.size();
        times.push_back(static_cast<double>(strtoll(log.c_str() + at, nullptr, 10)) / 1e6);
    }
    return times;
}

double difference_of(std::string_view one, std::string_view other)
{
    double sum = 0;
    for (size_t i = 0; i < one.size() && i < other.size(); i++)
        sum += std::abs(static_cast<unsigned char>(one[i]) - static_cast<unsigned char>(other[i]));
    return sum;
}

std::vector<Candidate> candidates_in(const Outcome &outcome)
{
    const std::vector<double> times = times_in(outcome.errors);
    const std::string_view gray = outcome.output;
    std::vector<Candidate> found;
    for (size_t i = 0; i < times.size() && (i + 1) * map_size <= gray.size(); i++) {
        const std::string_view own = gray.substr(i * map_size, map_size);
        const std::string_view before = i ? gray.substr((i - 1) * map_size, map_size) : own;
        found.push_back({times[i], DetailMap(own).sum(), difference_of(own, before)});
    }
    return found;
}

// What was decoded within the time counts, even if the clip is longer or damaged at its end.
std::vector<Candidate> read_candidates(const Programs &programs, const std::string &clip,
                                       double step, bool only_key_frames, double limit_seconds)
{
    const std::string graph =
        concat("select='isnan(prev_selected_t)+gte(t-prev_selected_t,", time_text(step), ")',",
               to_map, ",settb=1/1000000,showinfo=checksum=0,settb=1/25,setpts=N");
    std::vector<std::string> words = {"-loglevel", "level+info"};
    if (only_key_frames)
        words.insert(words.end(), {"-skip_frame", "nokey"});
    words.insert(words.end(), {"-i", for_ffmpeg(clip), "-map", "0:V:0", "-vf", graph, "-fps_mode",
                               "passthrough", "-f", "rawvideo", "pipe:1"});
    const Outcome outcome = programs.ffmpeg(words, limit_seconds);
    std::vector<Candidate> found = candidates_in(outcome);
    if (found.empty())
        throw std::runtime_error(
            concat(quoted_name(clip), " cannot be decoded: ",
                   outcome.timed_out ? "there is no frame within the time" : outcome.reason()));
    return found;
}

double mean_of(const std::vector<Candidate> &all, double Candidate::*member)
{
    double sum = 0;
    for (const Candidate &each : all)
        sum += each.*member;
    return std::max(sum / static_cast<double>(all.size()), 1e-9);
}

std::vector<double> best_of_parts(const std::vector<Candidate> &all, int count)
{
    constexpr double most_motion = 2, weight = 0.5; // a cut is no better than much motion
    const double detail = mean_of(all, &Candidate::detail);
    const double motion = mean_of(all, &Candidate::motion);
    auto score = [&](const Candidate &each) {
        return each.detail / detail + weight * std::min(each.motion / motion, most_motion);
    };
    std::vector<double> times;
    const auto parts = std::min(static_cast<size_t>(count), all.size());
    for (size_t i = 0; i < parts; i++) {
        const auto begin = all.begin() + static_cast<long>(i * all.size() / parts);
        const auto end = all.begin() + static_cast<long>((i + 1) * all.size() / parts);
        const auto best =
            std::max_element(begin, end, [&](const Candidate &one, const Candidate &other) {
                return score(one) < score(other);
            });
        times.push_back(best->seconds);
    }
    return times;
}

// ---- cutting

constexpr const char *raw_codec = "rawvideo";

// How ffmpeg gets to a frame.  Files without an index, such as raw H.264, cannot be searched.
enum class Approach { seek, decode };

// A frame to cut.
struct Wanted {
    const std::string &clip;
    double seconds, slack; // by which it may be earlier
    const std::string &file;
    std::optional<double> duration; // of the clip
    // Without a duration there is no index, and newer versions of ffmpeg seek to a wrong frame.
    Approach approach = duration ? Approach::seek : Approach::decode;

    double earliest() const { return std::max(seconds - slack, 0.0); }
};

// The output is the frame's detail map, or "" if the clip has ended.
Outcome cut(const Programs &programs, const Wanted &wanted, const std::string &codec)
{
    constexpr double limit_seconds = 120;
    const bool seeks = wanted.approach == Approach::seek;
    const std::string time = time_text(wanted.earliest());
    std::vector<std::string> words = {"-loglevel", "level+info"};
    if (seeks)
        words.insert(words.end(), {"-ss", time});
    const std::string graph = seeks ? "" : concat("select='gte(t,", time, ")',");
    words.insert(words.end(), {"-i", for_ffmpeg(wanted.clip)});
    words.insert(words.end(),
                 {"-map", "0:V:0", "-frames:v", "1", "-vf", graph + "settb=1/25,setpts=N", "-c:v",
                  codec, "-f", "matroska", wanted.file});
    words.insert(words.end(), {"-map", "0:V:0", "-frames:v", "1", "-vf",
                               concat(graph, "settb=1/1000000,showinfo=checksum=0,", to_map), "-f",
                               "rawvideo", "pipe:1"});
    return programs.ffmpeg(words, limit_seconds);
}

// Returns the time of the frame that was cut.
double time_of_cut(const Outcome &outcome, const Wanted &wanted)
{
    const std::vector<double> times = times_in(outcome.errors);
    const double from = wanted.approach == Approach::seek ? wanted.earliest() : 0;
    return times.empty() ? wanted.seconds : from + times.front();
}

// What the filter showinfo tells of the frame that was cut, in "fmt:yuv420p sar:1/1 s:384x288 i:P".
std::string told_of_cut(const std::string &log, std::string_view name)
{
    const size_t at = log.find(name, std::min(log.find(" pts:"), log.size()));
    const size_t from = at == log.npos ? log.size() : at + name.size();
    return log.substr(from, log.find_first_of(" \n", from) - from);
}

// Returns "yuv420p 384x288".
std::string shape_of_cut(const std::string &log)
{
    return concat(told_of_cut(log, " fmt:"), " ", told_of_cut(log, " s:"));
}

// Returns 1 if the aspect is not known, which is 0/1.
double pixel_aspect_of_cut(const std::string &log)
{
    int width = 0, height = 0;
    const std::string aspect = told_of_cut(log, " sar:");
    const bool is_known =
        sscanf(aspect.c_str(), "%d/%d", &width, &height) == 2 && width > 0 && height > 0;
    return is_known ? static_cast<double>(width) / height : 1;
}

// Raw frames keep their properties, but Matroska has few formats of them.  `codec` is what worked
// before.
Outcome cut_with(const Programs &programs, const Wanted &wanted, std::string &codec)
{
    Outcome outcome = cut(programs, wanted, codec);
    if (outcome.succeeded() || codec != raw_codec)
        return outcome;
    codec = "ffv1";
    return cut(programs, wanted, codec);
}

// Adds a frame, and returns its size and format.
std::string add_cut(const Programs &programs, Wanted wanted, std::string &codec, Cut &frames)
{
    Outcome outcome = cut_with(programs, wanted, codec);
    if (outcome.succeeded() && outcome.output.empty() && wanted.duration &&
        wanted.earliest() < *wanted.duration) {
        wanted.approach = Approach::decode;
        outcome = cut_with(programs, wanted, codec);
    }
    if (outcome.output.size() >= map_size) {
        frames.times.push_back(time_of_cut(outcome, wanted));
        frames.details.emplace_back(outcome.output);
        if (frames.times.size() == 1) {
            frames.pixel_aspect = pixel_aspect_of_cut(outcome.errors);
            frames.transfer = told_of_cut(outcome.errors, " color_trc:");
        }
        return shape_of_cut(outcome.errors);
    }
    if (!outcome.succeeded())
        throw std::runtime_error(
            concat(quoted_name(wanted.clip), " cannot be decoded: ", outcome.reason()));
    throw UsageError(concat(quoted_name(wanted.clip), " has no frame at ",
                            seconds_in_words(wanted.seconds), ", and none after it"));
}

} // namespace

DetailMap::DetailMap(std::string_view gray)
{
    auto value = [&](int x, int y) {
        const size_t row = static_cast<size_t>(y) * map_width;
        return static_cast<unsigned char>(gray[row + static_cast<size_t>(x)]);
    };
    for (int y = 0; y < map_height; y++)
        for (int x = 0; x < map_width; x++) {
            const int across = x ? std::abs(value(x, y) - value(x - 1, y)) : 0;
            const int down = y ? std::abs(value(x, y) - value(x, y - 1)) : 0;
            const auto column = static_cast<size_t>(x), row = static_cast<size_t>(y);
            sums_[row + 1][column + 1] = sums_[row][column + 1] + sums_[row + 1][column] -
                                         sums_[row][column] + across + down;
        }
}

double DetailMap::sum_of(int left, int top, int width, int height) const
{
    auto sum = [&](int x, int y) { return sums_[static_cast<size_t>(y)][static_cast<size_t>(x)]; };
    return sum(left + width, top + height) - sum(left, top + height) - sum(left + width, top) +
           sum(left, top);
}

Place DetailMap::best_place(double width, double height) const
{
    const int across = std::clamp(static_cast<int>(std::lround(width * map_width)), 1, map_width);
    const int down = std::clamp(static_cast<int>(std::lround(height * map_height)), 1, map_height);
    double most = -1;
    Place best{};
    for (int y = 0; y + down <= map_height; y++)
        for (int x = 0; x + across <= map_width; x++)
            if (const double sum = sum_of(x, y, across, down); sum > most) {
                most = sum;
                best = {static_cast<double>(x) / map_width, static_cast<double>(y) / map_height};
            }
    return best;
}

std::vector<double> choose_times(const Programs &programs, const std::string &clip, int count,
                                 double limit_seconds)
{
    constexpr double short_clip = 60, most_frames = 600;
    const std::optional<double> duration = duration_of(programs, clip);
    const double step = duration ? *duration / most_frames : 0;
    const bool is_long = !duration || *duration > short_clip;
    std::vector<Candidate> found;
    if (is_long)
        found = read_candidates(programs, clip, step, true, limit_seconds);
    if (found.size() < 2 * static_cast<size_t>(count)) // there may be few key frames
        found = read_candidates(programs, clip, step, false, limit_seconds);
    return best_of_parts(found, count);
}

double half_frame_seconds(const Programs &programs, const std::string &clip)
{
    const std::string told = description_of(programs, clip);
    const size_t end = told.find(" fps");
    const size_t begin = end == told.npos ? end : told.find_last_of(' ', end - 1);
    const double rate = begin == told.npos ? 0 : strtod(told.c_str() + begin, nullptr);
    return rate > 0 && rate < 1000 ? 0.5 / rate : time_rounding;
}

Cut cut_frames(const Programs &programs, const TemporaryFolder &folder, const std::string &clip,
               const std::vector<double> &times, double slack, const std::string &name)
{
    Cut frames;
    frames.list = folder.path(name + ".txt");
    std::ofstream list(frames.list);
    std::string codec = raw_codec, first_shape;
    const std::optional<double> duration = duration_of(programs, clip);
    for (size_t i = 0; i < times.size(); i++) {
        const std::string file = folder.path(concat(name, i, ".mkv"));
        const std::string shape = add_cut(
            programs,
            {.clip = clip, .seconds = times[i], .slack = slack, .file = file, .duration = duration},
            codec, frames);
        if (i == 0)
            first_shape = shape;
        if (shape != first_shape)
            throw UsageError(concat(quoted_name(clip), " changes: ", first_shape, " at ",
                                    seconds_in_words(frames.times[0]), ", ", shape, " at ",
                                    seconds_in_words(frames.times[i]),
                                    "; choose frames of one size and format with --at"));
        list << "file " << file << '\n';
    }
    if (!list.flush())
        throw std::runtime_error(concat(frames.list, " cannot be written"));
    return frames;
}

std::string seconds_in_words(double seconds)
{
    char text[32];
    snprintf(text, sizeof(text), "%.3f s", std::max(seconds, 0.0));
    return text;
}

std::string for_ffmpeg(const std::string &path)
{
    return std::filesystem::absolute(path).string();
}

} // namespace dnn_torch
