// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The raw heads of YOLO models: one tensor for each grid, with K boxes per cell.
//
//   yolov3, yolov4  [N,K*(5+nc),H,W] of each head, or [N,H,W,K*(5+nc)]
//   yolov2          the same with one head; its anchors are in cells, not in pixels
//   yolov5, yolov7  [N,K,H,W,5+nc] of each head
//
// A box has x and y in its cell, the logarithms of its extents relative to its anchor's,
// objectness, and the score of each class.  A model may have applied the sigmoid to its scores and
// positions: numbers outside 0 to 1 show that it has not.  YOLOv2 has a softmax over its classes.
// Since YOLOv5, extents relative to the anchor are (2 * sigmoid)^2 instead of exponentials.
#include "decoder_kinds.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace dnn_torch
{
namespace
{

// Anchors of the published models, the finest grid first.  YOLOv5 uses YOLOv3's, YOLOv7 YOLOv4's.
constexpr float anchors_of_v3[] = {10, 13, 16,  30,  33, 23,  30,  61,  62,
                                   45, 59, 119, 116, 90, 156, 198, 373, 326};
constexpr float anchors_of_v4[] = {12, 16, 19,  36,  40,  28,  36,  75,  76,
                                   55, 72, 146, 142, 110, 192, 243, 459, 401};
constexpr float anchors_of_small_v3[] = {10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319};

// The factor by which YOLOv4's positions exceed their cells, the finest grid first.
constexpr float reaches_of_v4[] = {1.2F, 1.1F, 1.05F};
constexpr float reach_of_v5 = 2;

// Where a tensor has the values of a box: K*(5+nc) channels before or after the grid's axes, or K
// boxes before them and 5+nc values after.
enum class Channels { first, last, apart };

struct Head {
    Size grid = {};
    Channels channels = Channels::first;
    std::vector<float> anchors; // in pixels
    float reach = 1;
};

struct Layout {
    const char *name = "";
    Size input = {};
    int classes = 0;
    bool has_squares = false; // extents are (2 * sigmoid)^2
    std::vector<Head> heads;
};

int values_of_a_box(const Layout &layout)
{
    return 5 + layout.classes;
}

class YoloHeads : public Decoder
{
public:
    explicit YoloHeads(Layout layout) : layout_(std::move(layout)) {}

    const char *name() const override { return layout_.name; }
    int classes() const override { return layout_.classes; }
    bool needs_suppression() const override { return true; }
    bool has_anchors() const override { return true; }
    void decode(std::span<const DnnTorchTensor> tensors, int index,
                const DecodeParameters &parameters, std::vector<Detection> &found) const override;

private:
    void decode_head(const DnnTorchTensor &tensor, const Head &head, int index,
                     const DecodeParameters &parameters, std::vector<Detection> &found) const;

    Layout layout_;
};

// The axes of a head's tensor.
struct HeadAxes {
    int values, line, column;
};

HeadAxes axes_of(Channels channels)
{
    switch (channels) {
    case Channels::last:
        return {.values = 3, .line = 1, .column = 2};
    case Channels::apart:
        return {.values = 4, .line = 2, .column = 3};
    case Channels::first:
        break;
    }
    return {.values = 1, .line = 2, .column = 3};
}

// A box of a cell.
struct Place {
    int box, x, y;
};

// The values of the boxes of a head.
class CellValues
{
public:
    // Each box has `values` values.
    CellValues(const DnnTorchTensor &tensor, const Head &head, int values, int index)
        : axes_(axes_of(head.channels)),
          rows_(
              rows_of(tensor, index, {.rows = axes_.values, .values = axes_.column, .picture = 0})),
          line_step_(tensor.strides[axes_.line]),
          box_step_(head.channels == Channels::apart ? tensor.strides[1]
                                                     : values * tensor.strides[axes_.values])
    {
    }

    float at(int64_t value, const Place &place) const
    {
        Rows line = rows_;
        line.data += place.y * line_step_ + place.box * box_step_;
        return line.at(value, place.x);
    }
    // Returns the class with the highest value.
    int label_at(int classes, const Place &place) const
    {
        int label = 0;
        for (int other = 1; other < classes; other++)
            if (at(5 + other, place) > at(5 + label, place))
                label = other;
        return label;
    }
    // Returns the softmax of the class that label_at() returns.
    float softmax_of(int label, int classes, const Place &place) const
    {
        const float most = at(5 + label, place);
        float sum = 0;
        for (int other = 0; other < classes; other++)
            sum += std::exp(at(5 + other, place) - most);
        return 1 / sum;
    }
    bool is_empty() const { return rows_.count == 0; }

private:
    HeadAxes axes_;
    Rows rows_;
    int64_t line_step_, box_step_;
};

// Returns whether all positions and objectnesses are in 0 to 1.
bool has_sigmoids(const CellValues &values, const Head &head, int boxes)
{
    for (int box = 0; box < boxes; box++)
        for (const int value : {0, 1, 4})
            for (int y = 0; y < head.grid.height; y++)
                for (int x = 0; x < head.grid.width; x++) {
                    const float number = values.at(value, {box, x, y});
                    if (number < 0 || number > 1)
                        return false;
                }
    return true;
}

void YoloHeads::decode_head(const DnnTorchTensor &tensor, const Head &head, int index,
                            const DecodeParameters &parameters, std::vector<Detection> &found) const
{
    const CellValues values(tensor, head, values_of_a_box(layout_), index);
    if (values.is_empty())
        return;
    const int boxes = static_cast<int>(head.anchors.size() / 2);
    const bool is_activated = has_sigmoids(values, head, boxes);
    const bool has_softmax = std::string_view(layout_.name) == "yolov2"; // instead of sigmoids
    const auto score = [is_activated](float value) {
        return is_activated ? value : sigmoid(value);
    };
    const auto middle = [&](float value, int cell, int input, int cells) {
        const float in_cell = score(value) * head.reach - (head.reach - 1) / 2;
        return (static_cast<float>(cell) + in_cell) * static_cast<float>(input) /
               static_cast<float>(cells);
    };
    const auto extent = [&](float value, float anchor) {
        constexpr float most = 20; // exp() of it is beyond all pictures
        if (layout_.has_squares)
            return 4 * score(value) * score(value) * anchor;
        return std::exp(std::min(value, most)) * anchor;
    };
    const auto read = [&](const Place &place) {
        const float objectness = score(values.at(4, place));
        if (!(objectness >= parameters.confidence))
            return;
        const int label = values.label_at(layout_.classes, place);
        const float share = !is_activated && has_softmax
                                ? values.softmax_of(label, layout_.classes, place)
                                : score(values.at(5 + label, place));
        const auto anchor = 2 * static_cast<size_t>(place.box);
        append_if_valid(
            {.box = centred_box(
                 middle(values.at(0, place), place.x, layout_.input.width, head.grid.width),
                 middle(values.at(1, place), place.y, layout_.input.height, head.grid.height),
                 extent(values.at(2, place), head.anchors[anchor]),
                 extent(values.at(3, place), head.anchors[anchor + 1])),
             .confidence = objectness * share,
             .label = label},
            parameters, found);
    };
    for (int box = 0; box < boxes; box++)
        for (int y = 0; y < head.grid.height; y++)
            for (int x = 0; x < head.grid.width; x++)
                read({box, x, y});
}

// Returns whether the cells of the grid are about as wide as high, as models' cells are.  Of an
// unknown input: whether the grid is.
bool has_square_cells(const DnnTorchTensor &tensor, const HeadAxes &axes, Size input)
{
    const Size shape = input.width > 0 && input.height > 0 ? input : Size{1, 1};
    const double ratio = static_cast<double>(shape.width * tensor.dims[axes.line]) /
                         static_cast<double>(shape.height * tensor.dims[axes.column]);
    return ratio > 0.8 && ratio < 1.25;
}

// Returns which of the two layouts the four-dimensional tensors have.  The channels' axis has the
// same extent in all heads; a single head has a grid of square cells.
Channels channels_of(std::span<const DnnTorchTensor> tensors, Size input)
{
    for (const Channels channels : {Channels::last, Channels::first}) {
        const HeadAxes axes = axes_of(channels);
        const int64_t count = tensors[0].dims[axes.values];
        const bool are_same =
            std::all_of(tensors.begin(), tensors.end(), [&](const DnnTorchTensor &tensor) {
                return tensor.rank == 4 && tensor.dims[axes.values] == count;
            });
        if (are_same && count >= 6 &&
            (tensors.size() > 1 || has_square_cells(tensors[0], axes, input)))
            return channels;
    }
    return Channels::first;
}

bool fits(const DnnTorchTensor &tensor, const Head &head, const Layout &layout)
{
    const int64_t boxes = static_cast<int64_t>(head.anchors.size() / 2);
    const int64_t values = values_of_a_box(layout);
    const int64_t width = head.grid.width, height = head.grid.height;
    switch (head.channels) {
    case Channels::first:
        return has_shape(tensor, {any_extent, boxes * values, height, width});
    case Channels::last:
        return has_shape(tensor, {any_extent, height, width, boxes * values});
    case Channels::apart:
        break;
    }
    return has_shape(tensor, {any_extent, boxes, height, width, values});
}

void YoloHeads::decode(std::span<const DnnTorchTensor> tensors, int index,
                       const DecodeParameters &parameters, std::vector<Detection> &found) const
{
    if (tensors.size() != layout_.heads.size())
        refuse_tensors(name(), tensors);
    for (size_t i = 0; i < tensors.size(); i++) {
        if (!fits(tensors[i], layout_.heads[i], layout_))
            refuse_tensors(name(), tensors);
        decode_head(tensors[i], layout_.heads[i], index, parameters, found);
    }
}

bool are_heads(std::span<const DnnTorchTensor> shapes, int rank)
{
    constexpr size_t most_heads = 5;
    return !shapes.empty() && shapes.size() <= most_heads &&
           std::all_of(shapes.begin(), shapes.end(), [rank](const DnnTorchTensor &shape) {
               return shape.rank == rank &&
                      *std::min_element(shape.dims + 1, shape.dims + rank) > 0 &&
                      *std::max_element(shape.dims + 1, shape.dims + rank) <= 100'000;
           });
}

// Returns the head's rank among all heads, the finest grid first.
size_t fineness_of(std::span<const DnnTorchTensor> shapes, size_t head)
{
    return static_cast<size_t>(
        std::count_if(shapes.begin(), shapes.end(), [&](const DnnTorchTensor &shape) {
            return shape.dims[2] > shapes[head].dims[2];
        }));
}

// The differences between kinds whose tensors have the same shapes.
struct HeadKind {
    const char *name;
    std::span<const float> anchors_of_three, anchors_of_two;
    std::span<const float> reaches; // of three heads, the finest grid first
};

// Fills in the anchors of each head.  Returns false if they cannot be divided evenly.
bool distribute_anchors(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts,
                        const HeadKind &kind, Layout &layout)
{
    const bool are_given = !facts.anchors.empty();
    std::span<const float> all = facts.anchors;
    if (!are_given && shapes.size() == 3)
        all = kind.anchors_of_three;
    else if (!are_given && shapes.size() == 2)
        all = kind.anchors_of_two;
    const size_t numbers = all.size() / shapes.size();
    if (numbers < 2 || numbers % 2 != 0 || numbers * shapes.size() != all.size())
        return false;
    for (size_t i = 0; i < shapes.size(); i++) {
        const size_t fineness = fineness_of(shapes, i), place = are_given ? i : fineness;
        const auto own = all.subspan(place * numbers, numbers);
        layout.heads[i].anchors.assign(own.begin(), own.end());
        if (kind.reaches.size() == shapes.size())
            layout.heads[i].reach = kind.reaches[fineness];
        else if (layout.has_squares)
            layout.heads[i].reach = reach_of_v5;
    }
    return true;
}

std::vector<Head> heads_of(std::span<const DnnTorchTensor> shapes, Channels channels)
{
    const HeadAxes axes = axes_of(channels);
    std::vector<Head> heads;
    for (const DnnTorchTensor &shape : shapes)
        heads.push_back({.grid = {static_cast<int>(shape.dims[axes.column]),
                                  static_cast<int>(shape.dims[axes.line])},
                         .channels = channels,
                         .anchors = {},
                         .reach = 1});
    return heads;
}

Match match_heads(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts,
                  const HeadKind &kind, Channels channels, Likeness likeness)
{
    const bool are_apart = channels == Channels::apart;
    Layout layout = {.name = kind.name,
                     .input = facts.input,
                     .classes = 0,
                     .has_squares = are_apart,
                     .heads = heads_of(shapes, channels)};
    if (!distribute_anchors(shapes, facts, kind, layout))
        return {};
    const auto boxes = static_cast<int64_t>(layout.heads[0].anchors.size() / 2);
    const int64_t values = shapes[0].dims[axes_of(channels).values] / (are_apart ? 1 : boxes);
    layout.classes = static_cast<int>(values - 5);
    for (size_t i = 0; i < shapes.size(); i++)
        if (layout.classes < 1 || !fits(shapes[i], layout.heads[i], layout))
            return {};
    return {.likeness = likeness,
            .decoder = std::make_unique<YoloHeads>(std::move(layout)),
            .needs_input_size = true};
}

Match match_darknet(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts,
                    const HeadKind &kind, Likeness likeness)
{
    if (!are_heads(shapes, 4))
        return {};
    return match_heads(shapes, facts, kind, channels_of(shapes, facts.input), likeness);
}

} // namespace

Match match_yolov3(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    const bool is_v2 = shapes.size() == 1 && facts.cells.width > 0;
    return match_darknet(shapes, facts, {"yolov3", anchors_of_v3, anchors_of_small_v3, {}},
                         is_v2 ? Likeness::FITS : Likeness::TYPICAL);
}

// The shapes are the same as YOLOv3's, so it is only found by name.
Match match_yolov4(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    return match_darknet(shapes, facts,
                         {"yolov4", anchors_of_v4, anchors_of_small_v3, reaches_of_v4},
                         Likeness::FITS);
}

Match match_yolov2(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    if (shapes.size() != 1 || !are_heads(shapes, 4) || facts.anchors.empty())
        return {};
    const HeadAxes axes = axes_of(channels_of(shapes, facts.input));
    const float across =
        static_cast<float>(facts.input.width) / static_cast<float>(shapes[0].dims[axes.column]);
    const float down =
        static_cast<float>(facts.input.height) / static_cast<float>(shapes[0].dims[axes.line]);
    DetectorFacts in_pixels = facts;
    for (size_t i = 0; i < in_pixels.anchors.size(); i++)
        in_pixels.anchors[i] *= i % 2 ? down : across;
    return match_darknet(shapes, in_pixels, {"yolov2", {}, {}, {}},
                         facts.cells.width > 0 ? Likeness::TYPICAL : Likeness::FITS);
}

Match match_yolov5_heads(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    if (!are_heads(shapes, 5))
        return {};
    return match_heads(shapes, facts, {"yolov5", anchors_of_v3, {}, {}}, Channels::apart,
                       facts.anchors.empty() ? Likeness::FITS : Likeness::TYPICAL);
}

// Differs from YOLOv5 only by its default anchors.
Match match_yolov7(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    if (!are_heads(shapes, 5))
        return {};
    return match_heads(shapes, facts, {"yolov7", anchors_of_v4, {}, {}}, Channels::apart,
                       Likeness::FITS);
}

} // namespace dnn_torch
