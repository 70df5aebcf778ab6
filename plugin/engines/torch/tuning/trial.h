// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The trial that every variant of a model must pass before it is used.  LibTorch's own
// optimisations have been seen to change results.
#pragma once

#include "engines/torch/program/variants.h"
#include "engines/torch/shape.h"

#include <string>
#include <vector>

namespace engine_torch
{

// Returns a picture of smooth and rough parts, as videos have them.  It is the same for all and
// does not use LibTorch's random numbers, which belong to the program.
at::Tensor test_picture(const Shape &shape);

// Returns how far an fp32 variant of that module may be off, as a share of the largest value.
double tolerance_of(const torch::jit::Module &plain);

// Whether that variant may return `other` if the plain module returns `plain`: the same samples are
// not finite, and the others are close.  With results=tensors, their names must be the same too,
// and whole numbers equal.
bool is_close(const c10::IValue &plain, const c10::IValue &other, const Variant &variant,
              const Source &source);

// Maps 0 to 1 to the shape's range.
at::Tensor in_range(const at::Tensor &fractions, const Shape &shape);

// Returns the PSNR of the worst tensor, at most 99.9 dB.  `peak` is white; 0 stands for each
// tensor's own range.
double psnr_decibel(const c10::IValue &plain, const c10::IValue &other, double peak = 1);

// Returns the largest sample less the smallest; 0 if that is not finite.
double range_of(const at::Tensor &tensor);

// Belongs to one thread.
class Trial
{
public:
    // Runs the plain module on small pictures of several contents, of fewer if they take much of
    // the budget.  If it takes none of them, runs it on a picture of `shape`, if that is small or
    // can be run a few times within the budget.
    // Throws if memory runs out.
    Trial(const Source &source, const Shape &shape, double budget_seconds);

    // Whether the plain module took no picture.  Nothing can pass then.
    bool empty() const noexcept { return pictures_.empty(); }

    // How long the plain module took for all pictures, once each.
    double plain_seconds() const noexcept { return plain_seconds_; }
    // The same for one pixel; 0 if it took no picture.
    double plain_seconds_of_pixel() const noexcept
    {
        return plain_pixels_ > 0 ? plain_seconds_ / plain_pixels_ : 0;
    }

    // Returns "" if the variant gives the plain module's results, or else what is wrong.  Throws if
    // memory runs out.
    std::string fault_of(const Variant &variant) const;

    // Later trials use a picture of `shape` as well, if the plain module takes it.
    void enlarge(const Shape &shape);

private:
    struct Picture {
        at::Tensor images;
        c10::IValue result;
    };
    bool add(const at::Tensor &images);
    bool takes_long(const Shape &shape, double budget_seconds) const;
    // Returns whether the plain module takes it.
    bool add_small(const Shape &shape);
    void add_whole(const Shape &shape, double budget_seconds);

    const Source &source_;
    std::vector<Picture> pictures_;
    double plain_seconds_ = 0, plain_pixels_ = 0;
};

} // namespace engine_torch
