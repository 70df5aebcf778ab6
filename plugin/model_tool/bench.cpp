// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch bench: measures frames per second by precision, workers and threads, and prints them as
// a table and as bars.
#include "base/compose.h"
#include "bench_report.h"
#include "bench_task.h"
#include "frame_rate.h"
#include "host/model/contract_inputs.h"
#include "host/model/picture_tensors.h"
#include "host/workers/core_budget.h"
#include "host/workers/time_limit.h"
#include "model_commands.h"
#include "new_file.h"
#include "progress.h"
#include "subject.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>

namespace dnn_torch
{
namespace
{

std::string in_words(const Setting &setting)
{
    return counted(setting.workers, "worker") + " of " + counted(setting.threads, "thread");
}

bool holds(const AVPixelFormat *formats, AVPixelFormat format)
{
    for (; *formats != AV_PIX_FMT_NONE; formats++)
        if (*formats == format)
            return true;
    return false;
}

AVPixelFormat first_of(const AVPixelFormat *formats)
{
    for (AVPixelFormat common : {AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV420P, AV_PIX_FMT_RGBA,
                                 AV_PIX_FMT_YUVA420P, AV_PIX_FMT_GRAY8})
        if (holds(formats, common))
            return common;
    return formats[0];
}

// Returns the shape of frames that the filter would get and return.
FrameShape shape_for(const Task &task, Size size)
{
    FrameShape shape = {.format = first_of(task.formats()), .size = size, .time_base = {1, 25}};
    std::vector<AVPixelFormat> results = task.results_of(shape.format);
    results.push_back(AV_PIX_FMT_NONE);
    if (!holds(results.data(), shape.format))
        shape.result_format = first_of(results.data());
    return shape;
}

// Measures the second run on one thread, because the first one is slower.
double time_run(const std::shared_ptr<const ModelPlan> &plan, Size size, int channels)
{
    Session session(plan, 1);
    std::vector<float> grey(static_cast<size_t>(channels) * static_cast<size_t>(size.width) *
                                static_cast<size_t>(size.height),
                            0.5F);
    Images picture = float_planes(grey.data(), 1, channels, size);
    run_pictures(session, picture);
    Clock::time_point start = Clock::now();
    run_pictures(session, picture);
    return seconds_since(start);
}

double time_run_within(std::chrono::microseconds timeout, const std::shared_ptr<Model> &model,
                       Size size, int channels)
{
    DnnTorchTensor shape = picture_shape(1, channels, size);
    std::shared_ptr<const ModelPlan> plan = model->plan({&shape, 1}, {});
    TimeLimit limit = {.most = 2 * timeout,
                       .line = "two runs of " + to_text(size) + " take more than " +
                               in_seconds(2 * timeout) + "; raise --timeout"};
    return value_within(limit, [=] { return time_run(plan, size, channels); });
}

// Returns 640x360, or less if a run would take much of the given time.
Size default_size(const BenchModel &model, const Request &request)
{
    constexpr Size candidates[] = {{640, 360}, {480, 270}, {320, 180}, {160, 90}};
    if (!model.sizes)
        return candidates[0]; // detectors and classifiers have their own input size
    const FoundSizes &sizes = *model.sizes;
    Size small = fit_size(sizes, {2 * small_extent, 2 * small_extent});
    double run_seconds =
        time_run_within(request.timeout, model.in_fp32.model, small,
                        input_channels(model.in_fp32.contract, count_of(model.channels)));
    double pixel_seconds = run_seconds / small.width / small.height;
    for (Size size : candidates)
        if (pixel_seconds * size.width * size.height < request.seconds / 40)
            return fit_size(sizes, size);
    return fit_size(sizes, {96, 54});
}

std::string format_in_words(Channels channels)
{
    switch (channels) {
    case Channels::luma:
        return "luma of YUV 4:2:0";
    case Channels::rgba:
        return "RGBA";
    default:
        return "RGB";
    }
}

// Opens the file before measuring, so that an error shows at once.
std::unique_ptr<NewFile> new_svg_file(const Request &request)
{
    if (request.svg_file.empty())
        return nullptr;
    std::error_code error;
    if (std::filesystem::equivalent(request.svg_file, request.path, error))
        throw UsageError("--svg " + request.svg_file + " is the model; give another file");
    return std::make_unique<NewFile>(request.svg_file);
}

class Bench
{
public:
    explicit Bench(const Request &request)
        : request_(request), svg_(new_svg_file(request)), backend_(find_backend(request)),
          report_(request.json, [this](const Rate &rate) { return command(rate); })
    {
    }

