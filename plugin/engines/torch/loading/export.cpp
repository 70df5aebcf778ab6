// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "export.h"

#include "base/compose.h"
#include "engines/torch/architectures/architecture.h"
#include "engines/torch/checkpoint/safetensors.h"
#include "engines/torch/failure.h"
#include "engines/torch/file/file_contract.h"
#include "load.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <torch/csrc/jit/serialization/export.h>
#include <unistd.h>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

void write_all(int sink, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = write(sink, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR)
            throw Failure(DNN_TORCH_RUN_FAILED, concat("the result cannot be written: ",
                                                       std::generic_category().message(errno)));
        bytes.remove_prefix(written < 0 ? 0 : static_cast<size_t>(written));
    }
}

const Candidate &choose(const Checkpoint &checkpoint)
{
    try {
        return *recognise(checkpoint.candidates()).candidate;
    } catch (const WeightFault &) {
        const Candidate &largest = largest_of(checkpoint.candidates());
        if (!largest.fault.empty())
            checkpoint.refuse(largest.fault);
        return largest;
    }
}

// Reports tensors of the file that were not written; "" if there are none.
std::string left_out(const Checkpoint &checkpoint, const Candidate &candidate)
{
    const size_t written = candidate.weights.all().size(), all = checkpoint.tensor_count();
    if (written >= all)
        return "";
    return concat("of the file's ", dnn_torch::counted(all, "tensor"), " ", written,
                  written == 1 ? " was" : " were", " written",
                  candidate.place.empty() ? "" : concat(": ", candidate.place));
}

} // namespace

namespace
{

void write_module(const torch::jit::Module &module, const std::string &contract, int sink)
{
    torch::jit::ExportModule(module,
                             [sink](const void *bytes, size_t size) {
                                 write_all(sink, {static_cast<const char *>(bytes), size});
                                 return size;
                             },
                             {{std::string(own_contract_record), contract}});
}

} // namespace

std::string write_torchscript(const Checkpoint &checkpoint, int sink)
{
    const Recognised recognised = recognise(checkpoint);
    write_module(
        load_plain_network(checkpoint.name(), recognised.network, recognised.candidate->weights),
        contract_of(recognised.network), sink);
    return left_out(checkpoint, *recognised.candidate);
}

std::string write_torchscript(const OnnxFile &file, int sink)
{
    const OnnxNetwork &network = file.network();
    if (network.runtime)
        file.refuse(network.reason);
    write_module(load_plain_network(file.name(), network.network, network.weights),
                 network.contract, sink);
    return "";
}

std::string write_torchscript(const ExportFile &file, int sink)
{
    write_module(load_plain_network(file.name(), file.network(), file.weights()),
                 file.own_contract().empty() ? file.graph_contract()
                                             : std::string(file.own_contract()),
                 sink);
    return "";
}

std::string write_safetensors(const Checkpoint &checkpoint, int sink)
{
    try {
        const Candidate &candidate = choose(checkpoint);
        write_safetensors(candidate.weights,
                          [sink](std::string_view bytes) { write_all(sink, bytes); });
        return left_out(checkpoint, candidate);
    } catch (const WeightFault &fault) {
        checkpoint.refuse(fault.what());
    }
}

} // namespace engine_torch
