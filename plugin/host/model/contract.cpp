// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "contract.h"

#include "base/compose.h"
#include "base/json_check.h"
#include "contract_fields.h"
#include "contract_inputs.h"
#include "contract_json.h"
#include "host/error.h"
#include "label_lists.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

constexpr size_t largest_file = size_t{1} << 20;

[[noreturn]] void refuse_file(const std::string &path, const std::string &words)
{
    throw Error(AVERROR(EINVAL), concat("the contract '", path, "' ", words));
}

using Json = nlohmann::ordered_json;

Json parse(std::string_view text, bool is_of_engine)
{
    constexpr JsonLimits limits = {.depth = 8, .values = 10'000};
    if (const std::string fault = fault_of_json(text, limits); !fault.empty())
        throw Error(AVERROR(EINVAL), fault);
    Json parsed = Json::parse(text);
    if (is_of_engine && parsed.is_string())
        throw Error(AVERROR(EINVAL), parsed.get<std::string>());
    if (!parsed.is_object())
        throw Error(AVERROR(EINVAL), "is no JSON object");
    return parsed;
}

void apply_side(const std::string &side, const Json &fields, const std::string &origin,
                Contract &contract)
{
    if (!fields.is_object())
        throw Error(AVERROR(EINVAL), concat("has no object at '", side, "'"));
    for (const auto &[name, value] : fields.items())
        set_field_from_json(concat(side, ".", name), value, origin, contract);
}

} // namespace

void apply_json(std::string_view text, const TextOrigin &origin, Contract &contract)
{
    try {
        const Json parsed = parse(text, origin.is_of_engine);
        for (const auto &[name, value] : parsed.items())
            if (name == "inputs")
                apply_inputs(value, origin.name, contract);
            else if (name == "input" || name == "output")
                apply_side(name, value, origin.name, contract);
            else
                set_field_from_json(name, value, origin.name, contract);
        if (contract.origins.count("output.depth") != 0 && contract.as != As::depth)
            throw Error(AVERROR(EINVAL), "has output.depth, which is for output.as depth");
    } catch (const Error &error) {
        throw Error(error.code(), concat("the contract '", origin.file, "' ", error.what()));
    }
}

std::string contract_path(const std::string &model_path)
{
    return model_path + ".json";
}

// O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
std::optional<std::string> contract_text(const std::string &path)
{
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG))
        return std::nullopt;
    if (file < 0)
        refuse_file(path, concat("cannot be read: ", strerror(errno)));
    std::string text(largest_file + 1, '\0');
    struct stat about;
    const bool is_file = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    const ssize_t size = is_file ? pread(file, text.data(), text.size(), 0) : -1;
    close(file);
    if (size < 0)
        refuse_file(path, "is not a file that can be read");
    if (static_cast<size_t>(size) > largest_file)
        refuse_file(path, "has more than 1 MiB");
    text.resize(static_cast<size_t>(size));
    return text;
}

namespace
{

// Takes "nhwc" for the input, or "nhwc|nchw" for input and output.
void apply_to_sides(const std::string &field, const std::string &text, Contract &contract)
{
    const size_t end = text.find('|');
    set_field_from_text(concat("input.", field), text.substr(0, end), "option", contract);
    if (end != std::string::npos)
        set_field_from_text(concat("output.", field), text.substr(end + 1), "option", contract);
}

// Takes names as they are: they may look like numbers, and have spaces.
void apply_classes(const std::string &text, Contract &contract)
{
    nlohmann::ordered_json names = nlohmann::ordered_json::array();
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('|', begin), text.size());
        if (end > begin)
            names.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    if (names.empty())
        throw Error(AVERROR(EINVAL), "classes takes names or numbers of classes, person|car");
    set_field_from_json("output.classes", names, "option", contract);
}

// Takes the name of a built-in list, otherwise a file.
void apply_labels(const std::string &option, Contract &contract)
{
    ModelFacts &model = contract.model;
    const bool is_list = is_label_list(option);
    model.label_list = is_list ? option : "";
    model.labels = is_list ? std::vector<std::string>() : read_labels(option);
    contract.origins["labels"] = "option";
}

// length=0: the model takes single frames, whatever a file says.
void forget_segments(Contract &contract)
{
    contract.time.length = contract.time.overlap = 0;
    contract.origins.erase("input.length");
    contract.origins.erase("input.time_overlap");
}