    void run()
    {
        show_progress("trying what the model takes ...");
        BenchModel model = open_for_bench(backend_, request_);
        kind_ = model.kind;
        interpolates_ = model.in_fp32.contract.model.task == "interpolate";
        channels_ = model.channels;
        size_ = request_.size ? *request_.size : default_size(model, request_);
        ModelWithContract subject = std::move(model.in_fp32);
        options_ = filter_options(request_, *subject.model);
        start_ = Clock::now();
        NewPlan work = plan(subject, "fp32");
        report_.begin({.model = request_.path,
                       .device = backend_.device.device,
                       .size = size_,
                       .result = work.plan->output,
                       .format = format_in_words(channels_),
                       .filter = interpolates_ ? interpolator : filter_for(kind_),
                       .cores = machine_.cores,
                       .seconds = request_.seconds,
                       .notice = subject.model->notice(),
                       .notes = notes_of(work)});
        own_notes_ = notes_of(work);
        const std::vector<const char *> others = other_precisions();
        int share = static_cast<int>(others.size()) + (draws() ? 2 : 1);
        measure_precision(*subject.model, work, "fp32", share);
        for (const char *precision : others) {
            subject.model.reset(); // only one model is in memory at a time
            try_precision(precision, --share);
        }
        if (draws())
            compare_others();
        report_.end();
        write_svg();
    }

private:
    // Plans as the filter does, with padding, tiles and conversions of the result.
    NewPlan plan(const ModelWithContract &subject, const std::string &precision)
    {
        constexpr double default_tuning = 3; // as in the filter's option `tune`
        show_progress(precision + ": finding the fastest variant of the model ...");
        return plan_within(subject, std::min(default_tuning, request_.seconds / 10));
    }

    NewPlan plan_within(const ModelWithContract &subject, double tuning_seconds)
    {
        const std::unique_ptr<Task> task = task_for(request_, kind_, subject);
        return task->plan(shape_for(*task, size_), {.tuning_seconds = tuning_seconds});
    }

    static std::vector<std::string> notes_of(const NewPlan &work)
    {
        std::vector<std::string> notes;
        for (const std::string &note : work.notes)
            if (!note.empty())
                notes.push_back(note);
        if (!work.warning.empty())
            notes.push_back(work.warning);
        return notes;
    }

    std::vector<const char *> other_precisions() const
    {
        if (on_cpu())
            return {"bf16", "fp16", "int8"};
        return {"bf16", "fp16"};
    }

    // `share` is how many precisions are still to be measured, including this one.
    void try_precision(const std::string &precision, int share)
    {
        if (seconds_left() <= 0)
            return leave_out(precision, time_is_up);
        try {
            const ModelWithContract subject = open_as_kind(backend_, request_, kind_, precision);
            measure_precision(*subject.model, plan(subject, precision), precision, share);
        } catch (const AnyError &error) {
            leave_out(precision, error.what());
        }
    }

    void measure_precision(const Model &model, const NewPlan &work, const std::string &precision,
                           int share)
    {
        constexpr double for_rounds = 0.9; // the remainder is for finishing whole rounds
        if (std::string reason = reason_against(model, precision, work); !reason.empty())
            return leave_out(precision, reason);
        measure_settings(work, precision, for_rounds * seconds_left() / share);
    }

    // Returns why a precision is of no use here, or an empty text.  A precision that is only
    // emulated would use up the time of the others.
    std::string reason_against(const Model &model, const std::string &precision,
                               const NewPlan &work)
    {
        constexpr double too_slow = 1.5;
        const double run_seconds = work.cost.seconds;
        if (precision == "fp32") {
            fp32_seconds_ = run_seconds;
            return {};
        }
        if (work.variants.single_threaded.precision != precision)
            return model.notice().empty() ? "the engine runs this model as before" : model.notice();
        if (!(fp32_seconds_ > 0) || run_seconds <= too_slow * fp32_seconds_)
            return {};
        char text[64];
        snprintf(text, sizeof(text), "a run takes %.1f times as long as in fp32",
                 run_seconds / fp32_seconds_);
        return text;
    }

    void measure_settings(const NewPlan &work, const std::string &precision, double seconds)
    {
        const RunCost &cost = work.cost;
        CoreRequest requested;
        requested.device = !on_cpu();
        requested.in_order = work.plan->in_order;
        CoreBudget budget = divide_cores(machine_, requested, cost);
        Setting own = {.workers = budget.workers, .threads = budget.threads_per_worker};
        if (precision == "fp32") {
            own_setting_ = own;
            own_variant_ = work.variants.with(own.threads);
        }
        std::vector<Setting> settings = settings_to_measure(machine_.cores, on_cpu(), own);
        if (work.plan->in_order) // the filter gives such a model one worker
            std::erase_if(settings, [](const Setting &setting) { return setting.workers > 1; });
        seconds /= static_cast<double>(settings.size());
        for (const Setting &setting : settings) {
            std::string name = precision + ", " + in_words(setting);
            // A setting needs time for two rounds.  The very first setting is always measured.
            bool too_late = seconds_left() < 2 * cost.seconds && !report_.empty();
            if (too_late || !fits(setting.workers, machine_, cost)) {
                leave_out(name, too_late ? time_is_up : "that would not fit into memory");
                continue;
            }
            show_progress(name + " ...");
            double warming = 2 * cost.seconds / static_cast<double>(setting.threads);
            // No worker uses the plan any more.
            work.plan->threads = static_cast<int>(setting.threads);
            double rate = measure_rate(work.plan, setting.workers, places_of(setting),
                                       seconds - warming, request_.timeout);
            report_.add({.precision = precision,
                         .setting = setting,
                         .frames_per_second = rate,
                         .variant = work.variants.with(setting.threads),
                         .chosen = setting == own && precision == own_precision()});
        }
    }

