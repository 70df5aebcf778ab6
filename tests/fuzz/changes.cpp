// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "changes.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace fuzz
{
namespace
{

std::string at(size_t offset)
{
    return " at " + std::to_string(offset);
}

// A piece of `text`, of `most` bytes at the longest.
std::string piece_of(const std::string &text, Random &random, size_t most)
{
    if (text.empty())
        return "";
    const size_t begin = random.below(text.size());
    return text.substr(begin, random.length(std::min(most, text.size() - begin)));
}

std::string flip(std::string &bytes, size_t offset, Random &random)
{
    const auto bit = static_cast<unsigned>(random.below(8));
    bytes[offset] = static_cast<char>(static_cast<unsigned char>(bytes[offset]) ^ 1U << bit);
    return "flip bit " + std::to_string(bit) + at(offset);
}

std::string put_number(std::string &bytes, size_t offset, Random &random)
{
    const size_t size = std::min(size_t{1} << random.below(4), bytes.size() - offset);
    const uint64_t number = extreme_number(random);
    for (size_t i = 0; i < size; i++)
        bytes[offset + i] = static_cast<char>(number >> 8 * i & 0xff);
    return std::to_string(size) + " bytes of " + std::to_string(number) + at(offset);
}

std::string put_byte(std::string &bytes, size_t offset, Random &random)
{
    bytes[offset] = static_cast<char>(random.next() & 0xff);
    return "put a byte" + at(offset);
}

std::string remove(std::string &bytes, size_t offset, Random &random)
{
    const size_t count = random.length(bytes.size() - offset);
    bytes.erase(offset, count);
    return "remove " + std::to_string(count) + at(offset);
}

std::string insert(std::string &bytes, size_t offset, Random &random, const Inputs &others)
{
    const bool foreign = !others.empty() && random.one_in(2);
    const std::string piece = piece_of(foreign ? random.pick(others) : bytes, random, 4096);
    if (random.one_in(2)) {
        bytes.insert(offset, piece);
        return "insert " + std::to_string(piece.size()) + at(offset);
    }
    bytes.replace(offset, piece.size(), piece);
    return "overwrite " + std::to_string(piece.size()) + at(offset);
}

std::string cut(std::string &bytes, size_t offset)
{
    bytes.resize(offset);
    return "cut" + at(offset);
}

std::string fill(std::string &bytes, size_t offset, Random &random)
{
    const size_t count = random.length(std::min<size_t>(512, bytes.size() - offset));
    const char byte = random.one_in(2) ? '\0' : static_cast<char>(random.next() & 0xff);
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(offset), count, byte);
    return "fill " + std::to_string(count) + at(offset);
}

// ---- words --------------------------------------------------------------------------

bool is_word(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

using Words = std::vector<std::string>;

Words split(const std::string &text)
{
    Words words;
    for (size_t i = 0; i < text.size();) {
        size_t end = i + 1;
        while (is_word(text[i]) && end < text.size() && is_word(text[end]))
            end++;
        words.push_back(text.substr(i, end - i));
        i = end;
    }
    return words;
}

std::string join(const Words &words)
{
    std::string text;
    for (const std::string &word : words)
        text += word;
    return text;
}

// The index of a number among the words, or of any word where there is none.
size_t pick_number(const Words &words, Random &random)
{
    const size_t begin = random.below(words.size());
    for (size_t i = 0; i < words.size(); i++)
        if (std::isdigit(static_cast<unsigned char>(words[(begin + i) % words.size()][0])))
            return (begin + i) % words.size();
    return begin;
}

std::string quoted(const std::string &word)
{
    return " '" + word.substr(0, 40) + "'";
}

std::string repeat(std::string &word, Random &random, size_t most)
{
    const size_t count = random.length(std::max<size_t>(most, 1));
    const std::string once = word;
    for (size_t i = 0; i < count; i++)
        word += once;
    return "repeat" + quoted(once) + " " + std::to_string(count) + " times";
}

std::string change_line(std::string &text, Random &random)
{
    const size_t from = random.below(text.size());
    const size_t begin = std::min(text.rfind('\n', from) + 1, text.size() - 1);
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string line = text.substr(begin, end - begin);
    if (random.one_in(2)) {
        text.erase(begin, end - begin);
        return "remove the line" + quoted(line);
    }
    const size_t goal = text.find('\n', random.below(text.size()));
    text.insert(goal == std::string::npos ? 0 : goal + 1, line);
    return "repeat the line" + quoted(line);
}

std::string change_word(Words &words, Random &random, const Language &language)
{
    const size_t i = random.below(words.size());
    std::string &word = words[i];
    const std::string before = word;
    switch (random.below(6)) {
    case 0:
        word.clear();
        return "remove" + quoted(before);
    case 1:
        word = random.pick(language.words);
        return "replace" + quoted(before) + " by" + quoted(word);
    case 2: {
        const std::string &added = random.pick(language.words);
        word += added;
        return "add" + quoted(added) + " after" + quoted(before);
    }
    case 3: {
        std::string &number = words[pick_number(words, random)];
        const std::string old = std::exchange(number, extreme_text(random));
        return "replace" + quoted(old) + " by" + quoted(number);
    }
    case 4:
        std::swap(word, random.pick(words));
        return "swap" + quoted(before) + " with" + quoted(word);
    default:
        return repeat(word, random, random.one_in(16) ? language.most_repeats : 4);
    }
}

} // namespace

uint64_t extreme_number(Random &random)
{
    const uint64_t edge = uint64_t{1} << random.below(64);
    switch (random.below(6)) {
    case 0:
        return random.below(4);
    case 1:
        return 0 - static_cast<uint64_t>(random.below(4));
    case 2:
        return edge;
    case 3:
        return edge - 1;
    case 4:
        return 0 - edge;
    default:
        return random.next() >> random.below(64);
    }
}

std::string extreme_text(Random &random)
{
    static const std::vector<std::string> odd = {
        "0",    "-1",  "1e300", "-1e300", "1e-300", "nan",  "inf", "-inf",
        "0x7f", "1e9", "00001", "1.",     ".5",     "9e99", "",    "18446744073709551616"};
    if (random.one_in(2))
        return random.pick(odd);
    return std::to_string(static_cast<int64_t>(extreme_number(random)));
}

std::string change_bytes(std::string &bytes, Random &random, const Inputs &others, size_t begin,
                         size_t end)
{
    end = std::min(end, bytes.size());
    if (begin >= end) {
        bytes += static_cast<char>(random.next() & 0xff);
        return "append a byte";
    }
    const size_t offset = begin + random.below(end - begin);
    switch (random.below(10)) {
    case 0:
    case 1:
    case 2:
        return flip(bytes, offset, random);
    case 3:
    case 4:
        return put_number(bytes, offset, random);
    case 5:
        return put_byte(bytes, offset, random);
    case 6:
        return remove(bytes, offset, random);
    case 7:
        return insert(bytes, offset, random, others);
    case 8:
        return fill(bytes, offset, random);
    default:
        return cut(bytes, offset);
    }
}

std::string change_text(std::string &text, Random &random, const Language &language,
                        const Inputs &others)
{
    if (text.empty() || random.one_in(8))
        return change_bytes(text, random, others);
    if (text.find('\n') != std::string::npos && random.one_in(6))
        return change_line(text, random);
    Words words = split(text);
    std::string change = change_word(words, random, language);
    text = join(words);
    return change;
}

std::string change_by_family(std::string &input, Family family, Random &random,
                             const Language &language, const Inputs &others)
{
    return family == Family::damage ? change_bytes(input, random, others)
                                    : change_text(input, random, language, others);
}

} // namespace fuzz
