// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "environment.h"

#include "base/child_process.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace isolation
{
namespace
{

constexpr std::array whole_names = std::to_array<std::string_view>(
    {"GLIBC_TUNABLES", "HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "TZ"});

constexpr std::array beginnings = std::to_array<std::string_view>(
    {"ATEN_",  "CUBLAS_", "CUDA_",   "CUDNN_",    "DNNL_",    "DNN_TORCH_", "GOMP_",
     "HIP_",   "HSA_",    "KMP_",    "LC_",       "MALLOC_",  "MKL_",       "NVIDIA_",
     "OMP_",   "ONEAPI_", "ONEDNN_", "OPENBLAS_", "PYTORCH_", "ROCR_",      "SYCL_",
     "TORCH_", "UR_",     "ZES_",    "ZE_"});

bool is_for_the_child(std::string_view name)
{
    return std::find(whole_names.begin(), whole_names.end(), name) != whole_names.end() ||
           std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view each) { return name.starts_with(each); }) ||
           name.ends_with("SAN_OPTIONS");
}

} // namespace

std::vector<std::string> environment_of_child()
{
    std::vector<std::string> variables = dnn_torch::environment_where(is_for_the_child);
    if (!std::getenv("OPENBLAS_NUM_THREADS"))
        variables.emplace_back("OPENBLAS_NUM_THREADS=1");
    // libgomp's threads spin for milliseconds before they sleep.  Next to an encoder, which uses
    // the other cores, runs with several threads take ten times as long.
    if (!std::getenv("GOMP_SPINCOUNT") && !std::getenv("OMP_WAIT_POLICY"))
        variables.emplace_back("GOMP_SPINCOUNT=3000");
    // LibTorch registers its operators in 40 MiB of small blocks, whose pages are made one by one
    // otherwise.
    if (!std::getenv("GLIBC_TUNABLES"))
        variables.emplace_back("GLIBC_TUNABLES=glibc.malloc.hugetlb=1");
    return variables;
}

} // namespace isolation
