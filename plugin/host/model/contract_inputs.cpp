// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "contract_inputs.h"

#include "base/compose.h"
#include "base/json_check.h"
#include "base/terminal.h"
#include "contract.h"
#include "contract_fields.h"
#include "contract_values.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace dnn_torch
{
namespace
{

using Json = nlohmann::ordered_json;

constexpr const char *frames_that_are_neighbours =
    "a distance from the current one, from -31 to 31: -1 is the one before";

bool is_neighbour(int frame)
{
    constexpr int farthest = 31;
    return frame != 0 && std::abs(frame) <= farthest;
}

void check_name(const std::string &name, const std::string &value)
{
    // Engines get all inputs as one text.
    const bool is_clean = name.find_first_of("=|") == std::string::npos &&
                          value.find('|') == std::string::npos && !name.empty() && !value.empty();
    if (!is_clean)
        throw Error(AVERROR(EINVAL), concat("inputs takes names and values without '|', not '",
                                            name, "=", value, "'"));
}

// Removes the earlier input of that name.  Returns it if it is a picture.
std::optional<PictureInput> remove_input(const std::string &name, Contract &contract)
{
    contract.inputs.erase(name);
    const auto known = std::find_if(contract.pictures.begin(), contract.pictures.end(),
                                    [&](const PictureInput &each) { return each.name == name; });
    if (known == contract.pictures.end())
        return std::nullopt;
    PictureInput picture = *known;
    contract.pictures.erase(known);
    return picture;
}

// Appends the picture: a later source that names it again moves it to the end.
void set_picture(PictureInput picture, const std::string &origin, Contract &contract)
{
    check_name(picture.name, "picture");
    constexpr size_t most = 8;
    if (contract.pictures.size() == most)
        throw Error(AVERROR(EINVAL), "inputs has more than 8 pictures");
    contract.origins[concat("inputs.", picture.name)] = origin;
    contract.pictures.push_back(std::move(picture));
}

void set_value(const std::string &name, const std::string &value, const std::string &origin,
               Contract &contract)
{
    check_name(name, value);
    remove_input(name, contract);
    contract.inputs[name] = value;
    contract.origins[concat("inputs.", name)] = origin;
}

// Returns 3 for "picture=3", 0 (unknown) for "", and nullopt for a value.
std::optional<int> channels_in(const std::string &name, const std::string &value)
{
    constexpr std::string_view kind = "picture=";
    if (value.empty())
        return 0;
    if (std::string_view(value).substr(0, kind.size()) != kind)
        return std::nullopt;
    const std::string number = value.substr(kind.size());
    if (number != "1" && number != "3" && number != "4")
        throw Error(AVERROR(EINVAL),
                    concat("inputs=", name, "=", value, ": a picture has 1, 3 or 4 channels"));
    return number.front() - '0';
}

// Returns -1 for "frame=-1"; nullopt for another value.
std::optional<int> frame_in(const std::string &name, const std::string &value)
{
    constexpr std::string_view kind = "frame=";
    if (std::string_view(value).substr(0, kind.size()) != kind)
        return std::nullopt;
    int frame = 0;
    const char *const begin = value.data() + kind.size(), *const end = value.data() + value.size();
    const auto parsed = std::from_chars(begin, end, frame);
    if (parsed.ec != std::errc() || parsed.ptr != end || !is_neighbour(frame))
        throw Error(AVERROR(EINVAL), concat("inputs=", name, "=", value, ": a frame is ",
                                            frames_that_are_neighbours));
    return frame;
}

void set_between(const std::string &name, const std::string &origin, Contract &contract)
{
    remove_input(name, contract);
    set_picture({.name = name, .channels = 1, .between = true}, origin, contract);
}

// Keeps the numbers that a file has set for the picture.
void set_from_option(const std::string &name, const std::string &value, Contract &contract)
{
    if (value == between_value)
        return set_between(name, "option", contract);
    const std::optional<int> frame = frame_in(name, value);
    const std::optional<int> channels = frame ? 0 : channels_in(name, value);
    if (!channels)
        return set_value(name, value, "option", contract);
    PictureInput picture = remove_input(name, contract).value_or(PictureInput{.name = name});
    picture.frame = frame;
    if (*channels != 0)
        picture.channels = *channels;
    set_picture(std::move(picture), "option", contract);
}

std::string text_from(const Json &value)
{
    if (value.is_string())
        return value.get<std::string>();
    if (value.is_boolean())
        return value.get<bool>() ? "1" : "0";
    if (value.is_null())
        return "none";
    return value.is_number() ? value.dump() : "";
}

// In errors, names the field as the file does: "inputs.mask.range", not "input.range".
void set_picture_field(const std::string &name, const std::string &field, const Json &value,
                       Contract &contract)
try {
    set_field_from_json(concat("input.", field), value, "", contract);
} catch (const Error &error) {
    std::string words = error.what();
    const std::string wrong = concat("input.", field);
    if (const size_t place = words.find(wrong); place != std::string::npos)
        words.replace(place, wrong.size(), concat("inputs.", printable(name), ".", field));
    throw Error(error.code(), words);
}

// Reads the fields as those of a contract's input.
PictureInput picture_from(const std::string &name, const Json &fields)
{
    Contract read;
    std::optional<int> frame;
    for (const auto &[field, value] : fields.items()) {
        if (field == "frame") {
            const bool is_good = value.is_number_integer() && value >= -32 && value <= 32 &&
                                 is_neighbour(value.get<int>());
            if (!is_good)
                throw Error(AVERROR(EINVAL), concat("is wrong: inputs.", printable(name),
                                                    ".frame is ", frames_that_are_neighbours));
            frame = value.get<int>();
            continue;
        }
        constexpr std::array<std::string_view, 5> known = {"channels", "order", "range", "mean",
                                                           "std"};
        if (std::find(known.begin(), known.end(), field) == known.end())
            throw Error(AVERROR(EINVAL),
                        concat("has a field ", quoted_for_terminal(field), " at 'inputs.",
                               printable(name),
                               "', where channels, frame, order, range, mean and std are known"));
        set_picture_field(name, field, value, read);
    }
    const TensorContract &said = read.input;
    if (said.channels == 2)
        throw Error(AVERROR(EINVAL), "is wrong: a picture among 'inputs' has 1, 3 or 4 channels");
    const auto is_said = [&](const char *field) {
        return read.origins.count(concat("input.", field)) != 0;
    };
    if (frame && fields.size() > 1)
        throw Error(AVERROR(EINVAL), concat("is wrong: inputs.", printable(name),
                                            " is a frame, and has the numbers of the input"));
    PictureInput picture = {.name = name, .channels = said.channels, .frame = frame};
    if (is_said("order"))
        picture.is_bgr = said.is_bgr;
    if (is_said("range"))
        picture.range = {said.low, said.high};
    if (is_said("mean"))
        picture.mean = said.mean;
    if (is_said("std"))
        picture.deviation = said.deviation;
    return picture;
}

// Leaves out unknown channels, and numbers that are as in the frame.
Json fields_of(const PictureInput &picture)
{
    Json fields = Json::object();
    if (picture.channels != 0)
        fields["channels"] = picture.channels;
    if (picture.frame)
        fields["frame"] = *picture.frame;
    if (picture.is_bgr)
        fields["order"] = *picture.is_bgr ? "bgr" : "rgb";
    if (picture.range)
        fields["range"] = json_of(Numbers(picture.range->begin(), picture.range->end()));
    if (picture.mean)
        fields["mean"] = json_of(*picture.mean);
    if (picture.deviation)
        fields["std"] = json_of(*picture.deviation);
    return fields;
}

} // namespace

void apply_inputs_option(const std::string &text, Contract &contract)
{
    std::set<std::string> named;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find('|', begin), text.size());
        const size_t equals = std::min(text.find('=', begin), end);
        const std::string name = text.substr(begin, equals - begin);
        if (name.empty() || equals + 1 == end)
            throw Error(AVERROR(EINVAL),
                        concat("inputs takes NAME=VALUE, or NAME for a picture, with '|' between "
                               "them, not '",
                               text, "'"));
        if (!named.insert(name).second)
            throw Error(AVERROR(EINVAL), concat("inputs has ", name, " twice"));
        set_from_option(name, equals == end ? "" : text.substr(equals + 1, end - equals - 1),
                        contract);
        begin = end + 1;
    }
}

