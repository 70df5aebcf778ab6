// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Files of torch.export: what reads them and writes their operators as code; and what reads
// AOTInductor's packages.
#include "change_model.h"
#include "changes.h"
#include "digest.h"
#include "engines/torch/exported/compiled_package.h"
#include "engines/torch/exported/export_network.h"
#include "engines/torch/file/operators.h"
#include "reading.h"
#include "zip.h"

#include <string>
#include <string_view>
#include <vector>

namespace
{

using fuzz::Ending;
using fuzz::Outcome;

// Reads all bytes of all tensors, which must lie in the file.
uint64_t digest_of(const engine_torch::ExportFile &file)
{
    fuzz::Digest digest;
    digest.add(file.network().source);
    digest.add(file.graph_contract());
    for (const auto &[name, weight] : file.weights().all()) {
        digest.add(name);
        digest.add(weight.shape.data(), weight.shape.size() * sizeof(int64_t));
        digest.add(weight.bytes);
    }
    return digest.value();
}

uint64_t digest_of(const engine_torch::CompiledPackage &package)
{
    const engine_torch::CompiledInterface &interface = package.interface();
    fuzz::Digest digest;
    digest.add(package.code());
    digest.add(package.libtorch());
    digest.add(package.contract());
    for (const int64_t size : {1, 3, 4, 64})
        digest.add(engine_torch::fault_of_shapes(
            interface, std::vector(interface.inputs.size(), std::vector<int64_t>(4, size))));
    return digest.value();
}

Outcome read(const DnnTorchSource &source)
{
    const engine_torch::Permissions permissions;
    engine_torch::FileBytes bytes(source);
    if (engine_torch::CompiledPackage::is_one(bytes) && !engine_torch::ExportFile::is_one(bytes))
        return {Ending::accepted, digest_of(engine_torch::CompiledPackage(std::move(bytes))), ""};
    if (!engine_torch::ExportFile::is_one(bytes))
        return {Ending::refused, 0, "is no file of torch.export"};
    // As in LibTorch 1.13.
    const engine_torch::OperatorLookup lookup = {
        .is_here = [](const std::string &name) { return name.find("attention") == name.npos; },
        .is_allowed =
            [&](const std::string &name) { return permissions.has_operator("aten::" + name); }};
    const engine_torch::ExportFile file(std::move(bytes), lookup);
    return {Ending::accepted, digest_of(file), ""};
}

Outcome run(std::string_view input)
{
    return fuzz::outcome_of_reading(input, "net.pt2", read);
}

const fuzz::Language graph_language = {{"{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "null",
                                        "true",
                                        "-1",
                                        "9223372036854775807",
                                        "18446744073709551615",
                                        "1e400",
                                        "-Infinity",
                                        "\"NaN\"",
                                        "{}",
                                        "{\"as_none\": true}",
                                        "{\"as_int\": 3}",
                                        "{\"as_ints\": []}",
                                        "{\"as_name\": \"x\"}",
                                        "{\"as_tensor\": {\"name\": \"x\"}}",
                                        "{\"as_string\": \"\\\")\\n\"}",
                                        "{\"as_tensors\": [{\"name\": \"x\"}]}",
                                        "{\"as_graph\": {\"graph\": {}}}",
                                        "\"x\"",
                                        "\"self\"",
                                        "\"torch.ops.aten.save.default\"",
                                        "\"torch.ops.aten.scaled_dot_product_attention.default\"",
                                        "\"torch.ops.higher_order.wrap_with_set_grad_enabled\"",
                                        "\"_operator.add\""},
                                       100000};

std::string change(std::string &input, fuzz::Family family, fuzz::Random &random,
                   const fuzz::Inputs &seeds)
{
    auto archive = fuzz::take_apart(input);
    if (archive && family != fuzz::Family::damage && !random.one_in(4))
        for (fuzz::Member &member : archive->members)
            if (member.method == 0 && member.name.ends_with(".json") && !random.one_in(3)) {
                std::string text = member.stored;
                const std::string done = fuzz::change_text(text, random, graph_language, seeds);
                member.put(std::move(text));
                input = fuzz::put_together(*archive);
                return member.name + ": " + done;
            }
    return fuzz::change_model(input, family, random, seeds);
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "export",
    .prepare = nullptr,
    .run = run,
    .change = change,
    .damage_must_show = true,
    .seconds = 10,
    .memory = uint64_t{1} << 29,
    .inputs_a_fork = 1000,
};
