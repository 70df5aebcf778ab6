// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// engine-host: runs one model in an engine, for a host that does not trust it.  It may open the
// model several times.
//
// The host starts it with the control channel as descriptor 3.  It is no program for users.
#include "cage_report.h"
#include "channel_server.h"
#include "engine_kit/failure.h"
#include "engine_kit/tuning_broker.h"
#include "isolation/protocol/shared_memory.h"
#include "opened_engine.h"
#include "reply.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <vector>

namespace
{

using namespace isolation;
using engine_kit::Phase;

// The memory or the files that the model is read from.
struct Source {
    std::vector<Descriptor> files;
    Mapping data;
    Descriptor sink; // what the option `export` writes to
    Descriptor code; // empty memory for compiled code
};

// The host ends this process by closing the channel, and the kernel does so when the host ends.
void greet()
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const Greeting greeting = greeting_of_this_build();
    if (!send(control_number, greeting, Sending::waits))
        leave("it is started by the filter dnn_torch and by nobody else");
    Greeting theirs = {};
    if (receive_message(control_number, &theirs, sizeof theirs).size != sizeof theirs ||
        std::memcmp(&greeting, &theirs, sizeof theirs) != 0)
        leave("it is of another release than its host");
}

void check(const OpenRequest &request)
{
    require(request.option_count <= most_options && request.part_count <= DNN_TORCH_PARTS);
    require_end(request.engine);
    require_end(request.name);
    for (const auto &part : request.part_names)
        require_end(part);
    for (const WireOption &option : request.options) {
        require_end(option.key);
        require_end(option.value);
    }
}

Source receive_source(OpenRequest &request)
{
    ReceivedMessage received = {};
    do
        received = receive_message(control_number, &request, sizeof request);
    while (received.size == sizeof(PlainRequest) && request.head.kind == Kind::close);
    if (received.size == 0 ||
        (received.size == sizeof(PlainRequest) && request.head.kind == Kind::end))
        _exit(0);
    Source source = {.files = std::move(received.descriptors), .data = {}, .sink = {}, .code = {}};
    const bool has_file = !source.files.empty() || request.part_count > 0;
    if (received.size != sizeof request || (has_file && source.files.size() <= request.part_count))
        leave("the host sent no model");
    check(request);
    if (source.files.size() > 1 + request.part_count) {
        source.sink = std::move(source.files.back());
        source.files.pop_back();
    }
    if (request.data_size > 0) {
        require(!source.files.empty());
        source.data = map_memory(source.files.front().get(), static_cast<size_t>(request.data_size),
                                 Writer::host);
        if (!source.data.start())
            leave("the memory of the model cannot be mapped; raise what limits memory (ulimit -v)");
    }
    return source;
}

template <class Body> void guarded(ReplyHead &head, Body body)
{
    DnnTorchMessage message = {};
    head.status = engine_kit::guarded(Phase::loading, nullptr, &message, body);
    if (head.status != DNN_TORCH_OK)
        put_text(message.text, head.message);
}

// Inside the cage no memory file can be made.
Descriptor memory_for_code(const OpenRequest &request, const Source &source)
{
    const bool is_wanted = std::any_of(
        request.options, request.options + request.option_count, [](const WireOption &option) {
            return std::string_view(option.key) == "allow" &&
                   std::string_view(option.value).find(DNN_TORCH_COMPILED_CODE) !=
                       std::string::npos;
        });
    struct stat file = {};
    if (!is_wanted || source.files.empty() || fstat(source.files.front().get(), &file) != 0)
        return {};
    signal(SIGXFSZ, SIG_IGN);
    Descriptor memory =
        make_shared_memory(static_cast<size_t>(file.st_size), Writer::child).descriptor;
    if (!memory.is_open() && errno == EFBIG)
        leave("there is no memory for compiled code; raise what limits the size of files "
              "(ulimit -f)");
    return memory;
}

// Nothing of the model is read before the cage is closed.  Returns nullptr if it cannot be.
const DnnTorchEngine *prepare(const OpenRequest &request, CageReply &reply)
{
    const DnnTorchEngine *engine = nullptr;
    guarded(reply.head, [&] {
        engine = &open_engine(*request.engine ? request.engine : "torch");
        const std::string report = enter_cage(*engine, request);
        put_text(report, reply.report);
        put_text(engine->name, reply.engine_name);
        put_text(engine->version, reply.engine_version);
    });
    return reply.head.status == DNN_TORCH_OK ? engine : nullptr;
}

