// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The text of TorchScript code as PyTorch writes it into an archive.  Knows
// less than LibTorch's lexer does: what could be read in two ways, or is never
// written, is refused.  Needs no LibTorch.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace engine_torch
{

// Why code is refused, for a sentence that begins with the file's name.
struct SourceFault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class TokenKind { name, number, text, symbol };

struct Token {
    TokenKind kind;
    std::string_view text; // a text's is what stands between its quotes, as it is written
};

// Up to the end of a statement, or to the colon of one that others belong to.
struct Line {
    size_t indent; // in spaces
    std::vector<Token> tokens;
};

// Views into `source`.  Throws a SourceFault.
std::vector<Line> lines_of(std::string_view source);

// Whether it is the name of a type, as in "Dict[str, List[Tensor]]", and short
// and flat enough to be read by recursion.
bool is_type_text(std::string_view text);

} // namespace engine_torch