void apply_options(const ContractOptions &options, Contract &contract)
{
    const bool has_no_segments = options.length == "0";
    if (has_no_segments)
        forget_segments(contract);
    const std::pair<const char *, std::string> given[] = {
        {"order", options.order},
        {"mean", options.mean},
        {"std", options.std},
        {"type", options.type},
        {"multiple", options.multiple},
        {"padding", options.padding},
        {"frames", options.frames},
        {"border", options.border},
        {"length", has_no_segments ? "" : options.length},
        {"time_overlap", options.time_overlap}};

    for (const auto &[name, text] : given)
        if (!text.empty())
            set_field_from_text(concat("input.", name), text, "option", contract);
    const std::pair<const char *, const std::string &> of_output[] = {
        {"output.as", options.as}, {"output.depth", options.depth}};
    for (const auto &[name, text] : of_output)
        if (!text.empty())
            set_field_from_text(name, text, "option", contract);
    if (!options.classes.empty())
        apply_classes(options.classes, contract);
    if (!options.labels.empty())
        apply_labels(options.labels, contract);
    if (!options.layout.empty())
        apply_to_sides("layout", options.layout, contract);
    if (!options.range.empty())
        apply_to_sides("range", options.range, contract);
    if (!options.inputs.empty())
        apply_inputs_option(options.inputs, contract);
    apply_size_options(options.sizes, contract.sizes);
}

// Refuses a size that the other fields do not allow: it is a mistake of the contract's author.
void check_sizes(const Contract &contract)
{
    const SizeParameters &sizes = contract.sizes;
    const auto said = [&](const std::string &name) {
        const std::string field = concat("input.", name);
        return concat(field, " ", field_in_words(field, contract), " (", contract.origins.at(field),
                      ")");
    };
    const int multiple = sizes.multiple.value_or(1);
    const Size minimum = sizes.minimum.value_or(Size{1, 1});
    if (sizes.only && (sizes.only->width % multiple != 0 || sizes.only->height % multiple != 0))
        throw Error(AVERROR(EINVAL),
                    concat("the contract says ", said("size"),
                           ", which is no multiple of what it says too: ", said("multiple")));
    if (sizes.only && (sizes.only->width < minimum.width || sizes.only->height < minimum.height))
        throw Error(AVERROR(EINVAL),
                    concat("the contract says ", said("size"),
                           ", which is below what it says too: ", said("minimum")));
}

// An architecture knows which of its frames is the current one.
void check_frames(const Contract &contract, const TimeContract &known)
{
    const TimeContract &time = contract.time;
    if (known.count() > 1 && (time.first != known.first || time.last != known.last))
        throw Error(AVERROR(EINVAL), concat("frames=", time.first, "..", time.last, " (",
                                            contract.origins.at("input.frames"),
                                            ") contradicts the model's architecture, which takes ",
                                            known.first, "..", known.last));
}

// Returns "length=15 (option)".
std::string said_of_time(const std::string &field, const Contract &contract)
{
    const std::string name = concat("input.", field);
    const auto origin = contract.origins.find(name);
    return concat(field, "=", field_in_words(name, contract), " (",
                  origin == contract.origins.end() ? "default" : origin->second, ")");
}

std::string first_state(const Contract &contract)
{
    for (const auto &[name, value] : contract.inputs)
        if (value.starts_with("state"))
            return name;
    return "";
}

// How far a model looks grows with the length of a segment, so that no trial shows it.
void forbid_tiles(const std::string &length, SizeParameters &sizes)
{
    if ((sizes.tile && !sizes.never_tiles()) || sizes.fit == Fit::tile)
        throw Error(AVERROR(EINVAL), concat("segments do not run in tiles, as ", length,
                                            " says; leave tile and fit=tile out"));
    sizes.tile = Size{0, 0};
}

