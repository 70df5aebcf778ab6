// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The seconds that the engine takes to load a model, in a process that has loaded nothing yet, as
// one line of JSON.  Nothing is tuned or run.
//
// usage: load_only MODEL [TIMES]      (TIMES: loads it so often, and prints each)

#include "host/model/engine_choice.h"
#include "host/model/model.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

int main(int count, char **arguments)
try {
    using Clock = std::chrono::steady_clock;
    if (count < 2 || count > 3) {
        std::fprintf(stderr, "usage: load_only MODEL [TIMES]\n");
        return 2;
    }
    const DnnTorchEngine *engine = dnn_torch::open_engine("torch");
    dnn_torch::ModelOptions options;
    options.path = arguments[1];
    options.device = "cpu";
    options.timeout = std::chrono::minutes(5);
    const int times = count > 2 ? std::atoi(arguments[2]) : 1;
    std::printf("{\"seconds\": [");
    for (int i = 0; i < times; i++) {
        const auto start = Clock::now();
        const dnn_torch::Model model(*engine, options);
        const std::chrono::duration<double> seconds = Clock::now() - start;
        std::printf("%s%.6f", i ? ", " : "", seconds.count());
    }
    std::printf("]}\n");
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "load_only: %s\n", error.what());
    return 1;
}
