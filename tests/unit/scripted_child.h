// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The fake engine in a process of its own.
#pragma once

#include "child_processes.h"
#include "engine_under_test.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// A model of a script, in a child.
class Scripted
{
public:
    explicit Scripted(const std::string &script, const std::vector<DnnTorchOption> &options = {})
        : model(source_of(script), options)
    {
    }

    Model model;

private:
    DnnTorchSource source_of(const std::string &script)
    {
        return {.size = sizeof(DnnTorchSource),
                .name = "a script",
                .fd = -1,
                .data = script.data(),
                .data_size = script.size()};
    }
};

// One picture whose first sample tells that number.
inline std::unique_ptr<Pictures> picture(int number, int height = 4, int width = 6)
{
    auto made = std::make_unique<Pictures>(1, 3, height, width);
    made->samples[0] = static_cast<float>(number) / 255.0F;
    return made;
}

inline Outcome run(Session &session, int number)
{
    return session.run(*picture(number));
}

inline double seconds_of(const std::function<void()> &work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
