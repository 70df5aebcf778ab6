// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "labels.h"

#include "base/compose.h"
#include "base/descriptor.h"
#include "base/terminal.h"
#include "host/error.h"

extern "C" {
#include <libavutil/error.h>
}

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>

namespace dnn_torch
{
namespace
{

constexpr size_t most_bytes = size_t{4} << 20;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[noreturn]] void refuse(const std::string &path, int error, std::string_view words)
{
    throw Error(AVERROR(error), concat("labels=", path, " ", words));
}

Descriptor open_file(const std::string &path)
{
    // O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
    Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat about = {};
    if (!file.is_open() || fstat(file.get(), &about) != 0)
        refuse(path, errno, concat("cannot be read: ", strerror(errno)));
    if (!S_ISREG(about.st_mode))
        refuse(path, EINVAL, "is no file; name a text file with a label in each line");
    return file;
}

std::string content_of(const std::string &path)
{
    const Descriptor file = open_file(path);
    std::string text;
    char piece[16384];
    for (;;) {
        const ssize_t size = read(file.get(), piece, sizeof(piece));
        if (size == 0)
            return text;
        if (size < 0 && errno != EINTR)
            refuse(path, errno, concat("cannot be read: ", strerror(errno)));
        if (size > 0)
            text.append(piece, static_cast<size_t>(size));
        if (text.size() > most_bytes)
            refuse(path, EINVAL,
                   concat("is larger than ", most_bytes >> 20,
                          " MiB; name a text file with a label in each line"));
    }
}

bool is_label(std::string_view text)
{
    while (!text.empty()) {
        const size_t length = character_length(text);
        const auto first = static_cast<unsigned char>(text.front());
        const bool is_late_control = // U+0080 to U+009F
            length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
        const bool is_control = (first < ' ' && first != '\t') || first == 0x7F || is_late_control;
        if (length == 0 || is_control)
            return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string_view trimmed(std::string_view line)
{
    constexpr std::string_view blanks = " \t\r";
    const size_t begin = line.find_first_not_of(blanks);
    if (begin == line.npos)
        return {};
    return line.substr(begin, line.find_last_not_of(blanks) + 1 - begin);
}

std::vector<std::string> lines_of(const std::string &path, std::string_view text)
{
    std::vector<std::string> lines;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        if (!is_label(line))
            refuse(path, EINVAL,
                   concat("is no text in UTF-8 in line ", lines.size() + 1,
                          "; name a text file with a label in each line"));
        lines.emplace_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

} // namespace

std::vector<std::string> read_labels(const std::string &path)
{
    const std::string text = content_of(path);
    std::string_view rest = text;
    if (rest.starts_with(byte_order_mark))
        rest.remove_prefix(byte_order_mark.size());
    std::vector<std::string> labels = lines_of(path, rest);
    while (!labels.empty() && labels.back().empty())
        labels.pop_back();
    if (labels.empty())
        refuse(path, EINVAL, "has no labels; write one in each line");
    return labels;
}

std::string label_of(const std::vector<std::string> &labels, int number)
{
    const auto place = static_cast<size_t>(number);
    const bool has_name = number >= 0 && place < labels.size() && !labels[place].empty();
    return has_name ? labels[place] : std::to_string(number);
}

} // namespace dnn_torch
