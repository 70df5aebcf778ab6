// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// SSD as OpenVINO's models return it.  Classes keep their numbers; 0 is the background in most.
//
//   [1,1,n,7], [n,7]       picture, class, confidence, left, top, right, bottom: of 0 to 1;
//                          picture -1 ends the list
//   [n,5], [n]             left, top, right, bottom in pixels, confidence; and the classes; also
//   [1,1,n,5] or [1,n,5], [1,n], and the classes first
#include "decoder_kinds.h"

#include <algorithm>

namespace dnn_torch
{
namespace
{

// Returns whether all axes but the last two have extent 1, and the last has `values`.  If `values`
// is 0, all axes but the last one must have extent 1.
bool is_list(const DnnTorchTensor &tensor, int64_t values)
{
    const int axes = values > 0 ? 2 : 1;
    if (tensor.rank < axes || tensor.rank > 4 ||
        (values > 0 && tensor.dims[tensor.rank - 1] != values))
        return false;
    return std::all_of(tensor.dims, tensor.dims + tensor.rank - axes,
                       [](int64_t extent) { return extent == 1; });
}

struct Lists {
    const DnnTorchTensor *boxes = nullptr, *labels = nullptr; // labels: NULL if boxes have them
};

Lists lists_in(std::span<const DnnTorchTensor> tensors)
{
    if (tensors.size() == 1 && is_list(tensors[0], 7))
        return {.boxes = &tensors[0], .labels = nullptr};
    if (tensors.size() != 2)
        return {};
    for (const size_t first : {0U, 1U}) {
        const DnnTorchTensor &boxes = tensors[first], &labels = tensors[1 - first];
        if (is_list(boxes, 5) && is_list(labels, 0) &&
            boxes.dims[boxes.rank - 2] == labels.dims[labels.rank - 1])
            return {.boxes = &boxes, .labels = &labels};
    }
    return {};
}

class Ssd : public Decoder
{
public:
    explicit Ssd(Size input) : input_(input) {}

    const char *name() const override { return "ssd"; }
    int classes() const override { return 0; }
    bool has_background() const override { return true; }
    bool needs_suppression() const override { return false; }
    void decode(std::span<const DnnTorchTensor> tensors, int index,
                const DecodeParameters &parameters, std::vector<Detection> &found) const override;

private:
    void decode_parts(const Rows &rows, int index, const DecodeParameters &parameters,
                      std::vector<Detection> &found) const;

    Size input_;
};

void Ssd::decode_parts(const Rows &rows, int index, const DecodeParameters &parameters,
                       std::vector<Detection> &found) const
{
    const auto width = static_cast<float>(input_.width);
    const auto height = static_cast<float>(input_.height);
    for (int64_t row = 0; row < rows.count; row++) {
        const float picture = rows.at(row, 0);
        if (picture < 0)
            return;
        if (picture != static_cast<float>(index) || !is_label(rows.at(row, 1)))
            continue;
        append_if_valid({.box = {rows.at(row, 3) * width, rows.at(row, 4) * height,
                                 rows.at(row, 5) * width, rows.at(row, 6) * height},
                         .confidence = rows.at(row, 2),
                         .label = static_cast<int>(rows.at(row, 1)),
                         .row = row},
                        parameters, found);
    }
}

void Ssd::decode(std::span<const DnnTorchTensor> tensors, int index,
                 const DecodeParameters &parameters, std::vector<Detection> &found) const
{
    const Lists lists = lists_in(tensors);
    if (!lists.boxes)
        refuse_tensors(name(), tensors);
    const int rank = lists.boxes->rank;
    if (!lists.labels)
        return decode_parts(rows_of(*lists.boxes, 0, {.rows = rank - 2, .values = rank - 1}), index,
                            parameters, found);
    const Rows rows = rows_of(*lists.boxes, index, {.rows = rank - 2, .values = rank - 1});
    const Rows labels = rows_of(*lists.labels, index, {.rows = lists.labels->rank - 1});
    for (int64_t row = 0; row < std::min(rows.count, labels.count); row++)
        if (is_label(labels.at(row, 0)))
            append_if_valid({.box = corners_at(rows, row),
                             .confidence = rows.at(row, 4),
                             .label = static_cast<int>(labels.at(row, 0)),
                             .row = row},
                            parameters, found);
}

} // namespace

Match match_ssd(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    const Lists lists = lists_in(shapes);
    if (!lists.boxes)
        return {};
    // [1,n,7] may also be rows of a YOLO model.
    Likeness likeness = lists.boxes->rank == 4 ? Likeness::CERTAIN : Likeness::TYPICAL;
    if (lists.boxes->rank == 3 && !lists.labels)
        likeness = Likeness::FITS;
    return {.likeness = likeness,
            .decoder = std::make_unique<Ssd>(facts.input),
            .needs_input_size = lists.labels == nullptr};
}

} // namespace dnn_torch
