// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "extra_pictures.h"

#include "base/compose.h"
#include "host/frames/formats.h"
#include "host/model/contract_inputs.h"
#include "model_probe.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace dnn_torch
{
namespace
{

// A guess of how many channels each picture has, and the model that was opened with it.
struct Guess {
    Contract contract;
    std::shared_ptr<Model> model;
    std::optional<Error> refused;
};

// Returns all guesses, the likeliest first: pictures like the frame, then masks.
std::vector<Guess> guesses_for(const Contract &contract, int frame_channels)
{
    const std::vector<int> counts =
        frame_channels == 1 ? std::vector{1, 3, 4} : std::vector{3, 1, 4};
    std::vector<Guess> guesses = {{.contract = contract, .model = nullptr, .refused = {}}};
    for (size_t i = 0; i < contract.pictures.size(); i++) {
        if (contract.pictures[i].channels != 0)
            continue;
        if (contract.pictures[i].frame) {
            for (Guess &guess : guesses)
                guess.contract.pictures[i].channels = frame_channels;
            continue;
        }
        std::vector<Guess> longer;
        for (const Guess &guess : guesses)
            for (const int count : counts) {
                longer.push_back(guess);
                longer.back().contract.pictures[i].channels = count;
                longer.back().contract.origins["inputs." + contract.pictures[i].name] += ", probe";
            }
        guesses = std::move(longer);
    }
    return guesses;
}

void check_count(const Contract &contract)
{
    constexpr long most = 2;
    const auto unknown = std::count_if(
        contract.pictures.begin(), contract.pictures.end(),
        [](const PictureInput &picture) { return picture.channels == 0 && !picture.frame; });
    if (unknown > most)
        throw Error(AVERROR(EINVAL), concat("inputs has ", unknown,
                                            " pictures of unknown channels; say how many: inputs=",
                                            contract.pictures.front().name, "=picture=3|..."));
}

// Returns whether the model takes pictures with that many channels, of any size.
bool takes(const Guess &guess, int frame_channels, std::optional<Error> &first_failure)
{
    std::vector<Size> sizes = {{small_extent, small_extent}, {4 * small_extent, 4 * small_extent}};
    if (guess.contract.sizes.only)
        sizes = {*guess.contract.sizes.only};
    for (const Size size : sizes)
        try {
            probe_picture(*guess.model, size, input_channels(guess.contract, frame_channels));
            return true;
        } catch (const Error &error) {
            if (error.code() == AVERROR(ETIMEDOUT) || error.code() == AVERROR(ENOMEM))
                throw;
            if (!first_failure)
                first_failure = error;
        }
    return false;
}

} // namespace

std::shared_ptr<Model> open_with_pictures(Contract &contract, const OpenModel &open)
{
    const bool is_known = std::all_of(contract.pictures.begin(), contract.pictures.end(),
                                      [](const PictureInput &each) { return each.channels != 0; });
    if (is_known)
        return open(contract);
    check_count(contract);
    std::optional<Error> failure;
    std::vector<Guess> opened; // kept, so that the store need not load the file again
    for (const int frame_channels : {3, 1, 4})
        for (Guess &guess : guesses_for(contract, frame_channels)) {
            guess.model = open(guess.contract);
            if (takes(guess, frame_channels, failure)) {
                contract = std::move(guess.contract);
                return guess.model;
            }
            opened.push_back(std::move(guess));
        }
    throw Error(
        failure->code(),
        concat("the model takes no pictures of 3, 1 or 4 channels at '",
               contract.pictures.front().name, "': ", failure->what(),
               contract.time.length != 0 ? "; it got one for each frame of a segment" : ""));
}

std::vector<ExtraPicture> extra_pictures(const Contract &contract, int frame_channels)
{
    std::vector<ExtraPicture> pictures;
    const TimeContract &time = contract.time;
    for (int frame = time.first; frame <= time.last; frame++)
        if (frame != 0)
            pictures.push_back({.numbers = contract.input,
                                .first = (frame - time.first) * frame_channels,
                                .channels = frame_channels,
                                .frame = frame});
    int first = frame_channels * time.count();
    size_t pads = 0;
    for (const PictureInput &picture : contract.pictures) {
        pictures.push_back({.numbers = numbers_of(picture, contract.input),
                            .first = first,
                            .channels = picture.channels,
                            .frame = picture.frame,
                            .pad = picture.frame || picture.is_plane() ? 0 : pads++,
                            .between = picture.between,
                            .plane = picture.plane});
        first += picture.channels;
    }
    return pictures;
}

void fill_plane(const ExtraPicture &plane, double between, const Images &tensor, int index)
{
    const Images to = channels_of(tensor, plane.first, plane.channels);
    const double across = 2.0 / std::max(to.width - 1, 1), down = 2.0 / std::max(to.height - 1, 1);
    for (int y = 0; y < to.height; y++)
        for (int x = 0; x < to.width; x++) {
            auto *const sample = static_cast<std::byte *>(to.data) + index * to.batch_stride +
                                 y * to.row_stride + x * to.column_stride;
            const double number = plane.plane == Plane::across        ? x * across - 1
                                  : plane.plane == Plane::down        ? y * down - 1
                                  : plane.plane == Plane::step_across ? across
                                  : plane.plane == Plane::step_down   ? down
                                  : plane.plane == Plane::ones        ? 1
                                                                      : between;
            *reinterpret_cast<float *>(sample) = static_cast<float>(number);
        }
}

const AVPixelFormat *formats_of_extra(const PictureInput &picture)
{
    if (picture.channels == 1)
        return grey_formats();
    return picture.channels == 4 ? rgb_formats_with_alpha() : formats_for_rgb_models();
}

Images channels_of(const Images &images, int first, int count)
{
    Images part = images;
    part.data = static_cast<std::byte *>(images.data) + first * images.channel_stride;
    part.channels = count;
    return part;
}

} // namespace dnn_torch
