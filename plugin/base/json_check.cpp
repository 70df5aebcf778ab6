// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "json_check.h"

#include "compose.h"
#include "terminal.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace dnn_torch
{
namespace
{

using Json = nlohmann::json;

bool is_utf8(std::string_view text)
{
    while (!text.empty()) {
        const size_t length = character_length(text);
        if (length == 0)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

// The parser's callbacks.  Each returns whether the parser goes on.
class Checker : public nlohmann::json_sax<Json>
{
public:
    Checker(std::string_view text, const JsonLimits &limits) : text_(text), limits_(limits) {}

    const std::string &fault() const { return fault_; }

    bool null() override { return count(); }
    bool boolean(bool) override { return count(); }
    bool number_integer(int64_t) override { return count(); }
    bool number_unsigned(uint64_t) override { return count(); }
    bool number_float(double, const std::string &) override { return count(); }
    bool string(std::string &) override { return count(); }
    bool binary(Json::binary_t &) override { return count(); }
    bool start_object(size_t) override { return enter(); }
    bool start_array(size_t) override { return enter(); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }

    bool key(std::string &name) override
    {
        if (!names_.back().insert(name).second)
            return refuse(concat("has ", quoted_for_terminal(name), " twice"));
        return count();
    }

    bool parse_error(size_t place, const std::string &, const Json::exception &error) override
    {
        constexpr int out_of_range = 406;
        if (error.id == out_of_range)
            return refuse("has a number that is too large");
        const std::string_view before = text_.substr(0, place > 0 ? place - 1 : 0);
        const size_t line_begin = before.rfind('\n') + 1;
        return refuse(concat("is no JSON from line ",
                             1 + std::count(before.begin(), before.end(), '\n'), ", column ",
                             before.size() - line_begin + 1, " on",
                             is_utf8(text_) ? "" : "; save it as text in UTF-8"));
    }

private:
    bool refuse(std::string words)
    {
        fault_ = std::move(words);
        return false;
    }

    bool count() { return ++values_ <= limits_.values || refuse("has too many values"); }

    bool enter()
    {
        names_.emplace_back();
        return count() && (names_.size() <= limits_.depth || refuse("is nested too deeply"));
    }

    bool leave()
    {
        names_.pop_back();
        return true;
    }

    std::string_view text_;
    const JsonLimits &limits_;
    size_t values_ = 0;
    std::vector<std::set<std::string>> names_; // of the open objects; arrays have none
    std::string fault_;
};

} // namespace

std::string fault_of_json(std::string_view text, const JsonLimits &limits)
{
    Checker checker(text, limits);
    Json::sax_parse(text, &checker);
    return checker.fault();
}

std::string quoted_for_terminal(std::string_view text)
{
    constexpr size_t longest = 80;
    return Json(text.substr(0, longest)).dump(-1, ' ', true, Json::error_handler_t::replace);
}

} // namespace dnn_torch
