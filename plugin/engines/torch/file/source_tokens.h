// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Splits TorchScript code, as PyTorch writes it into an archive, into tokens.  Stricter than
// LibTorch's lexer: refuses what is ambiguous and what PyTorch never writes.  Needs no LibTorch.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace engine_torch
{

// Why code is refused.  The text follows the file's name.
struct SourceFault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Throw a SourceFault.
[[noreturn]] void refuse_source(const std::string &words);
[[noreturn]] void fail_as_foreign(const std::string &what);

enum class TokenKind { name, number, text, symbol };

struct Token {
    TokenKind kind;
    std::string_view text; // without the quotes if it is a string literal, as written
};

// The tokens up to the end of a statement, or up to the colon of a compound one.
struct Line {
    size_t indent; // in spaces
    std::vector<Token> tokens;
};

// The tokens are views into `source`.  Throws a SourceFault.
std::vector<Line> lines_of(std::string_view source);

// Whether the text is the name of a type, as in "Dict[str, List[Tensor]]", and short and flat
// enough for a recursive parser.
bool is_type_text(std::string_view text);

} // namespace engine_torch
