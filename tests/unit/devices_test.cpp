// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What follows from the facts: every branch of "usable or not, and why".
#include "devices/obstacle.h"
#include "devices/report.h"
#include "devices/verdict.h"

#include <gtest/gtest.h>

using namespace dnn_torch;

namespace
{

using Outcome = ProbeResult::Outcome;

const EngineDevice gpu = {"cuda:0", "Some GPU", 1 << 30, DNN_TORCH_DEVICE_USABLE, ""};
const EngineDevice second_gpu = {"cuda:1", "Old GPU", 1 << 30, DNN_TORCH_DEVICE_FAILED,
                                 "it is too old for this LibTorch"};
const EngineDevice arc = {"xpu:0", "Intel(R) Arc", 8LL << 30, DNN_TORCH_DEVICE_USABLE, ""};
const EngineDevice no_cuda = {"cuda",
                              "",
                              0,
                              DNN_TORCH_DEVICE_BUILT_WITHOUT,
                              "LibTorch 1.13 was built without CUDA",
                              "take pytorch.org's"};
const EngineDevice no_xpu = {"xpu", "", 0, DNN_TORCH_DEVICE_BUILT_WITHOUT,
                             "LibTorch 1.13 was built without XPU"};
const EngineDevice no_gpu_there = {"cuda", "", 0, DNN_TORCH_DEVICE_ABSENT,
                                   "LibTorch finds no CUDA device"};
const EngineDevice no_arc_there = {"xpu", "", 0, DNN_TORCH_DEVICE_ABSENT,
                                   "LibTorch finds no XPU device"};
const ZeDevice ze_arc = {"Intel(R) Arc", "gpu", 8LL << 30, 512, "1.3.27191", 1, 4};

ProbeState said(Outcome outcome, const std::string &detail = "")
{
    return {true, outcome, detail};
}

Facts facts_with(std::vector<EngineDevice> devices)
{
    Facts facts;
    facts.cpu = {.model = "Some CPU",
                 .cores = 4,
                 .allowed_cores = 8,
                 .physical_cores = 8,
                 .nodes = 1,
                 .quota_cores = 4.5,
                 .features = {"AVX2"}};
    facts.engine.probe = said(Outcome::finished);
    facts.engine.engine_path = "/somewhere/engine-torch.so";
    facts.engine.name = "LibTorch";
    facts.engine.version = "2.6.0";
    facts.engine.lists_devices = true;
    facts.engine.devices = std::move(devices);
    return facts;
}

// A LibTorch with XPU support that found nothing, and Level Zero as it should be.
Facts xpu_facts()
{
    Facts facts = facts_with({no_arc_there});
    facts.level_zero.probe = said(Outcome::finished);
    facts.level_zero.loader = "/usr/lib/libze_loader.so.1";
    facts.level_zero.driver_files = {{"libze_intel_gpu.so.1", true, ""},
                                     {"libze_intel_vpu.so.1", false, "cannot open"}};
    facts.level_zero.drivers = 1;
    facts.level_zero.devices = {ze_arc};
    return facts;
}

Facts xpu_facts_without_device(const std::string &init_failure = "", int64_t init_code = 0)
{
    Facts facts = xpu_facts();
    facts.level_zero.devices.clear();
    facts.level_zero.init_failure = init_failure;
    facts.level_zero.init_code = init_code;
    return facts;
}

void expect_words(const Verdict &verdict, const std::string &reason, const std::string &remedy)
{
    EXPECT_FALSE(verdict.usable);
    EXPECT_NE(verdict.reason.find(reason), std::string::npos) << verdict.reason;
    EXPECT_NE(verdict.remedy.find(remedy), std::string::npos) << verdict.remedy;
    for (const std::string &words : {verdict.reason, verdict.remedy}) {
        EXPECT_EQ(words.find('\n'), std::string::npos);
        EXPECT_TRUE(words.empty() || words.back() != '.') << words;
    }
}

void expect_obstacle(const Facts &facts, const std::string &device, const std::string &reason,
                     const std::string &remedy)
{
    expect_words(verdict_for(device, facts), reason, remedy);
}

TEST(Verdict, CpuNeedsNoFacts)
{
    for (const char *device : {"", "cpu"}) {
        Verdict verdict = verdict_for(device, {});
        EXPECT_TRUE(verdict.usable);
        EXPECT_EQ(verdict.device, "cpu");
        EXPECT_FALSE(needs_probe(device));
    }
}

TEST(Verdict, WhatIsNoDeviceIsRefusedInWords)
{
    for (const char *device :
         {"gpu", "cpu:0", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:01", "cuda:0:1",
          "cuda:99999999999999999999", "xpu ", "auto:0", ":0", "cuda 0", "mps"}) {
        expect_obstacle(facts_with({gpu}), device, std::string("'") + device + "'", "give cpu");
        EXPECT_FALSE(needs_probe(device)) << device;
    }
}

TEST(Verdict, AListedDeviceIsUsable)
{
    Facts facts = facts_with({gpu, second_gpu, arc});
    EXPECT_TRUE(verdict_for("cuda:0", facts).usable);
    EXPECT_EQ(verdict_for("cuda", facts).device, "cuda:0");
    EXPECT_EQ(verdict_for("xpu", facts).device, "xpu:0");
    EXPECT_EQ(verdict_for("xpu:0", facts).description, "Intel(R) Arc");
    for (const char *device : {"cuda", "cuda:1", "xpu", "auto"})
        EXPECT_TRUE(needs_probe(device));
}

TEST(Verdict, APartOfLibTorchThatCannotBeLoaded)
{
    Facts facts = facts_with({{"cuda", "", 0, DNN_TORCH_DEVICE_LIBRARY_BROKEN,
                               "the CUDA part of LibTorch 2.6.0 cannot be loaded: libcudart.so.12: "
                               "cannot open shared object file"}});
    expect_obstacle(facts, "cuda", "libcudart.so.12", "install LibTorch again");
}

TEST(Devices, AreNamedByTheirDrivers)
{
    Facts facts = xpu_facts();
    facts.engine.devices = {{"cuda:0", "", 0, DNN_TORCH_DEVICE_USABLE, ""},
                            {"xpu:0", "", 0, DNN_TORCH_DEVICE_USABLE, ""}};
    facts.cuda.devices = {{"Some GPU", 1 << 30}};
    facts.level_zero.devices.push_back({"An NPU", "npu", 0, 1, "1.0", 1, 4});
    describe_devices(facts);
    EXPECT_EQ(verdict_for("cuda", facts).description, "Some GPU");
    EXPECT_EQ(verdict_for("cuda", facts).memory, 1 << 30);
    EXPECT_EQ(verdict_for("xpu", facts).description, "Intel(R) Arc");
    EXPECT_TRUE(level_zero_verdict(ze_arc, facts).usable);
}

TEST(Verdict, AListedDeviceMayBeUnusable)
{
    Facts facts = facts_with({second_gpu, {"cuda:2", "Another", 0, DNN_TORCH_DEVICE_USABLE, ""}});
    expect_obstacle(facts, "cuda:1", "too old for this LibTorch", "choose another");
    EXPECT_EQ(verdict_for("cuda", facts).device, "cuda:2");
    expect_obstacle(facts_with({second_gpu}), "cuda", "too old for this LibTorch",
                    "choose another");
}

TEST(Verdict, AnIndexOutOfRangeNamesThoseThatAreThere)
{
    expect_obstacle(facts_with({gpu, second_gpu}), "cuda:7", "there is no cuda:7",
                    "cuda:0, cuda:1");
    expect_obstacle(facts_with({no_cuda}), "cuda:7", "built without CUDA", "pytorch.org");
}

TEST(Verdict, ALibTorchWithoutTheKind)
{
    Facts facts = xpu_facts();
    facts.engine.devices = {no_cuda, no_xpu};
    expect_obstacle(facts, "cuda", "built without CUDA", "take pytorch.org's");
    expect_obstacle(facts, "xpu", "built without XPU", "use a build of LibTorch with xpu");
    EXPECT_FALSE(needs_level_zero("xpu", facts.engine));
    facts.engine.devices.clear();
    facts.level_zero.probe.asked = false;
    expect_obstacle(facts, "xpu", "LibTorch 2.6.0 lists no xpu device", "go together");
}

TEST(Verdict, AnEngineOfTheCpuAlone)
{
    Facts facts = facts_with({});
    facts.engine.lists_devices = false;
    for (const char *device : {"cuda", "xpu:0"})
        expect_obstacle(facts, device, "runs on the CPU alone", "device=cpu");
    EXPECT_FALSE(needs_level_zero("xpu", facts.engine));
    EXPECT_TRUE(all_verdicts(facts).front().usable);
}

TEST(Verdict, AnEngineThatCannotBeAsked)
{
    struct Case {
        Outcome outcome;
        const char *detail, *failure, *reason, *remedy;
    };
    for (const Case &one :
         {Case{Outcome::not_started, "No such file", "", "cannot be started: No such file",
               "again"},
          Case{Outcome::crashed, "signal 11", "",
               "crashes when it is asked for its devices (signal 11)", "device=cpu"},
          Case{Outcome::out_of_time, "10 s", "", "not tell its devices within 10 s", "device=cpu"},
          Case{Outcome::finished, "", "libtorch.so: not there", "cannot be loaded: libtorch.so",
               "one release"}}) {
        Facts facts = facts_with({gpu, arc});
        facts.engine.probe = said(one.outcome, one.detail);
        facts.engine.failure = one.failure;
        for (const char *device : {"cuda", "cuda:0", "xpu"})
            expect_obstacle(facts, device, one.reason, one.remedy);
        expect_words(all_verdicts(facts).front(), one.reason, one.remedy);
        EXPECT_FALSE(needs_level_zero("xpu", facts.engine));
    }
    Facts none = facts_with({});
    none.engine.engine_path.clear();
    expect_obstacle(none, "cuda", "no engine is installed", "engine-torch.so");
}

TEST(Verdict, CudaLooksForTheDeviceFiles)
{
    Facts facts = facts_with({no_gpu_there});
    expect_obstacle(facts, "cuda", "finds no CUDA device", "install its driver");
    facts.files = {{"/dev/nvidiactl", Vendor::nvidia, true}};
    expect_obstacle(facts, "cuda", "finds no CUDA device", "too old for this LibTorch");
    facts.files = {{"/dev/nvidiactl", Vendor::nvidia, false}};
    expect_obstacle(facts, "cuda", "no permission for /dev/nvidiactl", "NAME video");
    facts.files = {{"/dev/kfd", Vendor::amd, false}};
    expect_obstacle(facts, "cuda", "no permission for /dev/kfd", "NAME render");
    facts.files = {{"/dev/dri/renderD128", Vendor::intel, false}};
    expect_obstacle(facts, "cuda", "finds no CUDA device", "install its driver");
}

TEST(LevelZero, EachLayerHasItsWords)
{
    struct Case {
        const char *reason, *remedy;
        void (*spoil)(LevelZeroFacts &);
    };
    for (const Case &one : {
             Case{"cannot be started: gone", "again",
                  [](LevelZeroFacts &f) { f.probe = said(Outcome::not_started, "gone"); }},
             Case{"crashes when it is asked (signal 11)", "update the driver",
                  [](LevelZeroFacts &f) { f.probe = said(Outcome::crashed, "signal 11"); }},
             Case{"does not answer within 10 s", "update the driver",
                  [](LevelZeroFacts &f) { f.probe = said(Outcome::out_of_time, "10 s"); }},
             Case{"built without Level Zero", "libze-dev",
                  [](LevelZeroFacts &f) { f.supported = false; }},
             Case{"no Level Zero loader", "install libze1",
                  [](LevelZeroFacts &f) { f.loader.clear(); }},
             Case{"loader cannot be loaded: too short", "libze1 again",
                  [](LevelZeroFacts &f) { f.loader_failure = "too short"; }},
             Case{"the Level Zero loader finds no driver", "libze-intel-gpu1",
                  [](LevelZeroFacts &f) { f.driver_files.front().present = false; }},
             Case{"driver cannot be loaded: libigc.so", "depends on",
                  [](LevelZeroFacts &f) { f.driver_files.front().failure = "libigc.so"; }},
             Case{"does not start: DEVICE_LOST", "update the driver",
                  [](LevelZeroFacts &f) { f.init_failure = "DEVICE_LOST, 0x70000001"; }},
             Case{"finds no device", "/dev/dri/renderD*", [](LevelZeroFacts &) {}},
         }) {
        Facts facts = xpu_facts_without_device();
        one.spoil(facts.level_zero);
        expect_obstacle(facts, "xpu", one.reason, one.remedy);
        expect_obstacle(facts, "xpu:0", one.reason, one.remedy);
    }
}

TEST(LevelZero, ADriverMayFindNothing)
{
    Facts facts = xpu_facts_without_device("UNINITIALIZED, 0x78000001", 0x78000001);
    expect_obstacle(facts, "xpu", "no device (it says UNINITIALIZED", "/dev/dri/renderD*");
    facts.files = {{"/dev/dri/renderD128", Vendor::intel, true}};
    expect_obstacle(facts, "xpu", "though the kernel shows an Intel GPU", "update the driver");
    facts.files = {{"/dev/dri/renderD128", Vendor::amd, false}};
    expect_obstacle(facts, "xpu", "no device (it says", "/dev/dri/renderD*");
}

TEST(LevelZero, NoPermission)
{
    for (Vendor vendor : {Vendor::intel, Vendor::unknown})
        for (const char *answer : {"", "UNINITIALIZED", "INSUFFICIENT_PERMISSIONS"}) {
            Facts facts = xpu_facts_without_device(answer);
            facts.files = {{"/dev/dri/renderD128", Vendor::amd, false},
                           {"/dev/dri/renderD129", vendor, false}};
            expect_obstacle(facts, "xpu", "no permission for /dev/dri/renderD129",
                            "adduser NAME render");
        }
}

TEST(LevelZero, TheVersionExplainsButDoesNotForbid)
{
    Facts facts = xpu_facts();
    facts.level_zero.devices.front().api_minor = oldest_ze_minor - 1;
    expect_obstacle(facts, "xpu", "speaks Level Zero 1.2, which is older than 1.3", "update");
    expect_words(level_zero_verdict(facts.level_zero.devices.front(), facts), "Level Zero 1.2",
                 "update");
    facts.engine.devices = {arc};
    EXPECT_TRUE(verdict_for("xpu", facts).usable);
    EXPECT_TRUE(level_zero_verdict(facts.level_zero.devices.front(), facts).usable);
}

TEST(LevelZero, WhereAllIsWellLibTorchHasTheWord)
{
    Facts facts = xpu_facts();
    EXPECT_FALSE(level_zero_obstacle(facts));
    expect_obstacle(facts, "xpu", "finds no XPU device", "go together");
    EXPECT_TRUE(needs_level_zero("xpu:1", facts.engine));
    EXPECT_FALSE(needs_level_zero("cuda", facts.engine));
    EXPECT_FALSE(needs_level_zero("auto", facts.engine));
}

TEST(LevelZero, EachDeviceHasAVerdict)
{
    Facts facts = xpu_facts();
    facts.engine.devices = {arc};
    EXPECT_EQ(level_zero_verdict(ze_arc, facts).device, "xpu:0");
    ZeDevice other = ze_arc;
    other.name = "Another";
    expect_words(level_zero_verdict(other, facts), "LibTorch 2.6.0 does not list it",
                 "ONEAPI_DEVICE_SELECTOR");
    other.type = "npu";
    expect_words(level_zero_verdict(other, facts), "on GPUs alone", "");
    facts.engine.devices = {no_xpu};
    expect_words(level_zero_verdict(ze_arc, facts), "built without XPU", "a build of LibTorch");
}

TEST(Auto, TakesCudaThenXpuThenCpu)
{
    EXPECT_EQ(verdict_for("auto", facts_with({arc, gpu})).device, "cuda:0");
    EXPECT_EQ(verdict_for("auto", facts_with({no_cuda, arc})).device, "xpu:0");
    EXPECT_EQ(verdict_for("auto", facts_with({second_gpu, arc})).device, "xpu:0");
    Verdict cpu = verdict_for("auto", facts_with({no_cuda, no_xpu}));
    EXPECT_TRUE(cpu.usable);
    EXPECT_EQ(cpu.device, "cpu");
    EXPECT_NE(cpu.reason.find("built without CUDA"), std::string::npos) << cpu.reason;
    EXPECT_NE(cpu.reason.find("built without XPU"), std::string::npos) << cpu.reason;
}

TEST(Auto, IsTheCpuWhereNobodyAnswers)
{
    Facts facts = facts_with({gpu});
    facts.engine.probe = said(Outcome::out_of_time, "10 s");
    Verdict verdict = verdict_for("auto", facts);
    EXPECT_TRUE(verdict.usable);
    EXPECT_EQ(verdict.device, "cpu");
    // Once, though it keeps both kinds away.
    EXPECT_EQ(verdict.reason.find("within 10 s"), verdict.reason.rfind("within 10 s"));
}

TEST(AllVerdicts, AreEachKindOnceAndEveryDevice)
{
    std::vector<std::string> names;
    for (const Verdict &verdict : all_verdicts(facts_with({gpu, second_gpu, no_xpu})))
        names.push_back(verdict.device);
    EXPECT_EQ(names, (std::vector<std::string>{"cpu", "cuda:0", "cuda:1", "xpu"}));
}

TEST(Report, TellsCoresFromHyperthreads)
{
    Facts facts = facts_with({gpu});
    EXPECT_EQ(devices_table(facts).find("hyperthread"), std::string::npos);
    facts.cpu.physical_cores = 4;
    facts.cpu.nodes = 2;
    EXPECT_NE(devices_table(facts).find("4 usable cores of 8 hyperthreads in 2 nodes (control"),
              std::string::npos);
    EXPECT_NE(devices_json(facts).find("\"physical_cores\":4"), std::string::npos)
        << devices_json(facts);
}

TEST(Report, SaysWhyBelowEachNo)
{
    std::string table = devices_table(facts_with({gpu, no_xpu}));
    EXPECT_NE(table.find("cuda:0    yes     Some GPU, 1.0 GiB\n"), std::string::npos) << table;
    EXPECT_NE(table.find("xpu       no      none\n          " + no_xpu.reason + "; "),
              std::string::npos)
        << table;
    EXPECT_NE(table.find("4 usable cores (control group: time of 4.5)"), std::string::npos)
        << table;
}

TEST(Report, JsonEscapesWhatDriversSay)
{
    Facts facts =
        facts_with({{"cuda:0", "a \"b\" \\ \t\xff \xc3\xa9", 0, DNN_TORCH_DEVICE_USABLE, ""}});
    std::string json = devices_json(facts);
    EXPECT_NE(json.find(R"("a \"b\" \\ \t\ufffd \u00e9")"), std::string::npos) << json;
}

} // namespace
