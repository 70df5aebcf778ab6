// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Transformers with Q queries:
//
//   logits [N,Q,C], pred_boxes [N,Q,4]         centre x, centre y, width, height: of 0 to 1
//   labels [N,Q], boxes [N,Q,4], scores [N,Q]  RT-DETR as it is deployed; boxes in pixels
//   [N,Q,4+nc]                                 RT-DETR of Ultralytics, with the sigmoid applied
//
// detr takes the softmax, and the last of the C classes is "no object": DETR, YOLOS.
// rtdetr takes the sigmoid of each class: RT-DETR, D-FINE, DEIM, Deformable DETR, DINO.  As in
// their evaluation, the Q most confident of all Q*C scores are used: a query may have several
// classes.
// The number of classes tells the two apart.  If it is not known, 100 queries mean detr.
#include "decoder_kinds.h"
#include "suppression.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace dnn_torch
{
namespace
{

constexpr int64_t queries_of_detr = 100;

struct Outputs {
    const DnnTorchTensor *logits = nullptr, *boxes = nullptr;
    bool are_named = false;
};

bool fit_together(const DnnTorchTensor &logits, const DnnTorchTensor &boxes)
{
    return logits.rank == 3 && logits.dims[2] > 0 && logits.dims[2] <= 1'000'000 &&
           has_shape(boxes, {logits.dims[0], logits.dims[1], 4});
}

// Finds the tensors by name; otherwise takes the first two.
Outputs outputs_in(std::span<const DnnTorchTensor> tensors)
{
    Outputs outputs;
    for (const DnnTorchTensor &tensor : tensors) {
        const bool is_outer = name_before_last(tensor).empty(); // not a layer's auxiliary output
        if (is_outer && (is_named(tensor, "logits") || is_named(tensor, "pred_logits")))
            outputs.logits = &tensor;
        if (is_outer && is_named(tensor, "pred_boxes"))
            outputs.boxes = &tensor;
    }
    outputs.are_named = outputs.logits && outputs.boxes;
    if (!outputs.are_named && tensors.size() >= 2) {
        const bool boxes_first = tensors[0].rank == 3 && tensors[0].dims[2] == 4 &&
                                 !(tensors[1].rank == 3 && tensors[1].dims[2] == 4);
        outputs.logits = &tensors[boxes_first ? 1 : 0];
        outputs.boxes = &tensors[boxes_first ? 0 : 1];
    }
    if (!outputs.logits || !outputs.boxes || !fit_together(*outputs.logits, *outputs.boxes))
        return {};
    return outputs;
}

Box box_in(Size input, const Rows &boxes, int64_t row)
{
    const auto width = static_cast<float>(input.width);
    const auto height = static_cast<float>(input.height);
    return centred_box(boxes.at(row, 0) * width, boxes.at(row, 1) * height,
                       boxes.at(row, 2) * width, boxes.at(row, 3) * height);
}

class Queries : public Decoder
{
public:
    Queries(Size input, int values, bool has_no_object)
        : input_(input), values_(values), has_no_object_(has_no_object)
    {
    }
    const char *name() const override { return has_no_object_ ? "detr" : "rtdetr"; }
    int classes() const override { return has_no_object_ ? values_ - 1 : values_; }
    bool needs_suppression() const override { return false; }
    void decode(std::span<const DnnTorchTensor> tensors, int index,
                const DecodeParameters &parameters, std::vector<Detection> &found) const override;

private:
    // Takes the likeliest class of each query.
    void decode_queries(const Rows &logits, const Rows &boxes, const DecodeParameters &parameters,
                        std::vector<Detection> &found) const;
    // Takes all classes of all queries.
    void decode_classes(const Rows &logits, const Rows &boxes, const DecodeParameters &parameters,
                        std::vector<Detection> &found) const;

    Size input_;
    int values_;         // logits of a query
    bool has_no_object_; // the last class is "no object"
};

// Returns the softmax of the class with this logit.
float softmax_of(const Rows &logits, int64_t row, float logit)
{
    float sum = 0;
    for (int64_t label = 0; label < logits.width; label++)
        sum += std::exp(logits.at(row, label) - logit);
    return 1 / sum;
}

void Queries::decode_queries(const Rows &logits, const Rows &boxes,
                             const DecodeParameters &parameters,
                             std::vector<Detection> &found) const
{
    Rows of_classes = logits;
    of_classes.width = classes();
    const BestClasses best = best_classes(of_classes);
    for (int64_t row = 0; row < std::min(logits.count, boxes.count); row++) {
        const auto number = static_cast<size_t>(row);
        append_if_valid({.box = box_in(input_, boxes, row),
                         .confidence = softmax_of(logits, row, best.scores[number]),
                         .label = best.labels[number],
                         .row = row},
                        parameters, found);
    }
}

void Queries::decode_classes(const Rows &logits, const Rows &boxes,
                             const DecodeParameters &parameters,
                             std::vector<Detection> &found) const
{
    std::vector<Detection> own;
    for (int64_t row = 0; row < std::min(logits.count, boxes.count); row++)
        for (int64_t label = 0; label < logits.width; label++)
            if (const float confidence = sigmoid(logits.at(row, label));
                confidence >= parameters.confidence)
                append_if_valid({.box = box_in(input_, boxes, row),
                                 .confidence = confidence,
                                 .label = static_cast<int>(label),
                                 .row = row},
                                parameters, own);
    keep_most_confident(own, static_cast<size_t>(logits.count));
    std::move(own.begin(), own.end(), std::back_inserter(found));
}

void Queries::decode(std::span<const DnnTorchTensor> tensors, int index,
                     const DecodeParameters &parameters, std::vector<Detection> &found) const
{
    const Outputs outputs = outputs_in(tensors);
    if (!outputs.boxes || outputs.logits->dims[2] != values_)
        refuse_tensors(name(), tensors);
    const RowAxes axes = {.rows = 1, .values = 2, .picture = 0};
    const Rows logits = rows_of(*outputs.logits, index, axes);
    const Rows boxes = rows_of(*outputs.boxes, index, axes);
    if (has_no_object_)
        decode_queries(logits, boxes, parameters, found);
    else
        decode_classes(logits, boxes, parameters, found);
}

Match match_queries(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts,
                    bool has_no_object)
{
    const Outputs outputs = outputs_in(shapes);
    const int values = outputs.logits ? static_cast<int>(outputs.logits->dims[2]) : 0;
    if (values < (has_no_object ? 2 : 1))
        return {};
    Match match = {.likeness = Likeness::FITS,
                   .decoder = std::make_unique<Queries>(facts.input, values, has_no_object),
                   .needs_input_size = true};
    const int64_t queries = outputs.logits->dims[1];
    if (!outputs.are_named && queries > most_without_grid)
        return match;
    const int with_no_object = facts.classes + 1;
    bool is_this = (queries == queries_of_detr) == has_no_object;
    if (facts.classes > 0 && (values == facts.classes || values == with_no_object))
        is_this = (values == with_no_object) == has_no_object;
    if (is_this)
        match.likeness = outputs.are_named ? Likeness::CERTAIN : Likeness::TYPICAL;
    return match;
}

// ---- RT-DETR, other variants ----------------------------------------------------------

struct Deployed {
    const DnnTorchTensor *labels = nullptr, *boxes = nullptr, *scores = nullptr;
};

// Recognises boxes by their shape, and labels by their name or type.
Deployed deployed_in(std::span<const DnnTorchTensor> tensors)
{
    Deployed found;
    if (tensors.size() != 3)
        return {};
    for (const DnnTorchTensor &tensor : tensors)
        if (has_shape(tensor, {any_extent, any_extent, 4}))
            found.boxes = &tensor;
        else if (tensor.type == DNN_TORCH_I64 || is_named(tensor, "labels"))
            found.labels = &tensor;
        else
            found.scores = &tensor;
    if (!found.boxes || !found.labels || !found.scores)
        return {};
    const int64_t pictures = found.boxes->dims[0], queries = found.boxes->dims[1];
    if (!has_shape(*found.labels, {pictures, queries}) ||
        !has_shape(*found.scores, {pictures, queries}))
        return {};
    return found;
}

class DeployedRtDetr : public Decoder
{
public:
    const char *name() const override { return "rtdetr"; }
    int classes() const override { return 0; }
    bool needs_suppression() const override { return false; }
    void decode(std::span<const DnnTorchTensor> tensors, int index,
                const DecodeParameters &parameters, std::vector<Detection> &found) const override;
};

void DeployedRtDetr::decode(std::span<const DnnTorchTensor> tensors, int index,
                            const DecodeParameters &parameters, std::vector<Detection> &found) const
{
    const Deployed parts = deployed_in(tensors);
    if (!parts.boxes)
        refuse_tensors(name(), tensors);
    const RowAxes axes = {.rows = 1, .picture = 0};
    const DetectionLists lists = {
        .boxes = rows_of(*parts.boxes, index, {.rows = 1, .values = 2, .picture = 0}),
        .labels = rows_of(*parts.labels, index, axes),
        .scores = rows_of(*parts.scores, index, axes)};
    append_listed(lists, lists.count(), parameters, found);
}

// One tensor, to whose scores the sigmoid was already applied.
class OneTensorRtDetr : public Decoder
{
public:
    OneTensorRtDetr(Size input, int classes) : input_(input), classes_(classes) {}

    const char *name() const override { return "rtdetr"; }
    int classes() const override { return classes_; }
    bool needs_suppression() const override { return false; }
    void decode(std::span<const DnnTorchTensor> tensors, int index,
                const DecodeParameters &parameters, std::vector<Detection> &found) const override;

private:
    Size input_;
    int classes_;
};

void OneTensorRtDetr::decode(std::span<const DnnTorchTensor> tensors, int index,
                             const DecodeParameters &parameters,
                             std::vector<Detection> &found) const
{
    if (tensors.size() != 1 || !has_shape(tensors[0], {any_extent, any_extent, 4 + classes_}))
        refuse_tensors(name(), tensors);
    const Rows rows = rows_of(tensors[0], index, {.rows = 1, .values = 2, .picture = 0});
    const BestClasses best = best_classes(rows.without_first(4));
    for (int64_t row = 0; row < rows.count; row++)
        append_if_valid({.box = box_in(input_, rows, row),
                         .confidence = best.scores[static_cast<size_t>(row)],
                         .label = best.labels[static_cast<size_t>(row)],
                         .row = row},
                        parameters, found);
}

Match match_one_tensor(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    constexpr int64_t fewest = 21, typical = 300;
    if (shapes.size() != 1 || !has_shape(shapes[0], {any_extent, any_extent, any_extent}))
        return {};
    const int64_t queries = shapes[0].dims[1], classes = shapes[0].dims[2] - 4;
    if (queries < fewest || queries > most_without_grid || classes < 1 ||
        classes > most_without_grid * 10)
        return {};
    // Six values are more likely for decoder=yolo-nms.
    const bool is_typical = queries == typical && classes == facts.classes && classes != 2 &&
                            !facts.end2end.value_or(false) && !is_grid(queries, facts.input, 1) &&
                            !is_grid(shapes[0].dims[2], facts.input, 1);
    return {.likeness = is_typical ? Likeness::CERTAIN : Likeness::FITS,
            .decoder = std::make_unique<OneTensorRtDetr>(facts.input, static_cast<int>(classes)),
            .needs_input_size = true};
}

} // namespace

Match match_detr(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    return match_queries(shapes, facts, true);
}

Match match_rtdetr(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    if (deployed_in(shapes).boxes)
        return {Likeness::TYPICAL, std::make_unique<DeployedRtDetr>()};
    Match one = match_one_tensor(shapes, facts);
    return one.decoder ? std::move(one) : match_queries(shapes, facts, false);
}

} // namespace dnn_torch
