// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch: runs programs with the filters, and answers questions about them.
#include "base/standard_output.h"
#include "launcher_commands.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <getopt.h>
#include <string_view>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

// The arguments after a command's name.
struct Arguments {
    bool as_json;
    int count; // the number of words below
    char **words;
};

struct Command {
    const char *name, *arguments, *summary;
    // Returns the exit status.  NULL: another program reads the arguments itself.
    int (*run)(const Arguments &given);
    bool takes_json = false, takes_program = false;
    int (*become)(char **arguments) = model_tool;
};

constexpr Command commands[] = {
    {.name = "run",
     .arguments = "PROGRAM [ARGUMENT...]",
     .summary = "runs a program that uses FFmpeg's libavfilter, such as ffmpeg itself,\n"
                "so that it has the dnn_torch filters",
     .run = [](const Arguments &given) { return run(given.words); },
     .takes_program = true},
    {.name = "doctor",
     .arguments = "",
     .summary = "shows what is installed and which of it works together",
     .run = [](const Arguments &) { return doctor(); }},
    {.name = "devices",
     .arguments = "[--json]",
     .summary = "shows what models can run on, and what is in the way of the rest;\n"
                "with --json as one JSON object",
     .run = [](const Arguments &given) { return devices(given.as_json); },
     .takes_json = true},
    {.name = "inspect",
     .arguments = "MODEL [OPTION...]",
     .summary = "shows what a model holds, takes and gives, and how to use it",
     .run = nullptr},
    {.name = "bench",
     .arguments = "MODEL [OPTION...]",
     .summary = "measures a model with different numbers of workers and threads and in\n"
                "different precisions",
     .run = nullptr},
    {.name = "compare",
     .arguments = "CLIP MODEL... [OPTION...]",
     .summary = "runs models on a few frames of a clip, and writes a page that shows the\n"
                "results side by side",
     .run = nullptr},
    {.name = "contract",
     .arguments = "MODEL [OPTION...]",
     .summary = "writes what a model's tensors mean as JSON, to be edited: > MODEL.json",
     .run = nullptr},
    {.name = "convert",
     .arguments = "IN OUT [OPTION...]",
     .summary = "writes a file of weights as TorchScript (OUT.pt) or as OUT.safetensors",
     .run = nullptr},
    {.name = "farm",
     .arguments = "COMMAND [ARGUMENT...]",
     .summary = "cuts a video into slices, which any number of machines make, and joins\n"
                "them",
     .run = nullptr,
     .become = farm},
};

const Command *find_command(std::string_view name)
{
    for (const Command &command : commands)
        if (name == command.name)
            return &command;
    return nullptr;
}

void print_usage(FILE *to, const Command &command, const char *before)
{
    fprintf(to, "%-6s dnn-torch %s%s%s\n", before, command.name, *command.arguments ? " " : "",
            command.arguments);
}

void print_usage(FILE *to)
{
    const char *before = "usage:";
    for (const Command &command : commands) {
        print_usage(to, command, before);
        before = "";
    }
    fprintf(to, "       dnn-torch --help | --version\n");
}

void print_summary(const Command &command)
{
    const char *before = command.name;
    for (std::string_view text = command.summary; !text.empty(); before = "") {
        std::string_view line = text.substr(0, text.find('\n'));
        printf("%-9s%.*s\n", before, static_cast<int>(line.size()), line.data());
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
}

int print_help()
{
    print_usage(stdout);
    printf("\n");
    for (const Command &command : commands)
        print_summary(command);
    printf("\ndnn-torch COMMAND --help has the options of a command.\n");
    return 0;
}

int print_help_of(const Command &command)
{
    print_usage(stdout, command, "usage:");
    printf("\n");
    print_summary(command);
    return 0;
}

int refuse(const Command &command)
{
    print_usage(stderr, command, "usage:");
    return exit_usage;
}

// `arguments` begins with the command's name.
int start(const Command &command, int count, char **arguments)
{
    constexpr option options[] = {{"help", no_argument, nullptr, 'h'},
                                  {"json", no_argument, nullptr, 'j'},
                                  {nullptr, 0, nullptr, 0}};
    Arguments given = {.as_json = false, .count = 0, .words = nullptr};
    opterr = 0;
    // The first word that is not an option ends the options: what follows belongs to the program.
    for (int letter; (letter = getopt_long(count, arguments, "+", options, nullptr)) != -1;) {
        if (letter == 'h')
            return print_help_of(command);
        if (letter != 'j' || !command.takes_json)
            return refuse(command);
        given.as_json = true;
    }
    given.count = count - optind;
    given.words = arguments + optind;
    bool fits = command.takes_program ? given.count > 0 : given.count == 0;
    return fits ? command.run(given) : refuse(command);
}

// What compare starts ends with it, even if SIGKILL ends that.  The kernel remembers it through
// exec().
void end_with_starter()
{
    constexpr const char *name = "DNN_TORCH_STARTER";
    const char *const starter = secure_getenv(name);
    if (!starter)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != atoi(starter)) // it has ended before
        raise(SIGKILL);
    unsetenv(name);
}

int main_with(int argc, char **argv)
{
    // Each command starts programs that the environment chooses.
    if (getauxval(AT_SECURE)) {
        fprintf(stderr, "dnn-torch: refuses to run with raised privileges\n");
        return exit_cannot_run;
    }
    end_with_starter();
    std::string_view name = argc > 1 ? argv[1] : "";
    if (name == "--help" || name == "help")
        return print_help();
    if (name == "--version")
        return puts("dnn-torch " PROJECT_VERSION) < 0;
    if (const Command *command = find_command(name))
        return command->run ? start(*command, argc - 1, argv + 1) : command->become(argv);
    print_usage(stderr);
    return exit_usage;
}

} // namespace
} // namespace dnn_torch

int main(int argc, char **argv)
{
    try {
        return dnn_torch::checked_output(dnn_torch::main_with(argc, argv));
    } catch (const std::exception &error) {
        fprintf(stderr, "dnn-torch: %s\n", error.what());
        return 1;
    }
}
