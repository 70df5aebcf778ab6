// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The scores of a classifier: where they are among its tensors, and which classes they speak for.
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

// What scores are before they become confidences.
enum class ScoreKind {
    automatic, // plain if they lie within 0..1 and sum up to 1, else softmax; see kind_of()
    softmax,   // logits; one class alone is right
    sigmoid,   // logits; each class is right or not
    plain,     // confidences already
};

struct ScoreParameters {
    ScoreKind kind = ScoreKind::automatic;
    size_t top = 1;       // how many classes are wanted at most
    float confidence = 0; // classes with less are dropped
};

struct ClassScore {
    int64_t number = 0; // of the class, from 0 on
    float confidence = 0;
    bool operator==(const ClassScore &) const = default;
};

// Which tensor has the scores.
struct ScoreTensor {
    size_t place = 0;    // in the list of tensors
    int64_t classes = 0; // at least 1
    bool operator==(const ScoreTensor &) const = default;
};

// One picture's scores, floats.
struct Scores {
    const char *data = nullptr;
    int64_t count = 0, step = 0; // `step` in bytes

    float at(int64_t number) const; // is not checked
};

// Returns the first tensor that has one number for each class and picture: [pictures, classes], or
// with further extents of 1.  Of one picture it may be [classes] alone.
std::optional<ScoreTensor> find_scores(std::span<const DnnTorchTensor> tensors, int pictures);

// Returns the scores of picture `index`.  Throws Error if the tensors are no longer as they were
// when find_scores() found them.
Scores scores_of(std::span<const DnnTorchTensor> tensors, const ScoreTensor &found, int pictures,
                 int index);

// Returns what automatic means for such scores.  A single one is a sigmoid's logit, unless it lies
// within 0..1.
ScoreKind kind_of(const Scores &scores);

// Returns the likeliest classes, the likeliest first, and equally likely ones by their numbers.
// Scores that are no finite numbers are left out.
std::vector<ClassScore> likeliest(const Scores &scores, const ScoreParameters &parameters);

// Whether a score is no number.
bool has_nan(const Scores &scores);

} // namespace dnn_torch
