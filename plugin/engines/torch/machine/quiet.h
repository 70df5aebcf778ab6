// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Handles LibTorch's warnings.  Versions 1.13 and 2 name the functions differently.
#pragma once

#include "engine_kit/text.h"

#include <c10/util/Exception.h>
#include <iostream>
#include <torch/version.h>
#include <typeinfo>

namespace engine_torch
{

inline void print_warning(const std::string &text)
{
    // In one piece: several threads may run the model.
    std::cerr << "warning of LibTorch or of the model: " + engine_kit::printable(text) + '\n';
}

#if TORCH_VERSION_MAJOR >= 2
using WarningGuard = c10::WarningUtils::WarningHandlerGuard;

inline c10::WarningHandler *warning_handler()
{
    return c10::WarningUtils::get_warning_handler();
}

class Silence final : public c10::WarningHandler
{
public:
    void process(const c10::Warning &) override {}
};

class Printable final : public c10::WarningHandler
{
public:
    void process(const c10::Warning &warning) override { print_warning(warning.msg()); }
};
#else
using WarningGuard = c10::Warning::WarningHandlerGuard;

inline c10::WarningHandler *warning_handler()
{
    return c10::Warning::get_warning_handler();
}

class Silence final : public c10::WarningHandler
{
public:
    void process(const c10::SourceLocation &, const std::string &, bool) override {}
};

class Printable final : public c10::WarningHandler
{
public:
    void process(const c10::SourceLocation &, const std::string &text, bool) override
    {
        print_warning(text);
    }
};
#endif

// While an object lives, the calling thread's warnings are dropped.
class Quiet
{
private:
    Silence silence_;
    WarningGuard guard_{&silence_};
};

// While an object lives, the calling thread's warnings are escaped before they are printed, because
// they may contain text of a model.  A handler that the program has set stays in place.
class PrintableWarnings
{
private:
    static c10::WarningHandler *choose(c10::WarningHandler *ours)
    {
        c10::WarningHandler &current = *warning_handler();
        return typeid(current) == typeid(c10::WarningHandler) ? ours : &current;
    }

    Printable printable_;
    WarningGuard guard_{choose(&printable_)};
};

} // namespace engine_torch
