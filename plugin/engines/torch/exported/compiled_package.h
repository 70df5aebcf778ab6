// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reads a package of AOTInductor: a library of compiled code, and what models/export_model.py wrote
// into the package about it.  Opens nothing.  Needs no LibTorch.
#pragma once

#include "engines/torch/checkpoint/weights.h"
#include "engines/torch/file/file_bytes.h"
#include "engines/torch/file/zip_records.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine_torch
{

// A size that is the same wherever the inputs have it.
struct CompiledSymbol {
    std::string name;
    int64_t least = 0, most = 0;
};

// A number, or a multiple of a symbol.
struct CompiledExtent {
    std::optional<size_t> symbol = {};
    int64_t number = 0; // or the factor
};

struct CompiledInput {
    std::string name; // a name of Python's
    ElementType type = ElementType::float32;
    std::vector<CompiledExtent> shape;
};

// What the code expects of its inputs and does not check itself.
struct CompiledInterface {
    std::vector<CompiledSymbol> symbols;
    std::vector<CompiledInput> inputs;
    std::vector<std::string> outputs; // names of Python's
};

// Returns why these shapes of the inputs do not fit, or "".
std::string fault_of_shapes(const CompiledInterface &interface,
                            const std::vector<std::vector<int64_t>> &shapes);

// Never changes; any thread.
class CompiledPackage
{
public:
    // By the names of the records.
    static bool is_one(const FileBytes &file);

    // Throws a Failure that names the file and says what to do.
    explicit CompiledPackage(FileBytes file);

    const std::string &name() const noexcept { return file_.name(); }
    const CompiledInterface &interface() const noexcept { return interface_; }
    // The version of LibTorch that the code is for: "2.14.1".
    const std::string &libtorch() const noexcept { return libtorch_; }
    // The library.
    std::string_view code() const noexcept { return code_; }
    // What the interface tells about the picture, as JSON.
    std::string contract() const;
    // A hash of the whole file.
    std::string hash() const;
    // Throws a Failure unless the code is for this LibTorch and this machine's processor, and whole.
    void expect_for(std::string_view libtorch) const;
    [[noreturn]] void refuse(const std::string &words) const { file_.refuse(words); }

private:
    void read();
    void read_facts(std::string_view record);

    FileBytes file_;
    std::optional<ZipRecords> zip_; // owns decompressed records
    std::string_view code_;
    std::string libtorch_, machine_;
    std::vector<std::string> instructions_;
    CompiledInterface interface_;
};

} // namespace engine_torch
