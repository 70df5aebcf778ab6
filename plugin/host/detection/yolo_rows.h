// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// YOLO models since YOLOv5 return one tensor, with a row for each box:
//
//   centre x, centre y, width, height in pixels
//   [objectness]   yolov5, yolox
//   score of each class
//   [key points] or [angle] or [coefficients of the masks]
//
// The decoders' files say which of these a row has, and which axis the rows are on.
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
    bool may_be_raw = false;  // positions may be relative to cells, as YOLOX is exported
};

// The first tensor holds the boxes.  More may follow if a model was traced without its exporter.
std::unique_ptr<const Decoder> make_yolo_rows(const YoloLayout &layout);

// Returns how many coefficients masks have: M, if the second of two tensors is [N,M,h,w].  0: there
// are no masks.
int64_t mask_coefficients(std::span<const DnnTorchTensor> tensors);

// Adds to each detection the key points of its row, from value `first` on.
void read_key_points(const Rows &rows, int64_t first, const YoloLayout &layout,
                     std::span<Detection> found);

// The number of key points, and of numbers of each: from the facts, or from how `values` can be
// divided.  The count is 0 if they do not fit.
struct KeyPointShape {
    int count = 0, numbers = 0;
};
KeyPointShape key_point_shape(int64_t values, const DetectorFacts &facts);

// Adds to each detection its mask.  `coefficients` has one row for each row of the detector's
// tensor; `prototypes` is [N,M,h,w] and covers the picture.  A mask is clipped at its box.
void add_prototype_masks(const DnnTorchTensor &prototypes, int index, const Rows &coefficients,
                         Size input, std::span<Detection> found);

} // namespace dnn_torch
