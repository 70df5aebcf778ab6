// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// YOLO models from the fifth on return one tensor, a row for each box:
//
//   middle x, middle y, width, height in pixels
//   [objectness]   yolov5, yolox
//   score of each class
//   [key points] or [angle] or [coefficients of the masks]
//
// The files of the kinds say which of these are there, and along which axis rows lie.
#pragma once

#include "decoder_kinds.h"

namespace dnn_torch
{

struct YoloLayout {
    const char *name = "";
    Size input = {};
    int row_axis = 1; // 1: [N,rows,values]; 2: [N,values,rows]
    int64_t width = 0;
    bool has_objectness = false;
    int classes = 0;
    int key_points = 0, key_point_numbers = 0;
    bool has_angle = false;
    int64_t coefficients = 0; // of masks; the second tensor has the prototypes
    bool may_be_raw = false;  // places may be relative to cells, as YOLOX is exported
};

// The tensor of the boxes is the first.  More may follow, as a model returns them that was traced
// without its exporter.
std::unique_ptr<const Decoder> make_yolo_rows(const YoloLayout &layout);

// How many coefficients masks have: [N,M,h,w] is the second of two tensors.  0: there are no masks.
int64_t mask_coefficients(std::span<const DnnTorchTensor> tensors);

// Gives detections the key points of their rows, from value `first` on.
void read_key_points(const Rows &rows, int64_t first, const YoloLayout &layout,
                     std::span<Detection> found);

// How many key points there are, and how many numbers each has: as the facts say, or as `values`
// is divided.  The count is 0 if they do not fit.
struct KeyPointShape {
    int count = 0, numbers = 0;
};
KeyPointShape key_point_shape(int64_t values, const DetectorFacts &facts);

// Gives each detection its mask: `rows` has the coefficients of each row, `prototypes` is
// [N,M,h,w] and covers the picture.  A mask is cut at its box.
void add_prototype_masks(const DnnTorchTensor &prototypes, int index, const Rows &coefficients,
                         Size input, std::span<Detection> found);

} // namespace dnn_torch
