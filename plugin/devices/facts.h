// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The facts about this machine's devices from which verdict.h draws conclusions.
#pragma once

#include "cpu.h"
#include "device_files.h"
#include "dnn_torch/engine.h"
#include "probe.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dnn_torch
{

// The state of a probe.  Its facts are complete only if it finished.
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
    std::string failure; // why it cannot be loaded, or empty
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
    bool supported = true; // whether this build had the headers
    std::string loader;    // the path of the loader; empty if there is none or it is broken
    std::string loader_failure;
    std::vector<ZeDriverFile> driver_files;
    std::string init_failure; // empty if drivers are there and answer
    int64_t init_code = 0;    // of that failure: a ze_result_t
    int drivers = 0;
    std::vector<ZeDevice> devices;
};

struct CudaDevice {
    std::string name;
    int64_t memory; // bytes
};

// NVIDIA's driver, without any engine.
struct CudaFacts {
    ProbeState probe;
    bool has_library = false;    // whether libcuda.so.1 is there
    std::string library_failure; // why it cannot be loaded, or empty
    std::string driver_version;  // the CUDA that it supports: "12.4"
    std::string init_failure;    // "CUDA_ERROR_NO_DEVICE, 100"; empty if it answers
    int64_t init_code = 0;       // of that failure: a CUresult
    // CUDA_VISIBLE_DEVICES, if it is set.  The driver obeys it and lists no other device.
    std::optional<std::string> visible;
    std::vector<CudaDevice> devices;
};

struct EngineDevice {
    std::string name; // "cuda:0", or "cuda" if there is no device of this kind
    std::string description;
    int64_t memory; // bytes; 0: not known
    DnnTorchDeviceState state;
    std::string reason;      // why it is not usable
    std::string remedy = {}; // the engine's; may be empty

    bool usable() const { return state == DNN_TORCH_DEVICE_USABLE; }
};

// An engine and the library that runs its models.
struct EngineFacts {
    ProbeState probe;
    std::string engine_path;        // empty if there is no engine
    std::string failure;            // why the engine cannot be loaded, or empty
    std::string name, version;      // "LibTorch", "2.6.0"
    std::string onednn, onednn_isa; // "3.7.0", "AVX-512 bf16"; empty: not known
    int openmp_threads = 0;         // 0: not known
    bool lists_devices = false;     // false: it runs only on the CPU
    std::vector<EngineDevice> devices;
};

struct Facts {
    CpuInfo cpu;
    std::vector<DeviceFile> files;
    LevelZeroFacts level_zero;
    CudaFacts cuda;
    EngineFacts engine;
};

struct ProbePlaces {
    std::string probe;  // the path of device-probe; empty if it is not installed
    std::string engine; // the path of the engine; empty if it is not installed
};

// Each turns the records of one probe into facts.  They start no process, so tests can
// call them.
LevelZeroFacts level_zero_facts(const ProbeResult &result);
CudaFacts cuda_facts(const ProbeResult &result);
EngineFacts engine_facts(const ProbeResult &result, const std::string &engine_path);

// Copies descriptions and memory sizes from the drivers to the engine's devices if the engine
// gave none.  Both number devices alike.  If one lists more devices than the other, they
// cannot be matched and stay as they are.
void describe_devices(Facts &facts);

// Gathers all facts.  Takes at most three times the limit.
Facts gather_facts(const ProbePlaces &places,
                   std::chrono::milliseconds limit = default_probe_limit);

// Gathers what verdict_for() needs for this value of the option: nothing for "cpu".
// Asks a driver only if the engine's library was built for it and found no device.
Facts gather_facts_for(const std::string &device, const ProbePlaces &places,
                       std::chrono::milliseconds limit = default_probe_limit);

} // namespace dnn_torch
