// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "contract_values.h"

#include "base/compose.h"
#include "base/terminal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace dnn_torch
{
namespace
{

using Json = nlohmann::ordered_json;

constexpr size_t most_numbers = 16;

std::string in_words(float number)
{
    std::array<char, 32> text = {};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

// Makes a text from a file safe to print.
std::string one_line(const std::string &text)
{
    std::string line = printable(text);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return line;
}

// Returns an empty list if the text is not a list of numbers.
Numbers numbers_from(std::string_view text, std::string_view between)
{
    Numbers numbers;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(between, begin), text.size());
        float number = 0;
        const char *const last = text.data() + end;
        const auto [read, error] = std::from_chars(text.data() + begin, last, number);
        if (begin == end || read != last || error != std::errc())
            return {};
        numbers.push_back(number);
        begin = end + between.size();
    }
    return numbers;
}

} // namespace

bool is_sensible(float number)
{
    return std::isfinite(number) && std::abs(number) <= 1e6F;
}

Numbers numbers_of(const Json &value)
{
    Numbers numbers;
    const Json list = value.is_array() ? value : Json::array({value});
    for (const Json &item : list) {
        if (!item.is_number() || numbers.size() == most_numbers)
            return {};
        numbers.push_back(item.get<float>());
    }
    return numbers;
}

bool set_three(const Json &value, std::array<float, 3> &three)
{
    const Numbers given = numbers_of(value);
    if ((given.size() != 1 && given.size() != 3) ||
        !std::all_of(given.begin(), given.end(), is_sensible))
        return false;
    for (size_t i = 0; i < 3; i++)
        three[i] = given[given.size() == 3 ? i : 0];
    return true;
}

bool set_scale(const Json &value, float &scale)
{
    constexpr float largest = 64;
    const Numbers given = numbers_of(value);
    if (given.size() != 1 || !(given[0] >= 1 / largest && given[0] <= largest))
        return false;
    scale = given[0];
    return true;
}

bool set_whole(const Json &value, int least, int most, int &number)
{
    const Numbers given = numbers_of(value);
    if (given.size() != 1 || !(given[0] >= static_cast<float>(least)) ||
        given[0] > static_cast<float>(most) || given[0] != std::trunc(given[0]))
        return false;
    number = static_cast<int>(given[0]);
    return true;
}

bool set_text(const Json &value, std::string &text)
{
    constexpr size_t longest = 4000;
    if (!value.is_string() || value.get_ref<const std::string &>().size() > longest)
        return false;
    text = printable(value.get<std::string>()); // the file may be untrusted
    return true;
}

bool set_texts(const Json &value, std::vector<std::string> &texts)
{
    std::vector<std::string> given;
    if (!value.is_array())
        return false;
    for (const Json &item : value) {
        std::string &text = given.emplace_back();
        if (!set_text(item, text))
            return false;
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    }
    texts = std::move(given);
    return true;
}

Json text_or_null(const std::string &text)
{
    return text.empty() ? Json() : Json(text);
}

Json number_or_null(int number)
{
    return number == 0 ? Json() : Json(number);
}

// A float cast to double would show digits that the file does not have.
Json json_of(float number)
{
    const double exact = strtod(in_words(number).c_str(), nullptr);
    if (exact == std::trunc(exact) && std::abs(exact) < 1e15)
        return static_cast<int64_t>(exact);
    return exact;
}

Json json_of(const Numbers &numbers)
{
    Json list = Json::array();
    for (const float number : numbers)
        list.push_back(json_of(number));
    return list;
}

Json json_of(const std::array<float, 3> &three)
{
    if (three[0] == three[1] && three[1] == three[2])
        return json_of(three[0]);
    return json_of(Numbers(three.begin(), three.end()));
}

Json json_from_text(const std::string &text, std::string_view between)
{
    const Numbers numbers = between.empty() ? Numbers() : numbers_from(text, between);
    if (numbers.empty())
        return text;
    return numbers.size() == 1 ? Json(numbers[0]) : Json(numbers);
}

std::string text_of_json(const Json &value, std::string_view between)
{
    constexpr size_t most = 6;
    if (value.is_null())
        return "";
    if (value.is_string())
        return one_line(value.get_ref<const std::string &>());
    if (value.is_number())
        return in_words(value.get<float>());
    if (!value.is_array())
        return value.dump();
    std::string words;
    for (size_t i = 0; i < std::min(value.size(), most); i++)
        add_to_list(words, text_of_json(value[i], between), between.empty() ? ", " : between);
    return value.size() > most ? concat(words, " and ", value.size() - most, " more") : words;
}

} // namespace dnn_torch
