// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The program of `dnn-torch inspect`, `bench`, `compare`, `contract` and `convert`.  It is not part
// of the launcher, so that `dnn-torch run` does not link its libraries.
#include "base/standard_output.h"
#include "model_commands.h"

#include <cstdio>
#include <exception>
#include <new>
#include <string>

namespace
{

// `words` begins with the command's name.
int main_with(int count, char **words)
{
    const std::string command = words[0];
    if (command == "compare")
        return dnn_torch::compare(count, words);
    dnn_torch::Request request = dnn_torch::parse_request(count, words);
    if (request.help)
        return fputs(dnn_torch::help_of(command).c_str(), stdout) < 0;
    if (command == "convert")
        return dnn_torch::convert(request);
    if (command == "contract")
        return dnn_torch::write_contract(request);
    return command == "bench" ? dnn_torch::bench(request) : dnn_torch::inspect(request);
}

} // namespace

// The launcher has checked the command, and calls this program by its path.
int main(int argc, char **argv)
{
    try {
        return argc < 2 ? 2 : dnn_torch::checked_output(main_with(argc - 1, argv + 1));
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
