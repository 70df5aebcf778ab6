// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "yolo_rows.h"

#include "base/compose.h"
#include "host/error.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace dnn_torch
{
namespace
{

// Returns whether positions are in cells, and extents logarithms, as YOLOX is exported.
//
// In cells, a centre is in its cell or near it, so nearly all numbers are below 4.  In pixels,
// nearly none is.
bool has_positions_in_cells(const Rows &rows)
{
    constexpr float far = 4;
    int64_t far_ones = 0;
    for (int64_t row = 0; row < rows.count; row++)
        far_ones += std::abs(rows.at(row, 0)) > far || std::abs(rows.at(row, 1)) > far;
    return far_ones * 2 < rows.count;
}

struct Cell {
    float x = 0, y = 0, stride = 0;
};

std::vector<Cell> cells_of(Size input)
{
    std::vector<Cell> cells;
    for (const int stride : {8, 16, 32})
        for (int y = 0; y < (input.height + stride - 1) / stride; y++)
            for (int x = 0; x < (input.width + stride - 1) / stride; x++)
                cells.push_back(
                    {static_cast<float>(x), static_cast<float>(y), static_cast<float>(stride)});
    return cells;
}

Box box_in_cell(const Rows &rows, int64_t row, const Cell &cell)
{
    constexpr float most = 20; // exp() of it is beyond all pictures
    const auto extent = [&](int64_t value) {
        return std::exp(std::min(rows.at(row, value), most)) * cell.stride;
    };
    return centred_box((rows.at(row, 0) + cell.x) * cell.stride,
                       (rows.at(row, 1) + cell.y) * cell.stride, extent(2), extent(3));
}

class YoloRows : public Decoder
{
public:
    explicit YoloRows(const YoloLayout &layout) : layout_(layout) {}

    const char *name() const override { return layout_.name; }
    int classes() const override { return layout_.classes; }
    bool has_turned_boxes() const override { return layout_.has_angle; }
    bool needs_suppression() const override { return true; }
    bool has_masks() const override { return layout_.coefficients > 0; }
    void decode(std::span<const DnnTorchTensor> tensors, int index,
                const DecodeParameters &parameters, std::vector<Detection> &found) const override;
    void add_key_points(std::span<const DnnTorchTensor> tensors, int index,
                        std::span<Detection> found) const override;
    void add_masks(std::span<const DnnTorchTensor> tensors, int index,
                   std::span<Detection> found) const override;

private:
    int64_t first_score() const { return layout_.has_objectness ? 5 : 4; }
    int64_t first_extra() const { return first_score() + layout_.classes; }
    Rows rows_in(std::span<const DnnTorchTensor> tensors, int index) const;
    void turn(const Rows &rows, int64_t row, Detection &detection) const;

    YoloLayout layout_;
};

Rows YoloRows::rows_in(std::span<const DnnTorchTensor> tensors, int index) const
{
    const int value_axis = 3 - layout_.row_axis;
    if (tensors.empty() || tensors[0].rank != 3 || tensors[0].dims[value_axis] != layout_.width ||
        (has_masks() && mask_coefficients(tensors) != layout_.coefficients))
        refuse_tensors(name(), tensors);
    return rows_of(tensors[0], index,
                   {.rows = layout_.row_axis, .values = value_axis, .picture = 0});
}

void YoloRows::turn(const Rows &rows, int64_t row, Detection &detection) const
{
    detection.turned = {rows.at(row, 0), rows.at(row, 1), rows.at(row, 2), rows.at(row, 3),
                        rows.at(row, first_extra())};
    detection.box = box_around(*detection.turned);
}

void YoloRows::decode(std::span<const DnnTorchTensor> tensors, int index,
                      const DecodeParameters &parameters, std::vector<Detection> &found) const
{
    const Rows rows = rows_in(tensors, index);
    Rows scores = rows.without_first(first_score());
    scores.width = layout_.classes;
    const BestClasses best = best_classes(scores);
    std::vector<Cell> cells;
    if (layout_.may_be_raw && has_positions_in_cells(rows))
        cells = cells_of(layout_.input);
    const bool is_raw = !cells.empty() && static_cast<int64_t>(cells.size()) == rows.count;
    for (int64_t row = 0; row < rows.count; row++) {
        const auto number = static_cast<size_t>(row);
        const float score = best.scores[number] * (layout_.has_objectness ? rows.at(row, 4) : 1);
        if (!(score >= parameters.confidence))
            continue;
        Detection detection = {.box = is_raw ? box_in_cell(rows, row, cells[number])
                                             : centred_box(rows.at(row, 0), rows.at(row, 1),
                                                           rows.at(row, 2), rows.at(row, 3)),
                               .confidence = score,
                               .label = best.labels[number],
                               .row = row};
        if (layout_.has_angle)
            turn(rows, row, detection);
        append_if_valid(std::move(detection), parameters, found);
    }
}

void YoloRows::add_key_points(std::span<const DnnTorchTensor> tensors, int index,
                              std::span<Detection> found) const
{
    if (layout_.key_points > 0)
        read_key_points(rows_in(tensors, index), first_extra(), layout_, found);
}

void YoloRows::add_masks(std::span<const DnnTorchTensor> tensors, int index,
                         std::span<Detection> found) const
{
    if (has_masks())
        add_prototype_masks(tensors[1], index, rows_in(tensors, index).without_first(first_extra()),
                            layout_.input, found);
}

} // namespace

std::unique_ptr<const Decoder> make_yolo_rows(const YoloLayout &layout)
{
    return std::make_unique<YoloRows>(layout);
}

int64_t mask_coefficients(std::span<const DnnTorchTensor> tensors)
{
    return tensors.size() == 2 && tensors[1].rank == 4 ? tensors[1].dims[1] : 0;
}

void read_key_points(const Rows &rows, int64_t first, const YoloLayout &layout,
                     std::span<Detection> found)
{
    const int numbers = layout.key_point_numbers;
    check_key_points(layout.key_points, found.size());
    for (Detection &detection : found)
        for (int64_t i = 0; i < layout.key_points; i++) {
            const int64_t row = detection.row, place = first + i * numbers;
            KeyPoint point = {.x = rows.at(row, place), .y = rows.at(row, place + 1)};
            if (numbers > 2)
                point.confidence = rows.at(row, place + 2);
            if (!std::isfinite(point.x) || !std::isfinite(point.y) ||
                !std::isfinite(point.confidence))
                point = {.x = 0,
                         .y = 0,
                         .confidence = 0}; // kept, because its index says which point it is
            point.confidence = std::clamp(point.confidence, 0.0F, 1.0F);
            detection.key_points.push_back(point);
        }
}

KeyPointShape key_point_shape(int64_t values, const DetectorFacts &facts)
{
    if (values <= 0 || values > 10'000)
        return {};
    const int all = static_cast<int>(values);
    if (facts.key_points > 0) {
        const int numbers = all / facts.key_points;
        const bool fits = numbers * facts.key_points == all && (numbers == 2 || numbers == 3);
        return fits ? KeyPointShape{facts.key_points, numbers} : KeyPointShape{};
    }
    for (const int numbers : {3, 2})
        if (all % numbers == 0)
            return {all / numbers, numbers};
    return {};
}

void add_prototype_masks(const DnnTorchTensor &prototypes, int index, const Rows &coefficients,
                         Size input, std::span<Detection> found)
{
    const Size grid = {static_cast<int>(prototypes.dims[3]), static_cast<int>(prototypes.dims[2])};
    if (grid.width <= 0 || grid.height <= 0 || input.width <= 0 || input.height <= 0)
        return;
    // Masks cost time and memory in ffmpeg's own process.  Typically they have a quarter of the
    // picture's width and height.
    if (grid.width > input.width || grid.height > input.height)
        throw Error(-EINVAL, concat("the model returned prototypes of masks of ", to_text(grid),
                                    ", larger than its picture of ", to_text(input)));
    // Each prototype is one row of planes[]: [M][h][w].
    const Rows planes = rows_of(prototypes, index, {.rows = 1, .values = 3, .picture = 0});
    const int64_t line_step = prototypes.strides[2];
    const float across = static_cast<float>(grid.width) / static_cast<float>(input.width);
    const float down = static_cast<float>(grid.height) / static_cast<float>(input.height);
    const auto cell_of = [](float place, float scale, int most) {
        return static_cast<int>(std::clamp(place * scale, 0.0F, static_cast<float>(most)));
    };
    MaskBudget budget;
    for (Detection &detection : found) {
        const int left = cell_of(std::floor(detection.box.left * across), 1, grid.width);
        const int top = cell_of(std::floor(detection.box.top * down), 1, grid.height);
        const int right = cell_of(std::ceil(detection.box.right * across), 1, grid.width);
        const int bottom = cell_of(std::ceil(detection.box.bottom * down), 1, grid.height);
        if (right <= left || bottom <= top || detection.row < 0 ||
            detection.row >= coefficients.count)
            continue;
        budget.take({right - left, bottom - top}, planes.count);
        std::vector<float> factors;
        for (int64_t k = 0; k < planes.count; k++)
            factors.push_back(coefficients.at(detection.row, k));
        std::vector<float> values;
        values.reserve(static_cast<size_t>(right - left) * static_cast<size_t>(bottom - top));
        for (int y = top; y < bottom; y++) {
            Rows line = planes;
            line.data += y * line_step;
            for (int x = left; x < right; x++) {
                float sum = 0;
                for (int64_t k = 0; k < planes.count; k++)
                    sum += line.at(k, x) * factors[static_cast<size_t>(k)];
                const float value = sigmoid(sum);
                values.push_back(std::isfinite(value) ? value : 0);
            }
        }
        detection.mask = {
            .size = {right - left, bottom - top},
            .area = {static_cast<float>(left) / across, static_cast<float>(top) / down,
                     static_cast<float>(right) / across, static_cast<float>(bottom) / down},
            .values = std::make_shared<const std::vector<float>>(std::move(values))};
    }
}

} // namespace dnn_torch
