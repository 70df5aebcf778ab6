// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Turns an ONNX graph into the code of a network.  Needs no LibTorch.
#pragma once

#include "engines/torch/architectures/blueprint.h"
#include "engines/torch/file/file_bytes.h"
#include "onnx_file.h"
#include "onnx_runtime.h"

#include <memory>
#include <string>
#include <vector>

namespace engine_torch
{

struct OnnxNetwork {
    Blueprint network;
    Weights weights;
    std::string contract; // what the graph tells about its input, as JSON
    // Null if the graph was turned into code.  Otherwise ONNX Runtime runs it, and this is why.
    std::shared_ptr<const RuntimeGraph> runtime = nullptr;
    std::string reason =
        ""; // "is an ONNX model with operators that are not read here: Shrink; ..."
};

// Arguments of forward() have the names of the graph's inputs, and an output that is not alone is
// in a dictionary by its name; both with "_" for what a Python name cannot have.  Throws a
// WeightFault that names the operator that is not known or used in a way that is not.
OnnxNetwork build_network(const OnnxModel &model);

// Returns what Ultralytics' exporter wrote into the file, as JSON; or "".
std::string ultralytics_of(const OnnxModel &model);

// An ONNX file, read and turned into code; or opened with ONNX Runtime, if that is installed and
// the file has what is not read here.  Never changes; any thread.
class OnnxFile
{
public:
    static bool is_one(const FileBytes &file) { return may_be_onnx(file.bytes()); }

    // `parts` are files beside it.  Throws a Failure that names the file and says what to do, or
    // with DNN_TORCH_NEEDS_PARTS the names of parts that it needs.
    explicit OnnxFile(FileBytes file, std::vector<FileBytes> parts = {});

    const std::string &name() const noexcept { return file().name(); }
    const OnnxModel &model() const noexcept { return model_; }
    const OnnxNetwork &network() const noexcept { return network_; }
    // A hash of the file and its parts.
    std::string hash() const;
    [[noreturn]] void refuse(const std::string &words) const { file().refuse(words); }

private:
    const FileBytes &file() const noexcept { return files_->front(); }

    std::shared_ptr<const std::vector<FileBytes>> files_; // and its parts
    OnnxModel model_;                                     // views of the files
    OnnxNetwork network_;
};

} // namespace engine_torch
