// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "classifier_probe.h"

#include "base/compose.h"
#include "host/detection/decoders.h"
#include "host/detection/tensor_view.h"
#include "host/error.h"
#include "host/frames/placement.h"
#include "model_contract.h"
#include "picture_tensors.h"

extern "C" {
#include <libavutil/error.h>
}

#include <utility>

namespace dnn_torch
{
namespace
{

// What classifiers are made for most often, the likeliest first.
constexpr int usual_extents[] = {224, 256, 299, 384, 32, 28, 64, 96, 128, 160, 192, 448, 512};

// A failure that says nothing of the picture's size or channels.
bool is_final(const Error &error)
{
    return error.code() == AVERROR(ETIMEDOUT) || error.code() == AVERROR(ENOMEM);
}

// [N, channels, height, width], with more than one pixel.
bool are_maps(const DnnTorchTensor &tensor)
{
    return tensor.rank == 4 && tensor.dims[2] > 1 && tensor.dims[3] > 1;
}

void check_contract(const Contract &contract)
{
    const std::string &task = contract.model.task;
    if (!contract.pictures.empty())
        throw Error(AVERROR(EINVAL),
                    concat("the model takes a picture at '", contract.pictures.front().name,
                           "' beside each frame, and this filter has no pad for "
                           "it"));
    if (task.empty() || task == "classify")
        return;
    const bool finds = task == "detect" || task == "pose" || task == "obb";
    const char *const other = finds               ? "dnn_torch_detect"
                              : task == "segment" ? "dnn_torch_detect or dnn_torch"
                                                  : "dnn_torch";
    throw Error(AVERROR(EINVAL),
                concat("the contract says ", field_with_origin("task", contract),
                       ", and this filter classifies; use ", other, " for this model"));
}

} // namespace

ClassifierProbe::ClassifierProbe(std::shared_ptr<Model> model, const Contract &contract,
                                 std::optional<Size> size)
    : model_(std::move(model)), contract_(contract), wanted_(size ? size : contract.sizes.only)
{
}

std::vector<DnnTorchTensor> ClassifierProbe::shapes_for(int pictures, int channels, Size size)
{
    return probe_tensors(*model_, picture_shape(pictures, channels, size));
}

std::vector<Size> ClassifierProbe::sizes_to_try() const
{
    if (wanted_)
        return {*wanted_};
    const Size least = contract_.sizes.minimum.value_or(Size{1, 1});
    std::vector<Size> sizes;
    for (const int extent : usual_extents)
        sizes.push_back(
            rounded_up(larger_of({extent, extent}, least), contract_.sizes.multiple.value_or(1)));
    return sizes;
}

// Returns whether the model takes one of them.
bool ClassifierProbe::try_sizes(int channels, std::optional<Error> &refused)
{
    for (const Size size : sizes_to_try()) {
        std::vector<DnnTorchTensor> shapes;
        try {
            shapes = shapes_for(1, channels, size);
        } catch (const Crash &) {
            throw;
        } catch (const Error &error) {
            if (is_final(error))
                throw;
            if (!refused)
                refused = error;
            continue;
        }
        const std::optional<ScoreTensor> scores = find_scores(shapes, 1);
        if (!scores)
            refuse(shapes, size);
        channels_ = channels;
        size_ = size;
        scores_ = *scores;
        return true;
    }
    return false;
}

void ClassifierProbe::study()
{
    check_contract(contract_);
    std::vector<int> counts = {3, 1, 4};
    if (contract_.input.channels != 0)
        counts = {contract_.input.channels};
    std::optional<Error> refused;
    for (const int count : counts)
        if (try_sizes(count, refused))
            return;
    const std::string tried =
        wanted_ ? to_text(*wanted_) : "any usual size; if it wants another, give size=WxH";
    throw Error(refused->code(),
                concat("the model takes no pictures of ", tried, ": ", refused->what()));
}

bool ClassifierProbe::is_detector(std::span<const DnnTorchTensor> shapes, Size picture) const
try {
    const DetectorFacts facts = {.input = picture,
                                 .classes = static_cast<int>(contract_.model.labels.size())};
    find_decoder(shapes, facts, "");
    return true;
} catch (const Error &) {
    return false;
}

void ClassifierProbe::refuse(std::span<const DnnTorchTensor> shapes, Size picture) const
{
    if (is_detector(shapes, picture))
        throw Error(AVERROR(EINVAL), concat("the model returns boxes (", shapes_text(shapes),
                                            ") and no scores of a picture as a whole; use "
                                            "dnn_torch_detect for it"));
    if (!shapes.empty() && are_maps(shapes[0]))
        throw Error(AVERROR(EINVAL), concat("the model makes pictures (", shapes_text(shapes),
                                            ") and no scores of a picture as a whole; use "
                                            "dnn_torch for it"));
    throw Error(AVERROR(EINVAL),
                concat("the model returns ", shapes_text(shapes),
                       ", and a classifier returns [batch, classes]; use dnn_torch_detect for a "
                       "detector, or name another of the model's tensors with output=NAME"));
}

// A traced model may have kept the one picture that it was traced with.
size_t ClassifierProbe::batch_for(size_t wanted)
try {
    if (wanted == 1)
        return 1;
    const int pictures = static_cast<int>(wanted);
    const std::vector<DnnTorchTensor> shapes = shapes_for(pictures, channels_, size_);
    return find_scores(shapes, pictures) == scores_ ? wanted : 1;
} catch (const Crash &) {
    throw;
} catch (const Error &error) {
    if (is_final(error))
        throw;
    return 1;
}

std::string ClassifierProbe::in_words() const
{
    const std::string kind = channels_ == 1 ? "luma" : channels_ == 4 ? "RGBA" : "RGB";
    return concat(kind, " of ", to_text(size_));
}

} // namespace dnn_torch
