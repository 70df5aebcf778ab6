// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_contract.h"

#include "base/compose.h"
#include "extra_pictures.h"
#include "host/frames/lab.h"
#include "host/model/contract_fields.h"
#include "host/model/contract_inputs.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <cmath>
#include <optional>

namespace dnn_torch
{
namespace
{

// Joins the pieces of a long text: KEY, KEY:1, KEY:2 ...
std::string text_of(const Model &model, const std::string &key)
{
    constexpr int most_pieces = 64;
    std::string text = model.metadata(key.c_str());
    for (int i = 1; !text.empty() && i < most_pieces; i++) {
        const std::string piece = model.metadata((key + ":" + std::to_string(i)).c_str());
        if (piece.empty())
            break;
        text += piece;
    }
    return text;
}

[[noreturn]] void refuse(const std::string &name, const Contract &contract,
                         const std::string &truth)
{
    throw Error(AVERROR(EINVAL), contradicting(name, contract) + truth);
}

bool is_of_pictures(const std::string &task)
{
    return task != "detect" && task != "classify" && task != "pose" && task != "obb";
}

std::string filter_for(const std::string &task)
{
    return task == "classify" ? "; use dnn_torch_classify" : "; use dnn_torch_detect";
}

bool is_scaled(int in, int out, float scale)
{
    return std::abs(static_cast<float>(in) * scale - static_cast<float>(out)) < 1;
}

void set_range(const std::string &side, const std::string &type, PictureNumbers &numbers,
               Contract &contract)
{
    const bool is_codes = type == "uint8";
    if (contract.origins.count(concat(side, ".range")) != 0 || (!is_codes && type != "bool"))
        return;
    numbers.low = 0;
    numbers.high = is_codes ? 255 : 1;
    contract.origins[concat(side, ".range")] = concat("type ", type);
}

void expect_range_within(const std::string &side, const std::string &type,
                         const PictureNumbers &numbers, const Contract &contract)
{
    constexpr float largest_half = 65504;
    if (type == "float16" && std::max(std::abs(numbers.low), std::abs(numbers.high)) > largest_half)
        throw Error(
            AVERROR(EINVAL),
            concat(field_with_origin(side + ".range", contract),
                   " goes beyond 65504, the largest number of float16; write another type"));
}

// Sets the engine's options about tensors.
void set_tensor_options(const Contract &contract, ModelOptions &options)
{
    options.input_type = contract.input.type;
    options.input_layout = contract.input.layout;
    options.output_layout = contract.output.layout;
    options.inputs = inputs_as_text(contract);
    options.frames =
        contract.time.count() > 1 ? concat(contract.time.first, "..", contract.time.last) : "";
    options.length = contract.time.length == 0 ? ""
                     : contract.time.border == Border::repeat
                         ? concat(contract.time.length, " repeat")
                         : std::to_string(contract.time.length);
    if (makes_class_maps(contract))
        options.results = "tensors";
}

bool tensors_differ(const Contract &a, const Contract &b)
{
    return a.input.type != b.input.type || a.input.layout != b.input.layout ||
           a.output.layout != b.output.layout || a.inputs != b.inputs ||
           a.time.first != b.time.first || a.time.last != b.time.last ||
           a.time.length != b.time.length || a.pictures != b.pictures ||
           makes_class_maps(a) != makes_class_maps(b);
}

// Reads the contract of a refused model.  Extra inputs may be set only in the model's own file, and
// without them the model is refused, so the file is inspected.  Returns nullopt if that adds
// nothing.
std::optional<Contract> contract_of_refused(const Error &refusal, const ContractOptions &given,
                                            const std::string &contract_path,
                                            const Contract &before,
                                            const std::function<std::shared_ptr<Model>()> &inspect,
                                            const std::function<Contract(Contract)> &completed)
try {
    if (refusal.code() != AVERROR_INVALIDDATA)
        return std::nullopt;
    Contract found = completed(contract_of(*inspect(), given, contract_path));
    return tensors_differ(before, found) ? std::optional(std::move(found)) : std::nullopt;
} catch (const AnyError &) {
    return std::nullopt; // the first refusal says more
}

} // namespace

void set_ranges_of_lab(int channels, Contract &contract)
{
    TensorContract &in = contract.input, &out = contract.output;
    if (channels == 1 && contract.origins.count("input.range") == 0) {
        in.low = 0;
        in.high = lightness_of_white;
        contract.origins["input.range"] = "lightness";
    }
    out.mean = {0, 0, 0};
    out.deviation = {1, 1, 1};
    if (contract.origins.count("output.range") != 0)
        return;
    out.low = -largest_a_or_b;
    out.high = largest_a_or_b;
    contract.origins["output.range"] = "a and b";
}

Contract contract_of(const Model &model, const ContractOptions &options,
                     const std::string &contract_path)
{
    return read_contract(options, contract_path,
                         {.file = text_of(model, "file_contract"),
                          .ultralytics = text_of(model, "ultralytics"),
                          .architecture = text_of(model, "architecture_contract"),
                          .graph = text_of(model, "graph_contract")});
}

ModelWithContract open_with_contract(const ContractOptions &given, const std::string &contract_path,
                                     ModelOptions options, const OpenFile &open,
                                     const std::function<void(Contract &)> &complete)
{
    const auto completed = [&](Contract contract) {
        if (complete)
            complete(contract);
        return contract;
    };
    const auto open_for = [&](const Contract &contract) {
        set_tensor_options(contract, options);
        return open(options);
    };
    const auto inspect = [&] {
        ModelOptions inspecting = options;
        inspecting.inspect = true;
        return open(inspecting);
    };
    Contract known = completed(read_contract(given, contract_path)), tried = known;
    std::shared_ptr<Model> model;
    try {
        model = open_with_pictures(tried, open_for);
    } catch (const Error &refusal) {
        const auto found =
            contract_of_refused(refusal, given, contract_path, known, inspect, completed);
        if (!found)
            throw;
        known = tried = *found;
        model = open_with_pictures(tried, open_for);
    }
    Contract contract = completed(contract_of(*model, given, contract_path));
    if (tensors_differ(known, contract)) {
        model.reset(); // its process may serve the next opening
        model = open_with_pictures(contract, open_for);
    } else {
        contract.pictures = tried.pictures;
        for (const PictureInput &picture : tried.pictures)
            contract.origins[concat("inputs.", picture.name)] =
                tried.origins.at(concat("inputs.", picture.name));
    }
    return {.model = std::move(model), .contract = std::move(contract)};
}

void set_ranges_of_types(const std::string &input_type, const std::string &output_type,
                         Contract &contract)
{
    // An output of the input's type keeps the range that was set for the input.
    const bool is_as_input = output_type == input_type && contract.origins.count("input.range");
    if (!is_as_input)
        set_range("output", output_type, contract.output, contract);
    if (input_type == "uint8")
        set_range("input", input_type, contract.input, contract);
    expect_range_within("input", input_type, contract.input, contract);
}

std::string field_with_origin(const std::string &name, const Contract &contract)
{
    const auto origin = contract.origins.find(name);
    return name + " " + field_in_words(name, contract) + " (" +
           (origin == contract.origins.end() ? "default" : origin->second) + ")";
}

std::string contradicting(const std::string &name, const Contract &contract)
{
    return concat("the contract says ", field_with_origin(name, contract), ", but ");
}

std::string contradicting_task(const Contract &contract)
{
    return contract.model.task.empty() ? "" : contradicting("task", contract);
}

Channels agreed_channels(const Contract &contract, Channels found)
{
    if (!is_of_pictures(contract.model.task))
        refuse("task", contract,
               concat("this filter makes pictures", filter_for(contract.model.task)));
    const int channels = contract.input.channels;
    if (channels == 0)
        return found;
    if (found == Channels::any && channels != 4)
        return channels == 1 ? Channels::luma : Channels::rgb;
    if (found != Channels::any && channels == count_of(found))
        return found;
    refuse("input.channels", contract,
           found == Channels::any ? "the model takes 3 or 1"
                                  : "the model takes " + std::to_string(count_of(found)));
}

void expect_made(const Contract &contract, int made)
{
    if (made != 0 && contract.origins.count("output.channels") != 0 &&
        contract.output.channels != made)
        refuse("output.channels", contract, "the model makes " + std::to_string(made));
}

void expect_scale(const Contract &contract, Size in, Size out)
{
    const float scale = contract.model.scale;
    if (scale > 0 &&
        !(is_scaled(in.width, out.width, scale) && is_scaled(in.height, out.height, scale)))
        refuse("scale", contract, "the model makes " + to_text(out) + " of " + to_text(in));
}

} // namespace dnn_torch
