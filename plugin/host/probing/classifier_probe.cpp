// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "classifier_probe.h"

#include "base/compose.h"
#include "host/detection/decoders.h"
#include "host/detection/tensor_view.h"
#include "host/error.h"
#include "host/frames/placement.h"
#include "host/model/picture_tensors.h"
#include "model_contract.h"
#include "taken_picture.h"

extern "C" {
#include <libavutil/error.h>
}

#include <utility>

namespace dnn_torch
{
namespace
{

// Common input extents of classifiers, the likeliest first.
constexpr int classifier_extents[] = {224, 256, 299, 384, 32, 28, 64, 96, 128, 160, 192, 448, 512};

// Returns whether it is [N, channels, height, width] with more than one pixel.
bool are_maps(const DnnTorchTensor &tensor)
{
    return tensor.rank == 4 && tensor.dims[2] > 1 && tensor.dims[3] > 1;
}

void check_classifier_contract(const Contract &contract)
{
    const std::string &task = contract.model.task;
    refuse_extra_pictures(contract);
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

void ClassifierProbe::examine()
{
    check_classifier_contract(contract_);
    const TakenPicture taken =
        find_taken_picture(*model_, contract_, wanted_, squares_of(classifier_extents, contract_));
    channels_ = taken.channels;
    size_ = taken.size;
    const std::optional<ScoreTensor> scores = find_scores(taken.shapes, 1);
    if (!scores || (taken.shapes.size() > 1 && is_detector(taken.shapes, size_)))
        refuse(taken.shapes, size_);
    scores_ = *scores;
}

bool ClassifierProbe::is_detector(std::span<const DnnTorchTensor> shapes, Size picture) const
try {
    const DetectorFacts facts = {.input = picture,
                                 .classes = static_cast<int>(contract_.model.labels.size())};
    find_decoder(shapes, facts, "");
    return true;
} catch (const AnyError &) {
    return false;
}

void ClassifierProbe::refuse(std::span<const DnnTorchTensor> shapes, Size picture) const
{
    const std::string said = contradicting_task(contract_);
    if (is_detector(shapes, picture))
        throw Error(AVERROR(EINVAL), concat(said, "the model returns boxes (", shapes_text(shapes),
                                            ") and no scores of a picture as a whole; use "
                                            "dnn_torch_detect for it"));
    if (!shapes.empty() && are_maps(shapes[0]))
        throw Error(AVERROR(EINVAL), concat(said, "the model makes pictures (", shapes_text(shapes),
                                            ") and no scores of a picture as a whole; use "
                                            "dnn_torch for it"));
    throw Error(AVERROR(EINVAL),
                concat(said, "the model returns ", shapes_text(shapes),
                       ", and a classifier returns [batch, classes]; use dnn_torch_detect for a "
                       "detector, or name another of the model's tensors with output=NAME"));
}

// A traced model may be fixed to the batch size 1 of its trace.
size_t ClassifierProbe::batch_for(size_t wanted)
try {
    if (wanted == 1)
        return 1;
    const int pictures = static_cast<int>(wanted);
    const std::vector<DnnTorchTensor> shapes = shapes_for(pictures, channels_, size_);
    return find_scores(shapes, pictures) == scores_ ? wanted : 1;
} catch (const Error &error) {
    if (is_final(error))
        throw;
    return 1;
}

std::string ClassifierProbe::in_words() const
{
    return concat(channels_in_words(channels_), " of ", to_text(size_));
}

} // namespace dnn_torch
