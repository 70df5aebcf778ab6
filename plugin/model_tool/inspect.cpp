// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch inspect: what a model file holds, takes and gives.
//
// With --json one object is printed.  What is not known is null.
//
//   model, format, origin
//   inputs, outputs   name, type
//   parameters        count, bytes, precision
//   refused           names of operators that are not known to only compute
//   engine            name, version
//   device
//   accepted          whether the filter takes the model; if not
//   error             why
//   notice            what the engine noticed
//   channels          3, 1, or both
//   sizes             complete (false: too slow to try many); tried, result (width, height);
//     width, height   smallest, step (0: the smallest alone)
//     words
//   scale             across, down: output = input * numerator / denominator + offset;
//     words           rounded: where that is not whole
//   command           to use it with
#include "base/json.h"
#include "base/terminal.h"
#include "command_line.h"
#include "model_commands.h"
#include "subject.h"

#include <algorithm>
#include <cstdio>

namespace dnn_torch
{
namespace
{

struct Inspection {
    Place place;
    DnnTorchDescription file;
    std::optional<Trials> trials;
    std::string notice, error, command;
};

Inspection look_at(const Request &request)
{
    Inspection seen{find_place(request), {}, {}, {}, {}, {}};
    seen.file = describe_model(*seen.place.engine, request.model, request.timeout);
    try {
        std::shared_ptr<Model> model = open_model(seen.place, request, "auto");
        seen.file.refused_count = 0; // it is open: --allow says so
        seen.notice = model->notice();
        seen.trials = try_model(model, request);
        seen.command = command_line(request.model, seen.trials->channels, seen.trials->sizes,
                                    filter_options(request));
    } catch (const Error &error) {
        seen.error = error.what();
    }
    return seen;
}

template <size_t Room>
std::vector<DnnTorchValue> listed(const DnnTorchValue (&values)[Room], int32_t count)
{
    return {values, values + std::clamp<int32_t>(count, 0, Room)};
}

// ---- for people ---------------------------------------------------------------

void print(const char *name, const std::string &text)
{
    if (!text.empty())
        printf("%-12s%s\n", name, printable(text).c_str());
}

template <size_t Room>
void print(const char *name, const DnnTorchValue (&values)[Room], int32_t count)
{
    for (const DnnTorchValue &value : listed(values, count)) {
        std::string text = value.name;
        if (*value.type)
            text += (text.empty() ? "" : ": ") + std::string(value.type);
        print(name, text);
        name = "";
    }
    if (count > static_cast<int32_t>(Room))
        print("", "and " + std::to_string(count - static_cast<int32_t>(Room)) + " more");
}

std::string bytes_in_words(int64_t bytes)
{
    char text[32];
    double number = static_cast<double>(bytes);
    const char *units[] = {"bytes", "KiB", "MiB", "GiB"};
    int unit = 0;
    for (; number >= 1024 && unit < 3; unit++)
        number /= 1024;
    snprintf(text, sizeof(text), "%.*f %s", unit && number < 100 ? 1 : 0, number, units[unit]);
    return text;
}

std::string parameters_in_words(const DnnTorchDescription &file)
{
    if (!file.parameters_known)
        return "not known";
    if (!file.parameters)
        return "none";
    return std::to_string(file.parameters) + ", " + bytes_in_words(file.parameter_bytes) + ", " +
           file.precision;
}

const char *channels_in_words(Channels channels)
{
    switch (channels) {
    case Channels::rgb:
        return "3 (RGB)";
    case Channels::luma:
        return "1 (luma; chroma goes around the model)";
    default:
        return "3 (RGB) or 1 (luma, which it gets of YUV video unless format=gbrp comes before)";
    }
}

void print_report(const Request &request, const Inspection &seen)
{
    const DnnTorchDescription &file = seen.file;
    print("model", request.model);
    print("format", file.format);
    print("class", file.origin);
    print("input", file.inputs, file.input_count);
    print("output", file.outputs, file.output_count);
    print("parameters", parameters_in_words(file));
    print("refused", file.refused, file.refused_count);
    print("engine", std::string(seen.place.engine->name) + " " + seen.place.engine->version +
                        " on " + seen.place.device.device);
    print("device", seen.place.device.why);
    print("notice", seen.notice);
    if (!seen.trials)
        return;
    print("channels", channels_in_words(seen.trials->channels));
    print("sizes", sizes_in_words(seen.trials->sizes));
    print("scale", scale_in_words(seen.trials->sizes));
    print("use", seen.command);
}

// ---- for programs -------------------------------------------------------------

using json::Value;

template <size_t Room> Value names_and_types(const DnnTorchValue (&values)[Room], int32_t count)
{
    Value all = Value::array();
    for (const DnnTorchValue &value : listed(values, count))
        all.push_back(
            {{"name", json::text_or_null(value.name)}, {"type", json::text_or_null(value.type)}});
    return all;
}

Value json_of(Size size)
{
    return {{"width", size.width}, {"height", size.height}};
}

Value json_of(const ExtentRule &rule)
{
    return {{"smallest", rule.smallest}, {"step", rule.step}};
}

Value json_of(const std::optional<ExtentScale> &scale)
{
    if (!scale)
        return {};
    return {{"numerator", scale->numerator},
            {"denominator", scale->denominator},
            {"offset", scale->offset},
            {"rounded", scale->rounded}};
}

Value json_of(Channels channels)
{
    Value counts = Value::array();
    if (channels != Channels::luma)
        counts.push_back(3);
    if (channels != Channels::rgb)
        counts.push_back(1);
    return counts;
}

Value json_of(const FoundSizes &sizes)
{
    return {{"complete", sizes.complete},      {"tried", json_of(sizes.tried)},
            {"result", json_of(sizes.result)}, {"width", json_of(sizes.width)},
            {"height", json_of(sizes.height)}, {"words", sizes_in_words(sizes)}};
}

Value scale_json(const FoundSizes &sizes)
{
    return {{"across", json_of(sizes.across)},
            {"down", json_of(sizes.down)},
            {"words", scale_in_words(sizes)}};
}

Value parameters_json(const DnnTorchDescription &file)
{
    if (!file.parameters_known)
        return {};
    return {{"count", file.parameters},
            {"bytes", file.parameter_bytes},
            {"precision", json::text_or_null(file.precision)}};
}

void print_json(const Request &request, const Inspection &seen)
{
    const DnnTorchDescription &file = seen.file;
    Value refused = Value::array();
    for (const DnnTorchValue &value : listed(file.refused, file.refused_count))
        refused.push_back(value.name);
    const DnnTorchEngine &engine = *seen.place.engine;
    const std::optional<Trials> &trials = seen.trials;
    Value all = {{"model", request.model},
                 {"format", json::text_or_null(file.format)},
                 {"origin", json::text_or_null(file.origin)},
                 {"inputs", names_and_types(file.inputs, file.input_count)},
                 {"outputs", names_and_types(file.outputs, file.output_count)},
                 {"parameters", parameters_json(file)},
                 {"refused", refused},
                 {"engine", {{"name", engine.name}, {"version", engine.version}}},
                 {"device", seen.place.device.device},
                 {"accepted", trials.has_value()},
                 {"error", json::text_or_null(seen.error)},
                 {"notice", json::text_or_null(seen.notice)},
                 {"channels", trials ? json_of(trials->channels) : Value()},
                 {"sizes", trials ? json_of(trials->sizes) : Value()},
                 {"scale", trials ? scale_json(trials->sizes) : Value()},
                 {"command", json::text_or_null(seen.command)}};
    printf("%s\n", json::line_of(all).c_str());
}

} // namespace

int inspect(const Request &request)
{
    Inspection seen = look_at(request);
    (request.json ? print_json : print_report)(request, seen);
    fflush(stdout);
    if (!seen.error.empty())
        fprintf(stderr, "dnn-torch: %s\n", printable(seen.error).c_str());
    return seen.error.empty() && !ferror(stdout) ? 0 : 1;
}

} // namespace dnn_torch
