// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What most sources of the LibTorch engine include, read once: reading it takes longer than all
// else in them.  Each source still includes what it uses; -Db_pch=false builds without this file.
#ifndef ENGINE_TORCH_TORCH_HEADERS_H
#define ENGINE_TORCH_TORCH_HEADERS_H

#include <algorithm>
#include <ATen/core/function_schema.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/Tensor.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <vector>

#endif
