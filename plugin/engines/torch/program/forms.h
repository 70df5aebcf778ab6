// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The forms of a model.  A form is what the documentation calls a variant: a way to run the model.
// Variants differ in speed only or, if another precision is asked for, in their rounding.
#pragma once

#include "binding.h"
#include "precision.h"

#include <c10/core/Device.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

enum class FormKind {
    saved,         // as loaded
    frozen,        // weights are constants, training code is gone
    channels_last, // frozen; pictures and weights have their channels last in memory
    inference,     // frozen, then rewritten by LibTorch's optimize_for_inference
    fused // frozen; layers that are known are computed band by band, by programs of our own
};

const char *name_of(FormKind kind);

// Returns nullopt if there is no such name.  form_names() lists the names.
std::optional<FormKind> find_form(const std::string &name);
std::string form_names();

// A model as it was loaded.
struct Source {
    torch::jit::Module plain;
    std::optional<torch::jit::Module> frozen; // shares the weights
    std::string input_name;                   // forward()'s argument for the images
    AskedBinding asked;                       // what is said of its arguments and results
    Binding binding;                          // what forward() gets
    std::optional<OutputChoice> output;       // nullopt: no run has shown it yet
    bool writes_input = true;                 // forward() may change what it is given
    bool branches_on_data = true;             // which code runs may depend on the samples
    bool uses_samples_as_numbers = true;      // of a batch there is one number
    bool draws_random_numbers = false;        // then the frame's number seeds them
    bool forks = true;                        // forward() may start tasks, see forks.h
    double own_tolerance = 0; // how far fp32 variants may be off, as a share of the largest value
    bool weights_on_each_node = false;                      // of memory: for fused programs
    c10::Device device = c10::Device(c10::DeviceType::CPU); // where the weights are

    // Whether forward() takes or returns one picture at a time.
    bool takes_one() const
    {
        return !has_batch(binding.layout) || (output && !has_batch(output->layout));
    }
    // Whether the pictures of a batch run one after the other.  A picture's result must not depend
    // on the others: random numbers are those of its place in the stream, a branch is taken by its
    // own samples, and so are numbers that were read from them.
    bool runs_one_by_one() const
    {
        const bool is_of_one = draws_random_numbers || branches_on_data || uses_samples_as_numbers;
        return takes_one() || (is_of_one && !returns_all());
    }
    // Whether its runs wait for one another; see RandomScope and RunScope.
    bool runs_alone() const;
    // Whether all tensors come back.  Nobody knows how those of several runs belong together.
    bool returns_all() const { return asked.results == Results::tensors; }
};

// May be run by several threads at once.
struct Form {
    FormKind kind;
    Precision precision;
    torch::jit::Module module;
    // What runs on several threads, if `module` uses one alone.
    std::optional<torch::jit::Module> threaded = std::nullopt;
    std::string about = ""; // "18 of 18 layers, 43.1 dB PSNR from fp32": what was found out of int8
    double peak = 1;        // in int8: the range of its pictures; 0: results are no pictures
    // Set when a frame was computed in fp32 instead, see Int8Layers; null unless in int8.
    std::shared_ptr<std::atomic<bool>> met_others = nullptr;

    std::string text() const; // "bf16, channels_last"
    // What runs on several threads, in words; "" if it is the same.
    std::string threaded_text() const;
};

// The module as it was saved, which shares the weights.
inline Form plain_form(const Source &source)
{
    return {FormKind::saved, Precision::fp32, source.plain};
}

// Returns a frozen copy that shares the weights, or nullopt if the model cannot be frozen; `reason`
// then says why.  If the graph branches on data, no trial is sure to see all of it: then only
// constants are put in, and nothing is computed in another way.  The plain module must not run
// meanwhile: the code of called methods is put in the place of their calls there, too.
std::optional<torch::jit::Module> freeze(const Source &source, std::string &reason);

// Throws what LibTorch throws.  A form in int8 must be calibrated before it runs: see
// tuning/calibration.h.  Every kind except `saved` needs source.frozen.  Pictures that come
// in have `channels`.  The results of the form are not checked here: see trial.h.
Form make_form(const Source &source, FormKind kind, Precision precision, int64_t channels);

// Calls forward() once, in a RunScope.  `images` are float32
// [batch, channels, height, width] of any strides without gaps, on any device, and are only read.
// The result may share their memory; on a device it may not be ready yet.  Random numbers depend on
// `number`.
c10::IValue run_form(const Form &form, const Source &source, const at::Tensor &images,
                     int64_t number = 0);

} // namespace engine_torch
