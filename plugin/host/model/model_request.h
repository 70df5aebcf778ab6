// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Which model the user wants, and the options that say so.  The filters, their commands, and the
// programs `dnn-torch inspect`, `bench` and `contract` take their options from one table.
#pragma once

#include "contract.h"
#include "engine_choice.h"
#include "host/workers/time_limit.h"

#include <chrono>
#include <string>
#include <string_view>

namespace dnn_torch
{

// As the user wrote it; "" is not given.
struct ModelRequest {
    std::string path, input, output, device, precision, calibration, optimize, allow, engine,
        weights;
    std::chrono::microseconds timeout = default_time_limit; // for one run; 0: no limit
    Isolation isolation = Isolation::automatic;
    ContractOptions contract;
};

// An option whose value is a text of the request.
struct ModelOption {
    const char *name;
    const char *value; // placeholder for the value in help
    const char *help;
    std::string &(*text_in)(ModelRequest &);
    const char *default_value = nullptr; // none for a field of the contract: a file's would be lost
    bool changes = true;                 // a command can change it while frames pass
    bool is_of_pictures = false;         // detectors and classifiers do not have it
    std::string_view programs = "inspect bench contract";
};

namespace model_option_texts
{

template <std::string ModelRequest::*member> std::string &own(ModelRequest &request)
{
    return request.*member;
}

template <std::string ContractOptions::*member> std::string &contract(ModelRequest &request)
{
    return request.contract.*member;
}

template <std::string SizeOptions::*member> std::string &sizes(ModelRequest &request)
{
    return request.contract.sizes.*member;
}

} // namespace model_option_texts

// In the order in which `-h filter=` lists them.
inline constexpr ModelOption model_option_rows[] = {
    {.name = "model",
     .value = "FILE",
     .help = "path of the model: weights (.pth, .safetensors) or TorchScript",
     .text_in = model_option_texts::own<&ModelRequest::path>,
     .programs = ""},
    {.name = "device",
     .value = "DEVICE",
     .help = "device to run the model on",
     .text_in = model_option_texts::own<&ModelRequest::device>,
     .default_value = "cpu",
     .changes = false},
    {.name = "precision",
     .value = "NAME",
     .help = "what the model computes with: auto, fp32, bf16, fp16 or int8",
     .text_in = model_option_texts::own<&ModelRequest::precision>,
     .default_value = "auto",
     .programs = ""},
    {.name = "calibration",
     .value = "WHAT",
     .help = "what int8 is calibrated with: generated, first (frames of the stream) or a "
             "file's frames",
     .text_in = model_option_texts::own<&ModelRequest::calibration>,
     .default_value = "generated",
     .changes = false,
     .programs = ""},
    {.name = "optimize",
     .value = "FORM",
     .help = "0: run the model as it was saved; 1: its fastest variant; or a variant's name",
     .text_in = model_option_texts::own<&ModelRequest::optimize>,
     .default_value = "1",
     .programs = ""},
    {.name = "input",
     .value = "NAME",
     .help = "name of the model's input (the only one, if not given)",
     .text_in = model_option_texts::own<&ModelRequest::input>,
     .changes = false},
    {.name = "output",
     .value = "NAME",
     .help = "name of the model's output, where it returns several by name",
     .text_in = model_option_texts::own<&ModelRequest::output>},
    {.name = "allow",
     .value = "NAMES",
     .help = "operators that the model may use though they are refused: a+b",
     .text_in = model_option_texts::own<&ModelRequest::allow>},
    {.name = "engine",
     .value = "NAME",
     .help = "what runs the model: NAME of an engine-NAME.so",
     .text_in = model_option_texts::own<&ModelRequest::engine>,
     .default_value = "torch",
     .changes = false,
     .programs = "inspect bench contract convert"},
    {.name = "weights",
     .value = "HOW",
     .help = "shared: one copy of the model's weights; node: one on each node of memory",
     .text_in = model_option_texts::own<&ModelRequest::weights>,
     .default_value = "shared",
     .changes = false,
     .programs = ""},
    {.name = "range",
     .value = "RANGE",
     .help = "what black and white are: 1, 255 or LOW..HIGH",
     .text_in = model_option_texts::contract<&ContractOptions::range>},
    {.name = "order",
     .value = "ORDER",
     .help = "which channel comes first: rgb or bgr",
     .text_in = model_option_texts::contract<&ContractOptions::order>},
    {.name = "mean",
     .value = "NUMBERS",
     .help = "what is subtracted from each channel: one number or A|B|C",
     .text_in = model_option_texts::contract<&ContractOptions::mean>},
    {.name = "std",
     .value = "NUMBERS",
     .help = "what each channel is divided by then: one number or A|B|C",
     .text_in = model_option_texts::contract<&ContractOptions::std>},
    {.name = "type",
     .value = "TYPE",
     .help = "what the model's input is made of: float32, uint8, ...",
     .text_in = model_option_texts::contract<&ContractOptions::type>},
    {.name = "layout",
     .value = "LAYOUT",
     .help = "order of dimensions: nchw, nhwc, chw, hwc, ... or IN|OUT",
     .text_in = model_option_texts::contract<&ContractOptions::layout>},
    {.name = "inputs",
     .value = "VALUES",
     .help = "the model's extra inputs: NAME=VALUE, or NAME for a pad, ...",
     .text_in = model_option_texts::contract<&ContractOptions::inputs>},
    {.name = "frames",
     .value = "FIRST..LAST",
     .help = "which frames the model gets with each frame, 0: -2..2 are five",
     .text_in = model_option_texts::contract<&ContractOptions::frames>,
     .is_of_pictures = true},
    {.name = "border",
     .value = "HOW",
     .help = "what stands for frames before the first and after the last: reflect or repeat",
     .text_in = model_option_texts::contract<&ContractOptions::border>,
     .is_of_pictures = true},
    {.name = "length",
     .value = "N",
     .help = "frames of a segment, which the model takes and returns together",
     .text_in = model_option_texts::contract<&ContractOptions::length>,
     .is_of_pictures = true},
    {.name = "time_overlap",
     .value = "N",
     .help = "frames that a segment shares with the next one",
     .text_in = model_option_texts::contract<&ContractOptions::time_overlap>,
     .is_of_pictures = true},
    {.name = "as",
     .value = "WHAT",
     .help = "what the result becomes: picture, gray, alpha, lab, depth, index or colors",
     .text_in = model_option_texts::contract<&ContractOptions::as>,
     .is_of_pictures = true},
    {.name = "depth",
     .value = "LIMITS",
     .help = "what depth becomes black and white: auto or LOW..HIGH",
     .text_in = model_option_texts::contract<&ContractOptions::depth>,
     .is_of_pictures = true},
    {.name = "classes",
     .value = "NAMES",
     .help = "which classes of a segmentation are shown: person|car",
     .text_in = model_option_texts::contract<&ContractOptions::classes>,
     .is_of_pictures = true},
    {.name = "labels",
     .value = "LIST",
     .help = "names of classes: coco, voc, imagenet, or a file with one in each line",
     .text_in = model_option_texts::contract<&ContractOptions::labels>,
     .changes = false,
     .programs = ""},
    {.name = "multiple",
     .value = "N",
     .help = "number of which the model's width and height must be multiples",
     .text_in = model_option_texts::contract<&ContractOptions::multiple>},
    {.name = "padding",
     .value = "HOW",
     .help = "how frames are padded to that: reflect or replicate",
     .text_in = model_option_texts::contract<&ContractOptions::padding>,
     .is_of_pictures = true},
    {.name = "tile",
     .value = "WxH",
     .help = "run frames in tiles: WxH, N, auto (by memory) or 0 (never)",
     .text_in = model_option_texts::sizes<&SizeOptions::tile>,
     .default_value = "auto",
     .is_of_pictures = true,
     .programs = "inspect bench"},
    {.name = "overlap",
     .value = "N",
     .help = "pixels by which tiles overlap on each side, or auto (measured)",
     .text_in = model_option_texts::sizes<&SizeOptions::overlap>,
     .default_value = "auto",
     .is_of_pictures = true,
     .programs = "inspect bench"},
    {.name = "fit",
     .value = "HOW",
     .help = "how frames come to a model of one size: auto, tile, scale or letterbox",
     .text_in = model_option_texts::sizes<&SizeOptions::fit>,
     .default_value = "auto",
     .is_of_pictures = true,
     .programs = "inspect bench"},
    {.name = "scale",
     .value = "FACTOR",
     .help = "scale the result to this multiple of the frame's size",
     .text_in = model_option_texts::sizes<&SizeOptions::scale>,
     .changes = false,
     .is_of_pictures = true,
     .programs = ""},
    {.name = "size",
     .value = "WxH",
     .help = "scale the result to this size",
     .text_in = model_option_texts::sizes<&SizeOptions::size>,
     .changes = false,
     .is_of_pictures = true,
     .programs = ""},
};

// Returns null if no row has the name.
inline const ModelOption *find_model_option(std::string_view name)
{
    for (const ModelOption &option : model_option_rows)
        if (name == option.name)
            return &option;
    return nullptr;
}

} // namespace dnn_torch
