// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "denied.h"

#include <algorithm>
#include <array>

namespace engine_torch
{
namespace
{

constexpr std::array<std::string_view, 7> operators = {
    "aten::from_file", "aten::save",       "prim::IgnoredPythonOp", "prim::PythonOp",
    "prim::rpc_async", "prim::rpc_remote", "prim::rpc_sync",
};

// "inductor" makes views of memory without asking for its size.
constexpr std::array<std::string_view, 7> namespaces = {
    "_c10d_functional", "_c10d_functional_autograd", "_dtensor", "c10d", "debugprims", "inductor",
    "symm_mem",
};

constexpr std::string_view custom_classes = "__torch__.torch.classes.";
constexpr std::array<std::string_view, 2> class_namespaces = {"c10d", "dist_rpc"};

template <std::size_t Size>
bool contains(const std::array<std::string_view, Size> &names, std::string_view name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_denied_name(std::string_view name)
{
    const auto ends_with_name = [name](std::string_view full) {
        return full.substr(full.find("::") + 2) == name;
    };
    return std::any_of(operators.begin(), operators.end(), ends_with_name) ||
           contains(namespaces, name) || contains(class_namespaces, name);
}

bool starts_identifier(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool continues_identifier(char c)
{
    return starts_identifier(c) || (c >= '0' && c <= '9');
}

bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Takes identifiers and string literals off the front of a source.  getattr()
// makes an operator's name out of a literal, so literals count as names.  What
// PyTorch itself never writes into an archive is denied rather than read.
class SourceReader
{
public:
    explicit SourceReader(std::string_view source) : rest_(source) {}

    std::string denied()
    {
        while (!rest_.empty()) {
            const std::string name = take();
            if (!name.empty())
                return name;
        }
        return "";
    }

private:
    std::string take()
    {
        const char first = rest_.front();
        if (first == '"' || first == '\'')
            return denied_literal(take_literal(first));
        if (!is_space(first))
            follows_literal_ = false;
        if (starts_identifier(first))
            return denied_identifier(take_identifier());
        rest_.remove_prefix(1);
        return first == '#' ? "a comment" : "";
    }

    std::string_view take_identifier()
    {
        std::size_t end = 1;
        while (end < rest_.size() && continues_identifier(rest_[end]))
            ++end;
        return take_front(end);
    }

    // Between its quotes; up to the source's end where it is not closed.
    std::string_view take_literal(char quote)
    {
        rest_.remove_prefix(1);
        std::size_t end = 0;
        while (end < rest_.size() && rest_[end] != quote)
            end += rest_[end] == '\\' ? 2 : 1;
        const std::string_view literal = take_front(std::min(end, rest_.size()));
        if (!rest_.empty())
            rest_.remove_prefix(1);
        return literal;
    }

    std::string_view take_front(std::size_t size)
    {
        const std::string_view front = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return front;
    }

    static std::string denied_identifier(std::string_view name)
    {
        return std::string(is_denied_name(name) ? name : "");
    }

    // Neighbouring literals are one, and an escape may stand for any letter.
    std::string denied_literal(std::string_view literal)
    {
        const bool joined = follows_literal_;
        follows_literal_ = true;
        if (joined)
            return "joined string literals";
        if (literal.find('\\') != std::string_view::npos &&
            literal.find(' ') == std::string_view::npos)
            return "an escaped string literal";
        return denied_identifier(literal);
    }

    std::string_view rest_;
    bool follows_literal_ = false;
};

} // namespace

bool is_denied_operator(std::string_view name)
{
    return contains(operators, name) || contains(namespaces, name.substr(0, name.find("::")));
}

bool is_denied_class(std::string_view name)
{
    if (name.substr(0, custom_classes.size()) != custom_classes)
        return false;
    name.remove_prefix(custom_classes.size());
    return contains(class_namespaces, name.substr(0, name.find('.')));
}

std::string denied_name_in_source(std::string_view source)
{
    return SourceReader(source).denied();
}

} // namespace engine_torch
