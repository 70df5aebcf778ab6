// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include "base/compose.h"
#include "host/error.h"
#include "host/inference/time_limit.h"
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

constexpr int backend_torch = 2; // as dnn_processing counts

// "error", "restart" or "restart:N".  A graph's text needs no quotes around "restart=N".
int restarts_from(std::string_view text)
{
    constexpr std::string_view word = "restart";
    constexpr int usual = 3, most = 1000000;
    if (text.empty() || text == "error")
        return 0;
    if (text == word)
        return usual;
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

SizeOptions sizes_of(const SizeSettings &settings)
{
    return {.tile = text_or_empty(settings.tile),
            .overlap = text_or_empty(settings.overlap),
            .fit = text_or_empty(settings.fit),
            .scale = text_or_empty(settings.scale),
            .size = text_or_empty(settings.size)};
}

} // namespace

ModelRequest request_of(const FilterSettings &all)
{
    const ModelSettings &settings = all.model;
    const ContractSettings &contract = all.contract;
    return {.path = text_or_empty(settings.path),
            .input = text_or_empty(settings.input),
            .output = text_or_empty(settings.output),
            .device = text_or_empty(settings.device),
            .precision = text_or_empty(settings.precision),
            .calibration = text_or_empty(settings.calibration),
            .optimize = text_or_empty(settings.optimize),
            .allow = text_or_empty(settings.allow),
            .engine = text_or_empty(settings.engine),
            .weights = text_or_empty(settings.weights),
            .timeout = std::chrono::microseconds(settings.timeout),
            .isolation = static_cast<Isolation>(settings.isolate),
            .contract = {.range = text_or_empty(contract.range),
                         .order = text_or_empty(contract.order),
                         .mean = text_or_empty(contract.mean),
                         .std = text_or_empty(contract.std),
                         .type = text_or_empty(contract.type),
                         .layout = text_or_empty(contract.layout),
                         .inputs = text_or_empty(contract.inputs),
                         .as = text_or_empty(contract.as),
                         .depth = text_or_empty(contract.depth),
                         .classes = text_or_empty(contract.classes),
                         .labels = text_or_empty(contract.labels),
                         .multiple = text_or_empty(all.sizes.multiple),
                         .padding = text_or_empty(all.sizes.padding),
                         .sizes = sizes_of(all.sizes)}};
}

RunRequest request_of(const RunSettings &settings)
{
    return {.cores = {.workers = static_cast<size_t>(settings.workers),
                      .threads = static_cast<size_t>(settings.threads),
                      .in_flight = static_cast<size_t>(settings.nireq),
                      .async = settings.async != 0},
            .batch_size = static_cast<size_t>(settings.batch_size),
            .tuning_seconds = static_cast<double>(settings.tune) / AV_TIME_BASE,
            .restarts = restarts_from(text_or_empty(settings.on_crash))};
}

OptionTable model_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        changeable(text_option("model",
                               "path of the model: weights (.pth, .safetensors) or TorchScript",
                               field(offsetof(ModelSettings, path)), nullptr)),
        text_option("device", "device to run the model on", field(offsetof(ModelSettings, device)),
                    "cpu"),
        changeable(text_option("precision",
                               "what the model computes with: auto, fp32, bf16, fp16 or int8",
                               field(offsetof(ModelSettings, precision)), "auto")),
        text_option("calibration",
                    "what int8 is calibrated with: generated, first (frames of the stream) or a "
                    "file's frames",
                    field(offsetof(ModelSettings, calibration)), "generated"),
        changeable(text_option(
            "optimize", "0: run the model as it was saved; 1: its fastest form; or a form's name",
            field(offsetof(ModelSettings, optimize)), "1")),
        text_option("input", "name of the model's input (the only one, if not given)",
                    field(offsetof(ModelSettings, input)), nullptr),
        changeable(text_option("output",
                               "name of the model's output, where it returns several by name",
                               field(offsetof(ModelSettings, output)), nullptr)),
        changeable(text_option("allow",
                               "operators that the model may use though they are refused: a+b",
                               field(offsetof(ModelSettings, allow)), nullptr)),
        duration_option("timeout",
                        "time that one run of the model may take, and 10 s at least where it is "
                        "opened (0: no limit)",
                        field(offsetof(ModelSettings, timeout)),
                        std::chrono::microseconds(usual_time_limit).count(), 1e15),
        bool_option("watch", "change to what is in the model's file when it changes",
                    field(offsetof(ModelSettings, watch)), false),
        text_option("engine", "what runs the model: NAME of an engine-NAME.so",
                    field(offsetof(ModelSettings, engine)), "torch"),
        text_option("weights",
                    "shared: one copy of the model's weights; node: one on each node of memory",
                    field(offsetof(ModelSettings, weights)), "shared"),
        with_unit(int_option("isolate", "run the model in a process of its own",
                             field(offsetof(ModelSettings, isolate)),
                             static_cast<int>(Isolation::automatic),
                             static_cast<int>(Isolation::automatic),
                             static_cast<int>(Isolation::required)),
                  "isolate"),
        named_value("auto", "if it is installed and the model runs on the CPU",
                    static_cast<int>(Isolation::automatic), "isolate"),
        named_value("require", "and fail if the system does not close it in altogether",
                    static_cast<int>(Isolation::required), "isolate"),
    };
}

