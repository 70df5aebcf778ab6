// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds out which pictures a model takes that looks at a picture and says something of it.
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
    std::vector<DnnTorchTensor> shapes = {}; // of what the model returns for it
};

// Whether the failure of a try says nothing of the picture's size or channels.
bool is_final(const Error &error);

// Returns what is tried if nothing settles the size: squares of these extents, as the contract
// wants sizes.
std::vector<Size> squares_of(std::span<const int> extents, const Contract &contract);

// Tries one picture after the other, of as many channels as the contract says or as are common.
// `settled`: the size that it has to be; none: one of `usual`.  Throws Error of the first refusal.
TakenPicture find_taken_picture(Model &model, const Contract &contract, std::optional<Size> settled,
                                const std::vector<Size> &usual);

// Throws Error if the contract names pictures that the model takes beside the frame.
void refuse_extra_pictures(const Contract &contract);

const char *channels_in_words(int channels); // "RGB"

} // namespace dnn_torch
