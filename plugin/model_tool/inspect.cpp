// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch inspect: prints what a model file contains, takes and returns.
//
// With --json it prints one object.  An unknown value is null.
//
//   model, format, origin
//   inputs, outputs   name, type
//   parameters        count, bytes, precision
//   architecture      of a checkpoint: name, scale, parameters (by their names)
//   refused           names of operators that are not known to be pure computation
//   engine            name, version
//   device
//   accepted          whether one of the filters takes the model; if not
//   error             why
//   notice            a notice from the engine
//   contract          what the tensors mean (docs/contract.md): the value and the origin of each
//                     field, by its name
//   channels          3, 1, or both
//   sizes             complete (false: too slow to try many, and width and height are not known);
//                     tried, result (width, height);
//     width, height   smallest, step (0: only the smallest)
//     words
//   padding           of frames that the model does not take: multiple, minimum, only (each with
//                     value and origin); rule: what was found; words
//   tiles             local (value, origin); reach of the model; step: tiles begin at multiples of
//                     it (width, height); words
//   scale             across, down: output = input * numerator / denominator + offset;
//     words           rounded: whether the result is rounded
//   range_warning     a warning about the range of the model's output
//   detector          of a model for dnn_torch_detect: takes (words), decoder, classes (count),
//                     labels (empty: not known)
//   classifier        of a model for dnn_torch_classify: takes, classes, labels, like a detector's
//   command           a command line that uses the model
#include "base/compose.h"
#include "base/json.h"
#include "base/terminal.h"
#include "command_line.h"
#include "fitting.h"
#include "host/model/contract_inputs.h"
#include "host/tasks/held_frames.h"
#include "kind.h"
#include "model_commands.h"
#include "probed_contract.h"
#include "progress.h"
#include "subject.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace dnn_torch
{
namespace
{

// The engine's facts about a file.  Empty members are not known.
struct FileFacts {
    std::string format, origin, parameters, parameter_bytes, precision;
    std::string architecture, architecture_scale;
    std::vector<std::string> architecture_parameters; // "blocks 23"
    std::vector<DnnTorchTensorInfo> inputs, outputs;
    std::vector<std::string> refused;
};

struct Inspection {
    Backend backend;
    RunningEngine engine;
    bool is_read = false; // the engine has read the file, so `file` is filled in
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

void try_as_detector(const Request &request, Inspection &found)
{
    found.detector = try_detector(found.backend, request);
    found.file.refused.clear(); // the model could be opened, so --allow permits them
    found.notice = found.detector->notice;
    found.command = found.detector->command;
}

void try_as_classifier(const Request &request, Inspection &found)
{
    found.classifier = try_classifier(found.backend, request);
    found.file.refused.clear();
    found.notice = found.classifier->notice;
    found.command = found.classifier->command;
}

void try_as_picture(const Request &request, Inspection &found)
{
    const ModelWithContract subject = open_model(found.backend, request, "auto");
    found.file.refused.clear();
    found.notice = subject.model->notice();
    const Trials trials = try_model(subject, request);
    add_trials(trials, *found.contract);
    found.trials = trials;
    found.fitting = find_fitting(subject, trials);
    auto options = filter_options(request, *subject.model);
    if (const std::string &range = found.fitting->range.option; !range.empty()) {
        std::erase_if(options, [](const auto &option) { return option.first == "range"; });
        options.emplace_back("range", range);
    }
    // If a slow model's sizes are not known, relies on the filter to adapt frames to it.
    const bool needs_size = trials.sizes.complete && !found.fitting->fit;
    found.command =
        subject.contract.model.task == "interpolate"
            ? command_line("dnn_torch_interpolate", request.path, options, "", "out.mp4")
            : command_line(request.path, trials.channels, needs_size ? &trials.sizes : nullptr,
                           options);
}

void inspect_file(const Request &request, Inspection &found)
{
    found.backend = find_backend(request);
    const std::shared_ptr<Model> model = open_to_inspect(found.backend, request);
    found.engine = running_engine(found.backend.engine, *model);
    found.file = facts_of(*model);
    found.is_read = true;
    found.contract = known_contract(*model, request);
}

Inspection inspected(const Request &request)
{
    Inspection found;
    const Progress progress("reading " + request.path + " ...");
    try {
        inspect_file(request, found);
        show_progress("trying what the model takes ...");
        find_kind(*found.contract, {.picture = [&] { try_as_picture(request, found); },
                                    .detector = [&] { try_as_detector(request, found); },
                                    .classifier = [&] { try_as_classifier(request, found); }});
    } catch (const AnyError &error) {
        found.error = error.what();
    }
    return found;
}

// ---- text for people ----------------------------------------------------------

void print(const char *name, const std::string &text)
{
    if (!text.empty())
        printf("%-12s%s\n", name, printable(text).c_str());
}

// Prints the texts.  Shortens a long list.
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

std::string parameters_in_words(const FileFacts &file)
{
    if (file.parameters.empty())
        return "not known";
    if (file.parameters == "0")
        return "none";
    return file.parameters + ", " + bytes_in_words(atof(file.parameter_bytes.c_str())) + ", " +
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
    const int in = trials.frame_channels();
    if (trials.output_channels != in)
        return std::to_string(in) + ", of which the model makes " +
               std::to_string(trials.output_channels);
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

std::string distance_in_words(int frames, const char *where)
{
    return frames ? counted(frames, "frame") + " " + where + " it" : "";
}

// Names the frames that the model gets with each frame, and what it remembers.  "" if it gets one
// frame and remembers nothing.
std::string time_in_words(const Contract &contract)
{
    const Neighbours neighbours = neighbours_in(contract);
    const TimeContract &time = contract.time;
    std::string words;
    if (time.length != 0) {
        words = concat("segments of ", counted(time.length, "frame"));
        if (time.overlap != 0)
            words += concat(", of which ", time.overlap, " are in the next one, too");
        words += concat("; a result waits for up to ", counted(time.length, "more frame"));
    }
    if (neighbours.before || neighbours.after) {
        words = "each frame with ";
        const std::string before = distance_in_words(neighbours.before, "before");
        const std::string after = distance_in_words(neighbours.after, "after");
        words += before + (before.empty() || after.empty() ? "" : " and ") + after;
        if (neighbours.after)
            words += concat("; a result waits for ", counted(neighbours.after, "more frame"));
    }
    for (const auto &[name, value] : contract.inputs)
        if (value.rfind("state", 0) == 0)
            add_to_list(words, concat(name, " is what came out before, so frames run in order"),
                        "; ");
    return words;
}

// Says what the filter holds of 1920x1080, or of --size, if it chooses the workers.  "" if the
// model gets one frame at a time.
std::string held_in_words(const Request &request, const Contract &contract, const Trials &trials)
{
    const Segments segments = segments_of(contract);
    const Size size = request.size.value_or(Size{1920, 1080}), &tried = trials.sizes.tried,
               &result = trials.sizes.result;
    const FrameShape shape = {.format = AV_PIX_FMT_RGB24, .size = size, .time_base = {1, 25}};
    const FrameBytes each = bytes_of(
        shape,
        {size.width * result.width / tried.width, size.height * result.height / tried.height},
        trials.frame_channels(), trials.output_channels);
    const CoreBudget budget = divide_cores(usable_machine(), {}, {});
    const HeldFrames held = held_frames(window_of(contract), segments,
                                        segments.length ? segments.length : 1, budget, each);
    return held.frames == 0 ? ""
                            : concat(in_words(held), ", at ", to_text(size), " with ",
                                     counted(budget.workers, "worker"));
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

void print_report(const Request &request, const Inspection &found)
{
    const FileFacts &file = found.file;
    print("model", request.path);
    print("format", file.format);
    print("class", file.origin);
    print("network", architecture_in_words(file));
    print("input", in_words(file.inputs));
    print("output", in_words(file.outputs));
    print("parameters", parameters_in_words(file));
    print("refused", file.refused);
    print("engine",
          found.engine.name + " " + found.engine.version + " on " + found.backend.device.device);
    print("process", found.engine.cage.empty() ? "this one" : "its own; " + found.engine.cage);
    print("device", found.backend.device.why);
    print("notice", found.notice);
    if (found.contract)
        print("contract", fields_in_words(*found.contract));
    if (found.detector)
        print_detector(*found.detector);
    if (found.classifier)
        print_classifier(*found.classifier);
    if (!found.trials)
        return;
    print("channels", channels_in_words(*found.trials));
    if (found.contract)
        print("time", time_in_words(*found.contract));
    if (found.contract)
        print("holds", held_in_words(request, *found.contract, *found.trials));
    print("sizes", sizes_in_words(found.trials->sizes));
    print("scale", scale_in_words(found.trials->sizes));
    if (found.fitting && found.contract) {
        print("padding", padding_in_words(*found.fitting, *found.contract));
        print("tiles", tiles_in_words(*found.fitting, *found.contract));
        print("range", found.fitting->range.words);
    }
    print("use", found.command);
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

void print_json(const Request &request, const Inspection &found)
{
    const FileFacts &file = found.file;
    const std::optional<Trials> &trials = found.trials;
    const bool fits = found.fitting && found.contract;
    Value all = {{"model", request.path},
                 {"format", json::text_or_null(file.format)},
                 {"origin", json::text_or_null(file.origin)},
                 {"inputs", names_and_types(file.inputs)},
                 {"outputs", names_and_types(file.outputs)},
                 {"parameters", parameters_json(file)},
                 {"architecture", architecture_json(file)},
                 {"refused", file.refused},
                 {"engine", engine_json(found.engine)},
                 {"cage", json::text_or_null(found.engine.cage)},
                 {"device", json::text_or_null(found.backend.device.device)},
                 {"accepted", trials || found.detector || found.classifier},
                 {"error", json::text_or_null(found.error)},
                 {"notice", json::text_or_null(found.notice)},
                 {"contract", found.contract ? with_origins(*found.contract) : Value()},
                 {"channels", trials ? json_of(trials->channels) : Value()},
                 {"sizes", trials ? json_of(trials->sizes) : Value()},
                 {"detector", found.detector ? json_of(*found.detector) : Value()},
                 {"classifier", found.classifier ? json_of(*found.classifier) : Value()},
                 {"scale", trials ? scale_json(trials->sizes) : Value()},
                 {"padding", fits ? padding_as_json(*found.fitting, *found.contract) : Value()},
                 {"tiles", fits ? tiles_as_json(*found.fitting, *found.contract) : Value()},
                 {"range_warning", json::text_or_null(fits ? found.fitting->range.words : "")},
                 {"command", json::text_or_null(found.command)}};
    printf("%s\n", json::line_of(all).c_str());
}

} // namespace

int inspect(const Request &request)
{
    Inspection found = inspected(request);
    if (request.json)
        print_json(request, found);
    else if (found.is_read)
        print_report(request, found);
    fflush(stdout);
    if (!found.error.empty())
        fprintf(stderr, "dnn-torch: %s\n", printable(found.error).c_str());
    return found.error.empty() ? 0 : 1;
}

} // namespace dnn_torch
