// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What decoders share.  Any thread.
#pragma once

#include "decoder.h"
#include "tensor_view.h"

#include <memory>
#include <string>
#include <vector>

namespace dnn_torch
{

// How much speaks for a decoder.
enum class Likeness {
    NONE,    // the shapes do not fit
    FITS,    // the shapes fit, and also other decoders'
    TYPICAL, // such models commonly have these shapes
    CERTAIN  // names of tensors or facts say so
};

struct Match {
    Likeness likeness = Likeness::NONE;
    std::unique_ptr<const Decoder> decoder = {}; // null if nothing fits
    bool needs_input_size = false;               // of the facts
    std::string ambiguity = {};                  // how else the shapes can be read; or ""
};

// Looks whether the tensors fit.
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

// Whether pictures of that size have so many boxes, `for_each_cell` for each cell of the grids that
// YOLO models have.  False if the size is not known.
bool is_grid(int64_t boxes, Size input, int for_each_cell);

// Rows that are no grid's are what is left of one, or answers to queries: 300 usually.  Of more
// than so many, that is unlikely.
constexpr int64_t most_without_grid = 1000;

// Which class of each row has the highest score.  NaN is never the highest.
struct BestClasses {
    std::vector<float> scores; // below 0 if a row has none
    std::vector<int> labels;
};

// Each value of a row is the score of a class.
BestClasses best_classes(const Rows &scores);

// Left, top, right and bottom, as a row begins.
Box corners_at(const Rows &rows, int64_t row);

Box centred_box(float middle_x, float middle_y, float width, float height);

// The upright box around a turned one.
Box box_around(const TurnedBox &turned);

// 0 to 1, for a score from minus to plus infinity.
float sigmoid(float value);

// Whether the value of a class, as a tensor has it, is one.
bool is_label(float value);

// Appends the detection unless it is less sure than `parameters` ask for, or no detection: its
// numbers are NaN or infinite, its box has no extent, its confidence is not in 0 to 1.
void append_if_sound(Detection detection, const DecodeParameters &parameters,
                     std::vector<Detection> &found);

// How many values the masks of one picture may still have.
class MaskBudget
{
public:
    // For a mask of that size, each of whose values is a sum of `products` products.  Throws
    // Error if the masks cost too much together.
    void take(Size mask, int64_t products = 1);

private:
    int64_t values_ = 0, products_ = 0;
};

// The most key points that the boxes of one picture have together.
constexpr int64_t most_key_points = 256 << 10;

// Throws Error if so many things with so many key points have too many together.
void check_key_points(int64_t each, size_t things);

// What a row of each says of one thing.
struct Listed {
    Rows boxes, labels, scores;
    int64_t count() const;
};

// Appends the first things of lists in the same way; those whose label is none are left out.
void append_listed(const Listed &lists, int64_t count, const DecodeParameters &parameters,
                   std::vector<Detection> &found);

} // namespace dnn_torch
