// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What is known of this machine's devices, before anything is concluded from it.
#pragma once

#include "cpu.h"
#include "device_files.h"
#include "probe.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dnn_torch
{

// How the asking went.  Only a probe that was `finished` has said all.
struct ProbeState {
    bool asked = false;
    ProbeResult::Outcome outcome = ProbeResult::Outcome::finished;
    std::string detail;

    bool finished() const { return asked && outcome == ProbeResult::Outcome::finished; }
};

// A file that the Level Zero loader looks for.
struct ZeDriverFile {
    std::string name; // "libze_intel_gpu.so.1"
    bool present;
    std::string failure; // why it cannot be loaded; empty if it can
};

struct ZeDevice {
    std::string name;
    std::string type; // "gpu", "cpu", "fpga", "mca", "npu"
    int64_t memory;   // bytes
    int64_t compute_units;
    std::string driver_version; // "1.3.27191"
    int api_major, api_minor;   // of the driver's Level Zero
};

struct LevelZeroFacts {
    ProbeState probe;
    bool supported = true; // by this build: it had the headers
    std::string loader;    // the path of the loader; empty: none, or one that is broken
    std::string loader_failure;
    std::vector<ZeDriverFile> driver_files;
    std::string init_failure; // empty: drivers are there and answer
    int drivers = 0;
    std::vector<ZeDevice> devices;
};

struct CudaDevice {
    std::string name;
    int64_t memory; // bytes
};

// NVIDIA's driver, without LibTorch.
struct CudaFacts {
    ProbeState probe;
    bool has_library = false;    // libcuda.so.1 is there
    std::string library_failure; // why it cannot be loaded; empty if it can
    std::string driver_version;  // of the CUDA that it supports: "12.4"
    std::string init_failure;    // "CUDA_ERROR_NO_DEVICE, 100"; empty: it answers
    std::vector<CudaDevice> devices;
};

struct TorchDevice {
    std::string name; // "cuda:0", or "cuda" for a kind of which there is none
    std::string description;
    int64_t memory; // bytes; 0: not known
    bool usable;
    std::string reason; // if not
};

struct TorchFacts {
    ProbeState probe;
    std::string engine_path;        // empty: there is no engine
    std::string failure;            // why the engine cannot be loaded; empty if it can
    std::string name, version;      // "LibTorch", "2.6.0"
    std::string onednn, onednn_isa; // "3.7.0", "AVX-512 bf16"; empty: not known
    int openmp_threads = 0;         // 0: not known
    bool lists_devices = false;     // if not, it runs on the CPU alone
    std::vector<TorchDevice> devices;
};

struct Facts {
    CpuInfo cpu;
    std::vector<DeviceFile> files;
    LevelZeroFacts level_zero;
    CudaFacts cuda;
    TorchFacts torch;
};

struct ProbePlaces {
    std::string probe;  // the path of device-probe; empty: not installed
    std::string engine; // the path of the engine; empty: not installed
};

// Each makes facts of what one probe said; without a process, for tests.
LevelZeroFacts level_zero_facts(const ProbeResult &result);
CudaFacts cuda_facts(const ProbeResult &result);
TorchFacts torch_facts(const ProbeResult &result, const std::string &engine_path);

// Names the devices of LibTorch, which may not do it itself, as their drivers do.
// Both count alike; where one counts more, nobody knows which are which.
void describe_devices(Facts &facts);

// All there is to know; takes at most three probes' limits.
Facts gather_facts(const ProbePlaces &places, std::chrono::milliseconds limit = usual_probe_limit);

// As much of it as verdict_for() needs for this option value: nothing for "cpu",
// and a driver only where LibTorch has an interest in it and found no device.
Facts gather_facts_for(const std::string &device, const ProbePlaces &places,
                       std::chrono::milliseconds limit = usual_probe_limit);

} // namespace dnn_torch
