// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The program behind `dnn-torch inspect` and `dnn-torch bench`: apart from the
// launcher, so that `dnn-torch run` links none of what it needs.
#include "commands.h"

#include <cstdio>
#include <exception>
#include <new>
#include <string>

namespace
{

int main_with(const std::string &command, char *const *words)
{
    dnn_torch::Request request = dnn_torch::parse_request(command, words);
    return command == "bench" ? dnn_torch::bench(request) : dnn_torch::inspect(request);
}

} // namespace

// The launcher has checked the command, and names this program by its path.
int main(int argc, char **argv)
{
    try {
        return argc < 2 ? 2 : main_with(argv[1], argv + 2);
    } catch (const dnn_torch::UsageError &error) {
        fprintf(stderr, "dnn-torch: %s\n", error.what());
        return 2;
    } catch (const std::bad_alloc &) {
        fprintf(stderr, "dnn-torch: out of memory\n");
    } catch (const std::exception &error) {
        fprintf(stderr, "dnn-torch: %s\n", error.what());
    }
    return 1;
}
