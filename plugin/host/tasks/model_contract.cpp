// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model_contract.h"

#include "host/contract/contract_fields.h"

extern "C" {
#include <libavutil/error.h>
}

#include <cmath>

namespace dnn_torch
{
namespace
{

// A long text comes in pieces: KEY, KEY:1, KEY:2 ...
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
    throw Error(AVERROR(EINVAL),
                "the contract says " + field_with_origin(name, contract) + ", but " + truth);
}

bool is_of_pictures(const std::string &task)
{
    return task != "detect" && task != "classify" && task != "interpolate" && task != "pose" &&
           task != "obb";
}

bool is_scaled(int in, int out, float scale)
{
    return std::abs(static_cast<float>(in) * scale - static_cast<float>(out)) < 1;
}

} // namespace

Contract contract_of(const Model &model, const ContractOptions &options,
                     const std::string &file_beside)
{
    return read_contract(options, file_beside,
                         {.file = text_of(model, "file_contract"),
                          .ultralytics = text_of(model, "ultralytics"),
                          .architecture = text_of(model, "architecture_contract")});
}

std::string field_with_origin(const std::string &name, const Contract &contract)
{
    const auto origin = contract.origins.find(name);
    return name + " " + field_in_words(name, contract) + " (" +
           (origin == contract.origins.end() ? "usual" : origin->second) + ")";
}

Channels agreed_channels(const Contract &contract, Channels found)
{
    if (!is_of_pictures(contract.model.task))
        refuse("task", contract, "this filter makes pictures");
    const int channels = contract.input.channels;
    if (channels == 0)
        return found;
    if (channels == 3 && found != Channels::luma)
        return Channels::rgb;
    if (channels == 1 && found != Channels::rgb)
        return Channels::luma;
    refuse("input.channels", contract,
           found == Channels::any   ? "the model takes 3 or 1"
           : found == Channels::rgb ? "the model takes 3"
                                    : "the model takes 1");
}

void expect_scale(const Contract &contract, Size in, Size out)
{
    const float scale = contract.model.scale;
    if (scale > 0 &&
        !(is_scaled(in.width, out.width, scale) && is_scaled(in.height, out.height, scale)))
        refuse("scale", contract, "the model makes " + to_text(out) + " of " + to_text(in));
}

} // namespace dnn_torch
