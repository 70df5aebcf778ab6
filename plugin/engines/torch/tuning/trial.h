// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The trial that every form of a model must pass before it is used: LibTorch's
// own ways to make a model faster were seen to give other results.
#pragma once

#include "engines/torch/program/forms.h"
#include "engines/torch/shape.h"

#include <string>
#include <vector>

namespace engine_torch
{

// A picture of smooth and of rough parts, as videos have them; the same for
// everybody, for LibTorch's random numbers belong to the program.
at::Tensor test_picture(const Shape &shape);

// The share of the largest value by which an fp32 form of that module may differ.
double tolerance_of(const torch::jit::Module &plain);

// Whether a form of that precision may return `other` where the plain module
// returns `plain`: the same samples are no finite numbers, and the others are near.
bool is_close(const c10::IValue &plain, const c10::IValue &other, Precision precision,
              double own_tolerance);

// Of all tensors together, where 1.0 is white; at most 99.9 decibel.
double psnr_decibel(const c10::IValue &plain, const c10::IValue &other);

// Belongs to one thread.
class Trial
{
public:
    // Runs the plain module on small pictures of several contents, and where it takes
    // none of them on one of `shape`, if that is small or can be run a few times
    // within the budget.  Throws where memory ran out.
    Trial(const Source &source, const Shape &shape, double budget_seconds);

    // Whether there is no picture that the plain module took: nothing can pass.
    bool empty() const noexcept { return pictures_.empty(); }

    // "" where the form gives the results of the plain module, else what is in
    // the way.  Throws where memory ran out.
    std::string fault_of(const Form &form) const;

    // From now on forms are tried with a picture of `shape` as well, if the plain
    // module takes it.
    void enlarge(const Shape &shape);

private:
    struct Picture {
        at::Tensor images;
        c10::IValue result;
    };
    void add(const at::Tensor &images);
    void add_small(const Shape &shape);
    void add_whole(const Shape &shape, double budget_seconds);

    const Source &source_;
    std::vector<Picture> pictures_;
};

} // namespace engine_torch
