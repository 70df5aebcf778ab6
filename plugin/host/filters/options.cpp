// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include "base/compose.h"
#include "host/error.h"
#include "option_kinds.h"

extern "C" {
#include <libavutil/avutil.h>
#include <libavutil/error.h>
}

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace dnn_torch
{
namespace
{

constexpr int backend_torch = 2; // dnn_processing's number for it

// Takes "error", "restart" and "restart:N"; and "restart=N", which needs no quotes in a graph.
int restarts_from(std::string_view text)
{
    constexpr std::string_view word = "restart";
    constexpr int default_number = 3, most = 1000000;
    if (text.empty() || text == "error")
        return 0;
    if (text == word)
        return default_number;
    int number = 0;
    const char *end = text.data() + text.size(), *digits = text.data() + word.size() + 1;
    bool has_number = text.substr(0, word.size()) == word && digits < end &&
                      (digits[-1] == ':' || digits[-1] == '=') &&
                      std::from_chars(digits, end, number).ptr == end;
    if (!has_number || number < 1 || number > most)
        throw Error(AVERROR(EINVAL),
                    "on_crash takes error, restart or restart=N, not '" + std::string(text) + "'");
    return number;
}

} // namespace

ModelRequest request_of(const ModelSettings &settings)
{
    ModelRequest request;
    for (size_t i = 0; i < std::size(model_option_rows); i++)
        model_option_rows[i].text_in(request) = text_or_empty(settings.texts[i]);
    request.timeout = std::chrono::microseconds(settings.timeout);
    request.isolation = static_cast<Isolation>(settings.isolate);
    return request;
}

RunRequest request_of(const RunSettings &settings)
{
    return {.cores = {.workers = static_cast<size_t>(settings.workers),
                      .threads = static_cast<size_t>(settings.threads),
                      .in_flight = static_cast<size_t>(settings.nireq),
                      .async = settings.async != 0},
            .batch_size = static_cast<size_t>(settings.batch_size),
            .tuning_seconds = static_cast<double>(settings.tune) / AV_TIME_BASE,
            .has_deadline = settings.deadline != 0,
            .hides = settings.hides != 0,
            .for_latency = static_cast<Goal>(settings.goal) == Goal::latency,
            .restarts = restarts_from(text_or_empty(settings.on_crash))};
}

ContinuitySettings continuity_of(const RunSettings &settings)
{
    return {.cut_limit = cut_limit_from(text_or_empty(settings.cuts)),
            .jump = static_cast<double>(settings.jump),
            .gaps_count = settings.gaps != 0};
}

DeadlineSettings deadline_of(RunSettings &settings)
{
    const auto refuse = [](const char *why) { throw Error(AVERROR(EINVAL), why); };
    auto late = static_cast<Late>(settings.late);
    settings.hides |= late == Late::hide;
    if (settings.deadline == 0 && late != Late::automatic && late != Late::hide)
        refuse("late= says what becomes of a frame after its deadline; give deadline=, too");
    if (settings.deadline != 0 && settings.batch_size > 1)
        refuse("a frame would wait for others of its batch, which may come after its deadline; "
               "leave batch_size at 1, or deadline away");
    if (static_cast<Goal>(settings.goal) == Goal::latency && settings.batch_size > 1)
        refuse("goal=latency makes each frame at once, and a batch waits for more of them; leave "
               "batch_size at 1");
    if (settings.hides && (late == Late::pass || late == Late::last))
        refuse("hide= hides frames that are late, too; leave late away, or say late=drop");
    if (settings.hides && settings.strength > 0 && settings.strength < 1)
        refuse(hides_nothing_mixed);
    if (settings.hides && settings.every != 1)
        refuse("what is to be hidden may move in frames that the model does not see; leave every "
               "at 1");
    if (!settings.hides && settings.hide_with != static_cast<int>(Hiding::black))
        refuse("hide_with= says how hidden things look; say what is hidden: hide= of "
               "dnn_torch_detect, or late=hide");
    if (settings.every == 0 && settings.deadline == 0)
        refuse("every=auto chooses N by the deadline; give deadline=, too, or a number");
    if (late == Late::automatic)
        late = settings.hides ? Late::hide : settings.every != 1 ? Late::last : Late::pass;
    return {.limit = std::chrono::microseconds(settings.deadline), .late = late};
}

OptionTable model_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    OptionTable all;
    for (size_t i = 0; i < std::size(model_option_rows); i++) {
        const ModelOption &row = model_option_rows[i];
        const size_t place = offsetof(ModelSettings, texts) + i * sizeof(char *);
        const AVOption option = text_option(row.name, row.help, field(place), row.default_value);
        all.push_back(row.changes ? changeable(option) : option);
    }
    const AVOption others[] = {
        duration_option("timeout",
                        "time that one run of the model may take, and 10 s at least where it is "
                        "opened (0: no limit)",
                        field(offsetof(ModelSettings, timeout)),
                        std::chrono::microseconds(default_time_limit).count(), 1e15),
        bool_option("watch", "change to what is in the model's file when it changes",
                    field(offsetof(ModelSettings, watch)), false),
        with_unit(int_option("isolate", "run the model in a process of its own",
                             field(offsetof(ModelSettings, isolate)),
                             static_cast<int>(Isolation::automatic),
                             static_cast<int>(Isolation::automatic),
                             static_cast<int>(Isolation::required)),
                  "isolate"),
        named_value("auto", "if it is installed and the model runs on the CPU",
                    static_cast<int>(Isolation::automatic), "isolate"),
        named_value("require", "and fail unless that process is fully sandboxed",
                    static_cast<int>(Isolation::required), "isolate"),
    };
    all.insert(all.end(), std::begin(others), std::end(others));
    return all;
}

