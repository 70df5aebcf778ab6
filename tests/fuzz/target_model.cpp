// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Model files, through the engine's C face: described, opened, and run on a small
// picture, twice, with other bytes in all memory that nobody has written.
#include "change_model.h"
#include "digest.h"
#include "dnn_torch/engine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <stdexcept>
#include <unistd.h>
#include <vector>

namespace
{

using fuzz::Digest;
using fuzz::Ending;
using fuzz::Outcome;

constexpr int width = 24, height = 20, most_channels = 3;
constexpr const char *file_name = "model.pt";

const DnnTorchEngine *engine = nullptr;

// Set by restart_with_environment(), where it is no use to a sanitizer.
void fill_memory(int byte)
{
    mallopt(M_PERTURB, byte);
}

Outcome fault(const std::string &words)
{
    return {Ending::fault, 0, words};
}

// What a terminal would act upon.
bool has_control(const char *text, size_t size)
{
    for (size_t i = 0; i < size && text[i]; i++)
        if (static_cast<unsigned char>(text[i]) < ' ' || text[i] == '\x7f')
            return true;
    return false;
}

template <size_t size> bool has_control(const char (&text)[size])
{
    return has_control(text, size);
}

// A refusal, or what is wrong with it.
Outcome refusal(int status, const DnnTorchMessage &message)
{
    const std::string text(message.text, strnlen(message.text, sizeof message.text));
    if (text.size() < 5 || text.size() > 900)
        return fault("a refusal of " + std::to_string(text.size()) + " bytes");
    if (has_control(message.text))
        return fault("a refusal with a control byte in it");
    if (status == DNN_TORCH_INTERNAL)
        return fault("a refusal as the engine's own fault");
    return {Ending::refused, 0, text};
}

bool has_control(const DnnTorchModel *model)
{
    bool found = false;
    for (const char *key : {"format", "origin", "precision", "notice"})
        if (const char *text = engine->model_metadata(model, key))
            found = found || has_control(text, SIZE_MAX);
    for (const auto direction : {DNN_TORCH_INPUTS, DNN_TORCH_OUTPUTS}) {
        std::vector<DnnTorchTensorInfo> infos(16, {.size = sizeof(DnnTorchTensorInfo)});
        engine->model_tensors(model, direction, infos.data(), infos.size());
        for (const DnnTorchTensorInfo &info : infos)
            found = found || has_control(info.name) || has_control(info.type_text);
    }
    return found;
}

// Gives the engine the file.
int open_model(std::vector<DnnTorchOption> options, DnnTorchModel *&model, DnnTorchMessage &message)
{
    const int fd = open(file_name, O_RDONLY | O_CLOEXEC);
    const DnnTorchSource source = {.size = sizeof source, .name = file_name, .fd = fd};
    const int status =
        engine->model_open(&source, options.data(), options.size(), &model, &message);
    close(fd);
    return status;
}

Outcome describe()
{
    DnnTorchModel *model = nullptr;
    DnnTorchMessage message = {};
    const int status = open_model({{"inspect", "1"}}, model, message);
    if (status == DNN_TORCH_OUT_OF_MEMORY)
        return {Ending::out_of_memory, 0, ""};
    if (status != DNN_TORCH_OK)
        return refusal(status, message);
    const bool found = has_control(model);
    engine->model_close(&model);
    if (found)
        return fault("a description with a control byte in it");
    return {Ending::accepted, 0, ""};
}

struct Picture {
    float samples[most_channels * height * width];
    DnnTorchTensor view;
};

DnnTorchTensor shape_of(int channels)
{
    return {.size = sizeof(DnnTorchTensor),
            .type = DNN_TORCH_F32,
            .rank = 4,
            .dims = {1, channels, height, width}};
}

void fill(Picture &picture, int channels)
{
    for (size_t i = 0; i < std::size(picture.samples); i++)
        picture.samples[i] = static_cast<float>(i * 37 % 256) / 255.0F;
    picture.view = shape_of(channels);
    picture.view.data = picture.samples;
    picture.view.strides[3] = sizeof(float);
    for (int i = 2; i >= 0; i--)
        picture.view.strides[i] = picture.view.strides[i + 1] * picture.view.dims[i + 1];
}

void add_sample(Digest &digest, const char *at, int element)
{
    if (element != DNN_TORCH_F32)
        return digest.add(at, element == DNN_TORCH_U8 ? 1 : 2);
    float value = 0;
    std::memcpy(&value, at, sizeof value);
    // Nobody promises which NaN it is.
    const float told = value != value ? 12345.0F : value;
    digest.add(&told, sizeof told);
}

uint64_t digest_of(const DnnTorchTensor &images)
{
    Digest digest;
    const int64_t *extent = images.dims, *stride = images.strides;
    digest.add(&images.type, sizeof images.type);
    digest.add(extent, 4 * sizeof *extent);
    for (int64_t n = 0; n < extent[0]; n++)
        for (int64_t c = 0; c < extent[1]; c++)
            for (int64_t y = 0; y < extent[2]; y++)
                for (int64_t x = 0; x < extent[3]; x++)
                    add_sample(digest,
                               static_cast<const char *>(images.data) + n * stride[0] +
                                   c * stride[1] + y * stride[2] + x * stride[3],
                               images.type);
    return digest.value();
}

Outcome run_session(const DnnTorchPlan *plan, int channels)
{
    DnnTorchMessage message = {};
    DnnTorchSession *session = nullptr;
    int status = engine->session_open(plan, 1, &session, &message);
    if (status != DNN_TORCH_OK)
        return refusal(status, message);
    Picture picture;
    fill(picture, channels);
    DnnTorchTensor output = {.size = sizeof output};
    DnnTorchRun report = {.size = sizeof report};
    status = engine->session_run(session, &picture.view, 1, &output, 1, &report, &message);
    const Outcome outcome = status == DNN_TORCH_OK
                                ? Outcome{Ending::accepted, digest_of(output), ""}
                                : refusal(status, message);
    engine->session_close(&session);
    return outcome;
}

Outcome run_plan(DnnTorchModel *model, int channels)
{
    const DnnTorchTensor shape = shape_of(channels);
    DnnTorchMessage message = {};
    DnnTorchPlan *plan = nullptr;
    const DnnTorchPlanParameters parameters = {
        .size = sizeof parameters, .budget_seconds = 0, .samples = nullptr};
    const int status = engine->plan_make(model, &shape, 1, &parameters, &plan, &message);
    const Outcome outcome =
        status == DNN_TORCH_OK ? run_session(plan, channels) : refusal(status, message);
    engine->plan_close(&plan);
    return outcome;
}

// With three channels or with one, whichever it takes.
Outcome run_model(DnnTorchModel *model)
{
    Outcome outcome;
    for (const int channels : {3, 1}) {
        const DnnTorchTensor shape = shape_of(channels);
        DnnTorchTensor result = {.size = sizeof result};
        DnnTorchMessage message = {};
        const int status = engine->model_probe(model, &shape, 1, &result, 1, &message);
        outcome = status == DNN_TORCH_OK ? run_plan(model, channels) : refusal(status, message);
        if (outcome.ending != Ending::refused)
            break;
    }
    return outcome;
}

Outcome open_and_run()
{
    DnnTorchModel *model = nullptr;
    DnnTorchMessage message = {};
    const int status = open_model({{"optimize", "0"}}, model, message);
    if (status == DNN_TORCH_OUT_OF_MEMORY)
        return {Ending::out_of_memory, 0, ""};
    if (status != DNN_TORCH_OK)
        return refusal(status, message);
    fuzz::input_runs(true);
    Outcome outcome = run_model(model);
    fuzz::input_runs(false);
    if (outcome.ending != Ending::fault && has_control(model))
        outcome = fault("a notice with a control byte in it");
    engine->model_close(&model);
    return outcome;
}

// What is left where a model wrote something.
bool wrote_a_file()
{
    for (const auto &entry : std::filesystem::directory_iterator("."))
        if (entry.path().filename() != file_name)
            return true;
    return false;
}

Outcome run(std::string_view input)
{
    std::ofstream(file_name, std::ios::binary) << input;
    const Outcome description = describe();
    if (description.ending != Ending::accepted && description.ending != Ending::refused)
        return description;
    fill_memory(0x11);
    const Outcome outcome = open_and_run();
    if (wrote_a_file())
        return fault("a model that wrote a file");
    if (outcome.ending != Ending::accepted)
        return outcome;
    // What lies beyond a tensor's end moves as well.
    const std::string elsewhere(5000, '\x77');
    fill_memory(0xee);
    const Outcome again = open_and_run();
    fill_memory(0);
    if (again.ending != Ending::accepted)
        return fault("accepted once, and not again");
    if (again.digest != outcome.digest)
        return fault("a result that depends on memory that nobody wrote");
    return outcome;
}

// What LibTorch does once, it does before children are forked and not in each of them.
void warm(const std::string &seed)
{
    const std::filesystem::path before = std::filesystem::current_path();
    std::string folder =
        (std::filesystem::temp_directory_path() / "dnn_torch_fuzz.XXXXXX").string();
    if (!mkdtemp(folder.data()))
        throw std::runtime_error("no folder " + folder);
    std::filesystem::current_path(folder);
    run(seed);
    std::filesystem::current_path(before);
    std::filesystem::remove_all(folder);
}

void prepare(const fuzz::Inputs &seeds)
{
    void *library = dlopen(FUZZ_ENGINE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void *symbol = library ? dlsym(library, DNN_TORCH_ENGINE_SYMBOL) : nullptr;
    if (!symbol)
        throw std::runtime_error(FUZZ_ENGINE " is no engine");
    engine = reinterpret_cast<DnnTorchEngineFunction *>(symbol)(DNN_TORCH_ENGINE_ABI);
    if (!seeds.empty())
        warm(seeds.front());
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "model",
    .prepare = prepare,
    .run = run,
    .change = fuzz::change_model,
    .damage_must_show = true,
    .seconds = 10,
    .memory = uint64_t{1} << 30,
    .inputs_a_fork = 200,
};
