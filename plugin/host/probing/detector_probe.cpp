// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "detector_probe.h"

#include "base/compose.h"
#include "host/detection/decoders.h"
#include "host/error.h"
#include "host/model/picture_tensors.h"
#include "model_contract.h"
#include "taken_picture.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <utility>

namespace dnn_torch
{
namespace
{

// Common input extents of exported detectors, the likeliest first.
constexpr int detector_extents[] = {640, 416, 320, 512, 608, 300, 800, 1024, 1280, 384, 256, 224};

bool is_list(const Model &model)
{
    for (const DnnTorchTensorInfo &info : model.tensors(DNN_TORCH_INPUTS))
        if (const std::string type = info.type_text; type.rfind("List[Tensor", 0) == 0)
            return true;
    return false;
}

// Returns whether it is a picture for each: [N, channels, height, width] of at least half the
// input's extents.
bool are_pictures(std::span<const DnnTorchTensor> shapes, Size picture)
{
    if (shapes.empty() || shapes[0].rank != 4)
        return false;
    const auto &dims = shapes[0].dims;
    return (dims[1] == 1 || dims[1] == 3 || dims[1] == 4) && 2 * dims[2] >= picture.height &&
           2 * dims[3] >= picture.width;
}

// Returns whether it is a number for each class.
bool are_scores(std::span<const DnnTorchTensor> shapes)
{
    return shapes.size() == 1 && (shapes[0].rank == 1 || shapes[0].rank == 2);
}

void check_detector_contract(const Contract &contract)
{
    const std::string &task = contract.model.task;
    refuse_extra_pictures(contract);
    if (task.empty() || task == "detect" || task == "pose" || task == "obb" || task == "segment")
        return;
    const char *const other = task == "classify" ? "dnn_torch_classify" : "dnn_torch";
    throw Error(AVERROR(EINVAL),
                concat("the contract says ", field_with_origin("task", contract),
                       ", and this filter finds things; use ", other, " for this model"));
}

} // namespace

DetectorProbe::DetectorProbe(std::shared_ptr<Model> model, const Contract &contract,
                             const DetectSettings &settings)
    : model_(std::move(model)), contract_(contract), settings_(settings)
{
}

int DetectorProbe::multiple() const
{
    return contract_.sizes.multiple.value_or(1);
}

bool DetectorProbe::keeps_frame_size() const
{
    return settings_.own_size ||
           (takes_lists_ && !settings_.size && !contract_.sizes.only && !settings_.placing);
}

DetectorProbe::Shapes DetectorProbe::try_size(Size size, int channels)
{
    return probe_tensors(*model_, picture_shape(1, channels, size));
}

void DetectorProbe::examine()
{
    check_detector_contract(contract_);
    takes_lists_ = is_list(*model_);
    std::vector<Size> common = squares_of(detector_extents, contract_);
    if (takes_lists_)
        common.resize(1);
    const TakenPicture taken = find_taken_picture(
        *model_, contract_, settings_.size ? settings_.size : contract_.sizes.only, common);
    channels_ = taken.channels;
    size_ = taken.size;
    decoder_for(size_);
}

bool DetectorProbe::takes(Size size)
try {
    try_size(size, channels_);
    return true;
} catch (const Error &error) {
    if (is_final(error))
        throw;
    return false;
}

DetectorInput DetectorProbe::input_for(Size frame)
{
    if (keeps_frame_size()) {
        const Size least = contract_.sizes.minimum.value_or(Size{1, 1});
        return {.size = rounded_up(larger_of(frame, least), multiple()),
                .placing = Placing::corner};
    }
    const Placing placing = settings_.placing.value_or(Placing::letterbox);
    const bool may_differ = !settings_.size && !contract_.sizes.only && contract_.sizes.multiple &&
                            !contract_.sizes.minimum && placing == Placing::letterbox;
    // Like Ultralytics: less border means less to compute.
    const Size close = picture_for(frame, std::max(size_.width, size_.height), multiple());
    return {.size = may_differ && takes(close) ? close : size_, .placing = placing};
}

DetectorFacts DetectorProbe::facts_for(Size picture) const
{
    const size_t labels = contract_.model.labels.size();
    return {.input = picture,
            .classes = settings_.classes ? settings_.classes : static_cast<int>(labels),
            .task = contract_.model.task,
            .end2end = contract_.model.end2end,
            .anchors = settings_.anchors,
            .cells = settings_.cells,
            .key_points = contract_.model.key_points[0],
            .key_point_numbers = contract_.model.key_points[1]};
}

// Tries again with an unknown number of classes, because a file of labels may have too few.
std::unique_ptr<const Decoder> DetectorProbe::decoder_for(Size picture)
{
    const Shapes shapes = try_size(picture, channels_);
    DetectorFacts facts = facts_for(picture);
    try {
        return find_decoder(shapes, facts, settings_.decoder);
    } catch (const AnyError &) {
        if (settings_.decoder.empty())
            refuse_pictures(shapes, picture);
        if (settings_.classes || facts.classes == 0)
            throw;
        try {
            facts.classes = 0;
            return find_decoder(shapes, facts, settings_.decoder);
        } catch (const AnyError &) {
        }
        throw;
    }
}

void DetectorProbe::refuse_pictures(const Shapes &shapes, Size picture) const
{
    const std::string said = contradicting_task(contract_);
    if (are_pictures(shapes, picture))
        throw Error(AVERROR(EINVAL), concat(said, "the model makes pictures of ",
                                            counted(shapes[0].dims[1], "channel"),
                                            " and finds nothing in them; use dnn_torch "
                                            "for it, or name a decoder with decoder=NAME"));
    if (are_scores(shapes))
        throw Error(AVERROR(EINVAL),
                    concat(said, "the model gives scores of a picture as a whole and no boxes; use "
                                 "dnn_torch_classify for it, or name a decoder with decoder=NAME"));
}

std::string DetectorProbe::in_words() const
{
    return concat(channels_in_words(channels_), " of ",
                  keeps_frame_size() ? "any size" : to_text(size_));
}

} // namespace dnn_torch
