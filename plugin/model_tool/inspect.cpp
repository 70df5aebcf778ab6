// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch inspect: what a model file holds, takes and gives.
//
// With --json one object is printed.  An unknown value is null.
//
//   model, format, origin
//   inputs, outputs   name, type
//   parameters        count, bytes, precision
//   architecture      of a checkpoint: name, scale, parameters (by their names)
//   refused           names of operators that are not known to only compute
//   engine            name, version
//   device
//   accepted          whether one of the filters takes the model; if not
//   error             why
//   notice            what the engine noticed
//   contract          what the tensors mean (docs/contract.md): by its name each field's value and
//                     origin
//   channels          3, 1, or both
//   sizes             complete (false: too slow to try many, and width and height are not known);
//                     tried, result (width, height);
//     width, height   smallest, step (0: the smallest alone)
//     words
//   padding           of frames that the model does not take: multiple, minimum, only (each with
//                     value and origin); rule: what was found; words
//   tiles             local (value, origin); reach: how far the model looks, and step: of what
//                     tiles begin at multiples (width, height); words
//   scale             across, down: output = input * numerator / denominator + offset;
//     words           rounded: if that is not whole
//   range_warning     what speaks against the range of the numbers that it makes
//   detector          of a model for dnn_torch_detect: takes (words), decoder, classes (how many),
//                     labels (empty: not known)
//   classifier        of a model for dnn_torch_classify: takes, classes, labels, as a detector's
//   command           a command line that uses the model
#include "base/counted.h"
#include "base/json.h"
#include "base/terminal.h"
#include "classifier_facts.h"
#include "command_line.h"
#include "detector_facts.h"
#include "fitting.h"
#include "kind.h"
#include "model_commands.h"
#include "probed_contract.h"
#include "subject.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace dnn_torch
{
namespace
{

// What the engine tells of a file.  Empty members are not known.
struct FileFacts {
    std::string format, origin, parameters, parameter_bytes, precision;
    std::string architecture, architecture_scale;
    std::vector<std::string> architecture_parameters; // "blocks 23"
    std::vector<DnnTorchTensorInfo> inputs, outputs;
    std::vector<std::string> refused;
};

struct Inspection {
    Place place;
    RunningEngine engine;
    bool is_read = false; // the file, so that what the engine tells of it is known
    FileFacts file;
    std::optional<Trials> trials;
    std::optional<Contract> contract;
    std::optional<Fitting> fitting;
    std::optional<DetectorFactsFound> detector;
    std::optional<ClassifierFacts> classifier;
    std::string notice, error, command;
};

std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

FileFacts facts_of(const Model &file)
{
    return {.format = file.metadata("format"),
            .origin = file.metadata("origin"),
            .parameters = file.metadata("parameters"),
            .parameter_bytes = file.metadata("parameter_bytes"),
            .precision = file.metadata("precision"),
            .architecture = file.metadata("architecture"),
            .architecture_scale = file.metadata("architecture_scale"),
            .architecture_parameters = lines_of(file.metadata("architecture_parameters")),
            .inputs = file.tensors(DNN_TORCH_INPUTS),
            .outputs = file.tensors(DNN_TORCH_OUTPUTS),
            .refused = lines_of(file.metadata("refused"))};
}

void try_as_detector(const Request &request, Inspection &seen)
{
    seen.detector = try_detector(seen.place, request);
    seen.file.refused.clear(); // the model could be opened, so --allow names them
    seen.command = seen.detector->command;
}

void try_as_classifier(const Request &request, Inspection &seen)
{
    seen.classifier = try_classifier(seen.place, request);
    seen.file.refused.clear();
    seen.command = seen.classifier->command;
}

void try_as_picture(const Request &request, Inspection &seen)
{
    const ModelWithContract subject = open_model(seen.place, request, "auto");
    seen.file.refused.clear();
    seen.notice = subject.model->notice();
    const Trials trials = try_model(subject, request);
    add_trials(trials, *seen.contract);
    seen.trials = trials;
    seen.fitting = find_fitting(subject, trials);
    auto options = filter_options(request);
    if (const std::string &range = seen.fitting->range.option; !range.empty()) {
        std::erase_if(options, [](const auto &option) { return option.first == "range"; });
        options.emplace_back("range", range);
    }
    // Of a slow model it is not known which sizes it takes, so the filter fits frames to it.
    const bool needs_size = trials.sizes.complete && !seen.fitting->fit;
    seen.command =
        command_line(request.path, trials.channels, needs_size ? &trials.sizes : nullptr, options);
}

void look_at_file(const Request &request, Inspection &seen)
{
    seen.place = find_place(request);
    const std::shared_ptr<Model> looked_at = look_at_model(seen.place, request);
    seen.engine = running_engine(seen.place.engine, *looked_at);
    seen.file = facts_of(*looked_at);
    seen.is_read = true;
    seen.contract = known_contract(*looked_at, request);
}

Inspection look_at(const Request &request)
{
    Inspection seen;
    try {
        look_at_file(request, seen);
        find_kind(*seen.contract, {.picture = [&] { try_as_picture(request, seen); },
                                   .detector = [&] { try_as_detector(request, seen); },
                                   .classifier = [&] { try_as_classifier(request, seen); }});
    } catch (const Error &error) {
        seen.error = error.what();
    }
    return seen;
}

// ---- text for people ----------------------------------------------------------

void print(const char *name, const std::string &text)
{
    if (!text.empty())
        printf("%-12s%s\n", name, printable(text).c_str());
}

// Prints the texts.  A long list is cut.
void print(const char *name, const std::vector<std::string> &texts)
{
    constexpr size_t most = 16;
    for (size_t i = 0; i < std::min(texts.size(), most); i++, name = "")
        print(name, texts[i]);
    if (texts.size() > most)
        print("", "and " + std::to_string(texts.size() - most) + " more");
}

std::vector<std::string> in_words(const std::vector<DnnTorchTensorInfo> &tensors)
{
    std::vector<std::string> words;
    for (const DnnTorchTensorInfo &tensor : tensors) {
        std::string text = tensor.name;
        if (*tensor.type_text)
            text.append(text.empty() ? "" : ": ").append(tensor.type_text);
        words.push_back(text);
    }
    return words;
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

std::string parameters_in_words(const FileFacts &file)
{
    if (file.parameters.empty())
        return "not known";
    if (file.parameters == "0")
        return "none";
    return file.parameters + ", " + bytes_in_words(atoll(file.parameter_bytes.c_str())) + ", " +
           file.precision;
}

std::string architecture_in_words(const FileFacts &file)
{
    if (file.architecture.empty())
        return "";
    std::string words = file.architecture + ", scale " + file.architecture_scale;
    for (const std::string &parameter : file.architecture_parameters)
        words += ", " + parameter;
    return words;
}

std::string channels_in_words(const Trials &trials)
{
    const int in = trials.fed_channels();
    if (trials.made != in)
        return std::to_string(in) + ", of which the model makes " + std::to_string(trials.made);
    switch (trials.channels) {
    case Channels::rgb:
        return "3 (RGB)";
    case Channels::rgba:
        return "4 (RGBA)";
    case Channels::luma:
        return "1 (luma; chroma goes around the model)";
    default:
        return "3 (RGB) or 1 (luma, which it gets of YUV video unless format=gbrp comes before)";
    }
}

void print_detector(const DetectorFactsFound &detector)
{
    print("finds", detector.classes ? "things of " + counted_classes(detector.classes) : "things");
    print("takes", detector.takes);
    print("decoder", detector.decoder);
    print("use", detector.command);
}

void print_classifier(const ClassifierFacts &classifier)
{
    print("has", counted_classes(classifier.classes));
    print("takes", classifier.takes);
    print("use", classifier.command);
}

void print_report(const Request &request, const Inspection &seen)
{
    const FileFacts &file = seen.file;
    print("model", request.path);
    print("format", file.format);
    print("class", file.origin);
    print("network", architecture_in_words(file));
    print("input", in_words(file.inputs));
    print("output", in_words(file.outputs));
    print("parameters", parameters_in_words(file));
    print("refused", file.refused);
    print("engine",
          seen.engine.name + " " + seen.engine.version + " on " + seen.place.device.device);
    print("process", seen.engine.cage.empty() ? "this one" : "its own; " + seen.engine.cage);
    print("device", seen.place.device.why);
    print("notice", seen.notice);
    if (seen.contract)
        print("contract", fields_in_words(*seen.contract));
    if (seen.detector)
        print_detector(*seen.detector);
    if (seen.classifier)
        print_classifier(*seen.classifier);
    if (!seen.trials)
        return;
    print("channels", channels_in_words(*seen.trials));
    print("sizes", sizes_in_words(seen.trials->sizes));
    print("scale", scale_in_words(seen.trials->sizes));
    if (seen.fitting && seen.contract) {
        print("padding", padding_in_words(*seen.fitting, *seen.contract));
        print("tiles", tiles_in_words(*seen.fitting, *seen.contract));
        print("range", seen.fitting->range.words);
    }
    print("use", seen.command);
}

// ---- JSON for programs ------------------------------------------------------

using json::Value;

Value names_and_types(const std::vector<DnnTorchTensorInfo> &tensors)
{
    Value all = Value::array();
    for (const DnnTorchTensorInfo &tensor : tensors)
        all.push_back({{"name", json::text_or_null(tensor.name)},
                       {"type", json::text_or_null(tensor.type_text)}});
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
    counts.push_back(count_of(channels));
    if (channels == Channels::any)
        counts.push_back(1);
    return counts;
}

Value json_of(const FoundSizes &sizes)
{
    return {{"complete", sizes.complete},
            {"tried", json_of(sizes.tried)},
            {"result", json_of(sizes.result)},
            {"width", sizes.complete ? json_of(sizes.width) : Value()},
            {"height", sizes.complete ? json_of(sizes.height) : Value()},
            {"words", sizes_in_words(sizes)}};
}

Value json_of(const DetectorFactsFound &detector)
{
    return {{"takes", detector.takes},
            {"decoder", detector.decoder},
            {"classes", detector.classes ? Value(detector.classes) : Value()},
            {"labels", detector.labels}};
}

Value json_of(const ClassifierFacts &classifier)
{
    return {{"takes", classifier.takes},
            {"classes", classifier.classes},
            {"labels", classifier.labels}};
}

Value scale_json(const FoundSizes &sizes)
{
    return {{"across", json_of(sizes.across)},
            {"down", json_of(sizes.down)},
            {"words", scale_in_words(sizes)}};
}

Value parameters_json(const FileFacts &file)
{
    if (file.parameters.empty())
        return {};
    return {{"count", atoll(file.parameters.c_str())},
            {"bytes", atoll(file.parameter_bytes.c_str())},
            {"precision", json::text_or_null(file.precision)}};
}

Value architecture_json(const FileFacts &file)
{
    if (file.architecture.empty())
        return {};
    Value parameters = Value::object();
    for (const std::string &parameter : file.architecture_parameters) {
        const size_t space = parameter.find(' ');
        parameters[parameter.substr(0, space)] = parameter.substr(space + 1);
    }
    return {{"name", file.architecture},
            {"scale", atoll(file.architecture_scale.c_str())},
            {"parameters", parameters}};
}

Value engine_json(const RunningEngine &engine)
{
    if (engine.name.empty())
        return {};
    return {{"name", engine.name}, {"version", engine.version}};
}

void print_json(const Request &request, const Inspection &seen)
{
    const FileFacts &file = seen.file;
    const std::optional<Trials> &trials = seen.trials;
    const bool fits = seen.fitting && seen.contract;
    Value all = {{"model", request.path},
                 {"format", json::text_or_null(file.format)},
                 {"origin", json::text_or_null(file.origin)},
                 {"inputs", names_and_types(file.inputs)},
                 {"outputs", names_and_types(file.outputs)},
                 {"parameters", parameters_json(file)},
                 {"architecture", architecture_json(file)},
                 {"refused", file.refused},
                 {"engine", engine_json(seen.engine)},
                 {"cage", json::text_or_null(seen.engine.cage)},
                 {"device", json::text_or_null(seen.place.device.device)},
                 {"accepted", trials || seen.detector || seen.classifier},
                 {"error", json::text_or_null(seen.error)},
                 {"notice", json::text_or_null(seen.notice)},
                 {"contract", seen.contract ? with_origins(*seen.contract) : Value()},
                 {"channels", trials ? json_of(trials->channels) : Value()},
                 {"sizes", trials ? json_of(trials->sizes) : Value()},
                 {"detector", seen.detector ? json_of(*seen.detector) : Value()},
                 {"classifier", seen.classifier ? json_of(*seen.classifier) : Value()},
                 {"scale", trials ? scale_json(trials->sizes) : Value()},
                 {"padding", fits ? padding_as_json(*seen.fitting, *seen.contract) : Value()},
                 {"tiles", fits ? tiles_as_json(*seen.fitting, *seen.contract) : Value()},
                 {"range_warning", json::text_or_null(fits ? seen.fitting->range.words : "")},
                 {"command", json::text_or_null(seen.command)}};
    printf("%s\n", json::line_of(all).c_str());
}

} // namespace

int inspect(const Request &request)
{
    Inspection seen = look_at(request);
    if (request.json)
        print_json(request, seen);
    else if (seen.is_read)
        print_report(request, seen);
    fflush(stdout);
    if (!seen.error.empty())
        fprintf(stderr, "dnn-torch: %s\n", printable(seen.error).c_str());
    return seen.error.empty() ? 0 : 1;
}

} // namespace dnn_torch
