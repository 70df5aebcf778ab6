// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Shared by the decoders.  Thread-safe.
#pragma once

#include "decoder.h"
#include "tensor_view.h"

#include <memory>
#include <string>
#include <vector>

namespace dnn_torch
{

// How well a decoder fits.
enum class Likeness {
    NONE,    // the shapes do not fit
    FITS,    // the shapes fit, but may fit other decoders, too
    TYPICAL, // the shapes are common for such models
    CERTAIN  // the tensors' names or the facts show it
};

struct Match {
    Likeness likeness = Likeness::NONE;
    std::unique_ptr<const Decoder> decoder = {}; // null if nothing fits
    bool needs_input_size = false;               // of the facts
    std::string ambiguity = {};                  // how else the shapes can be read; or ""
};

// Checks whether the tensors fit.
using MatchDecoder = Match (*)(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);

struct DecoderKind {
    const char *name;
    MatchDecoder match;
};

Match match_boxes(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_yolov2(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_yolov3(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_yolov4(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_yolov5_heads(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_yolov7(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_yolov5(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_yolox(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_yolov8(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_yolo_nms(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_ssd(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_torchvision(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_detr(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_rtdetr(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_yolo_nas(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);
Match match_efficient_nms(std::span<const DnnTorchTensor> shapes, const DetectorFacts &facts);

// Returns whether `boxes` is the number of boxes of a YOLO model for that input, with
// `for_each_cell` boxes in each cell of its grids.  Returns false if the size is not known.
bool is_grid(int64_t boxes, Size input, int for_each_cell);

// Rows that do not form a grid are what NMS has left of one, or a transformer's queries: typically
// 300.  More than this are unlikely.
constexpr int64_t most_without_grid = 1000;

// The class with the highest score of each row.  NaN is never the highest.
struct BestClasses {
    std::vector<float> scores; // minus infinity if a row has none
    std::vector<int> labels;
};

// `scores` has one score for each class in each row.
BestClasses best_classes(const Rows &scores);

// Reads left, top, right and bottom from the row's first values.
Box corners_at(const Rows &rows, int64_t row);

Box centred_box(float middle_x, float middle_y, float width, float height);

// Returns the axis-aligned box around a turned one.
Box box_around(const TurnedBox &turned);

float sigmoid(float value);

// Returns whether a tensor's value is a valid class number.
bool is_label(float value);

// Appends the detection, unless its confidence is too low for `parameters`, or it is invalid: its
// numbers are NaN or infinite, its box has no extent, its confidence is not in 0 to 1.
void append_if_valid(Detection detection, const DecodeParameters &parameters,
                     std::vector<Detection> &found);

// Limits the cost of the masks of one picture.
class MaskBudget
{
public:
    // Adds a mask of that size, each value of which is a sum of `products` products.  Throws Error
    // if all masks together cost too much.
    void take(Size mask, int64_t products = 1);

private:
    int64_t values_ = 0, products_ = 0;
};

// The most key points that all boxes of one picture may have together.
constexpr int64_t most_key_points = 256 << 10;

// Throws Error if `detections` with `each` key points have too many together.
void check_key_points(int64_t each, size_t detections);

// Three tensors; row n of each describes detection n.
struct DetectionLists {
    Rows boxes, labels, scores;
    int64_t count() const;
};

// Appends the first `count` detections in the same way.  Skips those whose label is invalid.
void append_listed(const DetectionLists &lists, int64_t count, const DecodeParameters &parameters,
                   std::vector<Detection> &found);

} // namespace dnn_torch
