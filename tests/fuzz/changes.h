// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Changes to bytes and to text.  Each makes one change and says which.
#pragma once

#include "fuzz.h"

#include <string>
#include <vector>

namespace fuzz
{

// A number on the edge of some type, or one that is merely odd.
uint64_t extreme_number(Random &random);

// The same as text, or what is no number at all.
std::string extreme_text(Random &random);

// Somewhere in [begin, end) of the bytes; `others` give what is spliced in.
std::string change_bytes(std::string &bytes, Random &random, const Inputs &others, size_t begin = 0,
                         size_t end = std::string::npos);

struct Language {
    std::vector<std::string> words; // what is worth being put in
    size_t most_repeats;            // of a word that is repeated
};

// Word by word: names, numbers and single signs are words.
std::string change_text(std::string &text, Random &random, const Language &language,
                        const Inputs &others);

// Damage goes by bytes, all else by words.
std::string change_by_family(std::string &input, Family family, Random &random,
                             const Language &language, const Inputs &others);

} // namespace fuzz