void apply_inputs(const Json &inputs, const std::string &origin, Contract &contract)
{
    if (!inputs.is_object())
        throw Error(AVERROR(EINVAL), "has no object at 'inputs'");
    for (const auto &[name, value] : inputs.items()) {
        if (value == between_value) {
            set_between(name, origin, contract);
            continue;
        }
        if (!value.is_object()) {
            set_value(name, text_from(value), origin, contract);
            continue;
        }
        PictureInput picture = picture_from(name, value);
        remove_input(name, contract);
        set_picture(std::move(picture), origin, contract);
    }
}

Json inputs_as_json(const Contract &contract)
{
    Json inputs;
    for (const auto &[name, value] : contract.inputs)
        inputs[name] = value;
    for (const PictureInput &picture : contract.pictures)
        if (!picture.name.empty())
            inputs[picture.name] = picture.between ? Json(between_value) : fields_of(picture);
    return inputs;
}

std::string inputs_as_text(const Contract &contract)
{
    std::string text;
    for (const auto &[name, value] : contract.inputs)
        add_to_list(text, concat(name, "=", value), "|");
    for (const PictureInput &picture : contract.pictures)
        if (!picture.name.empty())
            add_to_list(text, concat(picture.name, "=picture=", picture.channels), "|");
    return text;
}

