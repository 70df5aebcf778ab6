// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "interpolator.h"

#include "base/compose.h"
#include "host/model/contract_inputs.h"
#include "model_trial.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace dnn_torch
{
namespace
{

// How a model may take a pair of frames, and the time between them.
struct Way {
    enum class Time { none, plane, number };
    std::string first = {}, second = {}; // arguments; second "": one argument takes both frames
    Time time = Time::none;
    std::string time_name = {}; // "": the plane follows the frames' channels
};

constexpr int colours = 3;

// What the argument holds: "Tensor", "float"; without the mark of those that have a default.
struct Argument {
    std::string name, type;
    bool is_optional;

    bool is_tensor() const { return type == "Tensor" || type == "Optional[Tensor]"; }
    bool is_number() const { return type == "float" || type == "Optional[float]"; }
};

std::vector<Argument> arguments_of(const Model &model)
{
    constexpr std::string_view mark = ", optional";
    std::vector<Argument> arguments;
    for (const DnnTorchTensorInfo &info : model.tensors(DNN_TORCH_INPUTS)) {
        std::string type = info.type_text;
        const bool is_optional = type.ends_with(mark);
        if (is_optional)
            type.resize(type.size() - mark.size());
        arguments.push_back({.name = info.name, .type = type, .is_optional = is_optional});
    }
    return arguments;
}

bool is_name_of_time(const std::string &name)
{
    constexpr std::array<std::string_view, 10> names = {
        "t",    "dt",       "time",      "timestep", "time_step",
        "embt", "batch_dt", "timesteps", "tau",      "times"};
    return std::find(names.begin(), names.end(), name) != names.end();
}

// The argument that gets the time: the one without a default, or else by its name.
std::optional<Argument> time_among(const std::vector<Argument> &rest)
{
    for (const bool optional : {false, true})
        for (const Argument &each : rest)
            if (each.is_optional == optional && (each.is_tensor() || each.is_number()) &&
                (!optional || is_name_of_time(each.name)))
                return each;
    return std::nullopt;
}

void add_ways(const std::string &first, const std::string &second, const std::optional<Argument> &t,
              std::vector<Way> &ways)
{
    Way way = {.first = first, .second = second};
    if (t)
        way.time_name = t->name;
    for (const Way::Time time : {Way::Time::plane, Way::Time::number}) {
        way.time = time;
        if (t && (time == Way::Time::number || t->is_tensor()))
            ways.push_back(way);
    }
}

// The likeliest first.
std::vector<Way> ways_for(const std::vector<Argument> &arguments, const std::string &input)
{
    std::vector<Argument> tensors, rest;
    for (const Argument &each : arguments)
        (each.is_tensor() && tensors.size() < 2 && !each.is_optional ? tensors : rest)
            .push_back(each);
    const bool takes_two = tensors.size() == 2;
    if (takes_two && tensors[1].name == input)
        std::swap(tensors[0], tensors[1]);
    const std::string first = takes_two ? tensors[0].name : input;
    const bool are_frames = takes_two && !is_name_of_time(tensors[1].name);
    const std::optional<Argument> t =
        takes_two && !are_frames ? std::optional(tensors[1]) : time_among(rest);
    const bool needs_time = t && !t->is_optional;
    std::vector<Way> ways;
    add_ways(first, are_frames ? tensors[1].name : "", t, ways);
    if (are_frames && !needs_time)
        ways.push_back({.first = first, .second = tensors[1].name});
    if (are_frames && rest.empty())
        add_ways(first, "", tensors[1], ways);
    if (takes_two || needs_time)
        return ways;
    ways.push_back({.first = first, .time = Way::Time::plane});
    ways.push_back({.first = first});
    return ways;
}

void set_origin(const std::string &name, Contract &contract)
{
    contract.origins.try_emplace(name, "probe");
}

void apply(const Way &way, Contract &contract)
{
    contract.input.channels = contract.input.channels == 0 ? colours : contract.input.channels;
    set_origin("input.channels", contract);
    if (way.second.empty()) {
        contract.time.last = 1;
        set_origin("input.frames", contract);
    } else {
        contract.pictures.insert(contract.pictures.begin(),
                                 {.name = way.second, .channels = colours, .frame = 1});
        set_origin(concat("inputs.", way.second), contract);
    }
    if (way.time == Way::Time::plane) {
        const auto place =
            way.time_name.empty() ? contract.pictures.begin() : contract.pictures.end();
        contract.pictures.insert(place, {.name = way.time_name, .channels = 1, .between = true});
    } else if (way.time == Way::Time::number) {
        contract.inputs[way.time_name] = "0.5";
        contract.time.between = way.time_name;
    }
    if (way.time != Way::Time::none)
        set_origin(concat("inputs.", way.time_name), contract);
}

// Turns inputs that are said to be `between` into numbers.
void take_numbers(Contract &contract)
{
    for (const PictureInput &picture : contract.pictures)
        if (picture.between) {
            contract.inputs[picture.name] = "0.5";
            contract.time.between = picture.name;
        }
    std::erase_if(contract.pictures, [](const PictureInput &each) { return each.between; });
}

// Throws Error if a model that gets the time makes the same of all times, or if the first frame is
// not what it takes for that.
void expect_time(const ModelWithContract &opened)
{
    if (!takes_time(opened.contract))
        return;
    const PairTrial trial = try_pair_on(*opened.model, opened.contract);
    if (!trial.sees_time)
        throw Error(AVERROR_INVALIDDATA, "it makes the same frame at all times; if it makes the "
                                         "middle alone, give the time a number: inputs=t=0.5");
    if (trial.is_backward)
        throw Error(AVERROR_INVALIDDATA,
                    "it takes the second frame for the first one; say which argument gets the next "
                    "frame: inputs=NAME=frame=1|NAME=between");
}

// Throws Error if the model takes no such frames.
void try_small(const ModelWithContract &opened)
{
    std::vector<Size> sizes = {{small_extent, small_extent}, {4 * small_extent, 4 * small_extent}};
    if (opened.contract.sizes.only)
        sizes = {*opened.contract.sizes.only};
    const int channels = input_channels(opened.contract, opened.contract.input.channels);
    std::optional<Error> failure;
    for (const Size size : sizes)
        try {
            const OutputPicture made = probe_picture(*opened.model, size, channels);
            if (made.channels == opened.contract.input.channels)
                return;
            throw Error(AVERROR_INVALIDDATA,
                        concat("the model makes ", made.channels, " channels of two frames, not ",
                               opened.contract.input.channels));
        } catch (const Error &error) {
            if (error.code() == AVERROR(ETIMEDOUT) || error.code() == AVERROR(ENOMEM))
                throw;
            if (!failure)
                failure = error;
        }
    throw *failure;
}

void expect_pair(const Contract &contract)
{
    const Neighbours neighbours = neighbours_in(contract);
    if (contract.time.length != 0 || neighbours.before != 0 || neighbours.after != 1)
        throw Error(AVERROR(EINVAL), "an interpolator gets a frame and the next one: frames=0..1, "
                                     "or inputs=NAME=frame=1 for the next one");
}

} // namespace

bool takes_time(const Contract &contract)
{
    return !contract.time.between.empty() ||
           std::any_of(contract.pictures.begin(), contract.pictures.end(),
                       [](const PictureInput &each) { return each.between; });
}

ModelWithContract open_interpolator(const ContractOptions &given, const std::string &contract_path,
                                    const ModelOptions &options, const OpenFile &open)
{
    ModelOptions inspecting = options;
    inspecting.inspect = true;
    const std::shared_ptr<Model> inspected = open(inspecting);
    const Contract said = contract_of(*inspected, given, contract_path);
    using Complete = std::function<void(Contract &)>;
    std::vector<std::pair<std::string, Complete>> ways; // by the argument of the frames
    if (looks_at_time(said)) {
        ways.emplace_back(options.input_name, [](Contract &contract) {
            if (contract.input.channels == 0)
                contract.input.channels = colours;
        });
        if (takes_time(said))
            ways.emplace_back(options.input_name, [](Contract &contract) {
                if (contract.input.channels == 0)
                    contract.input.channels = colours;
                take_numbers(contract);
            });
    } else {
        std::vector<Argument> arguments = arguments_of(*inspected);
        std::erase_if(arguments,
                      [&](const Argument &each) { return said.inputs.contains(each.name); });
        for (const Way &way : ways_for(arguments, options.input_name))
            ways.emplace_back(way.first, [way](Contract &contract) { apply(way, contract); });
    }
    std::optional<Error> failure;
    for (const auto &[input, complete] : ways)
        try {
            ModelOptions with_input = options;
            with_input.input_name = input;
            ModelWithContract opened =
                open_with_contract(given, contract_path, with_input, open, complete);
            expect_pair(opened.contract);
            try_small(opened);
            if (!looks_at_time(said))
                expect_time(opened);
            return opened;
        } catch (const Error &error) {
            // A number that is taken for a picture of them may want any memory.
            if (error.code() == AVERROR(ETIMEDOUT))
                throw;
            if (!failure)
                failure = error;
        }
    throw Error(failure->code(),
                concat("the model makes no frame between two others: ", failure->what()));
}

} // namespace dnn_torch
