// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "contract_fields.h"

#include "base/compose.h"
#include "base/terminal.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

namespace dnn_torch
{
namespace
{

using Numbers = std::vector<float>;
using Json = nlohmann::ordered_json;

// What a field takes, as an option and in a JSON file.
struct Syntax {
    const char *option, *json;
};

Syntax syntax_of(std::string_view name)
{
    if (name == "order")
        return {.option = "rgb or bgr", .json = R"("rgb" or "bgr")"};
    if (name == "range")
        return {.option = "1, 255 or LOW..HIGH not far from 0, such as -1..1",
                .json = "[LOW, HIGH] not far from 0, such as [0, 255] or [-1, 1]"};
    if (name == "std")
        return {.option = "one number or three (A|B|C), none of them 0",
                .json = "one number or three ([A, B, C]), none of them 0"};
    return {.option = "one number or three (A|B|C)", .json = "one number or three ([A, B, C])"};
}

[[noreturn]] void refuse(std::string_view name, const char *takes, const std::string &given)
{
    constexpr size_t longest = 100;
    throw Error(AVERROR(EINVAL),
                concat(name, " takes ", takes, ", not ", printable(given.substr(0, longest))));
}

// Beyond these a float loses the samples between black and white.
bool is_sensible(float number)
{
    return std::isfinite(number) && std::abs(number) <= 1e6F;
}

bool set_range(const Numbers &values, PictureNumbers &numbers)
{
    if (values.empty() || values.size() > 2)
        return false;
    const float low = values.size() == 2 ? values[0] : 0, high = values.back();
    const float span = std::abs(high - low);
    if (!is_sensible(low) || !is_sensible(high) || span < 1e-3F)
        return false;
    // Far from 0 a float has no room for the samples between black and white.
    constexpr float farthest = 16;
    if (std::max(std::abs(low), std::abs(high)) > farthest * span)
        return false;
    numbers.low = low;
    numbers.high = high;
    return true;
}

bool set_three(const Numbers &values, std::array<float, 3> &three)
{
    if (values.size() != 1 && values.size() != 3)
        return false;
    for (size_t i = 0; i < 3; i++) {
        three[i] = values[values.size() == 3 ? i : 0];
        if (!is_sensible(three[i]))
            return false;
    }
    return true;
}

bool set_deviation(const Numbers &values, PictureNumbers &numbers)
{
    for (const float value : values)
        if (std::abs(value) < 1e-6F)
            return false;
    return set_three(values, numbers.deviation);
}

bool set_numbers(std::string_view name, const Numbers &values, PictureNumbers &numbers)
{
    if (name == "range")
        return set_range(values, numbers);
    return name == "mean" ? set_three(values, numbers.mean) : set_deviation(values, numbers);
}

bool set_order(std::string_view text, PictureNumbers &numbers)
{
    numbers.is_bgr = text == "bgr";
    return text == "bgr" || text == "rgb";
}

// Returns an empty list if the text is none of numbers.
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

Numbers numbers_from(const Json &value)
{
    Numbers numbers;
    const Json list = value.is_array() ? value : Json::array({value});
    for (const Json &item : list) {
        if (!item.is_number() || numbers.size() == 3)
            return {};
        numbers.push_back(item.get<float>());
    }
    return numbers;
}

std::string in_words(float number)
{
    std::array<char, 32> text = {};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

std::string in_words(const std::array<float, 3> &three)
{
    if (three[0] == three[1] && three[1] == three[2])
        return in_words(three[0]);
    return concat(in_words(three[0]), "|", in_words(three[1]), "|", in_words(three[2]));
}

} // namespace

bool is_field_of_output(std::string_view name)
{
    return name == "order" || name == "range";
}

void set_field_from_text(std::string_view name, const std::string &text, PictureNumbers &numbers)
{
    const bool is_set =
        name == "order"
            ? set_order(text, numbers)
            : set_numbers(name, numbers_from(text, name == "range" ? ".." : "|"), numbers);
    if (!is_set)
        refuse(name, syntax_of(name).option, concat("'", text, "'"));
}

void set_field_from_json(std::string_view name, const Json &value, PictureNumbers &numbers)
{
    const bool is_set =
        name == "order"
            ? value.is_string() && set_order(value.get_ref<const std::string &>(), numbers)
            : set_numbers(name, numbers_from(value), numbers);
    if (!is_set)
        refuse(name, syntax_of(name).json,
               value.dump(-1, ' ', true, Json::error_handler_t::replace));
}

std::string field_in_words(std::string_view name, const PictureNumbers &numbers)
{
    if (name == "order")
        return numbers.is_bgr ? "bgr" : "rgb";
    if (name == "range")
        return concat(in_words(numbers.low), "..", in_words(numbers.high));
    return in_words(name == "mean" ? numbers.mean : numbers.deviation);
}

} // namespace dnn_torch
