// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The values of a contract's fields: numbers, lists of numbers and texts, as JSON and as options.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dnn_torch
{

using Numbers = std::vector<float>;

// Returns whether a number is small enough: larger floats lose the samples between black and white.
bool is_sensible(float number);

// Takes a number, or a list of at most 16 numbers.  Returns an empty list for anything else.
Numbers numbers_of(const nlohmann::ordered_json &value);
// Set nothing and return false if the value is invalid.
bool set_three(const nlohmann::ordered_json &value, std::array<float, 3> &three);
bool set_scale(const nlohmann::ordered_json &value, float &scale);
bool set_whole(const nlohmann::ordered_json &value, int least, int most, int &number);
bool set_text(const nlohmann::ordered_json &value, std::string &text);
bool set_texts(const nlohmann::ordered_json &value, std::vector<std::string> &texts);

nlohmann::ordered_json text_or_null(const std::string &text);
// Returns null for 0.
nlohmann::ordered_json number_or_null(int number);

// Return numbers with the fewest digits that identify the float.
nlohmann::ordered_json json_of(float number);
nlohmann::ordered_json json_of(const Numbers &numbers);
// Returns one number if all three are the same.
nlohmann::ordered_json json_of(const std::array<float, 3> &three);

// Returns an option's value.  `between` separates numbers; if it is "", the option is a text.
nlohmann::ordered_json json_from_text(const std::string &text, std::string_view between);
// Returns one line; a long list is cut.
std::string text_of_json(const nlohmann::ordered_json &value, std::string_view between);

} // namespace dnn_torch
