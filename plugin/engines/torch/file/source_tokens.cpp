// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "source_tokens.h"

#include <algorithm>
#include <string>
#include <utility>

namespace engine_torch
{
namespace
{

// PyTorch breaks expressions at 40 characters; its files stay far below these limits.  LibTorch
// needs about a kilobyte of stack for each level.
constexpr size_t deepest = 250, widest_indent = 200, longest_type = 4096, deepest_type = 30;

bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool continues_name(char c)
{
    return starts_name(c) || is_digit(c);
}

// Counts the depth of LibTorch's recursion at a position in an expression: open brackets, and the
// operators before the position in each of them.
class Depth
{
public:
    void start(size_t indent)
    {
        levels_ = {indent / 2};
        total_ = indent / 2;
    }
    bool within_brackets() const { return levels_.size() > 1; }

    void add(const Token &token)
    {
        if (token.kind == TokenKind::name)
            return deepen(is_operator(token.text));
        if (token.kind != TokenKind::symbol)
            return;
        const char c = token.text.front();
        if (c == '(' || c == '[' || c == '{')
            return open();
        if (c == ')' || c == ']' || c == '}')
            return close();
        if (c == ',' && within_brackets())
            return next();
        deepen(c != ',' && c != ':' && c != '=');
    }

private:
    static bool is_operator(std::string_view name)
    {
        return name == "not" || name == "and" || name == "or" || name == "if" || name == "else" ||
               name == "in" || name == "is";
    }

    void deepen(bool by_one)
    {
        levels_.back() += by_one;
        if ((total_ += by_one) > deepest)
            refuse_source("has code that is nested too deeply");
    }

    void open()
    {
        levels_.push_back(0);
        deepen(true);
    }

    void close()
    {
        if (!within_brackets())
            fail_as_foreign("a bracket that nothing opens");
        total_ -= levels_.back();
        levels_.pop_back();
        deepen(true); // a call's result may be called
    }

    void next()
    {
        total_ -= levels_.back() - 1;
        levels_.back() = 1;
    }

    std::vector<size_t> levels_{0};
    size_t total_ = 0;
};

class Lexer
{
public:
    explicit Lexer(std::string_view source) : rest_(source) {}

    std::vector<Line> lines()
    {
        while (!rest_.empty())
            read_line();
        return std::move(lines_);
    }

private:
    void read_line()
    {
        const size_t indent = std::min(rest_.find_first_not_of(' '), rest_.size());
        rest_.remove_prefix(indent);
        if (indent > widest_indent)
            refuse_source("has code that is nested too deeply");
        Line line = {.indent = indent, .tokens = {}};
        depth_.start(indent);
        while (!rest_.empty() && (rest_.front() != '\n' || depth_.within_brackets()))
            read_token(line);
        if (depth_.within_brackets())
            fail_as_foreign("a bracket that nothing closes");
        if (!rest_.empty())
            rest_.remove_prefix(1);
        if (!line.tokens.empty())
            lines_.push_back(std::move(line));
    }

    void read_token(Line &line)
    {
        const char first = rest_.front();
        if (first == ' ' || first == '\n') {
            rest_.remove_prefix(1);
            return;
        }
        const Token token = take_token(first);
        const Token *before = line.tokens.empty() ? nullptr : &line.tokens.back();
        if (before && before->kind == TokenKind::text && token.kind == TokenKind::text)
            fail_as_foreign("joined string literals");
        depth_.add(token);
        line.tokens.push_back(token);
    }

    Token take_token(char first)
    {
        if (starts_name(first))
            return take_name();
        if (is_digit(first) || (first == '.' && rest_.size() > 1 && is_digit(rest_[1])))
            return take_number();
        if (first == '"')
            return take_text();
        if (std::string_view("()[]{}.,:=+-*/%<>!&|^~").find(first) == std::string_view::npos)
            fail_as_foreign(first == '#' ? "a comment" : "a character that no code needs");
        return {.kind = TokenKind::symbol, .text = take(1)};
    }

    std::string_view take(size_t size)
    {
        const std::string_view front = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return front;
    }

    Token take_name()
    {
        size_t end = 1;
        while (end < rest_.size() && continues_name(rest_[end]))
            end++;
        const Token token = {.kind = TokenKind::name, .text = take(end)};
        if (!rest_.empty() && rest_.front() == '"')
            fail_as_foreign("a string literal with a prefix");
        return token;
    }

    size_t after_digits(size_t at) const
    {
        while (at < rest_.size() && is_digit(rest_[at]))
            at++;
        return at;
    }

    Token take_number()
    {
        size_t end = after_digits(0);
        if (end < rest_.size() && rest_[end] == '.')
            end = after_digits(end + 1);
        if (end < rest_.size() && (rest_[end] == 'e' || rest_[end] == 'E')) {
            const size_t sign = end + 1;
            const bool is_signed =
                sign < rest_.size() && (rest_[sign] == '+' || rest_[sign] == '-');
            end = after_digits(sign + is_signed);
        }
        if (end < rest_.size() && rest_[end] == 'j')
            end++;
        if (end < rest_.size() && (continues_name(rest_[end]) || rest_[end] == '.'))
            fail_as_foreign("a number that runs into a name");
        return {.kind = TokenKind::number, .text = take(end)};
    }

    Token take_text()
    {
        size_t end = 1;
        while (end < rest_.size() && rest_[end] != '"') {
            if (static_cast<unsigned char>(rest_[end]) < ' ')
                fail_as_foreign("a control character in a string literal");
            end += rest_[end] == '\\' ? 2 : 1;
        }
        if (end >= rest_.size())
            fail_as_foreign("a string literal that does not end");
        return {.kind = TokenKind::text, .text = take(end + 1).substr(1, end - 1)};
    }

    std::string_view rest_;
    Depth depth_;
    std::vector<Line> lines_;
};

} // namespace

void refuse_source(const std::string &words)
{
    throw SourceFault(words);
}

void fail_as_foreign(const std::string &what)
{
    refuse_source("has code that PyTorch does not write: " + what);
}

std::vector<Line> lines_of(std::string_view source)
{
    return Lexer(source).lines();
}

bool is_type_text(std::string_view text)
{
    size_t depth = 0;
    char before = '.';
    for (const char c : text) {
        depth += c == '[';
        if (c == ']' && depth-- == 0)
            return false;
        const bool starts_part = before == '.' || before == '[' || before == ' ';
        if (!(continues_name(c) && (!starts_part || !is_digit(c))) &&
            std::string_view(".[], ()").find(c) == std::string_view::npos)
            return false;
        if (c == '.' && !continues_name(before))
            return false;
        if (depth > deepest_type)
            return false;
        before = c;
    }
    const auto dots = static_cast<size_t>(std::count(text.begin(), text.end(), '.'));
    return depth == 0 && !text.empty() && text.size() <= longest_type && dots <= deepest;
}

} // namespace engine_torch
