// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// How pictures become arguments of forward(), and how its result becomes a picture.
#pragma once

#include "constants.h"
#include "picture_layout.h"

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

// The types a picture may have, such as "float32".  Returns nullopt if there is no such name.
std::optional<at::ScalarType> find_type(const std::string &name);
std::string type_names();
// Names any type, also one that no picture has.
const char *type_name(at::ScalarType type);

struct Binding {
    at::ScalarType type = at::kFloat;
    Layout layout = Layout::nchw;
    int64_t frames = 1;  // how many frames the channels of the pictures are of
    int64_t current = 0; // which of them is the current one
    Segment segment = {};
    std::vector<Constant> constants = {};

    // The default value of white.
    double white() const { return type == at::kByte ? 255 : 1; }
    // Whether pictures are passed on unchanged.
    bool is_plain() const
    {
        return type == at::kFloat && layout == Layout::nchw && segment.length == 0;
    }
    // Names all of it; "" if there is nothing to name.
    std::string text() const;
    // Returns how many of the `all` input channels are the frame's.  Those of extra pictures
    // follow, in the order of `constants`.
    int64_t frame_channels(int64_t all) const { return all - extra_channels(constants); }
};

// What of the result is returned: the option `results`.
enum class Results { picture, maps, tensors };
// Throws a Failure that lists the names.  "" means `picture`.
Results parse_results(const std::string &name);
const char *name_of(Results results);

// Which of the tensors that forward() returns is the picture.
struct OutputChoice {
    std::string name; // "" if there is only one tensor
    Layout layout = Layout::nchw;
    at::ScalarType type = at::kFloat;
    bool is_segment = false; // frames of one, and not a batch of pictures
};

// What the options request; nullopt: a run has to find out.
struct RequestedBinding {
    std::optional<at::ScalarType> type = {};
    std::optional<Layout> layout = {}, output_layout = {};
    ConstantChoices constants = {};
    int64_t frames = 1;  // in a picture, one after the other
    int64_t current = 0; // which of them is the current one
    Segment segment = {};
    bool as_list = false; // forward() takes a list of pictures; a layout is then that of the batch
    Results results = Results::picture;
    std::string text = {}; // describes all that was requested; "" if nothing was
};

// Takes the names from the options; "" is not given.  Throws a Failure that lists the names.
RequestedBinding requested_binding(const std::string &type, const std::string &layout,
                                   const std::string &output_layout, const std::string &frames,
                                   const std::string &length, const ConstantChoices &constants);

// Returns the bindings that a run has to try, likeliest first; at least one.
std::vector<Binding> bindings_to_try(const RequestedBinding &asked,
                                     const torch::jit::Module &module);

// Converts floats of [batch, channels, height, width] to the binding's layout and type, on the
// device.  The result may share the memory of `pictures`.
at::Tensor bound(const at::Tensor &pictures, const Binding &binding, const c10::Device &device);

// Returns the constant's value for those pictures.  `numbers` is used in place of the constant's
// number, if defined: see tensor_of().  `type` is the type of the model's numbers.
c10::IValue value_of(const Constant &constant, const Binding &binding, const at::Tensor &pictures,
                     at::ScalarType type, const c10::Device &device,
                     const at::Tensor &numbers = {});

} // namespace engine_torch
