// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// device-probe: asks drivers for devices, in a separate process because they may hang or crash.
//
//     device-probe cuda
//     device-probe level-zero
//     device-probe engine ENGINE_PATH
#include "probes.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace
{

constexpr int exit_failed = 1, exit_usage = 2;

// The caller's limit is shorter.  This one ends a probe whose caller has ended.
constexpr unsigned longest_life_s = 60;

void make_expendable()
{
    rlimit no_core_file{0, 0};
    setrlimit(RLIMIT_CORE, &no_core_file);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(longest_life_s);
}

// Keeps standard output for the records, because drivers print to it, too.
FILE *take_output()
{
    int records = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (records < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        return nullptr;
    return fdopen(records, "w");
}

bool run(std::string_view probe, const char *engine, const dnn_torch::PrintRecord &print)
{
    if (probe == "level-zero" && !engine)
        dnn_torch::probe_level_zero(print);
    else if (probe == "cuda" && !engine)
        dnn_torch::probe_cuda(print);
    else if (probe == "engine" && engine)
        dnn_torch::probe_engine(engine, print);
    else
        return false;
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    make_expendable();
    FILE *output = take_output();
    if (!output)
        return exit_failed;
    int status = exit_failed;
    try {
        bool known = argc >= 2 && argc <= 3 &&
                     run(argv[1], argv[2], [output](const dnn_torch::Record &record) {
                         fputs(record.lines().c_str(), output);
                         fflush(output);
                     });
        if (known)
            fprintf(output, "%s\n", std::string(dnn_torch::end_of_records).c_str());
        else
            fputs("usage: device-probe cuda | level-zero | engine ENGINE_PATH\n", stderr);
        status = known ? 0 : exit_usage;
    } catch (const std::exception &error) {
        fprintf(stderr, "device-probe: %s\n", error.what());
    }
    fflush(output);
    // Skips destructors, because those of drivers may hang or crash, too.
    _exit(status);
}
