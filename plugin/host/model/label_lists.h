// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Class names: built-in lists ("coco", "voc", "imagenet") and files.  Any thread.
#pragma once

#include "contract.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

using Labels = std::vector<std::string>;

bool is_label_list(std::string_view name);

// Returns the names for a model with that many classes: COCO's are 80, 90 with its gaps, 91 with
// the background first; VOC's 20 or 21, ImageNet's 1000 or 1001.  A gap is an empty name.
// `has_background` decides if the number of classes is not known (0).
// Throws Error if there is no such list, or none of that length.
Labels labels_of_list(std::string_view name, int64_t classes, bool has_background);

// Returns a contract's own labels, or those of the list that it names.
Labels labels_of(const ModelFacts &model, int64_t classes, bool has_background);

// Reads a UTF-8 text with a label in each line; the first is that of class 0.  Lines end with
// LF or CR LF; an empty line leaves its class without a name.
// Throws Error whose text begins with "labels=PATH".
std::vector<std::string> read_labels(const std::string &path);

// Returns the number as text if the class has no name.
std::string label_of(const std::vector<std::string> &labels, int number);

} // namespace dnn_torch
