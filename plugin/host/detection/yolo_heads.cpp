// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The heads of Darknet's YOLO models as they come: one tensor for each grid, K boxes a cell.
//
//   yolov3, yolov4  [N,K*(5+nc),H,W] of each head, or [N,H,W,K*(5+nc)]
//   yolov2          the same with one head; its anchors are in cells, not in pixels
//
// Of each box: x and y in its cell, logarithms of its extents by those of its anchor, objectness,
// and the score of each class.  A model may have applied the sigmoid to its scores and places or
// not: numbers beyond 0 to 1 show that it has not.  YOLOv2 has a softmax over its classes.
#include "decoder_kinds.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace dnn_torch
{
namespace
{

// Of Darknet's configurations, for its finest grid first.
constexpr float anchors_of_v3[] = {10, 13, 16,  30,  33, 23,  30,  61,  62,
                                   45, 59, 119, 116, 90, 156, 198, 373, 326};
constexpr float anchors_of_v4[] = {12, 16, 19,  36,  40,  28,  36,  75,  76,
                                   55, 72, 146, 142, 110, 192, 243, 459, 401};
constexpr float anchors_of_small_v3[] = {10, 14, 23, 27, 37, 58, 81, 82, 135, 169, 344, 319};

// By how much YOLOv4's places reach beyond their cells, for its finest grid first.
constexpr float reaches_of_v4[] = {1.2F, 1.1F, 1.05F};

struct Head {
    Size grid = {};
    bool channels_last = false;
    std::vector<float> anchors; // in pixels
    float reach = 1;
};

struct Layout {
    const char *name = "";
    Size input = {};
    int classes = 0;
    std::vector<Head> heads;
};

int values_of_a_box(const Layout &layout)
{
    return 5 + layout.classes;
}

class DarknetYolo : public Decoder
{
public:
    explicit DarknetYolo(Layout layout) : layout_(std::move(layout)) {}

    const char *name() const override { return layout_.name; }
    int classes() const override { return layout_.classes; }
    bool needs_suppression() const override { return true; }
    void decode(std::span<const DnnTorchTensor> tensors, int index, const DecodeTerms &terms,
                std::vector<Detection> &found) const override;

private:
    void decode_head(const DnnTorchTensor &tensor, const Head &head, int index,
                     const DecodeTerms &terms, std::vector<Detection> &found) const;

    Layout layout_;
};

// The values of one box of one cell, of a head that is either layout.
class CellValues
{
public:
    CellValues(const DnnTorchTensor &tensor, const Head &head, int index)
        : channels_(head.channels_last
                        ? rows_of(tensor, index, {.rows = 3, .values = 2, .picture = 0})
                        : rows_of(tensor, index, {.rows = 1, .values = 3, .picture = 0})),
          line_step_(tensor.strides[head.channels_last ? 1 : 2])
    {
    }

    float at(int64_t channel, int x, int y) const
    {
        Rows line = channels_;
        line.data += y * line_step_;
        return line.at(channel, x);
    }
    // Which of some channels has the highest value.
    int label_at(int64_t first_channel, int classes, int x, int y) const
    {
        int label = 0;
        for (int other = 1; other < classes; other++)
            if (at(first_channel + other, x, y) > at(first_channel + label, x, y))
                label = other;
        return label;
    }
    // What the softmax over the classes gives the one that label_at() returns.
    float share_of(int label, int64_t first_channel, int classes, int x, int y) const
    {
        const float most = at(first_channel + label, x, y);
        float sum = 0;
        for (int other = 0; other < classes; other++)
            sum += std::exp(at(first_channel + other, x, y) - most);
        return 1 / sum;
    }
    bool is_empty() const { return channels_.count == 0; }

private:
    Rows channels_;
    int64_t line_step_;
};

// Whether places and objectness are all in 0 to 1.
bool has_sigmoids(const CellValues &values, const Head &head, int boxes, int values_of_one)
{
    for (int box = 0; box < boxes; box++)
        for (const int value : {0, 1, 4})
            for (int y = 0; y < head.grid.height; y++)
                for (int x = 0; x < head.grid.width; x++) {
                    const float number = values.at(box * values_of_one + value, x, y);
                    if (number < 0 || number > 1)
                        return false;
                }
    return true;
}

void DarknetYolo::decode_head(const DnnTorchTensor &tensor, const Head &head, int index,
                              const DecodeTerms &terms, std::vector<Detection> &found) const
{
    const CellValues values(tensor, head, index);
    if (values.is_empty())
        return;
    const int boxes = static_cast<int>(head.anchors.size() / 2);
    const int width = values_of_a_box(layout_);
    const bool is_done = has_sigmoids(values, head, boxes, width);
    const bool has_softmax = std::string_view(layout_.name) == "yolov2"; // in place of sigmoids
    const auto score = [is_done](float value) { return is_done ? value : sigmoid(value); };
    const auto place = [&](float value, int cell, int input, int cells) {
        const float in_cell = score(value) * head.reach - (head.reach - 1) / 2;
        return (static_cast<float>(cell) + in_cell) * static_cast<float>(input) /
               static_cast<float>(cells);
    };
    const auto extent = [](float value, float anchor) {
        constexpr float most = 20; // exp() of it is beyond all pictures
        return std::exp(std::min(value, most)) * anchor;
    };
    for (int box = 0; box < boxes; box++)
        for (int y = 0; y < head.grid.height; y++)
            for (int x = 0; x < head.grid.width; x++) {
                const int64_t first = static_cast<int64_t>(box) * width;
                const float objectness = score(values.at(first + 4, x, y));
                if (!(objectness >= terms.confidence))
                    continue;
                const int label = values.label_at(first + 5, layout_.classes, x, y);
                const float share = !is_done && has_softmax
                                        ? values.share_of(label, first + 5, layout_.classes, x, y)
                                        : score(values.at(first + 5 + label, x, y));
                const auto anchor = 2 * static_cast<size_t>(box);
                append_if_sound(
                    {.box = centred_box(
                         place(values.at(first, x, y), x, layout_.input.width, head.grid.width),
                         place(values.at(first + 1, x, y), y, layout_.input.height,
                               head.grid.height),
                         extent(values.at(first + 2, x, y), head.anchors[anchor]),
                         extent(values.at(first + 3, x, y), head.anchors[anchor + 1])),
                     .confidence = objectness * share,
                     .label = label},
                    terms, found);
            }
}

// How many of the last tensors' channels there are, or 0 if they are of no heads.
struct Channels {
    int64_t count = 0;
    bool last = false;
};

Channels channels_of(std::span<const DnnTorchTensor> tensors)
{
    for (const bool last : {false, true}) {
        const int axis = last ? 3 : 1;
        const int64_t count = tensors[0].dims[axis];
        const bool are_same =
            std::all_of(tensors.begin(), tensors.end(), [&](const DnnTorchTensor &tensor) {
                return tensor.rank == 4 && tensor.dims[axis] == count;
            });
        // Grids may be as many cells wide as there are channels: those come first.
        const bool is_square = tensors[0].dims[2] == tensors[0].dims[last ? 1 : 3];
        if (are_same && count >= 6 && (is_square || tensors.size() > 1 || last))
            return {count, last};
    }
    return {.count = tensors[0].dims[1], .last = false};
}

void DarknetYolo::decode(std::span<const DnnTorchTensor> tensors, int index,
                         const DecodeTerms &terms, std::vector<Detection> &found) const
{
    if (tensors.size() != layout_.heads.size())
        refuse_tensors(name(), tensors);
    for (size_t i = 0; i < tensors.size(); i++) {
        const Head &head = layout_.heads[i];
        const int64_t count =
            static_cast<int64_t>(head.anchors.size() / 2) * values_of_a_box(layout_);
        const int64_t width = head.grid.width, height = head.grid.height;
        if (!(head.channels_last ? has_shape(tensors[i], {any_extent, height, width, count})
                                 : has_shape(tensors[i], {any_extent, count, height, width})))
            refuse_tensors(name(), tensors);
        decode_head(tensors[i], head, index, terms, found);
    }
}

bool are_heads(std::span<const DnnTorchTensor> shapes)
{
    constexpr size_t most_heads = 5;
    return !shapes.empty() && shapes.size() <= most_heads &&
           std::all_of(shapes.begin(), shapes.end(), [](const DnnTorchTensor &shape) {
               return shape.rank == 4 && *std::min_element(shape.dims + 1, shape.dims + 4) > 0 &&
                      *std::max_element(shape.dims + 1, shape.dims + 4) <= 100'000;
           });
}

// Which place a head has among all, the finest grid first.
size_t fineness_of(std::span<const DnnTorchTensor> shapes, size_t head)
{
    return static_cast<size_t>(
        std::count_if(shapes.begin(), shapes.end(), [&](const DnnTorchTensor &shape) {
            return shape.dims[2] > shapes[head].dims[2];
        }));
}

std::span<const float> usual_anchors(size_t heads, bool is_v4)
{
    if (heads == 3)
        return is_v4 ? std::span<const float>(anchors_of_v4) : anchors_of_v3;
    return heads == 2 ? std::span<const float>(anchors_of_small_v3) : std::span<const float>();
}

// Fills in the anchors of each head; returns false if they cannot be shared out.
bool share_anchors(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts, bool is_v4,
                   Layout &layout)
{
    const bool are_given = !facts.anchors.empty();
    const std::span<const float> all =
        are_given ? std::span<const float>(facts.anchors) : usual_anchors(shapes.size(), is_v4);
    const size_t numbers = all.size() / shapes.size();
    if (numbers < 2 || numbers % 2 != 0 || numbers * shapes.size() != all.size())
        return false;
    for (size_t i = 0; i < shapes.size(); i++) {
        const size_t place = are_given ? i : fineness_of(shapes, i);
        const auto own = all.subspan(place * numbers, numbers);
        layout.heads[i].anchors.assign(own.begin(), own.end());
        if (is_v4 && shapes.size() == 3)
            layout.heads[i].reach = reaches_of_v4[fineness_of(shapes, i)];
    }
    return true;
}

Match match_heads(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts,
                  const char *name, Likeness likeness)
{
    if (!are_heads(shapes))
        return {};
    const Channels channels = channels_of(shapes);
    Layout layout = {.name = name, .input = facts.input, .classes = 0, .heads = {}};
    for (const DnnTorchTensor &shape : shapes) {
        const int64_t *grid = shape.dims + (channels.last ? 1 : 2);
        layout.heads.push_back({.grid = {static_cast<int>(grid[1]), static_cast<int>(grid[0])},
                                .channels_last = channels.last,
                                .anchors = {},
                                .reach = 1});
    }
    if (!share_anchors(shapes, facts, std::string(name) == "yolov4", layout))
        return {};
    const auto boxes = static_cast<int64_t>(layout.heads[0].anchors.size() / 2);
    layout.classes = static_cast<int>(channels.count / boxes - 5);
    if (layout.classes < 1 || channels.count % boxes != 0 ||
        std::any_of(shapes.begin(), shapes.end(), [&](const DnnTorchTensor &shape) {
            return shape.dims[channels.last ? 3 : 1] != channels.count;
        }))
        return {};
    return {.likeness = likeness,
            .decoder = std::make_unique<DarknetYolo>(std::move(layout)),
            .needs_input_size = true};
}

} // namespace

Match match_yolov3(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    const bool is_v2 = shapes.size() == 1 && facts.cells.width > 0;
    return match_heads(shapes, facts, "yolov3", is_v2 ? Likeness::FITS : Likeness::TYPICAL);
}

// The shapes are YOLOv3's, so that nothing but its name speaks for it.
Match match_yolov4(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    return match_heads(shapes, facts, "yolov4", Likeness::FITS);
}

Match match_yolov2(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts)
{
    if (shapes.size() != 1 || !are_heads(shapes) || facts.anchors.empty())
        return {};
    const bool is_last = channels_of(shapes).last;
    const int64_t *grid = shapes[0].dims + (is_last ? 1 : 2);
    DetectorFacts in_pixels = facts;
    for (size_t i = 0; i < in_pixels.anchors.size(); i++)
        in_pixels.anchors[i] *= static_cast<float>(i % 2 ? facts.input.height : facts.input.width) /
                                static_cast<float>(i % 2 ? grid[0] : grid[1]);
    return match_heads(shapes, in_pixels, "yolov2",
                       facts.cells.width > 0 ? Likeness::TYPICAL : Likeness::FITS);
}

} // namespace dnn_torch
