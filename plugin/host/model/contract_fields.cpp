// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "contract_fields.h"

#include "base/compose.h"
#include "base/json_check.h"
#include "base/terminal.h"
#include "contract_values.h"
#include "host/error.h"
#include "label_lists.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

namespace dnn_torch
{
namespace
{

using Json = nlohmann::ordered_json;

// A field of the input, of the output, or of the model as a whole.
template <class Part> struct Field {
    const char *name;
    const char *takes;                   // the accepted values, for errors
    const char *takes_in_json = nullptr; // the same for JSON, if different
    const char *between = "";  // separates an option's numbers, also if it is one; "": it is a text
    bool is_of_output = false; // of a tensor: whether an output has it as well
    bool is_as_input = true;   // and then, whether it defaults to the input's value
    bool (*set)(const Json &value, Part &part); // returns false if the value is invalid
    Json (*get)(const Part &part);              // null: not known
};

// ---- of the input and the output ------------------------------------------------------

bool set_order(const Json &value, TensorContract &tensor)
{
    tensor.is_bgr = value == "bgr";
    return value == "bgr" || value == "rgb";
}

bool set_range(const Json &value, TensorContract &tensor)
{
    const Numbers ends = numbers_of(value);
    if (ends.empty() || ends.size() > 2)
        return false;
    const float low = ends.size() == 2 ? ends[0] : 0, high = ends.back();
    const float span = std::abs(high - low);
    if (!is_sensible(low) || !is_sensible(high) || span < 1e-3F)
        return false;
    // Far from 0, floats are too coarse for the samples between black and white.
    constexpr float farthest = 16;
    if (std::max(std::abs(low), std::abs(high)) > farthest * span)
        return false;
    tensor.low = low;
    tensor.high = high;
    return true;
}

bool set_deviation(const Json &value, TensorContract &tensor)
{
    for (const float number : numbers_of(value))
        if (std::abs(number) < 1e-6F)
            return false;
    return set_three(value, tensor.deviation);
}

template <size_t count>
bool set_one_of(const std::array<std::string_view, count> &names, const Json &value,
                std::string &text)
{
    if (!value.is_string() ||
        std::find(names.begin(), names.end(), value.get_ref<const std::string &>()) == names.end())
        return false;
    text = value.get<std::string>();
    return true;
}

bool set_type(const Json &value, TensorContract &tensor)
{
    constexpr std::array<std::string_view, 5> types = {"float32", "uint8", "float64", "float16",
                                                       "bfloat16"};
    return set_one_of(types, value, tensor.type);
}

bool set_layout(const Json &value, TensorContract &tensor)
{
    constexpr std::array<std::string_view, 10> layouts = {"nchw", "nhwc",  "chw",   "hwc",  "nhw",
                                                          "hw",   "ntchw", "ncthw", "tchw", "cthw"};
    return set_one_of(layouts, value, tensor.layout);
}

constexpr Field<TensorContract> tensor_fields[] = {
    {.name = "channels",
     .takes = "a whole number from 1 to 4",
     .between = "|",
     .is_of_output = true,
     .is_as_input = false,
     .set = [](const Json &value,
               TensorContract &tensor) { return set_whole(value, 1, 4, tensor.channels); },
     .get = [](const TensorContract &tensor) { return number_or_null(tensor.channels); }},
    {.name = "order",
     .takes = "rgb or bgr",
     .takes_in_json = R"("rgb" or "bgr")",
     .is_of_output = true,
     .set = set_order,
     .get = [](const TensorContract &tensor) { return Json(tensor.is_bgr ? "bgr" : "rgb"); }},
    {.name = "range",
     .takes = "1, 255 or LOW..HIGH not far from 0, such as -1..1",
     .takes_in_json = "[LOW, HIGH] not far from 0, such as [0, 255] or [-1, 1]",
     .between = "..",
     .is_of_output = true,
     .set = set_range,
     .get =
         [](const TensorContract &tensor) {
             return json_of(Numbers{tensor.low, tensor.high});
         }},
    {.name = "mean",
     .takes = "one number or three (A|B|C)",
     .takes_in_json = "one number or three ([A, B, C])",
     .between = "|",
     .set = [](const Json &value, TensorContract &tensor) { return set_three(value, tensor.mean); },
     .get = [](const TensorContract &tensor) { return json_of(tensor.mean); }},
    {.name = "std",
     .takes = "one number or three (A|B|C), none of them 0",
     .takes_in_json = "one number or three ([A, B, C]), none of them 0",
     .between = "|",
     .set = set_deviation,
     .get = [](const TensorContract &tensor) { return json_of(tensor.deviation); }},
    {.name = "type",
     .takes = "float32, uint8, float64, float16 or bfloat16",
     .is_as_input = false,
     .set = set_type,
     .get = [](const TensorContract &tensor) { return text_or_null(tensor.type); }},
    {.name = "layout",
     .takes = "nchw, nhwc, chw, hwc, nhw or hw, or with frames, ntchw, ncthw, tchw or cthw",
     .is_of_output = true,
     .is_as_input = false,
     .set = set_layout,
     .get = [](const TensorContract &tensor) { return text_or_null(tensor.layout); }},
};

// ---- of the model ---------------------------------------------------------------------

constexpr std::string_view tasks[] = {"picture",     "detect", "classify", "segment", "matte",
                                      "interpolate", "pose",   "obb",      "depth"};

bool set_task(const Json &value, ModelFacts &model)
{
    if (!value.is_string() || std::find(std::begin(tasks), std::end(tasks),
                                        value.get_ref<const std::string &>()) == std::end(tasks))
        return false;
    model.task = value.get<std::string>();
    return true;
}

bool set_tiling(const Json &value, ModelFacts &model)
{
    model.tiling = value == "local" ? Tiling::local : Tiling::global;
    return value == "local" || value == "global";
}

Json tiling_of(const ModelFacts &model)
{
    if (model.tiling == Tiling::unknown)
        return {};
    return model.tiling == Tiling::local ? "local" : "global";
}

bool set_end2end(const Json &value, ModelFacts &model)
{
    if (value.is_boolean())
        model.end2end = value.get<bool>();
    return value.is_boolean();
}

bool set_scores(const Json &value, ModelFacts &model)
{
    constexpr std::array<std::string_view, 3> kinds = {"softmax", "sigmoid", "plain"};
    return set_one_of(kinds, value, model.scores);
}

bool set_key_points(const Json &value, ModelFacts &model)
{
    constexpr int most = 10000;
    std::array<int, 2> given = {0, 0};
    if (!value.is_array() || value.size() != 2 || !set_whole(value[0], 1, most, given[0]) ||
        !set_whole(value[1], 2, 3, given[1]))
        return false;
    model.key_points = given;
    return true;
}

bool set_labels(const Json &value, ModelFacts &model)
{
    std::string list;
    if (value.is_string() && is_label_list(value.get<std::string>()))
        list = value.get<std::string>();
    else if (!set_texts(value, model.labels))
        return false;
    if (!list.empty())
        model.labels.clear();
    model.label_list = list;
    return true;
}

Json labels_of(const ModelFacts &model)
{
    if (model.labels.empty())
        return text_or_null(model.label_list);
    return model.labels;
}

constexpr Field<ModelFacts> model_fields[] = {
    {.name = "task",
     .takes = "picture, detect, classify, segment, matte, interpolate, pose, obb or depth",
     .set = set_task,
     .get = [](const ModelFacts &model) { return text_or_null(model.task); }},
    {.name = "scale",
     .takes = "by what the model enlarges, such as 4 or 0.5",
     .between = "|",
     .set = [](const Json &value, ModelFacts &model) { return set_scale(value, model.scale); },
     .get =
         [](const ModelFacts &model) { return model.scale > 0 ? json_of(model.scale) : Json(); }},
    {.name = "tiling",
     .takes = "local (tiles change nothing) or global (a result depends on the whole picture)",
     .set = set_tiling,
     .get = tiling_of},
    {.name = "alignment",
     .takes = "a whole number from 1: tiles begin at multiples of it",
     .between = "|",
     .set = [](const Json &value,
               ModelFacts &model) { return set_whole(value, 1, 1 << 24, model.alignment); },
     .get = [](const ModelFacts &model) { return number_or_null(model.alignment); }},
    {.name = "batch",
     .takes = "a whole number from 1: how many pictures the model takes at once",
     .between = "|",
     .set = [](const Json &value,
               ModelFacts &model) { return set_whole(value, 1, 1 << 20, model.batch); },
     .get = [](const ModelFacts &model) { return number_or_null(model.batch); }},
    {.name = "end2end",
     .takes = "true (detections come out as they are) or false (they need nms)",
     .set = set_end2end,
     .get = [](const ModelFacts &model) { return model.end2end ? Json(*model.end2end) : Json(); }},
    {.name = "scores",
     .takes = "softmax, sigmoid or plain",
     .set = set_scores,
     .get = [](const ModelFacts &model) { return text_or_null(model.scores); }},
    {.name = "key_points",
     .takes = "how many key points a pose has and the numbers of each, 2 or 3: [17, 3]",
     .between = "|",
     .set = set_key_points,
     .get =
         [](const ModelFacts &model) {
             return model.key_points[0] > 0 ? Json(model.key_points) : Json();
         }},
    {.name = "labels",
     .takes = R"(a list of names, or "coco", "voc" or "imagenet")",
     .set = set_labels,
     .get = labels_of},
    {.name = "author",
     .takes = "a text",
     .set = [](const Json &value, ModelFacts &model) { return set_text(value, model.author); },
     .get = [](const ModelFacts &model) { return text_or_null(model.author); }},
    {.name = "licence",
     .takes = "a text",
     .set = [](const Json &value, ModelFacts &model) { return set_text(value, model.licence); },
     .get = [](const ModelFacts &model) { return text_or_null(model.licence); }},
};

// ---- which sizes the input may have ---------------------------------------------------

bool set_multiple(const Json &value, SizeParameters &sizes)
{
    int multiple = 0;
    if (!set_whole(value, 1, 4096, multiple))
        return false;
    sizes.multiple = multiple;
    return true;
}

// One number sets both sides.
bool set_size(const Json &value, std::optional<Size> &size)
{
    const bool is_pair = value.is_array() && value.size() == 2;
    Size given = {0, 0};
    if (!set_whole(is_pair ? value[0] : value, 1, largest_side, given.width) ||
        !set_whole(is_pair ? value[1] : value, 1, largest_side, given.height))
        return false;
    size = given;
    return true;
}

Json size_or_null(const std::optional<Size> &size)
{
    return size ? Json::array({size->width, size->height}) : Json();
}

bool set_padding(const Json &value, SizeParameters &sizes)
{
    if (value != "reflect" && value != "replicate")
        return false;
    sizes.padding = value == "reflect" ? Padding::reflect : Padding::replicate;
    return true;
}

Json padding_of(const SizeParameters &sizes)
{
    if (!sizes.padding)
        return {};
    return *sizes.padding == Padding::reflect ? "reflect" : "replicate";
}

constexpr Field<SizeParameters> size_fields[] = {
    {.name = "multiple",
     .takes = "a number from 1 to 4096",
     .between = "|",
     .set = set_multiple,
     .get = [](const SizeParameters &sizes) { return number_or_null(sizes.multiple.value_or(0)); }},
    {.name = "minimum",
     .takes = "a size, such as [64, 48] (width, height), or one number for both",
     .between = "x",
     .set = [](const Json &value, SizeParameters &sizes) { return set_size(value, sizes.minimum); },
     .get = [](const SizeParameters &sizes) { return size_or_null(sizes.minimum); }},
    {.name = "size",
     .takes = "a size, such as [64, 48] (width, height), or one number for both",
     .between = "x",
     .set = [](const Json &value, SizeParameters &sizes) { return set_size(value, sizes.only); },
     .get = [](const SizeParameters &sizes) { return size_or_null(sizes.only); }},
    {.name = "padding",
     .takes = "reflect or replicate",
     .takes_in_json = R"("reflect" or "replicate")",
     .set = set_padding,
     .get = padding_of},
};

// ---- which frames the input has -------------------------------------------------------

// The current frame is among them.
bool set_frames(const Json &value, TimeContract &time)
{
    constexpr int most = 32;
    int first = 0, last = 0;
    if (!value.is_array() || value.size() != 2 || !set_whole(value[0], -most, 0, first) ||
        !set_whole(value[1], 0, most, last) || last - first >= most)
        return false;
    time.first = first;
    time.last = last;
    return true;
}

bool set_border(const Json &value, TimeContract &time)
{
    time.border = value == "repeat" ? Border::repeat : Border::reflect;
    return value == "repeat" || value == "reflect";
}

constexpr Field<TimeContract> time_fields[] = {
    {.name = "frames",
     .takes = "FIRST..LAST around the current frame, 0, such as -2..2; at most 32 frames",
     .takes_in_json = "[FIRST, LAST] around the current frame, 0, such as [-2, 2]; at most 32 "
                      "frames",
     .between = "..",
     .set = set_frames,
     .get =
         [](const TimeContract &time) {
             return time.count() > 1 ? Json::array({time.first, time.last}) : Json();
         }},
    {.name = "border",
     .takes = "reflect or repeat",
     .takes_in_json = R"("reflect" or "repeat")",
     .set = set_border,
     .get = [](const TimeContract &time) -> Json {
         if (time.count() == 1 && time.length == 0)
             return {};
         return time.border == Border::repeat ? "repeat" : "reflect";
     }},
    {.name = "length",
     .takes = "the number of frames of a segment, 1 to 256",
     .between = "|",
     .set = [](const Json &value,
               TimeContract &time) { return set_whole(value, 1, 256, time.length); },
     .get = [](const TimeContract &time) { return number_or_null(time.length); }},
    {.name = "time_overlap",
     .takes = "a number of frames that is less than half of a segment's length, 0 to 127",
     .between = "|",
     .set = [](const Json &value,
               TimeContract &time) { return set_whole(value, 0, 127, time.overlap); },
     .get = [](const TimeContract &time) { return number_or_null(time.overlap); }},
};

// ---- what the result becomes ----------------------------------------------------------

constexpr std::pair<As, const char *> names_of_as[] = {
    {As::picture, "picture"}, {As::grey, "gray"},      {As::alpha, "alpha"}, {As::depth, "depth"},
    {As::index, "index"},     {As::colours, "colors"}, {As::lab, "lab"}};

bool set_as(const Json &value, Contract &contract)
{
    for (const auto &[as, name] : names_of_as)
        if (value == name) {
            contract.as = as;
            return true;
        }
    return false;
}

Json as_of(const Contract &contract)
{
    const bool is_default = contract.as == As::picture && contract.origins.count("output.as") == 0;
    return is_default ? Json() : Json(name_of(contract.as));
}

// Limits of depth imply as=depth.
bool set_depth(const Json &value, Contract &contract)
{
    constexpr float largest = 1e30F;
    const Numbers ends = numbers_of(value);
    if (value != "auto" &&
        (ends.size() != 2 || !(std::abs(ends[0]) <= largest) || !(std::abs(ends[1]) <= largest) ||
         !(std::abs(ends[1] - ends[0]) >= 1 / largest)))
        return false;
    contract.depth = std::nullopt;
    if (ends.size() == 2)
        contract.depth = {.black = ends[0], .white = ends[1]};
    if (contract.origins.count("output.as") == 0)
        contract.as = As::depth;
    return true;
}

Json depth_of(const Contract &contract)
{
    if (contract.as != As::depth)
        return {};
    return contract.depth ? json_of(Numbers{contract.depth->black, contract.depth->white})
                          : Json("auto");
}

// A choice of classes implies as=alpha, which shows them alone.
bool set_classes(const Json &value, Contract &contract)
{
    const Json list = value.is_array() ? value : Json::array({value});
    std::vector<std::string> classes;
    for (const Json &each : list) {
        if (!each.is_string() && !each.is_number_unsigned())
            return false;
        classes.push_back(each.is_string() ? each.get<std::string>() : each.dump());
        if (classes.back().empty())
            return false;
    }
    if (classes.empty())
        return false;
    contract.classes = std::move(classes);
    if (contract.origins.count("output.as") == 0)
        contract.as = As::alpha;
    return true;
}

Json classes_of(const Contract &contract)
{
    return contract.classes.empty() ? Json() : Json(contract.classes);
}

constexpr Field<Contract> result_fields[] = {
    {.name = "as",
     .takes = "picture, gray, alpha, lab, depth, index or colors",
     .set = set_as,
     .get = as_of},
    {.name = "classes",
     .takes = "names or numbers of classes, person|car",
     .takes_in_json = "names or numbers of classes, [\"person\", \"car\"]",
     .set = set_classes,
     .get = classes_of},
    {.name = "depth",
     .takes = "auto or LOW..HIGH, such as 0..10",
     .takes_in_json = "\"auto\" or [LOW, HIGH], such as [0, 10]",
     .between = "..",
     .set = set_depth,
     .get = depth_of},
};

// ---- all of them ----------------------------------------------------------------------

constexpr std::string_view input = "input.", output = "output.";

bool begins_with(std::string_view text, std::string_view start)
{
    return text.substr(0, start.size()) == start;
}

// Calls `use` with the field and the part of the contract that holds it.  Returns false if there
// is no such field.
template <class SomeContract, class Use>
bool with_field(std::string_view name, SomeContract &contract, Use use)
{
    const bool is_output = begins_with(name, output);
    if (is_output || begins_with(name, input)) {
        const std::string_view inner = name.substr((is_output ? output : input).size());
        for (const Field<Contract> &field : result_fields)
            if (field.name == inner && is_output) {
                use(field, contract);
                return true;
            }
        for (const Field<SizeParameters> &field : size_fields)
            if (field.name == inner && !is_output) {
                use(field, contract.sizes);
                return true;
            }
        for (const Field<TimeContract> &field : time_fields)
            if (field.name == inner && !is_output) {
                use(field, contract.time);
                return true;
            }
        for (const Field<TensorContract> &field : tensor_fields)
            if (field.name == inner && (field.is_of_output || !is_output)) {
                use(field, is_output ? contract.output : contract.input);
                return true;
            }
        return false;
    }
    for (const Field<ModelFacts> &field : model_fields)
        if (field.name == name) {
            use(field, contract.model);
            return true;
        }
    return false;
}

// An unknown field is an error, because it may be a misspelt one.
[[noreturn]] void refuse_field(const std::string &name)
{
    throw Error(AVERROR(EINVAL), concat("has a field ", quoted_for_terminal(name),
                                        " that is not known; docs/contract.md has them all"));
}

[[noreturn]] void refuse(const std::string &name, const char *takes, const std::string &given)
{
    constexpr size_t longest = 100;
    throw Error(AVERROR(EINVAL),
                concat(name, " takes ", takes, ", not ", printable(given.substr(0, longest))));
}

} // namespace

const char *name_of(As as)
{
    for (const auto &[known, name] : names_of_as)
        if (as == known)
            return name;
    return "";
}

const std::vector<std::string> &names_of_fields()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const Field<ModelFacts> &field : model_fields)
            all.emplace_back(field.name);
        for (const Field<TensorContract> &field : tensor_fields)
            all.push_back(concat(input, field.name));
        for (const Field<SizeParameters> &field : size_fields)
            all.push_back(concat(input, field.name));
        for (const Field<TimeContract> &field : time_fields)
            all.push_back(concat(input, field.name));
        for (const Field<TensorContract> &field : tensor_fields)
            if (field.is_of_output)
                all.push_back(concat(output, field.name));
        for (const Field<Contract> &field : result_fields)
            all.push_back(concat(output, field.name));
        return all;
    }();
    return names;
}

