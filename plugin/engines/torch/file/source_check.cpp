// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "source_check.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

constexpr std::string_view classes_root = "__torch__.torch.classes";
// The longest chain of functions that call one another: LibTorch inlines them recursively.
constexpr size_t longest_chain = 500;

using Tokens = std::vector<Token>;

bool is_symbol(const Tokens &tokens, size_t at, char symbol)
{
    return at < tokens.size() && tokens[at].kind == TokenKind::symbol &&
           tokens[at].text.front() == symbol;
}

bool is_name(const Tokens &tokens, size_t at, std::string_view name = {})
{
    return at < tokens.size() && tokens[at].kind == TokenKind::name &&
           (name.empty() || tokens[at].text == name);
}

// Returns the index after the bracket that closes the one at `at`.  lines_of() has checked that
// brackets match.
size_t after_bracket(const Tokens &tokens, size_t at)
{
    size_t depth = 0;
    do {
        const bool opens =
            is_symbol(tokens, at, '(') || is_symbol(tokens, at, '[') || is_symbol(tokens, at, '{');
        const bool closes =
            is_symbol(tokens, at, ')') || is_symbol(tokens, at, ']') || is_symbol(tokens, at, '}');
        depth += opens;
        depth -= closes;
        at++;
    } while (depth > 0 && at < tokens.size());
    return at;
}

bool is_keyword(std::string_view name)
{
    constexpr std::array<std::string_view, 8> words = {"if",  "else", "for", "lambda",
                                                       "and", "or",   "not", "in"};
    return std::find(words.begin(), words.end(), name) != words.end();
}

// Two calls are part of literals: annotate() gives a literal its type, and a device has no other
// notation.
bool may_open(const Tokens &tokens, size_t at)
{
    if (at == 0 || tokens[at - 1].kind == TokenKind::text ||
        tokens[at - 1].kind == TokenKind::number || is_symbol(tokens, at - 1, ')') ||
        is_symbol(tokens, at - 1, ']') || is_symbol(tokens, at - 1, '}'))
        return at == 0;
    if (!is_name(tokens, at - 1))
        return true;
    if (is_name(tokens, at - 1, "annotate"))
        return !is_symbol(tokens, at - 2, '.');
    return at >= 3 && is_name(tokens, at - 1, "device") && is_symbol(tokens, at - 2, '.') &&
           is_name(tokens, at - 3, "torch") && !is_symbol(tokens, at - 4, '.');
}

// Finds `Optional[]`: LibTorch reads the first element of the empty list and jumps anywhere.
bool is_empty_subscript(const Tokens &tokens, size_t at)
{
    return at > 0 && is_symbol(tokens, at, '[') && is_symbol(tokens, at + 1, ']') &&
           is_name(tokens, at - 1) && !is_keyword(tokens[at - 1].text) &&
           !is_name(tokens, at - 1, "return") && !is_name(tokens, at - 1, "is");
}

// Whether the tokens from `at` to `end` are a value without computation.
bool is_literal(const Tokens &tokens, size_t at, size_t end)
{
    for (; at < end; at++) {
        if (is_name(tokens, at) && is_keyword(tokens[at].text))
            return false;
        if (tokens[at].kind != TokenKind::symbol)
            continue;
        const char c = tokens[at].text.front();
        if (std::string_view(",[](){}:-.").find(c) == std::string_view::npos)
            return false;
        if (c == '(' && !may_open(tokens, at))
            return false;
    }
    return true;
}

std::string dotted(const Tokens &tokens, size_t &at)
{
    std::string name(tokens[at].text);
    while (is_symbol(tokens, at + 1, '.') && is_name(tokens, at + 2)) {
        at += 2;
        name += '.' + std::string(tokens[at].text);
    }
    return name;
}

} // namespace

// Reads one source.
class SourceCheck::Reader
{
public:
    Reader(SourceCheck &check, const std::string &module) : check_(check), module_(module) {}

    void read(const Line &line)
    {
        if (in_function_ && line.indent <= function_indent_)
            in_function_ = false;
        if (!in_function_ && in_class_ && line.indent <= class_indent_)
            in_class_ = false;
        if (in_function_)
            read_statement(line);
        else if (is_name(line.tokens, 0, "def"))
            read_function(line);
        else if (in_class_)
            read_attribute(line.tokens);
        else if (is_name(line.tokens, 0, "class"))
            read_class(line);
        else if (!is_old_head(line.tokens))
            fail_as_foreign("a statement outside of functions");
        collect_names(line.tokens);
    }

private:
    // PyTorch 1.0 to 1.2 begins files with "op_version_set = 1" and "import __torch__".
    static bool is_old_head(const Tokens &tokens)
    {
        size_t at = 1;
        if (is_name(tokens, 0, "import") && is_name(tokens, 1)) {
            dotted(tokens, at);
            return at + 1 == tokens.size();
        }
        return is_name(tokens, 0, "op_version_set") && is_symbol(tokens, 1, '=') &&
               tokens.size() == 3 && tokens[2].kind == TokenKind::number;
    }

