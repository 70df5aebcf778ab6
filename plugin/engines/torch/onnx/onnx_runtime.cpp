// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "onnx_runtime.h"

#include "base/compose.h"
#include "engine_kit/text.h"
#include "engines/torch/graphs/called_objects.h"
#include "onnx_file.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <iostream>
#include <new>
#include <stdexcept>
#include <streambuf>
#include <utility>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

// ---- the library's table

// Objects of the library.
struct Env;
struct SessionOptions;
struct OrtSession;
struct MemoryInfo;
struct Value;
struct ShapeInfo;
struct StatusObject;
struct RunOptions;
using Status = StatusObject *; // null: it succeeded

constexpr uint32_t api_version = 18; // of ONNX Runtime 1.18, the first one with all of these

// Places in the table OrtApi, and the types of the functions there.  A new version of ONNX Runtime
// adds to its end.
template <size_t at, class Type> struct Slot {
    using Function = Type;
    static constexpr size_t place = at;
};
using GetErrorMessage = Slot<2, const char *(const StatusObject *)>;
using Log = void(void *, int, const char *, const char *, const char *, const char *);
using CreateEnvWithCustomLogger = Slot<4, Status(Log *, void *, int, const char *, Env **)>;
using DisableTelemetryEvents = Slot<6, Status(const Env *)>;
using CreateSessionFromArray =
    Slot<8, Status(const Env *, const void *, size_t, const SessionOptions *, OrtSession **)>;
using Run = Slot<9, Status(OrtSession *, const RunOptions *, const char *const *,
                           const Value *const *, size_t, const char *const *, size_t, Value **)>;
using CreateSessionOptions = Slot<10, Status(SessionOptions **)>;
using DisableMemPattern = Slot<17, Status(SessionOptions *)>;
using SetIntraOpNumThreads = Slot<24, Status(SessionOptions *, int)>;
using SetInterOpNumThreads = Slot<25, Status(SessionOptions *, int)>;
using CreateTensorWithDataAsOrtValue =
    Slot<49, Status(const MemoryInfo *, void *, size_t, const int64_t *, size_t, int, Value **)>;
using IsTensor = Slot<50, Status(const Value *, int *)>;
using GetTensorMutableData = Slot<51, Status(Value *, void **)>;
using GetTensorElementType = Slot<60, Status(const ShapeInfo *, int *)>;
using GetDimensionsCount = Slot<61, Status(const ShapeInfo *, size_t *)>;
using GetDimensions = Slot<62, Status(const ShapeInfo *, int64_t *, size_t)>;
using GetTensorTypeAndShape = Slot<65, Status(const Value *, ShapeInfo **)>;
using CreateCpuMemoryInfo = Slot<69, Status(int, int, MemoryInfo **)>;
using ReleaseStatus = Slot<93, void(StatusObject *)>;
using ReleaseMemoryInfo = Slot<94, void(MemoryInfo *)>;
using ReleaseSession = Slot<95, void(OrtSession *)>;
using ReleaseValue = Slot<96, void(Value *)>;
using ReleaseShapeInfo = Slot<99, void(ShapeInfo *)>;
using ReleaseSessionOptions = Slot<100, void(SessionOptions *)>;
using AddSessionConfigEntry = Slot<130, Status(SessionOptions *, const char *, const char *)>;
using AddExternalInitializersFromFilesInMemory =
    Slot<279, Status(SessionOptions *, const char *const *, char *const *, const size_t *, size_t)>;

struct ApiBase {
    const void *const *(*table_of)(uint32_t version);
    const char *(*version)();
};

// ---- the library

// Debian's LibTorch and ONNX Runtime share libonnx, which complains on std::cerr of each operator
// that is registered a second time.
class SilentErrors
{
public:
    SilentErrors() : before_(std::cerr.rdbuf(&nowhere_)) {}
    ~SilentErrors() { std::cerr.rdbuf(before_); }
    SilentErrors(const SilentErrors &) = delete;
    SilentErrors &operator=(const SilentErrors &) = delete;

private:
    class Nowhere : public std::streambuf
    {
        int overflow(int character) override { return character == EOF ? 0 : character; }
        std::streamsize xsputn(const char *, std::streamsize size) override { return size; }
    };

    Nowhere nowhere_;
    std::streambuf *before_;
};

// Loaded once and never unloaded: it starts threads.
class Library
{
public:
    static const Library &get()
    {
        static const Library library;
        return library;
    }
    const std::string &version() const noexcept { return version_; }
    const Env *env() const noexcept { return env_; }
    template <class Slot> auto function() const
    {
        return reinterpret_cast<typename Slot::Function *>(const_cast<void *>(table_[Slot::place]));
    }
    // Throws a std::runtime_error with the library's words, or std::bad_alloc.
    template <class Slot, class... Arguments> void call(Arguments... arguments) const
    {
        check(function<Slot>()(arguments...));
    }
    void check(Status status) const;

private:
    Library();

