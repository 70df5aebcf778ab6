// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Creates the rows of option tables.  Texts are not copied: they must live for ever.  Any thread.
//
// `offset` is the field's offset in the filter's private data, in bytes.
#pragma once

extern "C" {
#include <libavutil/opt.h>
}

#include <cstddef>
#include <cstdint>

namespace dnn_torch
{

AVOption text_option(const char *name, const char *help, size_t offset, const char *value);
AVOption number_option(const char *name, const char *help, AVOptionType type, size_t offset,
                       int64_t value, double min, double max);
AVOption int_option(const char *name, const char *help, size_t offset, int value, int min, int max);
AVOption float_option(const char *name, const char *help, size_t offset, double value, double min,
                      double max);
// The value is in microseconds, at least 0.
AVOption duration_option(const char *name, const char *help, size_t offset, int64_t value,
                         double max);
AVOption bool_option(const char *name, const char *help, size_t offset, bool value);

// Returns a named value of the options of that unit.
AVOption named_value(const char *name, const char *help, int value, const char *unit);
// The same for an enum.
template <class Value>
AVOption named_value(const char *name, const char *help, Value value, const char *unit)
{
    return named_value(name, help, static_cast<int>(value), unit);
}

// Return the same option with another property.
AVOption with_unit(AVOption option, const char *unit);
// Marks it as changeable by a command of its name while frames pass.
AVOption changeable(AVOption option);
AVOption deprecated(AVOption option);

} // namespace dnn_torch
