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
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
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
    std::string time_name = {};     // "": the plane follows the frames' channels
    std::vector<Plane> planes = {}; // and these that one
    bool is_guess = false;          // nothing but the trial tells which argument gets what
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

// The argument that gets the time: the first without a default, or else by its name.
std::optional<Argument> time_among(const std::vector<Argument> &rest)
{
    const auto find = [&](auto is_it) -> std::optional<Argument> {
        const auto found = std::find_if(rest.begin(), rest.end(), [&](const Argument &each) {
            return (each.is_tensor() || each.is_number()) && is_it(each);
        });
        return found == rest.end() ? std::nullopt : std::optional(*found);
    };
    const auto is_required = [](const Argument &each) { return !each.is_optional; };
    const auto is_named = [](const Argument &each) { return is_name_of_time(each.name); };
    for (const auto &found : {find([&](auto &each) { return is_required(each) && is_named(each); }),
                              find(is_required), find(is_named)})
        if (found)
            return found;
    return std::nullopt;
}

void add_ways(const Way &frames, const Argument &t, std::vector<Way> &ways)
{
    for (const Way::Time time : {Way::Time::plane, Way::Time::number})
        if (time == Way::Time::number || t.is_tensor()) {
            ways.push_back(frames);
            ways.back().time = time;
            ways.back().time_name = t.name;
        }
}

// Of three tensors without telling names, any may be the time.
void add_guesses(const std::vector<Argument> &frames, const Argument &third, std::vector<Way> &ways)
{
    const std::string a = frames[0].name, b = frames[1].name;
    add_ways({.first = a, .second = b, .is_guess = true}, third, ways);
    add_ways({.first = b, .second = third.name, .is_guess = true}, frames[0], ways);
    add_ways({.first = a, .second = third.name, .is_guess = true}, frames[1], ways);
}

void add_ways_of_two(const std::vector<Argument> &frames, const std::vector<Argument> &rest,
                     std::vector<Way> &ways)
{
    const Way pair = {.first = frames[0].name, .second = frames[1].name};
    const std::optional<Argument> t = time_among(rest);
    const bool is_needed = t && !t->is_optional;
    if (is_needed && t->is_tensor() && !is_name_of_time(t->name))
        return add_guesses(frames, *t, ways);
    if (t)
        add_ways(pair, *t, ways);
    if (!is_needed)
        ways.push_back(pair);
    if (rest.empty())
        add_ways({.first = pair.first}, frames[1], ways);
    if (rest.empty())
        add_ways({.first = pair.second}, frames[0], ways);
}

// RIFE's files as ONNX have 7, 8 or 11 channels, and keep them as TorchScript.
void add_ways_of_planes(const std::string &input, std::vector<Way> &ways)
{
    const std::vector<Plane> grids = {Plane::across, Plane::down, Plane::step_across,
                                      Plane::step_down};
    for (const std::vector<Plane> &planes : {{}, {Plane::ones}, grids})
        ways.push_back({.first = input, .time = Way::Time::plane, .planes = planes});
}

// The likeliest first.
std::vector<Way> ways_for(const std::vector<Argument> &arguments, const std::string &input)
{
    std::vector<Argument> frames, rest;
    for (const Argument &each : arguments) {
        const bool may_be_frame =
            each.is_tensor() && !each.is_optional && !is_name_of_time(each.name);
        (may_be_frame && frames.size() < 2 ? frames : rest).push_back(each);
    }
    std::vector<Way> ways;
    if (frames.size() == 2) {
        if (frames[1].name == input)
            std::swap(frames[0], frames[1]);
        add_ways_of_two(frames, rest, ways);
        return ways;
    }
    const std::string first = frames.empty() ? input : frames.front().name;
    const std::optional<Argument> t = time_among(rest);
    if (t)
        add_ways({.first = first}, *t, ways);
    if (t && !t->is_optional)
        return ways;
    add_ways_of_planes(first, ways);
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
        const auto time = contract.pictures.insert(
            place, {.name = way.time_name, .channels = 1, .between = true});
        std::transform(way.planes.begin(), way.planes.end(),
                       std::inserter(contract.pictures, time + 1),
                       [](Plane plane) { return PictureInput{.channels = 1, .plane = plane}; });
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
void expect_time(const ModelWithContract &opened, bool is_guess)
{
    if (!takes_time(opened.contract))
        return;
    const PairTrial trial = try_pair_on(*opened.model, opened.contract);
    if (!trial.makes_numbers)
        throw Error(AVERROR_INVALIDDATA, "it makes no numbers of two frames, but NaN");
    if (is_guess && !trial.is_forward)
        throw Error(AVERROR_INVALIDDATA,
                    "the names of its arguments do not tell which one gets the time; say it: "
                    "inputs=NAME=frame=1|NAME=between");
    if (!trial.sees_time)
        throw Error(AVERROR_INVALIDDATA, "it makes the same frame at all times; if it makes the "
                                         "middle alone, give the time a number: inputs=t=0.5");
    if (trial.is_backward)
        throw Error(AVERROR_INVALIDDATA,
                    "it takes the second frame for the first one; say which argument gets the next "
                    "frame: inputs=NAME=frame=1|NAME=between");
}

// Networks that are built from weights divide by it, and enlarge pictures if it is large.
void expect_scale(const Model &model, const Contract &contract)
{
    const auto scale = contract.inputs.find("scale");
    if (scale == contract.inputs.end() || model.metadata("architecture").empty())
        return;
    constexpr double least = 0.25, most = 4;
    double number = 0;
    const char *const begin = scale->second.data(), *const end = begin + scale->second.size();
    const auto parsed = std::from_chars(begin, end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end || !(number >= least && number <= most))
        throw Error(AVERROR(EINVAL), concat("inputs=scale=", scale->second,
                                            ": the scale is a number from 0.25 to 4, such as 0.5"));
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
    expect_scale(*inspected, said);
    using Complete = std::function<void(Contract &)>;
    struct Try {
        std::string input; // that gets the frames
        Complete complete;
        bool is_guess = false;
    };
    std::vector<Try> ways;
    if (looks_at_time(said)) {
        ways.push_back({options.input_name, [](Contract &contract) {
                            if (contract.input.channels == 0)
                                contract.input.channels = colours;
                        }});
        if (takes_time(said))
            ways.push_back({options.input_name, [](Contract &contract) {
                                if (contract.input.channels == 0)
                                    contract.input.channels = colours;
                                take_numbers(contract);
                            }});
    } else {
        std::vector<Argument> arguments = arguments_of(*inspected);
        std::erase_if(arguments,
                      [&](const Argument &each) { return said.inputs.contains(each.name); });
        for (const Way &way : ways_for(arguments, options.input_name))
            ways.push_back(
                {way.first, [way](Contract &contract) { apply(way, contract); }, way.is_guess});
    }
    std::optional<Error> failure;
    for (const auto &[input, complete, is_guess] : ways)
        try {
            ModelOptions with_input = options;
            with_input.input_name = input;
            ModelWithContract opened =
                open_with_contract(given, contract_path, with_input, open, complete);
            expect_pair(opened.contract);
            try_small(opened);
            if (!looks_at_time(said))
                expect_time(opened, is_guess);
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