    void start_unit(std::string_view name)
    {
        const std::string whole = module_ + '.' + std::string(name);
        if (check_.units_.count(whole))
            fail_as_foreign("two things with the name " + whole);
        unit_ = &check_.units_[whole];
    }

    // class NAME: or class NAME(KIND):
    void read_class(const Line &line)
    {
        const Tokens &tokens = line.tokens;
        const bool plain = tokens.size() == 3 && is_name(tokens, 1) && is_symbol(tokens, 2, ':');
        const bool of_kind = tokens.size() == 6 && is_name(tokens, 1) &&
                             is_symbol(tokens, 2, '(') && is_name(tokens, 3) &&
                             is_symbol(tokens, 4, ')') && is_symbol(tokens, 5, ':');
        if (!plain && !of_kind)
            fail_as_foreign("the head of a class");
        in_class_ = true;
        class_indent_ = line.indent;
        class_kind_ = of_kind ? tokens[3].text : "";
        start_unit(tokens[1].text);
    }

    // def NAME(ARGUMENTS) -> TYPE:
    void read_function(const Line &line)
    {
        const Tokens &tokens = line.tokens;
        if (!is_name(tokens, 1) || !is_symbol(tokens, 2, '(') ||
            !is_symbol(tokens, tokens.size() - 1, ':'))
            fail_as_foreign("the head of a function");
        if (in_class_)
            unit_->functions++;
        else
            start_unit(tokens[1].text);
        in_function_ = true;
        function_indent_ = line.indent;
        check_defaults(tokens);
        if (tokens[1].text == "__setstate__")
            check_.facts_.runs_while_loading = true;
    }

    static void check_defaults(const Tokens &tokens)
    {
        const size_t end = after_bracket(tokens, 2) - 1;
        for (size_t at = 3; at < end;) {
            size_t to = at, value = 0;
            while (to < end && !is_symbol(tokens, to, ',')) {
                if (is_symbol(tokens, to, '=') && value == 0)
                    value = to + 1;
                to = after_bracket(tokens, to);
            }
            if (value && !is_literal(tokens, at, value - 1))
                fail_as_foreign("the type of an argument");
            if (!is_literal(tokens, value ? value : at, to))
                refuse_source("runs code while it is loaded: a default argument of its function " +
                              std::string(tokens[1].text) + "() is computed");
            at = to + 1;
        }
        if (!is_literal(tokens, end + 1, tokens.size() - 1) &&
            !(is_symbol(tokens, end + 1, '-') && is_symbol(tokens, end + 2, '>') &&
              is_literal(tokens, end + 3, tokens.size() - 1)))
            fail_as_foreign("the type of a function's result");
    }

    [[noreturn]] static void fail_in_class() { fail_as_foreign("a statement in a class"); }

    // NAME : TYPE, NAME : Final[TYPE] = LITERAL or __annotations__["NAME"] = TYPE; also lists of
    // names, and members of an enumeration.
    void read_attribute(const Tokens &tokens) const
    {
        const bool is_enumeration = class_kind_ == "Enum";
        if (tokens.size() == 1 && is_name(tokens, 0, "pass"))
            return;
        if (!is_name(tokens, 0) || tokens.size() < 3)
            fail_in_class();
        if (is_symbol(tokens, 1, ':') && !is_enumeration)
            return read_typed(tokens);
        if (is_symbol(tokens, 1, '[') && is_name(tokens, 0, "__annotations__") &&
            tokens[2].kind == TokenKind::text && is_symbol(tokens, 3, ']') &&
            is_symbol(tokens, 4, '=') && tokens.size() > 5 && is_literal(tokens, 5, tokens.size()))
            return;
        if (!is_symbol(tokens, 1, '=') ||
            !(is_enumeration ? is_literal(tokens, 2, tokens.size()) : is_list_of_names(tokens)))
            fail_in_class();
    }

    static void read_typed(const Tokens &tokens)
    {
        size_t equals = 2;
        while (equals < tokens.size() && !is_symbol(tokens, equals, '='))
            equals++;
        if (!is_literal(tokens, 2, equals))
            fail_in_class();
        if (equals == tokens.size())
            return;
        // LibTorch crashes if an attribute of another type has a value.
        if (!is_name(tokens, 2, "Final") || !is_symbol(tokens, 3, '[') ||
            after_bracket(tokens, 3) != equals || equals + 1 == tokens.size() ||
            !is_literal(tokens, equals + 1, tokens.size()))
            fail_as_foreign("an attribute with a value");
    }

    // NAME = ["x", "y", ]
    static bool is_list_of_names(const Tokens &tokens)
    {
        constexpr std::array<std::string_view, 5> lists = {"__parameters__", "__buffers__",
                                                           "__annotations__", "__forward_hooks__",
                                                           "__forward_pre_hooks__"};
        if (std::find(lists.begin(), lists.end(), tokens[0].text) == lists.end() ||
            !is_symbol(tokens, 2, '[') || after_bracket(tokens, 2) != tokens.size())
            return false;
        for (size_t at = 3; at + 1 < tokens.size(); at++)
            if (tokens[at].kind != TokenKind::text && !is_symbol(tokens, at, ','))
                return false;
        return true;
    }

