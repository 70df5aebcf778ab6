// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "decoders.h"

#include "base/compose.h"
#include "base/terminal.h"
#include "decoder_kinds.h"
#include "host/error.h"

#include <algorithm>

namespace dnn_torch
{
namespace
{

constexpr DecoderKind kinds[] = {
    {"boxes", match_boxes},
    {"yolov2", match_yolov2},
    {"yolov3", match_yolov3},
    {"yolov4", match_yolov4},
    {"yolov5", match_yolov5},
    {"yolox", match_yolox},
    {"yolov8", match_yolov8},
    {"yolo-nms", match_yolo_nms},
    {"yolov7", match_yolov7},
    {"ssd", match_ssd},
    {"torchvision", match_torchvision},
    {"detr", match_detr},
    {"rtdetr", match_rtdetr},
    {"yolo-nas", match_yolo_nas},
    {"efficient-nms", match_efficient_nms},
};

std::string all_names()
{
    return joined(names_of_decoders());
}

std::unique_ptr<const Decoder> checked(Match match, const DetectorFacts &facts)
{
    if (match.needs_input_size && (facts.input.width <= 0 || facts.input.height <= 0))
        throw Error(AVERROR(EINVAL),
                    concat("decoder=", match.decoder->name(),
                           " needs to know the size of the model's picture: give it with "
                           "size=WxH"));
    return std::move(match.decoder);
}

std::unique_ptr<const Decoder> named(std::span<const DnnTorchTensor> shapes,
                                     const DetectorFacts &facts, const std::string &name)
{
    for (const DecoderKind &kind : kinds) {
        if (name != kind.name)
            continue;
        Match match = kind.match(shapes, facts);
        if (!match.decoder)
            refuse_tensors(kind.name, shapes);
        return checked(std::move(match), facts);
    }
    throw Error(AVERROR(EINVAL), concat("decoder takes ", all_names(), ", not '",
                                        printable(name.substr(0, 100)), "'"));
}

[[noreturn]] void refuse_choice(std::span<const DnnTorchTensor> shapes, const char *fault,
                                const std::string &names)
{
    throw Error(AVERROR(EINVAL), concat("the model returns ", shapes_text(shapes), ", ", fault,
                                        "; name one with decoder=NAME, of: ", names));
}

} // namespace

std::vector<std::string> names_of_decoders()
{
    std::vector<std::string> names;
    for (const DecoderKind &kind : kinds)
        names.emplace_back(kind.name);
    return names;
}

std::unique_ptr<const Decoder> find_decoder(std::span<const DnnTorchTensor> shapes,
                                            const DetectorFacts &facts, const std::string &name)
{
    if (!name.empty())
        return named(shapes, facts, name);
    Match best;
    std::string likeliest; // if there are several, the user must choose
    for (const DecoderKind &kind : kinds) {
        Match match = kind.match(shapes, facts);
        if (!match.decoder || match.likeness < best.likeness)
            continue;
        if (match.likeness > best.likeness)
            likeliest.clear();
        add_to_list(likeliest, kind.name);
        best = std::move(match);
    }
    if (!best.decoder)
        refuse_choice(shapes, "which no decoder takes", all_names());
    if (likeliest != best.decoder->name())
        refuse_choice(shapes, "which fit several decoders", likeliest);
    if (!best.ambiguity.empty())
        throw Error(AVERROR(EINVAL),
                    concat("the model returns ", shapes_text(shapes), ", ", best.ambiguity));
    return checked(std::move(best), facts);
}

} // namespace dnn_torch