std::string picture_in_words(const PictureInput &picture)
{
    if (picture.between)
        return between_value;
    if (picture.frame)
        return concat("frame ", *picture.frame > 0 ? "+" : "", *picture.frame);
    if (picture.channels == 0)
        return "picture";
    return concat("picture of ", picture.channels,
                  picture.channels == 1 ? " channel" : " channels");
}

PictureNumbers numbers_of(const PictureInput &picture, const PictureNumbers &frame)
{
    PictureNumbers numbers = frame;
    if (picture.channels == 1) {
        numbers.mean = PictureNumbers{}.mean;
        numbers.deviation = PictureNumbers{}.deviation;
    }
    numbers.is_bgr = picture.is_bgr.value_or(frame.is_bgr);
    if (picture.range) {
        numbers.low = picture.range->front();
        numbers.high = picture.range->back();
    }
    numbers.mean = picture.mean.value_or(numbers.mean);
    numbers.deviation = picture.deviation.value_or(numbers.deviation);
    return numbers;
}

std::vector<NumberInput> numbers_in(const Contract &contract)
{
    std::vector<NumberInput> inputs;
    for (const auto &[name, value] : contract.inputs) {
        const size_t end = value.find_first_of("=:");
        const std::string form = end == std::string::npos ? "" : value.substr(0, end);
        const std::string word = end == std::string::npos ? value : value.substr(end + 1);
        const bool has_form = form == "scalar" || form == "vector" || form == "plane";
        if ((form.empty() || has_form) && (word == "number" || word == "time"))
            inputs.push_back(
                {.name = name,
                 .of = word == "time" ? NumberInput::Of::time : NumberInput::Of::number});
    }
    if (!contract.time.between.empty())
        inputs.push_back({.name = contract.time.between, .of = NumberInput::Of::between});
    return inputs;
}

int extra_channels(const Contract &contract)
{
    int channels = 0;
    for (const PictureInput &picture : contract.pictures)
        channels += picture.channels;
    return channels;
}

int input_channels(const Contract &contract, int frame_channels)
{
    return frame_channels * contract.time.count() + extra_channels(contract);
}

Neighbours neighbours_in(const Contract &contract)
{
    Neighbours neighbours = {.before = -contract.time.first, .after = contract.time.last};
    for (const PictureInput &picture : contract.pictures) {
        neighbours.before = std::max(neighbours.before, -picture.frame.value_or(0));
        neighbours.after = std::max(neighbours.after, picture.frame.value_or(0));
    }
    return neighbours;
}

} // namespace dnn_torch
