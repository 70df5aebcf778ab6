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
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <stdexcept>

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

bool has_control(const DnnTorchDescription &description)
{
    bool found = has_control(description.format) || has_control(description.origin) ||
                 has_control(description.precision);
    for (const auto *values : {&description.inputs, &description.outputs, &description.refused})
        for (const DnnTorchValue &value : *values)
            found = found || has_control(value.name) || has_control(value.type);
    return found;
}

Outcome describe()
{
    DnnTorchDescription description = {};
    DnnTorchMessage message = {};
    const int status = engine->model_describe(file_name, &description, &message);
    if (status == DNN_TORCH_OUT_OF_MEMORY)
        return {Ending::out_of_memory, 0, ""};
    if (status != DNN_TORCH_OK)
        return refusal(status, message);
    if (has_control(description))
        return fault("a description with a control byte in it");
    return {Ending::accepted, 0, ""};
}

struct Picture {
    float samples[most_channels * height * width];
    DnnTorchImages view;
};

Picture picture_of(int channels)
{
    Picture picture = {};
    for (size_t i = 0; i < std::size(picture.samples); i++)
        picture.samples[i] = static_cast<float>(i * 37 % 256) / 255.0F;
    picture.view.element = DNN_TORCH_F32;
    picture.view.batch = 1;
    picture.view.channels = channels;
    picture.view.height = height;
    picture.view.width = width;
    picture.view.column_stride = sizeof(float);
    picture.view.row_stride = picture.view.column_stride * width;
    picture.view.channel_stride = picture.view.row_stride * height;
    picture.view.batch_stride = picture.view.channel_stride * channels;
    return picture;
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

uint64_t digest_of(const DnnTorchImages &images)
{
    Digest digest;
    const int32_t shape[] = {images.element, images.channels, images.height, images.width};
    digest.add(shape, sizeof shape);
    for (int64_t n = 0; n < images.batch; n++)
        for (int64_t c = 0; c < images.channels; c++)
            for (int64_t y = 0; y < images.height; y++)
                for (int64_t x = 0; x < images.width; x++)
                    add_sample(digest,
                               static_cast<const char *>(images.data) + n * images.batch_stride +
                                   c * images.channel_stride + y * images.row_stride +
                                   x * images.column_stride,
                               images.element);
    return digest.value();
}

Outcome run_session(DnnTorchModel *model, int channels)
{
    DnnTorchMessage message = {};
    DnnTorchSession *session = nullptr;
    int status = engine->session_open(model, 1, &session, &message);
    if (status != DNN_TORCH_OK)
        return refusal(status, message);
    Picture picture = picture_of(channels);
    picture.view.data = picture.samples;
    DnnTorchImages output = {};
    status = engine->session_run(session, &picture.view, &output, &message);
    const Outcome outcome = status == DNN_TORCH_OK
                                ? Outcome{Ending::accepted, digest_of(output), ""}
                                : refusal(status, message);
    engine->session_close(&session);
    return outcome;
}

// With three channels or with one, whichever it takes.
Outcome run_model(DnnTorchModel *model)
{
    Outcome outcome;
    for (const int channels : {3, 1}) {
        const DnnTorchShape shape = {1, channels, height, width};
        DnnTorchShape result = {};
        DnnTorchMessage message = {};
        const int status = engine->model_probe(model, &shape, &result, &message);
        outcome = status == DNN_TORCH_OK ? run_session(model, channels) : refusal(status, message);
        if (outcome.ending != Ending::refused)
            break;
    }
    return outcome;
}

Outcome open_and_run()
{
    DnnTorchModelOptions options = {};
    options.path = file_name;
    options.optimize = "0";
    DnnTorchModel *model = nullptr;
    DnnTorchMessage message = {};
    const int status = engine->model_open(&options, &model, &message);
    if (status == DNN_TORCH_OUT_OF_MEMORY)
        return {Ending::out_of_memory, 0, ""};
    if (status != DNN_TORCH_OK)
        return refusal(status, message);
    fuzz::input_runs(true);
    Outcome outcome = run_model(model);
    fuzz::input_runs(false);
    if (outcome.ending != Ending::fault && has_control(engine->model_notice(model), SIZE_MAX))
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
