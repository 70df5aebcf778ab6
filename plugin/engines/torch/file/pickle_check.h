// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Checks the values of a TorchScript archive before LibTorch creates objects from them.  Needs no
// LibTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace engine_torch
{

// Says what PyTorch would not have written in a pickle.  The text follows the file's name: "holds a
// tensor that ...".
struct PickleFault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Returns the size in bytes of the record with a tensor's numbers, by its key.
using StorageSize = std::function<std::optional<uint64_t>(std::string_view key)>;

// Returns the class names of all objects, as in "__torch__.nets.Net".  Throws a PickleFault unless
// the pickle consists of what TorchScript writes, ends where the bytes end and is not nested too
// deeply, and every tensor is within its storage.
std::set<std::string> check_pickle(std::string_view bytes, const StorageSize &storage_size);

} // namespace engine_torch
