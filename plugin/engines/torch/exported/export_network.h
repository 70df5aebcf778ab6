// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A torch.export program as the code of a network.  Needs no LibTorch.
#pragma once

#include "engines/torch/architectures/blueprint.h"
#include "engines/torch/file/file_bytes.h"
#include "export_archive.h"
#include "export_import.h"

#include <string>

namespace engine_torch
{

// A file of torch.export.save(), read and turned into code.  Never changes; any thread.
//
// Arguments of forward() have the names of the program's.  Several outputs are a dictionary if the
// program returns one, otherwise a tuple; those within others follow in their order.
class ExportFile
{
public:
    static bool is_one(const FileBytes &file) { return ExportArchive::is_one(file.bytes()); }

    // Throws a Failure that names the file and says what to do.
    ExportFile(FileBytes file, const OperatorLookup &lookup);

    const std::string &name() const noexcept { return file_.name(); }
    const Blueprint &network() const noexcept { return network_; }
    const Weights &weights() const noexcept { return weights_; }
    // What the graph tells about its input, and what the file says about itself, as JSON.
    const std::string &graph_contract() const noexcept { return graph_contract_; }
    std::string_view own_contract() const noexcept { return archive_->contract(); }
    // "2.6.0"
    const std::string &version() const noexcept { return version_; }
    // A hash of the whole file.
    std::string hash() const;
    [[noreturn]] void refuse(const std::string &words) const { file_.refuse(words); }

private:
    void build(const OperatorLookup &lookup);

    FileBytes file_;
    std::optional<ExportArchive> archive_; // views of the file
    Weights weights_;
    Blueprint network_;
    std::string graph_contract_, version_;
};

} // namespace engine_torch
