// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What decoders share.  Any thread.
#pragma once

#include "decoder.h"
#include "tensor_view.h"

#include <memory>
#include <vector>

namespace dnn_torch
{

// How much speaks for a decoder.
enum class Likeness {
    NONE,    // the shapes do not fit
    FITS,    // the shapes fit, and also other decoders'
    TYPICAL, // such models commonly have these shapes
    CERTAIN  // names of tensors or facts say so
};

struct Match {
    Likeness likeness = Likeness::NONE;
    std::unique_ptr<const Decoder> decoder = {}; // null if nothing fits
};

// Looks whether the tensors fit.  Throws Error if they do, and a fact is missing.
using MatchDecoder = Match (*)(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);

struct DecoderKind {
    const char *name;
    MatchDecoder match;
};

Match match_boxes(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);

// Whether the value of a class, as a tensor has it, is one.
bool is_label(float value);

// Appends the detection unless it is less sure than the terms want, or no detection: its
// numbers are NaN or infinite, its box has no extent, its confidence is not in 0 to 1.
void append_if_sound(Detection detection, const DecodeTerms &terms, std::vector<Detection> &found);

} // namespace dnn_torch
