// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "decoders.h"

#include "base/compose.h"
#include "base/terminal.h"
#include "decoder_kinds.h"
#include "host/error.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace dnn_torch
{
namespace
{

// AVERROR(EINVAL)
constexpr int invalid = -EINVAL;

constexpr DecoderKind kinds[] = {
    {"boxes", match_boxes},
};

std::string all_names()
{
    return joined(names_of_decoders());
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
        return std::move(match.decoder);
    }
    throw Error(invalid, concat("decoder takes ", all_names(), ", not '",
                                printable(name.substr(0, 100)), "'"));
}

[[noreturn]] void refuse_choice(std::span<const DnnTorchTensor> shapes, const char *fault)
{
    throw Error(invalid, concat("the model returns ", shapes_text(shapes), ", ", fault,
                                "; name one with decoder=NAME, of: ", all_names()));
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
    std::string likeliest;
    for (const DecoderKind &kind : kinds) {
        Match match = kind.match(shapes, facts);
        if (!match.decoder || match.likeness < best.likeness)
            continue;
        if (match.likeness > best.likeness)
            likeliest.clear();
        add_to_list(likeliest, kind.name, " and ");
        best = std::move(match);
    }
    if (!best.decoder)
        refuse_choice(shapes, "which no decoder takes");
    if (likeliest != best.decoder->name())
        refuse_choice(shapes, concat("which fit the decoders ", likeliest).c_str());
    return std::move(best.decoder);
}

bool is_label(float value)
{
    constexpr float most = 1e6F; // no detector knows so many
    return value >= 0 && value <= most;
}

void append_if_sound(Detection detection, const DecodeTerms &terms, std::vector<Detection> &found)
{
    // Larger numbers lose whole pixels, and areas of them are infinite soon.
    constexpr float farthest = 1e7F;
    constexpr float rounding = 1e-3F; // sums of probabilities may be a little above 1
    const auto is_place = [](float value) { return std::abs(value) <= farthest; };
    const Box &box = detection.box;
    if (!(detection.confidence > 0 && detection.confidence >= terms.confidence &&
          detection.confidence <= 1 + rounding))
        return;
    if (!is_place(box.left) || !is_place(box.top) || !is_place(box.right) ||
        !is_place(box.bottom) || !(box.width() > 0 && box.height() > 0))
        return;
    detection.confidence = std::min(detection.confidence, 1.0F);
    found.push_back(std::move(detection));
}

} // namespace dnn_torch
