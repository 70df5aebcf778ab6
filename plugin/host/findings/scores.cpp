// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "scores.h"

#include "base/compose.h"
#include "host/detection/tensor_view.h"
#include "host/error.h"

#include <algorithm>
#include <cmath>
#include <cstring>

extern "C" {
#include <libavutil/error.h>
}

namespace dnn_torch
{
namespace
{

// The axis of the classes.
struct ClassAxis {
    int axis; // below 0: there is one class and no axis
    int64_t classes;
};

// All extents must be 1, except the batch's and one other.
std::optional<ClassAxis> class_axis(const DnnTorchTensor &tensor, int pictures)
{
    if (tensor.type != DNN_TORCH_F32 || tensor.rank < 1 || tensor.rank > DNN_TORCH_DIMENSIONS)
        return std::nullopt;
    if (tensor.rank == 1 && pictures == 1 && tensor.dims[0] > 0)
        return ClassAxis{.axis = 0, .classes = tensor.dims[0]};
    if (tensor.dims[0] != pictures)
        return std::nullopt;
    ClassAxis found = {.axis = -1, .classes = 1};
    for (int axis = 1; axis < tensor.rank; axis++) {
        if (tensor.dims[axis] == 1)
            continue;
        if (found.axis > 0 || tensor.dims[axis] < 1)
            return std::nullopt;
        found = {.axis = axis, .classes = tensor.dims[axis]};
    }
    return found;
}

bool is_probability(float score)
{
    return score >= 0 && score <= 1;
}

double sigmoid(double score)
{
    return 1 / (1 + std::exp(-score));
}

// Converts scores to confidences.
class Confidences
{
public:
    Confidences(ScoreKind kind, const std::vector<ClassScore> &scores) : kind_(kind)
    {
        if (kind_ != ScoreKind::softmax)
            return;
        for (const ClassScore &each : scores)
            largest_ = std::max(largest_, double{each.confidence});
        for (const ClassScore &each : scores)
            sum_ += std::exp(each.confidence - largest_);
    }

    float of(float score) const
    {
        if (kind_ == ScoreKind::softmax)
            return static_cast<float>(std::exp(score - largest_) / sum_);
        return kind_ == ScoreKind::sigmoid ? static_cast<float>(sigmoid(score)) : score;
    }

private:
    ScoreKind kind_;
    double largest_ = -HUGE_VAL, sum_ = 0;
};

std::vector<ClassScore> finite_scores(const Scores &scores)
{
    std::vector<ClassScore> finite;
    finite.reserve(static_cast<size_t>(scores.count));
    for (int64_t number = 0; number < scores.count; number++)
        if (const float score = scores.at(number); std::isfinite(score))
            finite.push_back({.number = number, .confidence = score});
    return finite;
}

} // namespace

float Scores::at(int64_t number) const
{
    float score = 0;
    std::memcpy(&score, data + number * step, sizeof(score));
    return score;
}

std::optional<ScoreTensor> find_scores(std::span<const DnnTorchTensor> tensors, int pictures)
{
    for (size_t place = 0; place < tensors.size(); place++)
        if (const std::optional<ClassAxis> axis = class_axis(tensors[place], pictures))
            return ScoreTensor{.place = place, .classes = axis->classes};
    return std::nullopt;
}

Scores scores_of(std::span<const DnnTorchTensor> tensors, const ScoreTensor &found, int pictures,
                 int index)
{
    std::optional<ClassAxis> axis;
    if (found.place < tensors.size() && tensors[found.place].data)
        axis = class_axis(tensors[found.place], pictures);
    if (!axis || axis->classes != found.classes || index < 0 || index >= pictures)
        throw Error(AVERROR(EINVAL),
                    concat("the model returned ", shapes_text(tensors), " and ", found.classes,
                           " scores for a picture before; what it returns must depend on the size "
                           "of its input alone"));
    const DnnTorchTensor &tensor = tensors[found.place];
    const char *data = static_cast<const char *>(tensor.data);
    if (axis->axis != 0) // the first axis counts pictures
        data += index * tensor.strides[0];
    return {.data = data,
            .count = axis->classes,
            .step = axis->axis < 0 ? 0 : tensor.strides[axis->axis]};
}

// The tolerance is for 16-bit probabilities, which do not sum up exactly.
ScoreKind kind_of(const Scores &scores)
{
    constexpr double tolerance = 0.01;
    double sum = 0;
    for (const ClassScore &each : finite_scores(scores)) {
        if (!is_probability(each.confidence))
            return scores.count == 1 ? ScoreKind::sigmoid : ScoreKind::softmax;
        sum += each.confidence;
    }
    if (scores.count == 1)
        return ScoreKind::plain;
    return std::abs(sum - 1) <= tolerance ? ScoreKind::plain : ScoreKind::softmax;
}

std::vector<ClassScore> likeliest(const Scores &scores, const ScoreParameters &parameters)
{
    const ScoreKind kind =
        parameters.kind == ScoreKind::automatic ? kind_of(scores) : parameters.kind;
    std::vector<ClassScore> classes = finite_scores(scores);
    const Confidences confidences(kind, classes);
    // Sorts by scores: different scores may round to the same confidence near 0 and 1.
    const auto end =
        classes.begin() + static_cast<ptrdiff_t>(std::min(parameters.top, classes.size()));
    std::partial_sort(
        classes.begin(), end, classes.end(), [](const ClassScore &one, const ClassScore &other) {
            return one.confidence != other.confidence ? one.confidence > other.confidence
                                                      : one.number < other.number;
        });
    classes.erase(end, classes.end());
    for (ClassScore &each : classes)
        each.confidence = confidences.of(each.confidence);
    std::erase_if(classes,
                  [&](const ClassScore &each) { return each.confidence < parameters.confidence; });
    return classes;
}

bool has_nan(const Scores &scores)
{
    for (int64_t number = 0; number < scores.count; number++)
        if (std::isnan(scores.at(number)))
            return true;
    return false;
}

} // namespace dnn_torch
