// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options.h"

#include <climits>
#include <cstddef>

namespace dnn_torch
{
namespace
{

constexpr int flags = AV_OPT_FLAG_FILTERING_PARAM | AV_OPT_FLAG_VIDEO_PARAM;
constexpr int backend_torch = 2; // as dnn_processing counts

AVOption text_option(const char *name, const char *help, size_t offset, const char *value)
{
    AVOption option{};
    option.name = name;
    option.help = help;
    option.offset = static_cast<int>(offset);
    option.type = AV_OPT_TYPE_STRING;
    option.default_val.str = value;
    option.flags = flags;
    return option;
}

AVOption number_option(const char *name, const char *help, AVOptionType type, size_t offset,
                       int64_t value, double min, double max)
{
    AVOption option = text_option(name, help, offset, nullptr);
    option.type = type;
    option.default_val.i64 = value;
    option.min = min;
    option.max = max;
    return option;
}

AVOption int_option(const char *name, const char *help, size_t offset, int value, int min, int max)
{
    return number_option(name, help, AV_OPT_TYPE_INT, offset, value, min, max);
}

AVOption bool_option(const char *name, const char *help, size_t offset, bool value)
{
    return number_option(name, help, AV_OPT_TYPE_BOOL, offset, value, 0, 1);
}

AVOption with_unit(AVOption option, const char *unit)
{
    option.unit = unit;
    return option;
}

AVOption deprecated(AVOption option)
{
    option.flags |= AV_OPT_FLAG_DEPRECATED;
    return option;
}

#define FIELD(name) offsetof(PrivateData, name)

// The first one may be given without its name.
const AVOption options[] = {
    text_option("model", "path of the model, a TorchScript file", FIELD(model), nullptr),
    text_option("device", "device to run the model on", FIELD(device), "cpu"),
    bool_option("async", "work on several frames at once", FIELD(async), true),
    int_option("nireq", "requests in flight, each of batch_size frames (0: chosen)", FIELD(nireq),
               0, 0, 1024),
    int_option("batch_size", "frames in one run of the model", FIELD(batch_size), 1, 1, 1000),
    int_option("workers", "runs of the model at the same time (0: chosen)", FIELD(workers), 0, 0,
               256),
    int_option("threads", "threads of one run (0: the cores divided by workers)", FIELD(threads), 0,
               0, 1024),
    text_option("precision", "what the model computes with: auto, fp32, bf16 or fp16",
                FIELD(precision), "auto"),
    text_option("optimize",
                "0: run the model as it was saved; 1: its fastest form; or a form's name",
                FIELD(optimize), "1"),
    number_option("tune", "time to find the fastest form in; found once for a model and a size",
                  AV_OPT_TYPE_DURATION, FIELD(tune), INT64_C(3000000), 0, 1e12),
    text_option("input", "name of the model's input (the only one, if not given)", FIELD(input),
                nullptr),
    text_option("output", "name of the model's output, where it returns several by name",
                FIELD(output), nullptr),
    text_option("allow", "operators that the model may use though they are refused: a+b",
                FIELD(allow), nullptr),
    number_option("timeout", "time that one run of the model may take (0: no limit)",
                  AV_OPT_TYPE_DURATION, FIELD(timeout), INT64_C(600000000), 0, 1e15),
    text_option("stats", "file for the statistics, as JSON", FIELD(stats), nullptr),
    text_option("engine", "what runs the model: NAME of an engine-NAME.so", FIELD(engine), "torch"),
    with_unit(int_option("dnn_backend", "for command lines of dnn_processing; only torch is here",
                         FIELD(backend), backend_torch, backend_torch, backend_torch),
              "backend"),
    with_unit(number_option("torch", "LibTorch", AV_OPT_TYPE_CONST, 0, backend_torch, 0, 0),
              "backend"),
    deprecated(text_option("backend_configs", "options as key=value&key=value",
                           FIELD(backend_configs), nullptr)),
    deprecated(
        text_option("options", "the same as backend_configs", FIELD(backend_configs), nullptr)),
    {},
};

AVClass make_class()
{
    AVClass made{};
    made.class_name = "dnn_torch";
    made.item_name = av_default_item_name;
    made.option = options;
    made.version = LIBAVUTIL_VERSION_INT;
    made.category = AV_CLASS_CATEGORY_FILTER;
    return made;
}

} // namespace

const AVClass dnn_torch_class = make_class();

int apply_backend_configs(PrivateData &data)
{
    if (!data.backend_configs)
        return 0;
    int ret = av_set_options_string(&data, data.backend_configs, "=", "&");
    return ret < 0 ? ret : 0;
}

} // namespace dnn_torch