OptionTable contract_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        changeable(text_option("range", "what black and white are: 1, 255 or LOW..HIGH",
                               field(offsetof(ContractSettings, range)), nullptr)),
        changeable(text_option("order", "which channel comes first: rgb or bgr",
                               field(offsetof(ContractSettings, order)), nullptr)),
        changeable(text_option("mean", "what is subtracted from each channel: one number or A|B|C",
                               field(offsetof(ContractSettings, mean)), nullptr)),
        changeable(text_option("std", "what each channel is divided by then: one number or A|B|C",
                               field(offsetof(ContractSettings, std)), nullptr)),
        changeable(text_option("type", "what the model's input is made of: float32, uint8, ...",
                               field(offsetof(ContractSettings, type)), nullptr)),
        changeable(text_option("layout", "order of dimensions: nchw, nhwc, chw, hwc, ... or IN|OUT",
                               field(offsetof(ContractSettings, layout)), nullptr)),
        changeable(text_option(
            "inputs", "what the model gets beside frames: NAME=VALUE, or NAME for a pad, ...",
            field(offsetof(ContractSettings, inputs)), nullptr)),
        changeable(text_option(
            "as", "what the result becomes: picture, gray, alpha, lab, depth, index or colors",
            field(offsetof(ContractSettings, as)), nullptr)),
        changeable(text_option("depth", "what depth becomes black and white: auto or LOW..HIGH",
                               field(offsetof(ContractSettings, depth)), nullptr)),
        changeable(text_option("classes", "which classes of a segmentation are shown: person|car",
                               field(offsetof(ContractSettings, classes)), nullptr)),
        text_option("labels",
                    "names of classes: coco, voc, imagenet, or a file with one in each line",
                    field(offsetof(ContractSettings, labels)), nullptr),
    };
}

OptionTable size_options(size_t offset)
{
    auto field = [offset](size_t of_field) { return offset + of_field; };
    return {
        changeable(text_option("tile", "run frames in tiles: WxH, N, auto (by memory) or 0 (never)",
                               field(offsetof(SizeSettings, tile)), "auto")),
        changeable(text_option("overlap",
                               "pixels by which tiles overlap on each side, or auto (measured)",
                               field(offsetof(SizeSettings, overlap)), "auto")),
        changeable(text_option(
            "fit", "how frames come to a model of one size: auto, tile, scale or letterbox",
            field(offsetof(SizeSettings, fit)), "auto")),
        changeable(text_option("multiple",
                               "number of which the model's width and height must be multiples",
                               field(offsetof(SizeSettings, multiple)), nullptr)),
        changeable(text_option("padding", "how frames are padded to that: reflect or replicate",
                               field(offsetof(SizeSettings, padding)), nullptr)),
        text_option("scale", "scale the result to this multiple of the frame's size",
                    field(offsetof(SizeSettings, scale)), nullptr),
        text_option("size", "scale the result to this size", field(offsetof(SizeSettings, size)),
                    nullptr),
    };
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
        duration_option("tune",
                        "time to find the fastest form in; found once for a model and a size",
                        field(offsetof(RunSettings, tune)), INT64_C(3000000), 1e12),
        text_option("stats", "file for the statistics, as JSON",
                    field(offsetof(RunSettings, stats)), nullptr),
        text_option("on_crash", "when the model's process ends: error, or restart=N times at most",
                    field(offsetof(RunSettings, on_crash)), "error"),
    };
}

OptionTable backend_options(size_t offset)
{
    size_t backend = offset + offsetof(BackendSettings, backend);
    size_t configs = offset + offsetof(BackendSettings, configs);
    return {
        with_unit(int_option("dnn_backend",
                             "for command lines of dnn_processing; only torch is here", backend,
                             backend_torch, backend_torch, backend_torch),
                  "backend"),
        named_value("torch", "LibTorch", backend_torch, "backend"),
        deprecated(
            text_option("backend_configs", "options as key=value&key=value", configs, nullptr)),
        deprecated(text_option("options", "the same as backend_configs", configs, nullptr)),
    };
}

OptionTable without(OptionTable group, std::initializer_list<std::string_view> names)
{
    std::erase_if(group, [&](const AVOption &option) {
        return std::find(names.begin(), names.end(), option.name) != names.end();
    });
    return group;
}

OptionTable only(OptionTable group, std::initializer_list<std::string_view> names)
{
    std::erase_if(group, [&](const AVOption &option) {
        return std::find(names.begin(), names.end(), option.name) == names.end();
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
    if (!backend.configs)
        return 0;
    int ret = av_set_options_string(data, backend.configs, "=", "&");
    return ret < 0 ? ret : 0;
}

} // namespace dnn_torch
