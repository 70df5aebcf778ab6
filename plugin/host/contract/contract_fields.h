// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The fields of a picture in a contract, by name: order, range, mean, std.
#pragma once

#include "host/frames/picture_numbers.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace dnn_torch
{

// Whether an output has the field, too.  Results are never normalised by mean and std.
bool is_field_of_output(std::string_view name);

// Take the value as an option has it: "bgr", "-1..1", "0.485|0.456|0.406"; or as a JSON file has
// it: "bgr", [-1, 1], [0.485, 0.456, 0.406].  Throw Error that names the field.
void set_field_from_text(std::string_view name, const std::string &text, PictureNumbers &numbers);
void set_field_from_json(std::string_view name, const nlohmann::ordered_json &value,
                         PictureNumbers &numbers);

// What a field says: "-1..1", "bgr".
std::string field_in_words(std::string_view name, const PictureNumbers &numbers);

} // namespace dnn_torch
