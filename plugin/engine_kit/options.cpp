// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "options.h"

#include "base/compose.h"
#include "failure.h"

#include <algorithm>

namespace engine_kit
{

using dnn_torch::text_or_empty;

Options::Options(const DnnTorchOption *options, size_t count,
                 std::initializer_list<std::string_view> known)
{
    for (size_t i = 0; i < count; i++) {
        const std::string key = text_or_empty(options[i].key);
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw Failure(DNN_TORCH_BAD_OPTION, "the engine has no option '" + key +
                                                    "'; it knows " + dnn_torch::joined(known));
        values_[key] = text_or_empty(options[i].value);
    }
}

std::string Options::value(std::string_view key) const
{
    const auto found = values_.find(key);
    return found == values_.end() ? "" : found->second;
}

} // namespace engine_kit