    // Returns where the filter would place those workers.
    WorkerPlaces places_of(const Setting &setting) const
    {
        return places_here({.workers = setting.workers,
                            .threads_per_worker = setting.threads,
                            .in_flight = setting.workers + 1,
                            .cores = on_cpu() ? setting.workers * setting.threads : 0});
    }

    // ---- what the filter would not choose by itself

    // JSON has only rows of settings, so comparisons are not measured for it.
    bool draws() const { return !request_.json || svg_; }

    // Measures in fp32, with the filter's own workers and threads: other variants of the model, and
    // the chosen variant in tiles.
    void compare_others()
    {
        std::vector<Request> others;
        for (const int tile : {512, 256})
            if (tile < std::max(size_.width, size_.height) && decides_tiles()) {
                Request &in_tiles = others.emplace_back(request_);
                in_tiles.optimize = own_variant_.optimize;
                in_tiles.contract.sizes.tile = std::to_string(tile);
            }
        for (const char *variant : {"0", "frozen", "channels_last", "inference", "fused"})
            others.emplace_back(request_).optimize = variant;
        std::set<std::string> measured = {name_of(own_variant_)};
        for (size_t left = others.size(); left > 0; left--) {
            if (seconds_left() <= 0) {
                // JSON lists missing rows; comparisons are not rows.
                if (!request_.json)
                    leave_out(std::to_string(left) + " comparisons of forms and tiles", time_is_up);
                return;
            }
            compare(others[others.size() - left], seconds_left() / static_cast<double>(left),
                    measured);
        }
    }

    bool decides_tiles() const
    {
        const std::string &tile = request_.contract.sizes.tile;
        return kind_ == Kind::picture && (tile.empty() || tile == "auto");
    }

    // Skips a variant that the engine runs in the same way as one in `measured`.  A model that does
    // not support a variant is not an error.
    void compare(const Request &other, double seconds, std::set<std::string> &measured)
    {
        const bool in_tiles = other.contract.sizes.tile != request_.contract.sizes.tile;
        show_progress(
            "fp32, " +
            (in_tiles ? "in tiles of " + other.contract.sizes.tile : "optimize=" + other.optimize) +
            " ...");
        const Clock::time_point start = Clock::now();
        try {
            const ModelWithContract subject = open_as_kind(backend_, other, kind_, "fp32");
            const NewPlan work = plan_within(subject, 0);
            seconds = std::max(seconds - seconds_since(start), 0.0);
            const Variant &variant = work.variants.with(own_setting_.threads);
            if (in_tiles ? notes_of(work) == own_notes_ : !measured.insert(name_of(variant)).second)
                return;
            work.plan->threads = static_cast<int>(own_setting_.threads);
            const double rate = measure_rate(work.plan, own_setting_.workers,
                                             places_of(own_setting_), seconds, request_.timeout);
            report_.compare({.precision = "fp32",
                             .setting = own_setting_,
                             .frames_per_second = rate,
                             .variant = variant,
                             .chosen = false,
                             .tile = in_tiles ? other.contract.sizes.tile : ""});
        } catch (const AnyError &) {
        }
    }

    std::string command(const Rate &rate) const
    {
        FilterOptions options = options_;
        options.emplace_back("workers", std::to_string(rate.setting.workers));
        options.emplace_back("threads", std::to_string(rate.setting.threads));
        options.emplace_back("precision", rate.precision);
        if (interpolates_)
            return command_line(interpolator, request_.path, options, "", "out.mp4");
        return command_for(request_, kind_, channels_, options);
    }

    void write_svg()
    {
        if (!svg_)
            return;
        svg_->write(bars_as_svg(report_.chart()));
        svg_->keep();
    }

    void leave_out(const std::string &what, const std::string &why)
    {
        report_.leave_out(what + ": " + why);
    }

    double seconds_left() const { return request_.seconds - seconds_since(start_); }
    bool on_cpu() const { return backend_.on_cpu(); }
    const char *own_precision() const { return on_cpu() ? "fp32" : "fp16"; } // precision=auto

    static constexpr const char *time_is_up = "the time is up; give more with --seconds";

    const Request &request_;
    const std::unique_ptr<NewFile> svg_; // null: none was requested
    Backend backend_;
    BenchReport report_;
    Machine machine_ = usable_machine();
    Kind kind_ = Kind::picture;
    static constexpr const char *interpolator = "dnn_torch_interpolate";
    bool interpolates_ = false;
    Channels channels_ = Channels::rgb;
    FilterOptions options_; // of the request
    Size size_{};
    Clock::time_point start_;
    double fp32_seconds_ = 0;
    // The filter's own choice in fp32.
    Setting own_setting_ = {1, 1};
    Variant own_variant_;
    std::vector<std::string> own_notes_;
};

} // namespace

int bench(const Request &request)
try {
    Bench(request).run();
    return 0;
} catch (const AnyError &error) {
    if (request.json)
        print_failure(request.path, error.what());
    throw;
}

} // namespace dnn_torch
