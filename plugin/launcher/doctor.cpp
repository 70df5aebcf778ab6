// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "installation.h"
#include "launcher_commands.h"
#include "program.h"

#include "base/compose.h"
#include "base/engine_handshake.h"
#include "base/lavfi_registry.h"
#include "isolation/cage/cage.h"

#include <cstdio>
#include <dlfcn.h>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace dnn_torch
{
namespace
{

constexpr unsigned first_major = 7, last_major = 15; // FFmpeg 4.4 to well past the supported ones
constexpr unsigned patience_s = 60;
constexpr int passed = 0, failed = 1, absent = 2;

// Checks a part in a child process, because it may crash, hang, or conflict with another part.
int in_child(const std::function<int()> &check)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(patience_s);
        int status = check();
        fflush(stdout);
        _exit(status); // skips the libraries' destructors, which are not checked
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return failed;
    if (WIFSIGNALED(status)) {
        printf("%s (signal %d)\n", WTERMSIG(status) == SIGALRM ? "does not come back" : "crashes",
               WTERMSIG(status));
        return failed;
    }
    return WEXITSTATUS(status);
}

template <class Function> void look_up(void *library, const char *name, Function &function)
{
    function = reinterpret_cast<Function>(dlsym(library, name));
}

int open_module(const std::string &path, void *library, unsigned version)
{
    char reason[512] = "";
    FilterRegistry real = dnn_torch_registry_of(library);
    FilterModuleHost host = {.abi = FILTER_MODULE_ABI,
                             .lavfi_version = version,
                             .real = &real,
                             .message = reason,
                             .message_size = sizeof(reason)};
    FilterModuleOpen *open = nullptr;
    void *opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened)
        look_up(opened, FILTER_MODULE_SYMBOL, open);
    if (!open) {
        printf("not served: %s\n", dlerror());
        return failed;
    }
    const FilterModule *module = open(&host);
    const char *fault = module ? module->self_test() : reason;
    if (fault) {
        printf("not served: %s\n", fault);
        return failed;
    }
    printf("served by %s, built for %s, self-test passed\n", path.c_str(),
           version_text(module->built_against).c_str());
    return passed;
}

int check_lavfi(unsigned major)
{
    std::string library_name = concat("libavfilter.so.", major);
    std::string module_name = concat("host-lavfi", major, ".so");
    Part module = find_module(module_name);
    void *library = dlopen(library_name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    unsigned (*lavfi_version)() = nullptr;

    if (library)
        look_up(library, "avfilter_version", lavfi_version);
    if (!lavfi_version) {
        if (!module.path.empty())
            printf("libavfilter %u: not installed, %s waits for it\n", major, module.path.c_str());
        return absent;
    }
    printf("libavfilter %s: ", version_text(lavfi_version()).c_str());
    if (module.path.empty()) {
        printf("not served, there is no %s in %s\n", module_name.c_str(), module.searched.c_str());
        return failed;
    }
    return open_module(module.path, library, lavfi_version());
}

int check_engine()
{
    Part file = find_module("engine-torch.so");
    printf("engine torch: ");
    if (file.path.empty()) {
        printf("not installed, there is no engine-torch.so in %s\n", file.searched.c_str());
        return failed;
    }
    fflush(stdout);
    void *library = dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        printf("not usable: %s\n", dlerror());
        return failed;
    }
    auto [engine, fault] = greet_engine(library);
    if (!engine) {
        printf("not usable: %s %s\n", file.path.c_str(), fault.c_str());
        return failed;
    }
    printf("%s, %s %s\n", file.path.c_str(), engine->name, engine->version);
    return passed;
}

// Opens an invalid model: only a working process can report that it is invalid.
std::string fault_of_isolation(const DnnTorchEngine &engine)
{
    DnnTorchSource source = {.size = sizeof(source),
                             .name = "a model that is none",
                             .fd = -1,
                             .data = "",
                             .data_size = 0};
    DnnTorchOption option = {.key = "engine", .value = "torch"};
    DnnTorchMessage message{};
    DnnTorchModel *model = nullptr;
    int status = engine.model_open(&source, &option, 1, &model, &message);
    engine.model_close(&model);
    return status == DNN_TORCH_BAD_MODEL ? "" : message.text;
}

int check_isolation()
{
    Part file = find_module("engine-isolated.so");
    printf("a process of its own for each model: ");
    if (file.path.empty()) {
        printf("no, there is no engine-isolated.so in %s\n", file.searched.c_str());
        return failed;
    }
    fflush(stdout);
    void *library = dlopen(file.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EngineGreeting greeting =
        library ? greet_engine(library) : EngineGreeting{.engine = nullptr, .fault = dlerror()};
    std::string fault =
        greeting.engine ? fault_of_isolation(*greeting.engine) : std::move(greeting.fault);
    if (!fault.empty()) {
        printf("no, %s\n", fault.c_str());
        return failed;
    }
    printf("yes, by %s\n", file.path.c_str());
    return passed;
}

// Missing layers weaken the sandbox, but the filters still work.
void check_cage()
{
    for (const CageLayer &layer : probe_cage()) {
        printf("cage, %s: ", layer.name.c_str());
        if (layer.closed)
            printf("closes\n");
        else
            printf("stays open, %s\n", layer.reason.c_str());
    }
}

bool check_preload()
{
    Part preload = find_preload();
    if (preload.path.empty())
        printf("preload object: not installed, there is none in %s\n", preload.searched.c_str());
    else
        printf("preload object: %s\n", preload.path.c_str());
    return !preload.path.empty();
}

// Checks the ffmpeg that a command line would run.
bool check_ffmpeg()
{
    std::string path = find_program("ffmpeg");
    Program program = inspect_program(path);
    std::string finding = explain(program.hindrance);
    if (finding.empty() && !program.libavfilter.empty())
        finding = "uses " + program.libavfilter;
    if (finding.empty())
        finding = program.runs == path ? "names no libavfilter" : "is a script";
    if (path.empty())
        printf("ffmpeg: none in PATH\n");
    else
        printf("ffmpeg: %s %s\n", path.c_str(), finding.c_str());
    return program.hindrance == Hindrance::none;
}

} // namespace

int doctor()
{
    bool well = check_preload();
    bool ffmpeg = check_ffmpeg();
    int served = 0;
    for (unsigned major = first_major; major <= last_major; major++)
        served += in_child([major] { return check_lavfi(major); }) == passed;
    if (!served)
        printf("libavfilter: none that is installed is served\n");
    bool engine = in_child(check_engine) == passed;
    bool isolation = in_child(check_isolation) == passed;
    check_cage();
    well = well && ffmpeg && served && engine && isolation;
    printf("%s\n", well ? "all is well" : "something is missing");
    return well ? 0 : 1;
}

} // namespace dnn_torch