DnnTorchModel *open_model(const DnnTorchEngine &engine, const OpenRequest &request,
                          const Source &given, PlainReply &reply)
{
    const bool is_data = request.data_size >= 0;
    std::vector<DnnTorchSource> parts;
    for (size_t i = 0; i < request.part_count; i++)
        parts.push_back({.size = sizeof(DnnTorchSource),
                         .name = request.part_names[i],
                         .fd = given.files[i + 1].get()});
    const DnnTorchSource source = {
        .size = sizeof source,
        .name = request.name,
        .fd = is_data || given.files.empty() ? -1 : given.files.front().get(),
        .data = is_data ? static_cast<const void *>(given.data.start() ? given.data.start() : "")
                        : nullptr,
        .data_size = given.data.size(),
        .sink = given.sink.is_open() ? given.sink.get() : 0,
        .parts = parts.data(),
        .part_count = parts.size(),
        .code = given.code.is_open() ? given.code.get() : 0};
    std::vector<DnnTorchOption> options;
    for (size_t i = 0; i < request.option_count; i++)
        options.push_back({.key = request.options[i].key, .value = request.options[i].value});
    DnnTorchMessage message = {};
    DnnTorchModel *model = nullptr;
    reply.head.status =
        engine.model_open(&source, options.data(), options.size(), &model, &message);
    put_text(std::string_view(message.text, strnlen(message.text, sizeof message.text)),
             reply.head.message);
    return model;
}

void start_channel(ReceivedMessage received, const std::shared_ptr<ServedModel> &model)
{
    if (received.descriptors.size() != 1)
        return;
    try {
        std::thread([model, socket = std::move(received.descriptors.front())]() mutable {
            ChannelServer(std::move(socket), *model).serve();
        }).detach();
    } catch (const std::system_error &) {
        leave("cannot start a thread; raise what limits threads or memory (ulimit -u, ulimit -v)");
    }
}

// A thread that has sent its reply uses the model for a moment longer.
constexpr auto moment_after_a_reply = std::chrono::milliseconds(200);

// Returns whether the host may open the model again.
bool serve_control(const std::shared_ptr<ServedModel> &model)
{
    for (;;) {
        PlainRequest request = {};
        ReceivedMessage received = receive_message(control_number, &request, sizeof request);
        if (received.size != sizeof request)
            return false;
        if (request.head.kind == Kind::channel)
            start_channel(std::move(received), model);
        else if (request.head.kind == Kind::stop)
            model->stop(request.head.id);
        else if (request.head.kind == Kind::plan_close)
            model->close_plan(request.head.id);
        else {
            const bool opens_again = request.head.kind == Kind::close;
            return model->close(opens_again ? moment_after_a_reply
                                            : std::chrono::milliseconds(0)) &&
                   opens_again;
        }
    }
}

// Opens the model and serves it until it is closed.  Returns whether the host may open it again.
bool serve_model(const DnnTorchEngine &engine, const OpenRequest &request, Source source)
{
    auto reply = new_reply<PlainReply>(Kind::open);
    DnnTorchModel *opened = open_model(engine, request, source, *reply);
    source = Source();
    if (!opened)
        return send(control_number, *reply, Sending::waits);
    const auto model = std::make_shared<ServedModel>(engine, opened);
    send_reply(control_number, *reply, *model);
    return serve_control(model);
}

void run()
{
    greet();
    auto request = std::make_unique<OpenRequest>();
    Source source = receive_source(*request);
    source.code = memory_for_code(*request, source);
    const auto cage = new_reply<CageReply>(Kind::cage);
    const DnnTorchEngine *engine = prepare(*request, *cage);
    send(control_number, *cage, Sending::waits);
    while (engine && serve_model(*engine, *request, std::move(source))) {
        source = receive_source(*request);
        send(control_number, *cage, Sending::waits);
    }
}

const std::terminate_handler usual_end = std::get_terminate();

// Nobody catches what constructors of a library's own objects throw while it is loaded.
[[noreturn]] void end_where_nobody_catches()
{
    try {
        if (const std::exception_ptr thrown = std::current_exception())
            std::rethrow_exception(thrown);
    } catch (const std::bad_alloc &) {
        leave("out of memory; raise what limits it (ulimit -v)");
    } catch (...) {
    }
    usual_end();
    std::abort();
}

} // namespace

// Never returns from main(): an engine's exit handlers could hang.
int main()
{
    // What a model prints is passed on at once, because nothing is flushed at the end.
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::set_terminate(end_where_nobody_catches);
    try {
        setenv(engine_torch::tuning_socket_variable, std::to_string(tuning_number).c_str(), 1);
        run();
    } catch (const std::exception &error) {
        leave(error.what());
    }
    _exit(0);
}
