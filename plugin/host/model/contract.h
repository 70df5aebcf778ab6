// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The contract: what a model's tensors mean.  docs/contract.md has the schema.
//
// Each field comes from the first of these that sets it: the filter's options, a JSON file next to
// the model (net.pt.json for net.pt), the model's file itself, the known contract of its
// architecture, a probe (host/probing/model_contract.h), the default.  Any thread.
#pragma once

#include "host/frames/images.h"
#include "sizes.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

// What the filter turns a model's result into.
enum class As {
    picture, // a picture with the result's channels
    grey,    // a grey picture, even where the filter would have kept chroma
    alpha,   // the frame with the result as its alpha
    depth,   // a grey picture of numbers that have no range
    index,   // a grey picture of class numbers
    colours, // a picture with a colour for each class
    lab,     // the frame's lightness with the result as a and b of CIE Lab
};

// The properties of the model's input tensor, or of its output tensor.
struct TensorContract : PictureNumbers {
    int channels = 0;         // 0: not known
    std::string type, layout; // "uint8", "nhwc"; "": the engine finds it out
};

// What a model gets for frames before the first and after the last one, and beyond a cut.
enum class Border {
    reflect, // the frame as far on the other side of the border, or the one at the border
    repeat,  // the one at the border
};

// Which frames the input holds: by their distance from the current one, or a segment, of which each
// frame has a result.
struct TimeContract {
    int first = 0, last = 0; // -2 and 2: five frames
    Border border = Border::reflect;
    int length = 0;  // frames of a segment; 0: no segments
    int overlap = 0; // frames that a segment shares with the next one
    // The input that gets, as a number, how far the result lies on the way from the current frame
    // to the next one; "": none does.
    std::string between = {};

    int count() const { return last - first + 1; }
};

enum class Tiling { unknown, local, global };

// The properties of the model as a whole.  Zeros and empty texts are unknown.
struct ModelFacts {
    float scale = 0; // factor by which it enlarges
    Tiling tiling = Tiling::unknown;
    int alignment = 0; // tiles begin at multiples of it
    std::string task;
    std::vector<std::string> labels;
    std::string label_list = {}; // or a list that comes with the filters (label_lists.h)
    std::optional<bool> end2end; // true: detections need no NMS
    std::string scores = {};     // of a classifier: "softmax", "sigmoid", "plain"
    // How many key points a pose has, and how many numbers each: 2, or 3 with its confidence.
    std::array<int, 2> key_points = {0, 0};
    int batch = 0;
    std::string author, licence;
};

// A plane that depends on the picture's size alone, as networks get them that warp.
enum class Plane {
    none,
    across, // from -1 at the left edge to 1 at the right one
    down,   // from -1 at the top to 1 at the bottom
    step_across,
    step_down, // the distance of two pixels in those
    ones,
};

// An extra input that is a picture: a further frame of the stream, or of a pad of its own.
struct PictureInput {
    std::string name;
    int channels = 0;              // 0: not known
    std::optional<int> frame = {}; // how far the frame is from the current one; nullopt: of a pad
    // It is no picture, but a plane of the number that says how far the result lies on the way from
    // the current frame to the next one.  Without a name it follows the frames' channels.
    bool between = false;
    Plane plane = Plane::none; // or this one, without a name as well
    bool is_plane() const { return between || plane != Plane::none; }
    // How its numbers differ from the frame's; nullopt: they do not.
    std::optional<bool> is_bgr = {};
    std::optional<std::array<float, 2>> range = {};
    std::optional<std::array<float, 3>> mean = {}, deviation = {};

    bool operator==(const PictureInput &) const = default;
};

// An extra input that gets a number of each frame: its place in the stream, from 0 on; its time in
// seconds; or how far between it and the next frame the result lies, for all of a run.
struct NumberInput {
    enum class Of { number, time, between };
    std::string name;
    Of of;
};

struct Contract {
    TensorContract input, output;
    ModelFacts model;
    As as = As::picture;
    std::optional<DepthLimits> depth = {}; // nullopt: found in each frame
    // Of a segmentation: the names or numbers of the classes that are shown; empty: all.
    std::vector<std::string> classes = {};
    // Extra inputs that are not pictures, as engines take them: "noise": "plane:0.1".
    std::map<std::string, std::string> inputs = {};
    std::vector<PictureInput> pictures = {}; // in the order of the pads
    SizeParameters sizes = {};
    TimeContract time = {};
    // Where each field comes from, by its name: "input.range" is from "net.pt.json".  A field that
    // is not listed has its default.
    std::map<std::string, std::string> origins = {};
};

// Returns whether the model gets more frames than the current one, or remembers earlier ones.
bool looks_at_time(const Contract &contract);

// Returns whether the result holds a class for each pixel and is not a picture.
inline bool makes_class_maps(const Contract &contract)
{
    return contract.as == As::index || contract.as == As::colours || !contract.classes.empty();
}

// The options that set fields of the contract, as the user wrote them; "" is not given.
struct ContractOptions {
    std::string range, order, mean, std;
    std::string type = {}, layout = {}, inputs = {}, as = {}, depth = {}, classes = {}, labels = {};
    std::string multiple = {}, padding = {}, frames = {}, border = {}, length = {},
                time_overlap = {};
    SizeOptions sizes = {};

    bool operator==(const ContractOptions &) const = default;
};

// What an engine reports about a model, as JSON; "" if it reports nothing.
struct ContractTexts {
    std::string file;         // a contract that the model's file holds
    std::string ultralytics;  // what Ultralytics' exporter wrote into the file
    std::string architecture; // the contract of a known architecture
    std::string graph = {};   // what an ONNX graph or a program of torch.export tells
};

// Throws Error that names the option or the field, or the file if it exists but is invalid.
// `contract_path` is read if it exists; "" is none.
Contract read_contract(const ContractOptions &options, const std::string &contract_path,
                       const ContractTexts &texts = {});

// Throws Error for an option that cannot be read.  Whether options fit each other is left open.
void check_values(const ContractOptions &options);

// Returns "net.pt.json" for "net.pt".
std::string contract_path(const std::string &model_path);

// Returns the content of such a file; nullopt if there is none.  Throws Error if it is unreadable.
std::optional<std::string> contract_text(const std::string &path);

// Returns the fields that were set, "input.range 0..255 (option), ...", or "".
std::string contract_in_words(const Contract &contract);

} // namespace dnn_torch