// A segment has all frames that its model looks at, and remembers nothing.
void check_segments(Contract &contract)
{
    const TimeContract &time = contract.time;
    if (time.length == 0 && time.overlap != 0)
        throw Error(AVERROR(EINVAL), concat(said_of_time("time_overlap", contract),
                                            " is for segments; say how long they are: length=15"));
    if (time.length == 0)
        return;
    const std::string length = said_of_time("length", contract);
    if (2 * time.overlap >= time.length && time.overlap > 0)
        throw Error(AVERROR(EINVAL),
                    concat(said_of_time("time_overlap", contract), " is half of ", length,
                           " or more: a frame would be in three segments; ", (time.length - 1) / 2,
                           " is the most"));
    if (time.count() > 1)
        throw Error(AVERROR(EINVAL), concat(said_of_time("frames", contract), " and ", length,
                                            " contradict each other: a model has a window or "
                                            "segments"));
    for (const PictureInput &picture : contract.pictures)
        if (picture.frame)
            throw Error(AVERROR(EINVAL),
                        concat("inputs=", picture.name, "=frame=", *picture.frame, " and ", length,
                               " contradict each other: a segment has all frames already"));
    if (const std::string state = first_state(contract); !state.empty())
        throw Error(AVERROR(EINVAL),
                    concat("the state ", state, " and ", length,
                           " contradict each other: segments run at the same time, so that none "
                           "can get what another one returned"));
    if (makes_class_maps(contract))
        throw Error(AVERROR(EINVAL), concat(length, " is for pictures, not for maps of classes"));
    forbid_tiles(length, contract.sizes);
}

void check_classes(const Contract &contract)
{
    const bool shows_classes =
        contract.as == As::index || contract.as == As::colours || contract.as == As::alpha;
    if (!contract.classes.empty() && !shows_classes)
        throw Error(AVERROR(EINVAL), "classes is for as=index, as=colors and as=alpha");
}

std::string name_in(const std::string &path)
{
    return path.substr(path.rfind('/') + 1);
}

} // namespace

void check_values(const ContractOptions &options)
{
    Contract contract;
    apply_options(options, contract);
}

// Applies the sources from the weakest to the strongest, so that each overrides those before it.
Contract read_contract(const ContractOptions &options, const std::string &contract_path,
                       const ContractTexts &texts)
{
    Contract contract;
    if (!texts.architecture.empty())
        apply_json(texts.architecture, {.name = "architecture", .file = "of the architecture"},
                   contract);
    const TimeContract known = contract.time;
    if (!texts.graph.empty())
        apply_json(texts.graph, {.name = "graph", .file = "of the model's graph"}, contract);
    if (!texts.ultralytics.empty())
        apply_ultralytics(texts.ultralytics, "config.txt in the file", contract);
    if (!texts.file.empty())
        apply_json(texts.file,
                   {.name = "dnn_torch.json in the file",
                    .file = "dnn_torch.json in the model",
                    .is_of_engine = true},
                   contract);
    const std::optional<std::string> text =
        contract_path.empty() ? std::nullopt : contract_text(contract_path);
    if (text)
        apply_json(*text, {.name = name_in(contract_path), .file = contract_path}, contract);
    apply_options(options, contract);
    if (!options.depth.empty() && contract.as != As::depth)
        throw Error(AVERROR(EINVAL), "depth is for as=depth");
    check_frames(contract, known);
    check_segments(contract);
    check_sizes(contract);
    check_classes(contract);
    complete_output(contract);
    return contract;
}

bool looks_at_time(const Contract &contract)
{
    return contract.time.count() > 1 || contract.time.length != 0 ||
           !first_state(contract).empty() ||
           std::any_of(contract.pictures.begin(), contract.pictures.end(),
                       [](const PictureInput &picture) { return picture.frame.has_value(); });
}

std::string contract_in_words(const Contract &contract)
{
    std::string words;
    for (const std::string &name : names_of_fields())
        if (const auto found = contract.origins.find(name); found != contract.origins.end())
            add_to_list(
                words, concat(name, " ", field_in_words(name, contract), " (", found->second, ")"));
    for (const auto &[name, value] : contract.inputs)
        add_to_list(words, concat("inputs.", name, " ",
                                  name == contract.time.between ? between_value : value, " (",
                                  contract.origins.at(concat("inputs.", name)), ")"));
    for (const PictureInput &picture : contract.pictures)
        add_to_list(words, concat(picture.name.empty() ? "input" : "inputs.", picture.name, " ",
                                  picture_in_words(picture), " (",
                                  contract.origins.at(concat("inputs.", picture.name)), ")"));
    return words;
}

} // namespace dnn_torch
