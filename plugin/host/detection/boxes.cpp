// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Plain boxes: left, top, right, bottom, confidence, class.
//
//   [n,6]    of one picture
//   [N,n,6]  of a batch; decoder=yolo-nms takes the same without suppression
#include "decoder_kinds.h"

namespace dnn_torch
{
namespace
{

class Boxes : public Decoder
{
public:
    explicit Boxes(const DetectorFacts &facts) : is_final_(facts.end2end.value_or(false)) {}

    const char *name() const override { return "boxes"; }
    int classes() const override { return 0; }
    bool needs_suppression() const override { return !is_final_; }
    void decode(std::span<const DnnTorchTensor> tensors, int index,
                const DecodeParameters &parameters, std::vector<Detection> &found) const override;

private:
    bool is_final_;
};

bool are_rows_of_boxes(std::span<const DnnTorchTensor> tensors)
{
    return tensors.size() == 1 && (has_shape(tensors[0], {any_extent, 6}) ||
                                   has_shape(tensors[0], {any_extent, any_extent, 6}));
}

void Boxes::decode(std::span<const DnnTorchTensor> tensors, int index,
                   const DecodeParameters &parameters, std::vector<Detection> &found) const
{
    if (!are_rows_of_boxes(tensors))
        refuse_tensors(name(), tensors);
    const int rank = tensors[0].rank;
    const Rows rows = rows_of(
        tensors[0], index, {.rows = rank - 2, .values = rank - 1, .picture = rank == 3 ? 0 : -1});
    for (int64_t row = 0; row < rows.count; row++)
        if (is_label(rows.at(row, 5)))
            append_if_valid({.box = corners_at(rows, row),
                             .confidence = rows.at(row, 4),
                             .label = static_cast<int>(rows.at(row, 5)),
                             .row = row},
                            parameters, found);
}

} // namespace

Match match_boxes(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    if (!are_rows_of_boxes(shapes))
        return {};
    return {shapes[0].rank == 2 ? Likeness::TYPICAL : Likeness::FITS,
            std::make_unique<Boxes>(facts)};
}

} // namespace dnn_torch
