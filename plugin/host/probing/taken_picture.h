// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out which input pictures a model takes that returns no picture, such as a classifier.
#pragma once

#include "host/error.h"
#include "host/model/contract.h"
#include "host/model/model.h"
#include "host/size.h"

#include <optional>
#include <span>
#include <vector>

namespace dnn_torch
{

struct TakenPicture {
    int channels = 3;
    Size size = {0, 0};
    std::vector<DnnTorchTensor> shapes = {}; // of the model's outputs for it
};

// Returns whether a failure has nothing to do with the picture's size or channels.
bool is_final(const Error &error);

// Returns the sizes to try if none is given: squares of these extents, rounded up to the contract's
// minimum and multiple.
std::vector<Size> squares_of(std::span<const int> extents, const Contract &contract);

// Tries one picture after the other, with the contract's number of channels or else common ones.
// `given` is the required size; nullopt: one of `common`.  Throws the Error of the first refusal.
TakenPicture find_taken_picture(Model &model, const Contract &contract, std::optional<Size> given,
                                const std::vector<Size> &common);

// Throws Error if the contract has extra input pictures.
void refuse_extra_pictures(const Contract &contract);

const char *channels_in_words(int channels); // "RGB"

} // namespace dnn_torch