    const void *const *table_ = nullptr;
    Env *env_ = nullptr;
    std::string version_; // "": there is none
};

// Debian's name has both numbers of the version.  The first that can be opened is taken.
std::vector<std::string> library_names()
{
    constexpr int oldest = 18, newest = 40;
    if (const char *named = secure_getenv(onnx_runtime_variable))
        return *named == '/' ? std::vector<std::string>{named} : std::vector<std::string>();
    std::vector<std::string> names = {"libonnxruntime.so.1"};
    for (int version = newest; version >= oldest; version--)
        names.push_back(concat("libonnxruntime.so.1.", version));
    return names;
}

void *open_library()
{
    for (const std::string &name : library_names())
        if (void *const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
            return library;
    return nullptr;
}

Library::Library()
{
    void *const library = open_library();
    using GetBase = const ApiBase *();
    auto *const get_base =
        library ? reinterpret_cast<GetBase *>(dlsym(library, "OrtGetApiBase")) : nullptr;
    if (!get_base || !(table_ = get_base()->table_of(api_version)))
        return;
    constexpr int fatal = 4; // what is an error comes back as a status
    const auto nowhere = [](void *, int, const char *, const char *, const char *, const char *) {};
    if (Status failed =
            function<CreateEnvWithCustomLogger>()(nowhere, nullptr, fatal, "dnn_torch", &env_)) {
        function<ReleaseStatus>()(failed);
        return;
    }
    if (Status failed = function<DisableTelemetryEvents>()(env_))
        function<ReleaseStatus>()(failed);
    version_ = get_base()->version();
}

// Checks of the library's begin with a place in its source and a function: "/a/b.cc:12 int f(int)
// ".
std::string without_place(const std::string &text)
{
    size_t at = text.starts_with('/') ? text.find('(') : std::string::npos;
    if (at == std::string::npos)
        return text;
    int depth = 0;
    for (; at < text.size(); at++) {
        depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
        if (depth == 0)
            break;
    }
    std::string_view rest = std::string_view(text).substr(std::min(at + 1, text.size()));
    for (const std::string_view before : {std::string_view(" const"), std::string_view(" ")})
        if (rest.starts_with(before))
            rest.remove_prefix(before.size());
    if (rest.starts_with("[with ")) // of a template
        rest.remove_prefix(std::min(rest.find("] ") + 2, rest.size()));
    return rest.empty() ? text : std::string(rest);
}

void Library::check(Status status) const
{
    if (!status)
        return;
    const std::string text = function<GetErrorMessage>()(status);
    function<ReleaseStatus>()(status);
    for (const char *sign : {"Failed to allocate memory", "bad_alloc", "bad allocation"})
        if (text.find(sign) != std::string::npos)
            throw std::bad_alloc();
    throw std::runtime_error(without_place(text));
}

// ---- its objects

template <class Release, class Object> auto owned(Object *object)
{
    return std::shared_ptr<Object>(object, Library::get().function<Release>());
}

// ONNX's numbers of the types; see element_type().
int number_of(ElementType type)
{
    for (int number = 1; number <= 16; number++)
        if (element_type(number) == type)
            return number;
    throw std::runtime_error("a tensor is of a type that ONNX does not have");
}

std::shared_ptr<MemoryInfo> processor_memory()
{
    constexpr int arena = 1, by_default = 0;
    MemoryInfo *info = nullptr;
    Library::get().call<CreateCpuMemoryInfo>(arena, by_default, &info);
    return owned<ReleaseMemoryInfo>(info);
}

std::shared_ptr<Value> value_of(const RuntimeTensor &tensor)
{
    static const std::shared_ptr<MemoryInfo> memory = processor_memory();
    Value *value = nullptr;
    Library::get().call<CreateTensorWithDataAsOrtValue>(
        memory.get(), tensor.data.get(), bytes_of(tensor), tensor.shape.data(), tensor.shape.size(),
        number_of(tensor.type), &value);
    return owned<ReleaseValue>(value);
}

// Shares the memory of the value.
RuntimeTensor tensor_of(const std::shared_ptr<Value> &value, const std::string &name)
{
    const Library &library = Library::get();
    int is_tensor = 0;
    if (value)
        library.call<IsTensor>(value.get(), &is_tensor);
    if (!is_tensor)
        throw std::runtime_error(concat("the model returned no tensor for ", name));
    ShapeInfo *given = nullptr;
    library.call<GetTensorTypeAndShape>(value.get(), &given);
    const auto info = owned<ReleaseShapeInfo>(given);
    int number = 0;
    size_t rank = 0;
    library.call<GetTensorElementType>(info.get(), &number);
    library.call<GetDimensionsCount>(info.get(), &rank);
    const auto type = element_type(number);
    if (!type)
        throw std::runtime_error(
            concat("the model returned ", name, " of a type that is not known here"));
    RuntimeTensor tensor = {.type = *type, .shape = std::vector<int64_t>(rank), .data = {}};
    library.call<GetDimensions>(info.get(), tensor.shape.data(), rank);
    void *data = nullptr;
    library.call<GetTensorMutableData>(value.get(), &data);
    tensor.data = std::shared_ptr<void>(value, data);
    return tensor;
}

// ---- sessions

void add_parts(SessionOptions *options, const std::vector<FileBytes> &files)
{
    std::vector<const char *> names;
    std::vector<char *> data;
    std::vector<size_t> sizes;
    for (size_t i = 1; i < files.size(); i++) {
        names.push_back(files[i].name().c_str());
        data.push_back(const_cast<char *>(files[i].bytes().data())); // it only reads
        sizes.push_back(files[i].bytes().size());
    }
    if (!names.empty())
        Library::get().call<AddExternalInitializersFromFilesInMemory>(
            options, names.data(), data.data(), sizes.data(), names.size());
}

std::shared_ptr<OrtSession> open_session(const std::vector<FileBytes> &files, int threads)
{
    const SilentErrors silent;
    const Library &library = Library::get();
    SessionOptions *made = nullptr;
    library.call<CreateSessionOptions>(&made);
    const auto options = owned<ReleaseSessionOptions>(made);
    library.call<SetIntraOpNumThreads>(made, threads);
    library.call<SetInterOpNumThreads>(made, 1);
    // Frames may change their size.
    library.call<DisableMemPattern>(made);
    // Workers share the cores.
    library.call<AddSessionConfigEntry>(made, "session.intra_op.allow_spinning", "0");
    add_parts(made, files);
    OrtSession *session = nullptr;
    const std::string_view graph = files.front().bytes();
    library.call<CreateSessionFromArray>(library.env(), graph.data(), graph.size(), made, &session);
    return owned<ReleaseSession>(session);
}

CalledObjects<RuntimeGraph> &graphs()
{
    static CalledObjects<RuntimeGraph> all;
    return all;
}

} // namespace

