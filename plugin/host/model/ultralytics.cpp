// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads the metadata that Ultralytics' exporter writes into a model's file, as JSON.
#include "base/json_check.h"
#include "contract_fields.h"
#include "contract_json.h"
#include "host/error.h"

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

namespace dnn_torch
{
namespace
{

using Json = nlohmann::ordered_json;

// Turns {"0": "person", "1": "bicycle"} into ["person", "bicycle"]; null if a number is missing.
Json labels_of(const Json &names)
{
    if (names.is_array() || !names.is_object())
        return names.is_array() ? names : Json();
    std::map<size_t, Json> by_number;
    for (const auto &[key, name] : names.items()) {
        size_t number = 0;
        if (std::from_chars(key.data(), key.data() + key.size(), number).ptr ==
            key.data() + key.size())
            by_number.emplace(number, name);
    }
    Json labels = Json::array();
    for (const auto &[number, name] : by_number) {
        if (number != labels.size())
            return {};
        labels.push_back(name);
    }
    return labels;
}

// A traced model keeps the size that it was traced with, "imgsz": [height, width].
Json size_of(const Json &all)
{
    const Json arguments = all.value("args", Json::object());
    const Json &size = all.contains("imgsz") ? all["imgsz"] : Json();
    if (arguments.is_object() && arguments.value("dynamic", Json(false)) == true)
        return {};
    if (size.is_number())
        return Json::array({size, size});
    return size.is_array() && size.size() == 2 ? Json::array({size[1], size[0]}) : Json();
}

void set(const std::string &name, const Json &value, const std::string &origin, Contract &contract)
{
    if (value.is_null())
        return;
    try {
        set_field_from_json(name, value, origin, contract);
    } catch (const Error &) {
        return; // Ultralytics means something else by it
    }
}

} // namespace

void apply_ultralytics(std::string_view text, const std::string &origin, Contract &contract)
{
    constexpr JsonLimits limits = {.depth = 8, .values = 100'000};
    if (!fault_of_json(text, limits).empty())
        return;
    const Json all = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!all.is_object() || !all.contains("task"))
        return;
    const std::pair<const char *, const char *> same[] = {{"task", "task"},
                                                          {"author", "author"},
                                                          {"license", "licence"},
                                                          {"batch", "batch"},
                                                          {"end2end", "end2end"},
                                                          {"kpt_shape", "key_points"},
                                                          {"stride", "input.multiple"},
                                                          {"channels", "input.channels"}};
    for (const auto &[theirs, ours] : same)
        if (all.contains(theirs))
            set(ours, all[theirs], origin, contract);
    set("labels", labels_of(all.value("names", Json())), origin, contract);
    set("input.size", size_of(all), origin, contract);
    set("input.order", "rgb", origin, contract);
    set("input.range", Json::array({0, 1}), origin, contract);
}

} // namespace dnn_torch
