// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch: runs programs with the filters, and answers questions about them.
#include "commands.h"

#include <cstdio>
#include <exception>
#include <string_view>

namespace
{

constexpr const char *usage =
    "usage: dnn-torch run PROGRAM [ARGUMENT...]\n"
    "       dnn-torch doctor\n"
    "       dnn-torch devices [--json]\n"
    "       dnn-torch inspect MODEL [--size WxH] [--json] [OPTION VALUE...]\n"
    "       dnn-torch bench MODEL [--size WxH] [--seconds N] [--json] [OPTION VALUE...]\n"
    "       dnn-torch --help | --version\n"
    "\n"
    "run      runs a program that uses FFmpeg's libavfilter, ffmpeg itself for one,\n"
    "         so that it has the dnn_torch filters\n"
    "doctor   shows what is installed and which of it works together\n"
    "devices  shows what models can run on, and what is in the way of the rest\n"
    "inspect  shows what a model holds, takes and gives, and how to use it\n"
    "bench    measures a model with different numbers of workers and threads and in\n"
    "         different precisions (640x360 and 30 s, unless told otherwise)\n"
    "\n"
    "OPTION of inspect and bench, as the filter has them: --device, --engine, --input,\n"
    "--output, --allow; and --timeout, the seconds that one run may take\n";

int main_with(std::string_view command, int argc, char **argv)
{
    bool is_about_model = command == "inspect" || command == "bench";
    if (command == "--help" || command == "help" ||
        (is_about_model && argc == 3 && std::string_view(argv[2]) == "--help"))
        return fputs(usage, stdout) < 0;
    if (command == "--version")
        return puts("dnn-torch " PROJECT_VERSION) < 0;
    if (command == "run" && argc > 2)
        return dnn_torch::run(argv + 2);
    if (command == "doctor" && argc == 2)
        return dnn_torch::doctor();
    if (command == "devices" && argc == 2)
        return dnn_torch::devices(false);
    if (command == "devices" && argc == 3 && std::string_view(argv[2]) == "--json")
        return dnn_torch::devices(true);
    if (is_about_model)
        return dnn_torch::model_tool(argv);
    fputs(usage, stderr);
    return dnn_torch::exit_usage;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return main_with(argc > 1 ? argv[1] : "", argc, argv);
    } catch (const std::exception &error) {
        fprintf(stderr, "dnn-torch: %s\n", error.what());
        return 1;
    }
}
