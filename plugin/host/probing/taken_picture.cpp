// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "taken_picture.h"

#include "base/compose.h"
#include "host/frames/placement.h"
#include "host/model/picture_tensors.h"

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{

bool is_final(const Error &error)
{
    return error.code() == AVERROR(ETIMEDOUT) || error.code() == AVERROR(ENOMEM);
}

std::vector<Size> squares_of(std::span<const int> extents, const Contract &contract)
{
    const Size least = contract.sizes.minimum.value_or(Size{1, 1});
    std::vector<Size> sizes;
    for (const int extent : extents)
        sizes.push_back(
            rounded_up(larger_of({extent, extent}, least), contract.sizes.multiple.value_or(1)));
    return sizes;
}

TakenPicture find_taken_picture(Model &model, const Contract &contract, std::optional<Size> given,
                                const std::vector<Size> &common)
{
    std::vector<int> counts = {3, 1, 4};
    if (contract.input.channels != 0)
        counts = {contract.input.channels};
    const std::vector<Size> sizes = given ? std::vector{*given} : common;
    std::optional<Error> refused;
    for (const int channels : counts)
        for (const Size size : sizes)
            try {
                return {.channels = channels,
                        .size = size,
                        .shapes = probe_tensors(model, picture_shape(1, channels, size))};
            } catch (const Error &error) {
                if (is_final(error))
                    throw;
                if (!refused)
                    refused = error;
            }
    const std::string tried =
        given ? to_text(*given) : "any usual size; if it wants another, give size=WxH";
    throw Error(refused->code(),
                concat("the model takes no pictures of ", tried, ": ", refused->what()));
}

void refuse_extra_pictures(const Contract &contract)
{
    if (!contract.pictures.empty())
        throw Error(AVERROR(EINVAL),
                    concat("the model takes an extra picture, '", contract.pictures.front().name,
                           "', with each frame, and this filter has no pad for it"));
}

const char *channels_in_words(int channels)
{
    return channels == 1 ? "luma" : channels == 4 ? "RGBA" : "RGB";
}

} // namespace dnn_torch