bool is_field(const std::string &name)
{
    const std::vector<std::string> &names = names_of_fields();
    return std::find(names.begin(), names.end(), name) != names.end();
}

void set_field_from_text(const std::string &name, const std::string &text,
                         const std::string &origin, Contract &contract)
{
    const bool is_known = with_field(name, contract, [&](const auto &field, auto &part) {
        if (!field.set(json_from_text(text, field.between), part))
            refuse(field.name, field.takes, concat("'", text, "'"));
    });
    if (!is_known)
        refuse_field(name);
    contract.origins[name] = origin;
}

void set_field_from_json(const std::string &name, const Json &value, const std::string &origin,
                         Contract &contract)
{
    const bool is_known = with_field(name, contract, [&](const auto &field, auto &part) {
        if (!field.set(value, part))
            refuse(concat("is wrong: ", name),
                   field.takes_in_json ? field.takes_in_json : field.takes,
                   value.dump(-1, ' ', true, Json::error_handler_t::replace));
    });
    if (!is_known)
        refuse_field(name);
    contract.origins[name] = origin;
}

void complete_output(Contract &contract)
{
    for (const Field<TensorContract> &field : tensor_fields)
        if (field.is_of_output && field.is_as_input &&
            contract.origins.count(concat(output, field.name)) == 0)
            field.set(field.get(contract.input), contract.output);
}

std::string field_in_words(const std::string &name, const Contract &contract)
{
    std::string words;
    with_field(name, contract, [&](const auto &field, const auto &part) {
        words = text_of_json(field.get(part), field.between);
    });
    return words;
}

Json field_as_json(const std::string &name, const Contract &contract)
{
    Json value;
    with_field(name, contract,
               [&](const auto &field, const auto &part) { value = field.get(part); });
    return value;
}

} // namespace dnn_torch
