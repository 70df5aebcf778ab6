// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The options of model_open().
#pragma once

#include "dnn_torch/engine.h"

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

namespace engine_kit
{

// Options by their keys.  Never changes; any thread.
class Options
{
public:
    // `known` are the keys that the engine has.  Throws a Failure that names an unknown key.
    Options(const DnnTorchOption *options, size_t count,
            std::initializer_list<std::string_view> known);

    // Returns "" if the option is not given.
    std::string value(std::string_view key) const;

private:
    std::map<std::string, std::string, std::less<>> values_;
};

} // namespace engine_kit
