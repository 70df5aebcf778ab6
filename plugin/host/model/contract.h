// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The contract: what a model's tensors mean.  docs/contract.md has the schema.
//
// Each field comes from the first of these that says it: the filter's options, a JSON file beside
// the model (net.pt.json for net.pt), the model's file itself, what its architecture is known to
// want, a probe (host/probing/model_contract.h), what is usual.  Any thread.
#pragma once

#include "host/frames/picture_numbers.h"
#include "sizes.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

// What is made of a model's result.
enum class As {
    picture, // of as many channels as come out
    grey,    // a grey picture, also where the filter would have kept chroma
    alpha,   // the frame with the result as its alpha
    depth,   // a grey picture of numbers that have no range
    index,   // a grey picture of the numbers of classes
    colours, // a picture with a colour for each class
    lab,     // the frame's lightness with the result as a and b of CIE Lab
};

// What is said of the tensor that the model takes, or of the one that it returns.
struct TensorContract : PictureNumbers {
    int channels = 0;         // 0: not known
    std::string type, layout; // "uint8", "nhwc"; "": the engine finds it out
};

enum class Tiling { unknown, local, global };

// What is said of the model as a whole.  Zeros and empty texts are not known.
struct ModelFacts {
    float scale = 0; // by what it enlarges
    Tiling tiling = Tiling::unknown;
    int alignment = 0; // tiles begin at multiples of it
    std::string task;
    std::vector<std::string> labels;
    std::string label_list = {}; // or a list that comes with the filters (label_lists.h)
    std::optional<bool> end2end; // detections need no nms
    std::string scores = {};     // of a classifier: "softmax", "sigmoid", "plain"
    // How many key points a pose has, and the numbers of each: 2, or 3 with its confidence.
    std::array<int, 2> key_points = {0, 0};
    int batch = 0;
    std::string author, licence;
};

// An input beside the frame that is a picture, too: the filter has a pad for it.
struct PictureInput {
    std::string name;
    int channels = 0; // 0: not known
    // What is said of its numbers; the rest is as in the frame.
    std::optional<bool> is_bgr = {};
    std::optional<std::array<float, 2>> range = {};
    std::optional<std::array<float, 3>> mean = {}, deviation = {};

    bool operator==(const PictureInput &) const = default;
};

struct Contract {
    TensorContract input, output;
    ModelFacts model;
    As as = As::picture;
    std::optional<DepthLimits> depth = {}; // none: what each frame's depth has
    // Of a segmentation: the names or numbers of those that are shown; empty: all.
    std::vector<std::string> classes = {};
    // What the model gets beside pictures, as engines take it: "noise": "plane:0.1".
    std::map<std::string, std::string> inputs = {};
    std::vector<PictureInput> pictures = {}; // in the order of the pads
    SizeParameters sizes = {};
    // Where each field comes from, by its name: "input.range" is from "net.pt.json".  What is
    // not there is as usual.
    std::map<std::string, std::string> origins = {};
};

// Whether the result is one of classes for each pixel, and no picture.
inline bool makes_class_maps(const Contract &contract)
{
    return contract.as == As::index || contract.as == As::colours || !contract.classes.empty();
}

// The options that say something of the contract, as the user wrote them; "" is not given.
struct ContractOptions {
    std::string range, order, mean, std;
    std::string type = {}, layout = {}, inputs = {}, as = {}, depth = {}, classes = {}, labels = {};
    std::string multiple = {}, padding = {};
    SizeOptions sizes = {};

    bool operator==(const ContractOptions &) const = default;
};

// What an engine tells of a model, as JSON; "" where it tells nothing.
struct ContractTexts {
    std::string file;         // a contract that the model's file holds
    std::string ultralytics;  // what Ultralytics' exporter wrote into the file
    std::string architecture; // the contract of a known architecture
};

// Throws Error that names the option or the field, and the file if it is there but makes no sense.
// `contract_path` is read if it is there; "" is none.
Contract read_contract(const ContractOptions &options, const std::string &contract_path,
                       const ContractTexts &told = {});

// Returns "net.pt.json" for "net.pt".
std::string contract_path(const std::string &model_path);

// What is in such a file; nullopt if there is none.  Throws Error if it cannot be read.
std::optional<std::string> contract_text(const std::string &path);

// "input.range 0..255 (option), ...": the fields that are not as usual; or "".
std::string contract_in_words(const Contract &contract);

} // namespace dnn_torch