OptionTable run_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        bool_option("async", "work on several frames at once", field(offsetof(RunSettings, async)),
                    true),
        changeable(float_option("strength", "how much of the result is mixed with the frame",
                                field(offsetof(RunSettings, strength)), 1, 0, 1)),
        int_option("nireq", "requests in flight, each of batch_size frames (0: chosen)",
                   field(offsetof(RunSettings, nireq)), 0, 0, 1024),
        int_option("batch_size", "frames in one run of the model",
                   field(offsetof(RunSettings, batch_size)), 1, 1, 1000),
        int_option("workers", "runs of the model at the same time (0: chosen)",
                   field(offsetof(RunSettings, workers)), 0, 0, 256),
        int_option("threads", "threads of one run (0: the cores divided by workers and filters)",
                   field(offsetof(RunSettings, threads)), 0, 0, 1024),
        with_unit(int_option("goal", "what workers and threads are chosen for",
                             field(offsetof(RunSettings, goal)), static_cast<int>(Goal::throughput),
                             static_cast<int>(Goal::throughput), static_cast<int>(Goal::latency)),
                  "goal"),
        named_value("throughput", "as many frames as possible", Goal::throughput, "goal"),
        named_value("latency", "one frame as soon as possible, as measured", Goal::latency, "goal"),
        duration_option("tune",
                        "time to find the fastest variant in; found once for a model and a size",
                        field(offsetof(RunSettings, tune)), INT64_C(3000000), 1e12),
        text_option("stats", "file for the statistics, as JSON",
                    field(offsetof(RunSettings, stats)), nullptr),
        text_option("on_crash", "when the model's process ends: error, or restart=N times at most",
                    field(offsetof(RunSettings, on_crash)), "error"),
        text_option("cuts", "where windows end and states begin anew: auto, off or a difference",
                    field(offsetof(RunSettings, cuts)), "auto"),
        float_option("jump", "the same where timestamps jump by so many intervals (0: never)",
                     field(offsetof(RunSettings, jump)), 10, 0, 1e6),
        bool_option("gaps", "states begin anew after frames that bypassed the model",
                    field(offsetof(RunSettings, gaps)), true),
        duration_option("deadline",
                        "time after which a frame leaves with or without its result (0: none)",
                        field(offsetof(RunSettings, deadline)), 0, 3.6e9),
        with_unit(int_option("late", "what becomes of a frame that is late",
                             field(offsetof(RunSettings, late)), static_cast<int>(Late::automatic),
                             static_cast<int>(Late::automatic), static_cast<int>(Late::hide)),
                  "late"),
        named_value("auto", "hide if something is to be hidden, last with every=, or else pass",
                    Late::automatic, "late"),
        named_value("pass", "it leaves as it came", Late::pass, "late"),
        named_value("last", "it gets the result of an earlier frame", Late::last, "late"),
        named_value("drop", "it is dropped", Late::drop, "late"),
        named_value("hide", "it is hidden, as any frame that the model has not seen", Late::hide,
                    "late"),
        with_unit(int_option("hide_with", "how what is to be hidden looks",
                             field(offsetof(RunSettings, hide_with)),
                             static_cast<int>(Hiding::black), static_cast<int>(Hiding::black),
                             static_cast<int>(Hiding::blur)),
                  "hide_with"),
        named_value("black", "black: nothing is left of it", Hiding::black, "hide_with"),
        named_value("blur", "at most 4 averages across and down are left of it", Hiding::blur,
                    "hide_with"),
        with_unit(int_option("every", "the model gets every Nth frame; the others get its result",
                             field(offsetof(RunSettings, every)), 1, 0, 1000000),
                  "every"),
        named_value("auto", "the smallest N that keeps the deadline", 0, "every"),
        number_option("start_number", "the first frame's number, which seeds random numbers",
                      AV_OPT_TYPE_INT64, field(offsetof(RunSettings, start_number)), 0, 0, 1e15),
    };
}

