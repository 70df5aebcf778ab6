// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the class maps among the tensors that a segmentation returns.
#pragma once

#include "dnn_torch/engine.h"
#include "host/frames/class_maps.h"
#include "host/model/contract.h"

#include <span>
#include <string>
#include <vector>

namespace dnn_torch
{

// Where the maps are in a tensor.
struct ClassMapTensor {
    size_t place = 0; // among the tensors
    int rank = 0;
    int type = 0;    // a DnnTorchType
    int classes = 0; // 0: the tensor has the numbers of classes
    Size size = {};
    bool ends_with_classes = false; // [batch, height, width, classes]
};

// Returns the first tensor that can be maps for a batch of so many pictures: scores of floats, or
// whole numbers of classes.  `layout` is the output's, or "".  Throws Error that says what came
// instead.
ClassMapTensor find_class_maps(std::span<const DnnTorchTensor> tensors, int batch,
                               const std::string &layout);

// Returns a view of the maps of picture `index`.  Throws Error if the tensors are not like those in
// which `found` was found; other extents of maps are taken.
ClassMaps class_maps_in(std::span<const DnnTorchTensor> tensors, const ClassMapTensor &found,
                        int batch, int index);

// Returns which classes are chosen by names or numbers.  Empty: all.  Throws Error that names one
// that is not known.  `count` of classes is 0 if it is not known.
std::vector<bool> chosen_classes(const std::vector<std::string> &chosen,
                                 const std::vector<std::string> &labels, int count);

} // namespace dnn_torch
