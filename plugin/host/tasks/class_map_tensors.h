// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds the class maps among the output tensors of a segmentation model.
#pragma once

#include "dnn_torch/engine.h"
#include "host/frames/class_maps.h"
#include "host/model/contract.h"

#include <span>
#include <string>
#include <vector>

namespace dnn_torch
{

// Which tensor holds the maps, and how.
struct ClassMapTensor {
    size_t place = 0; // among the tensors
    int rank = 0;
    int type = 0;    // a DnnTorchType
    int classes = 0; // 0: the tensor holds class numbers instead of scores
    Size size = {};
    bool ends_with_classes = false; // [batch, height, width, classes]
};

// Returns the first tensor that can be maps for a batch of `batch` pictures: float scores, or
// integer class numbers.  `layout` is the output's, or "".  Throws Error that describes the tensors
// if there is none.
ClassMapTensor find_class_maps(std::span<const DnnTorchTensor> tensors, int batch,
                               const std::string &layout);

// Returns a view of the maps of picture `index`.  Throws Error if the tensors differ in kind from
// those in which `found` was found; the maps' height and width may differ.
ClassMaps class_maps_in(std::span<const DnnTorchTensor> tensors, const ClassMapTensor &found,
                        int batch, int index);

// Returns which classes are chosen, by name or number.  Empty: all.  Throws Error that names an
// unknown class.  `count` is the number of classes; 0: not known.
std::vector<bool> chosen_classes(const std::vector<std::string> &chosen,
                                 const std::vector<std::string> &labels, int count);

} // namespace dnn_torch
