// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "option_kinds.h"

namespace dnn_torch
{
namespace
{

constexpr int flags = AV_OPT_FLAG_FILTERING_PARAM | AV_OPT_FLAG_VIDEO_PARAM;

} // namespace

AVOption text_option(const char *name, const char *help, size_t offset, const char *value)
{
    AVOption option{};
    option.name = name;
    option.help = help;
    option.offset = static_cast<int>(offset);
    option.type = AV_OPT_TYPE_STRING;
    option.default_val.str = value;
    option.flags = flags;
    return option;
}

AVOption number_option(const char *name, const char *help, AVOptionType type, size_t offset,
                       int64_t value, double min, double max)
{
    AVOption option = text_option(name, help, offset, nullptr);
    option.type = type;
    option.default_val.i64 = value;
    option.min = min;
    option.max = max;
    return option;
}

AVOption int_option(const char *name, const char *help, size_t offset, int value, int min, int max)
{
    return number_option(name, help, AV_OPT_TYPE_INT, offset, value, min, max);
}

AVOption float_option(const char *name, const char *help, size_t offset, double value, double min,
                      double max)
{
    AVOption option = number_option(name, help, AV_OPT_TYPE_FLOAT, offset, 0, min, max);
    option.default_val.dbl = value;
    return option;
}

AVOption duration_option(const char *name, const char *help, size_t offset, int64_t value,
                         double max)
{
    return number_option(name, help, AV_OPT_TYPE_DURATION, offset, value, 0, max);
}

AVOption bool_option(const char *name, const char *help, size_t offset, bool value)
{
    return number_option(name, help, AV_OPT_TYPE_BOOL, offset, value, 0, 1);
}

AVOption named_value(const char *name, const char *help, int value, const char *unit)
{
    return with_unit(number_option(name, help, AV_OPT_TYPE_CONST, 0, value, 0, 0), unit);
}

AVOption with_unit(AVOption option, const char *unit)
{
    option.unit = unit;
    return option;
}

AVOption changeable(AVOption option)
{
    option.flags |= AV_OPT_FLAG_RUNTIME_PARAM;
    return option;
}

AVOption deprecated(AVOption option)
{
    option.flags |= AV_OPT_FLAG_DEPRECATED;
    return option;
}

} // namespace dnn_torch
