// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The variants of a model (the documentation's word; the code says variant): the ways to run it.
// They differ in speed only or, if another precision is requested, in rounding.
#pragma once

#include "binding.h"
#include "precision.h"
#include "run_arguments.h"

#include <c10/core/Device.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <torch/csrc/jit/api/module.h>
#include <vector>

namespace engine_torch
{

enum class VariantKind {
    saved,         // as loaded
    frozen,        // weights are constants, training code is removed
    channels_last, // frozen; pictures and weights have their channels last in memory
    inference,     // frozen, then rewritten by LibTorch's optimize_for_inference
    fused          // frozen; known layers are computed band by band, by programs of our own
};

const char *name_of(VariantKind kind);

// Returns nullopt if there is no such name.  variant_names() lists the names.
std::optional<VariantKind> find_variant(const std::string &name);
std::string variant_names();

// A model as it was loaded.
struct Source {
    torch::jit::Module plain;
    std::optional<torch::jit::Module> frozen; // shares the weights
    std::string input_name;                   // argument of forward() that takes the pictures
    RequestedBinding asked;                   // what the options request of arguments and results
    Binding binding;                          // what forward() gets
    std::optional<OutputChoice> output;       // nullopt: not known before the first run
    bool writes_input = true;                 // forward() may change its input
    bool branches_on_data = true;             // which code runs may depend on the samples
    bool uses_samples_as_numbers = true;      // there is one such number per batch
    bool draws_random_numbers = false;        // the frame's number seeds them
    bool forks = true;                        // forward() may start tasks, see forks.h
    double own_tolerance = 0; // how far fp32 variants may deviate, as a share of the largest value
    bool weights_on_each_node = false;                      // of memory: for fused programs
    c10::Device device = c10::Device(c10::DeviceType::CPU); // where the weights are

    // Whether forward() takes or returns one picture at a time.
    bool takes_one() const
    {
        if (takes_segments())
            return false;
        return !has_batch(binding.layout) || (output && !has_batch(output->layout));
    }
    // Whether the pictures of a batch run one after the other.  A picture's result must not depend
    // on the others: random numbers are seeded by its place in the stream, and branches and numbers
    // read from samples depend on its own samples only.
    bool runs_one_by_one() const
    {
        if (takes_segments())
            return false;
        const bool is_of_one = draws_random_numbers || branches_on_data || uses_samples_as_numbers;
        return takes_one() || has_states() || has_numbers_for_one() ||
               (is_of_one && !returns_all());
    }
    // Whether the pictures of a batch are frames that belong together.
    bool takes_segments() const { return asked.segment.length > 0; }
    // Whether a number of its own is given to the model with each picture, and no tensor of them.
    bool has_numbers_for_one() const;
    // Whether a run gets what the run before returned.
    bool has_states() const;
    // Whether its runs wait for one another; see RandomScope and RunScope.
    bool runs_alone() const;
    // Whether all tensors are returned.  Those of several runs cannot be combined.
    bool returns_all() const { return asked.results == Results::tensors; }
};

// May be run by several threads at once.
struct Variant {
    VariantKind kind;
    Precision precision;
    torch::jit::Module module;
    // Runs instead with more than one thread, if `module` uses only one.
    std::shared_ptr<const Variant> threaded = nullptr;
    std::string about = ""; // int8 calibration results: "18 of 18 layers, 43.1 dB PSNR from fp32"
    double peak = 1;        // in int8: the range of its pictures; 0: results are not pictures
    // Set when a frame was computed in fp32 instead, see Int8Layers.  Null unless in int8.
    std::shared_ptr<std::atomic<bool>> exceeded_range = nullptr;

    std::string text() const; // "bf16, channels_last"
    // Describes what runs with more than one thread; "" if it is the same.
    std::string threaded_text() const;
};

// Returns the module as it was saved, which shares the weights.
inline Variant plain_variant(const Source &source)
{
    return {VariantKind::saved, Precision::fp32, source.plain};
}

// Returns a frozen copy that shares the weights, or nullopt and a `reason` if the model cannot be
// frozen.  If the graph branches on data, no trial is sure to run all of it: then freezing only
// inlines constants and does not optimize.  The plain module must not run meanwhile, because the
// methods that it calls are inlined there, too.
std::optional<torch::jit::Module> freeze(const Source &source, std::string &reason);

// Throws what LibTorch throws.  An int8 variant must be calibrated before it runs: see
// tuning/calibration.h.  Every kind except `saved` needs source.frozen.  Input pictures have
// `channels`.  Does not check the results of the variant: see trial.h.
Variant make_variant(const Source &source, VariantKind kind, Precision precision, int64_t channels);

// Calls forward() once, in a RunScope.  `images` are float32 [batch, channels, height, width] of
// any strides without gaps, on any device, and are only read.  The result may share their memory;
// on a device it may not be ready yet.
c10::IValue run_as(const Variant &variant, const Source &source, const at::Tensor &images,
                   const RunArguments &given = {});

// The same, to be compared with other variants: a model with states runs twice, the second time
// with the states of the first.  Returns both results then.
c10::IValue run_for_trial(const Variant &variant, const Source &source, const at::Tensor &images);

// Lets plans that run the same variant share it, and so its weights.  Every member function may be
// called from several threads at once.
class SharedVariants
{
public:
    // Returns the same variant of another plan if there is one, otherwise `made`.  int8 variants
    // are not shared, because each is calibrated for its plan.
    std::shared_ptr<const Variant> share(const Variant &made)
    {
        if (made.precision == Precision::int8)
            return std::make_shared<const Variant>(made);
        const std::lock_guard<std::mutex> lock(mutex_);
        std::weak_ptr<const Variant> &known = forms_[{made.kind, made.precision}];
        std::shared_ptr<const Variant> variant = known.lock();
        if (!variant)
            known = variant = std::make_shared<const Variant>(made);
        return variant;
    }

private:
    std::mutex mutex_;
    // ---- under mutex_
    std::map<std::pair<VariantKind, Precision>, std::weak_ptr<const Variant>> forms_;
};

} // namespace engine_torch
