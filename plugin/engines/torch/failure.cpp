// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "failure.h"

#include "base/compose.h"
#include "engine_kit/text.h"

#include <c10/util/Exception.h>

#include <new>

namespace engine_torch
{
namespace
{

const char *text_of(const std::exception &error)
{
    const auto *of_torch = dynamic_cast<const c10::Error *>(&error);
    return of_torch ? of_torch->what_without_backtrace() : error.what();
}

// LibTorch names the backend "QuantizedCPU" and guesses at reasons.
std::string in_words(const std::string &text)
{
    constexpr std::string_view before = "Could not run '";
    const size_t at = text.find(before);
    if (at == text.npos || text.find("' with arguments from the 'Quantized") == text.npos)
        return text;
    const size_t begin = at + before.size();
    return dnn_torch::concat(text.substr(begin, text.find('\'', begin) - begin),
                             " takes no quantised tensors; export the model before it is "
                             "quantised (precision=int8 is for that)");
}

} // namespace

std::string words_of(const std::exception &error)
{
    const std::string words = engine_kit::short_message(in_words(text_of(error)));
    return words.empty() ? "no reason given" : words;
}

bool is_out_of_memory(const std::exception &error)
{
    return dynamic_cast<const std::bad_alloc *>(&error) ||
           engine_kit::reports_out_of_memory(text_of(error));
}

// The message of OutOfMemoryError need not say that memory ran out.
std::optional<std::string> words_of_libtorch()
{
    try {
        throw;
    } catch (const c10::OutOfMemoryError &error) {
        const std::string text = error.what_without_backtrace();
        return engine_kit::reports_out_of_memory(text) ? text : "out of memory: " + text;
    } catch (const c10::Error &error) {
        return in_words(error.what_without_backtrace());
    } catch (...) {
        return std::nullopt;
    }
}

} // namespace engine_torch
