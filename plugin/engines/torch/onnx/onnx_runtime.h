// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// ONNX Runtime, for graphs that this engine does not read.  The system's library is loaded when the
// first of them is opened; without it they are refused.  Needs no LibTorch, and no header of ONNX
// Runtime: its table of functions only grows at the end.
#pragma once

#include "engines/torch/checkpoint/weights.h"
#include "engines/torch/file/file_bytes.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace engine_torch
{

// The environment variable with the path of a library instead of the system's; "0": none.
constexpr const char *onnx_runtime_variable = "DNN_TORCH_ONNX_RUNTIME";

// The operator that runs a graph: no file may use it, only code that was generated here.
constexpr const char *run_onnx = "dnn_torch::run_onnx";

// Returns the version of the library ("1.23.2"), or "" if it is not installed or too old.
const std::string &onnx_runtime_version();

// An input or an output.
struct RuntimeTensor {
    ElementType type = ElementType::float32;
    std::vector<int64_t> shape;
    std::shared_ptr<void> data; // without gaps
};

size_t bytes_of(const RuntimeTensor &tensor);

struct RuntimeInput {
    std::string name;
    ElementType type = ElementType::float32;
    std::optional<std::vector<int64_t>> shape; // -1: any
};

// A graph in ONNX Runtime.  Any thread.
class RuntimeGraph
{
public:
    struct Description {
        std::vector<RuntimeInput> inputs;
        std::vector<std::string> outputs;
    };

    // Throws a WeightFault that says why ONNX Runtime does not take the graph.
    RuntimeGraph(std::shared_ptr<const std::vector<FileBytes>> files, Description description);
    RuntimeGraph(const RuntimeGraph &) = delete;
    RuntimeGraph &operator=(const RuntimeGraph &) = delete;

    // Returns the graph of that number as long as it lives; or null.
    static std::shared_ptr<const RuntimeGraph> find(int64_t number);
    static std::shared_ptr<const RuntimeGraph>
    make(std::shared_ptr<const std::vector<FileBytes>> files, Description description);

    int64_t number() const noexcept { return number_; }
    const Description &description() const noexcept { return description_; }

    // The inputs are of the types that they must have.  Throws std::runtime_error with ONNX
    // Runtime's words, and std::bad_alloc.
    std::vector<RuntimeTensor> run(const std::vector<RuntimeTensor> &inputs, int threads) const;

private:
    using Session = std::shared_ptr<void>;
    Session session_for(int threads, bool has_run) const;

    const std::shared_ptr<const std::vector<FileBytes>> files_; // the graph, and its parts
    const Description description_;
    int64_t number_ = 0;
    mutable std::mutex mutex_;
    // ---- under mutex_
    mutable std::map<int, Session> sessions_; // by their numbers of threads
    mutable bool has_run_ = false;
};

} // namespace engine_torch