OptionTable backend_options(size_t offset)
{
    size_t backend = offset + offsetof(BackendSettings, backend);
    size_t configs = offset + offsetof(BackendSettings, configs);
    return {
        with_unit(int_option("dnn_backend",
                             "for command lines of dnn_processing; only torch is supported",
                             backend, backend_torch, backend_torch, backend_torch),
                  "backend"),
        named_value("torch", "LibTorch", backend_torch, "backend"),
        deprecated(
            text_option("backend_configs", "options as key=value&key=value", configs, nullptr)),
        deprecated(text_option("options", "the same as backend_configs",
                               offset + offsetof(BackendSettings, options), nullptr)),
    };
}

OptionTable without(OptionTable group, std::initializer_list<std::string_view> names)
{
    std::erase_if(group, [&](const AVOption &option) {
        return std::find(names.begin(), names.end(), option.name) != names.end();
    });
    return group;
}

OptionTable without_picture_options(OptionTable group)
{
    std::erase_if(group, [](const AVOption &option) {
        const ModelOption *const row = find_model_option(option.name);
        return row && row->is_of_pictures;
    });
    return group;
}

OptionTable compose(std::initializer_list<OptionTable> groups,
                    std::initializer_list<std::string_view> names)
{
    OptionTable all;
    for (const OptionTable &group : groups)
        all.insert(all.end(), group.begin(), group.end());
    auto place = [&](const AVOption &option) {
        return std::find(names.begin(), names.end(), option.name);
    };
    std::stable_sort(all.begin(), all.end(), [&](const AVOption &one, const AVOption &other) {
        return place(one) < place(other);
    });
    all.push_back({});
    return all;
}

int apply_backend_configs(void *data, const BackendSettings &backend)
{
    if (backend.configs && backend.options) {
        av_log(data, AV_LOG_ERROR,
               "backend_configs and options are two names of one option; give one of them\n");
        return AVERROR(EINVAL);
    }
    const char *const text = backend.configs ? backend.configs : backend.options;
    int ret = text ? av_set_options_string(data, text, "=", "&") : 0;
    return ret < 0 ? ret : 0;
}

} // namespace dnn_torch