size_t bytes_of(const RuntimeTensor &tensor)
{
    size_t bytes = bytes_of(tensor.type);
    for (const int64_t extent : tensor.shape)
        bytes *= static_cast<size_t>(extent);
    return bytes;
}

const std::string &onnx_runtime_version()
{
    return Library::get().version();
}

std::shared_ptr<const RuntimeGraph>
RuntimeGraph::make(std::shared_ptr<const std::vector<FileBytes>> files, Description description)
{
    const auto graph = std::make_shared<RuntimeGraph>(std::move(files), std::move(description));
    graph->number_ = graphs().add(graph);
    return graph;
}

std::shared_ptr<const RuntimeGraph> RuntimeGraph::find(int64_t number)
{
    return graphs().find(number);
}

RuntimeGraph::RuntimeGraph(std::shared_ptr<const std::vector<FileBytes>> files,
                           Description description)
    : files_(std::move(files)), description_(std::move(description))
{
    try {
        session_for(1, false);
    } catch (const std::runtime_error &error) {
        throw WeightFault(engine_kit::short_message(error.what()));
    }
}

RuntimeGraph::Session RuntimeGraph::session_for(int threads, bool has_run) const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    // The weights of one that only tried the graph would stay in memory.
    if (has_run && !std::exchange(has_run_, true) && sessions_.count(threads) == 0)
        sessions_.clear();
    Session &session = sessions_[threads];
    if (!session)
        session = open_session(*files_, threads);
    return session;
}

std::vector<RuntimeTensor> RuntimeGraph::run(const std::vector<RuntimeTensor> &inputs,
                                             int threads) const
{
    const Session session = session_for(threads, true);
    std::vector<std::shared_ptr<Value>> owners;
    std::vector<const Value *> values;
    std::vector<const char *> names, wanted;
    for (size_t i = 0; i < inputs.size(); i++) {
        owners.push_back(value_of(inputs[i]));
        values.push_back(owners.back().get());
        names.push_back(description_.inputs[i].name.c_str());
    }
    for (const std::string &name : description_.outputs)
        wanted.push_back(name.c_str());
    std::vector<Value *> made(wanted.size());
    Library::get().call<Run>(static_cast<OrtSession *>(session.get()), nullptr, names.data(),
                             values.data(), values.size(), wanted.data(), wanted.size(),
                             made.data());
    std::vector<std::shared_ptr<Value>> results(made.size()); // all are owned before one is refused
    for (size_t i = 0; i < made.size(); i++)
        results[i] = owned<ReleaseValue>(made[i]);
    std::vector<RuntimeTensor> tensors(made.size());
    for (size_t i = 0; i < made.size(); i++)
        tensors[i] = tensor_of(results[i], description_.outputs[i]);
    return tensors;
}

} // namespace engine_torch
