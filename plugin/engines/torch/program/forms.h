// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The forms of a model: ways to run it that differ in speed alone, or, where
// another precision is asked for, by its rounding.
#pragma once

#include "precision.h"

#include <c10/core/Device.h>

#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

enum class FormKind {
    saved,         // as it came
    frozen,        // weights made constants, training code gone
    channels_last, // frozen, pictures and weights with their channels side by side
    inference      // frozen, then LibTorch's optimize_for_inference
};

const char *name_of(FormKind kind);

// Nothing for a name that is none; form_names() lists those that are.
std::optional<FormKind> find_form(const std::string &name);
std::string form_names();

// A model as it was loaded.
struct Source {
    torch::jit::Module plain;
    std::optional<torch::jit::Module> frozen; // shares the weights
    std::string input_name;                   // forward()'s argument for the images
    bool writes_input = true;                 // forward() may change what it is given
    bool branches_on_data = true;             // which code runs may depend on the samples
    bool draws_random_numbers = false;        // and is seeded by the number of the frame
    double own_tolerance = 0; // the share of the largest value by which fp32 forms may differ
    c10::Device device = c10::Device(c10::DeviceType::CPU); // where the weights are
};

// May be run by several threads at once.
struct Form {
    FormKind kind;
    Precision precision;
    torch::jit::Module module;

    std::string text() const; // "bf16, channels_last"
};

// A frozen copy that shares the weights, or nothing where the model cannot be
// frozen; `reason` then says why.  Where the graph branches on data no trial is sure to
// see all of it: then constants are put in and nothing is computed in another way.
std::optional<torch::jit::Module> freeze(const Source &source, std::string &reason);

// Throws what LibTorch throws; every kind but `saved` needs source.frozen.
// Nobody has looked yet at what it computes: see trial.h.
Form make_form(const Source &source, FormKind kind, Precision precision);

// One call of forward(), in a RunScope.  `images` are float32, of one of the
// two layouts and on any device, and are only read; the result may share their
// memory, and on a device it may not be there yet.  Random numbers hang on `number`.
c10::IValue run_form(const Form &form, const Source &source, const at::Tensor &images,
                     int64_t number = 0);

} // namespace engine_torch
