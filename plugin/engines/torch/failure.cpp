// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "failure.h"

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

} // namespace

std::string words_of(const std::exception &error)
{
    const std::string words = engine_kit::short_message(text_of(error));
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
        return error.what_without_backtrace();
    } catch (...) {
        return std::nullopt;
    }
}

} // namespace engine_torch
