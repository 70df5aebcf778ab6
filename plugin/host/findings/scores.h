// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The scores of a classifier: in which tensor they are, and which classes are likeliest.
//
// Views own nothing.  Any thread.
#pragma once

#include "dnn_torch/engine.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dnn_torch
{

// How scores become confidences.
enum class ScoreKind {
    automatic, // plain if all are within 0..1 and sum up to 1, else softmax; see kind_of()
    softmax,   // logits; exactly one class applies
    sigmoid,   // logits; each class applies or not
    plain,     // the scores are confidences
};

struct ScoreParameters {
    ScoreKind kind = ScoreKind::automatic;
    size_t top = 1;       // how many classes are returned at most
    float confidence = 0; // classes with less are dropped
};

struct ClassScore {
    int64_t number = 0; // of the class, from 0 on
    float confidence = 0;
    bool operator==(const ClassScore &) const = default;
};

// The tensor that holds the scores.
struct ScoreTensor {
    size_t place = 0;    // index in the list of tensors
    int64_t classes = 0; // at least 1
    bool operator==(const ScoreTensor &) const = default;
};

// One picture's scores, as floats.
struct Scores {
    const char *data = nullptr;
    int64_t count = 0, step = 0; // `step` in bytes

    float at(int64_t number) const; // `number` is not checked
};

// Returns the first tensor with one number for each class and picture: [pictures, classes], or with
// further extents of 1.  For one picture it may be just [classes].
std::optional<ScoreTensor> find_scores(std::span<const DnnTorchTensor> tensors, int pictures);

// Returns the scores of picture `index`.  Throws Error if the tensors differ from those that
// find_scores() got.
Scores scores_of(std::span<const DnnTorchTensor> tensors, const ScoreTensor &found, int pictures,
                 int index);

// Returns what automatic means for these scores.  A single score is a sigmoid's logit, unless it is
// within 0..1.
ScoreKind kind_of(const Scores &scores);

// Returns the likeliest classes, sorted by confidence, then by number.  Skips scores that are not
// finite.
std::vector<ClassScore> likeliest(const Scores &scores, const ScoreParameters &parameters);

// Returns whether a score is NaN.
bool has_nan(const Scores &scores);

} // namespace dnn_torch