    void read_statement(const Line &line)
    {
        const Tokens &tokens = line.tokens;
        if (is_name(tokens, 0, "def"))
            return check_defaults(tokens);
        for (const std::string_view word : {"class", "import", "from", "global", "del", "elif"})
            if (is_name(tokens, 0, word))
                fail_as_foreign("a statement that begins with " + std::string(word));
        for (const std::string_view word : {"if", "else", "for", "while", "with"})
            if (is_name(tokens, 0, word) && !is_symbol(tokens, tokens.size() - 1, ':'))
                fail_as_foreign("more than one statement in a line");
    }

    // A name that a line declares is an attribute or a variable, never an operator.
    void collect_names(const Tokens &tokens)
    {
        const bool is_declaration = is_name(tokens, 0) && is_symbol(tokens, 1, ':');
        for (size_t at = is_declaration ? 1 : 0; at < tokens.size(); at++) {
            if (is_empty_subscript(tokens, at))
                fail_as_foreign("nothing in the brackets of " + std::string(tokens[at - 1].text));
            if (tokens[at].kind == TokenKind::name && !(at > 0 && is_symbol(tokens, at - 1, '.')))
                collect_first_name(tokens, at);
        }
    }

    // Names that begin with torch or ops are operators.  Names that begin with __torch__ are the
    // file's own.
    void collect_first_name(const Tokens &tokens, size_t &at)
    {
        const std::string_view name = tokens[at].text;
        if (name == "torch" || name == "ops")
            return collect_operator(tokens, at);
        if (name == "__torch__")
            return collect_unit(tokens, at);
    }

    void collect_operator(const Tokens &tokens, size_t &at)
    {
        const size_t wanted = tokens[at].text == "ops" ? 2 : 1;
        std::string space = "aten";
        for (size_t i = 0; i < wanted; i++, at += 2) {
            if (!is_symbol(tokens, at + 1, '.') || !is_name(tokens, at + 2))
                fail_as_foreign("the name " + std::string(tokens[at].text) + " by itself");
            if (i + 1 < wanted)
                space = tokens[at + 2].text;
        }
        check_.facts_.operators.insert(space + "::" + std::string(tokens[at].text));
    }

    void collect_unit(const Tokens &tokens, size_t &at)
    {
        const std::string name = dotted(tokens, at);
        if (name.compare(0, classes_root.size(), classes_root) == 0) {
            size_t end = 0;
            for (int part = 0; part < 5 && end != std::string::npos; part++)
                end = name.find('.', end + 1);
            constexpr size_t root = std::string_view("__torch__.").size();
            check_.facts_.classes.insert(name.substr(0, end).substr(root));
            return;
        }
        if (unit_)
            unit_->names.insert(name);
    }

    SourceCheck &check_;
    const std::string &module_;
    Unit *unit_ = nullptr;
    bool in_class_ = false, in_function_ = false;
    size_t class_indent_ = 0, function_indent_ = 0;
    std::string_view class_kind_;
};

void SourceCheck::add(const std::string &module, std::string_view source)
{
    Reader reader(*this, module);
    for (const Line &line : lines_of(source))
        reader.read(line);
}

// Finds the unit that a dotted name begins with.  The remainder may be a method.
SourceCheck::Unit &SourceCheck::find_unit(std::string name)
{
    const std::string whole = name;
    for (;;) {
        const auto found = units_.find(name);
        if (found != units_.end())
            return found->second;
        const size_t dot = name.rfind('.');
        if (dot == std::string::npos)
            refuse_source("has code that needs " + whole + ", which it does not contain");
        name.resize(dot);
    }
}

// Traverses the units depth first, as LibTorch does, but without recursion.
void SourceCheck::measure(Unit &first)
{
    std::vector<Unit *> path = {&first};
    while (!path.empty()) {
        Unit &unit = *path.back();
        unit.on_path = true;
        if (unit.visited < unit.dependencies.size()) {
            Unit &next = *unit.dependencies[unit.visited++];
            if (next.on_path && &next != &unit)
                fail_as_foreign("classes or functions that need each other");
            if (next.depth == 0 && &next != &unit)
                path.push_back(&next);
            continue;
        }
        for (const Unit *next : unit.dependencies)
            unit.depth = std::max(unit.depth, next->depth);
        if ((unit.depth += unit.functions) > longest_chain)
            refuse_source("has code in which too many functions call one another");
        unit.on_path = false;
        path.pop_back();
    }
}

SourceFacts SourceCheck::finish()
{
    for (auto &[name, unit] : units_)
        for (const std::string &each : unit.names)
            unit.dependencies.push_back(&find_unit(each));
    for (auto &[name, unit] : units_)
        if (unit.depth == 0)
            measure(unit);
    return std::move(facts_);
}

} // namespace engine_torch
