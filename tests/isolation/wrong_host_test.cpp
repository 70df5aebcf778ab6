// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// engine-host under a host whose messages are wrong, late, or end in the middle: it must end by
// itself, by no signal, as soon as the host is gone.
//
//   wrong_host_test ENGINE_HOST    DNN_TORCH_CONVERSATIONS=N holds that many
#include "base/child_process.h"
#include "fuzz/message_fields.h"
#include "fuzz/random.h"
#include "isolation/protocol/channel.h"
#include "isolation/protocol/messages.h"
#include "isolation/protocol/shared_memory.h"
#include "isolation/protocol/tensor_views.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <poll.h>
#include <string>
#include <vector>

namespace
{

using namespace isolation;
using namespace std::chrono_literals;
using fuzz::add, fuzz::add_tensor, fuzz::Field, fuzz::Fields, fuzz::Random;

std::string engine_host;

constexpr int width = 6, height = 4, channels = 3;
constexpr size_t picture_bytes = sizeof(float) * width * height * channels;

// ---- what goes wrong -------------------------------------------------------------------

// What is wrong with one message.
struct Wrong {
    size_t message = 0; // its place in the conversation
    enum Kind {
        field,
        text,
        size,
        no_descriptors,
        other_descriptors,
        more_descriptors,
        twice,
        left_out,
        other_kind,
        end,
        count
    } kind = end;
};

Fields fields_of(Kind kind)
{
    Fields fields;
    FIELD(fields, 0, Head, kind);
    FIELD(fields, 0, Head, id);
    switch (kind) {
    case Kind::open:
        FIELD(fields, 0, OpenRequest, data_size);
        FIELD(fields, 0, OpenRequest, part_count);
#if !defined(__SANITIZE_ADDRESS__) // it ends a process whose memory is limited
        FIELD(fields, 0, OpenRequest, memory_bytes);
#endif
        FIELD(fields, 0, OpenRequest, option_count);
        break;
    case Kind::tensors:
        FIELD(fields, 0, TensorsRequest, direction);
        break;
    case Kind::probe:
    case Kind::plan:
        FIELD(fields, 0, ShapesRequest, samples_bytes);
        FIELD(fields, 0, ShapesRequest, in_count);
        FIELD(fields, 0, ShapesRequest, out_count);
        add_tensor(fields, offsetof(ShapesRequest, samples));
        add_tensor(fields, offsetof(ShapesRequest, in));
        break;
    case Kind::session_open:
        FIELD(fields, 0, SessionRequest, plan);
        break;
    case Kind::session_run:
        add(fields, offsetof(RunRequest, new_areas), 8, area_count);
        FIELD(fields, 0, RunRequest, in_count);
        FIELD(fields, 0, RunRequest, out_count);
        add(fields, offsetof(RunRequest, requested), sizeof(RunRequest::requested[0]), 2);
        add_tensor(fields, offsetof(RunRequest, in));
        break;
    case Kind::output:
        FIELD(fields, 0, OutputRequest, bytes);
        break;
    default:
        break;
    }
    return fields;
}

uint64_t any_number(Random &random)
{
    const uint64_t odd[] = {
        0,
        1,
        2,
        3,
        17,
        63,
        65,
        4096,
#if !defined(__SANITIZE_ADDRESS__) // it ends a process that asks for more memory than there is
        1 << 20,
        0x7fffffff,
        0x80000000,
        0xffffffff,
        uint64_t{1} << 40,
#endif
        INT64_MAX,
        uint64_t{1} << 63,
        UINT64_MAX,
        UINT64_MAX - 63
    };
    return random.one_in(4) ? random.below(100) : random.pick(odd);
}

// ---- one conversation ------------------------------------------------------------------

class Conversation
{
public:
    explicit Conversation(uint64_t seed) : random_(seed)
    {
        wrong_.message = random_.below(messages);
        wrong_.kind = static_cast<Wrong::Kind>(random_.below(Wrong::count));
        // A field is wrong most often.
        if (random_.one_in(2))
            wrong_.kind = Wrong::field;
    }

    // Returns what is wrong with the way in which the child ended, or "".
    std::string hold();

private:
    static constexpr size_t messages = 22;

    bool start();
    void speak();
    void speak_of_model();
    void speak_of_session();
    void run(int number);
    std::string judge();

    // Sends it, well or wrong.  Returns false if there is no more to say.
    template <class Message>
    bool say(int channel, Message &message, std::vector<int> descriptors = {});
    template <class Message> void spoil(Message &message);
    // Waits for a reply for a moment, whatever it is.
    template <class Reply> bool hear(int channel, Reply &reply);

    Random random_;
    Wrong wrong_;
    size_t said_ = 0; // messages
    bool is_over_ = false;
    Descriptor control_, tuning_, channel_;
    std::unique_ptr<dnn_torch::ChildProcess> child_;
};

template <class Message> void Conversation::spoil(Message &message)
{
    Head head = {};
    std::memcpy(&head, &message, std::min(sizeof head, sizeof message));
    auto *const bytes = reinterpret_cast<char *>(&message);
    if (wrong_.kind == Wrong::text) { // no text ends
        for (size_t i = sizeof head; i < sizeof message; i++)
            bytes[i] = bytes[i] ? bytes[i] : 'x';
        return;
    }
    const Field field = random_.pick(fields_of(head.kind));
    const uint64_t number = any_number(random_);
    if (field.at + field.width <= sizeof message)
        std::memcpy(bytes + field.at, &number, field.width);
}

template <class Message>
bool Conversation::say(int channel, Message &message, std::vector<int> descriptors)
{
    if (is_over_)
        return false;
    const bool is_wrong = said_++ == wrong_.message;
    size_t size = sizeof message;
    std::vector<char> longer(size + 4096);
    if (is_wrong) {
        switch (wrong_.kind) {
        case Wrong::field:
        case Wrong::text:
            spoil(message);
            break;
        case Wrong::size:
            size = random_.one_in(2) ? random_.below(size) : size + random_.below(4096);
            break;
        case Wrong::no_descriptors:
            descriptors.clear();
            break;
        case Wrong::other_descriptors:
            for (int &each : descriptors)
                each = STDIN_FILENO;
            break;
        case Wrong::more_descriptors:
            while (descriptors.size() < most_descriptors)
                descriptors.push_back(channel);
            break;
        case Wrong::left_out:
            return true;
        case Wrong::other_kind: {
            const auto kind = static_cast<uint32_t>(random_.below(20));
            std::memcpy(static_cast<void *>(&message), &kind, sizeof kind);
            break;
        }
        case Wrong::end:
            is_over_ = true;
            return false;
        default:
            break;
        }
    }
    std::memcpy(longer.data(), &message, sizeof message);
    for (int times = is_wrong && wrong_.kind == Wrong::twice ? 2 : 1; times > 0; times--)
        send_bytes(channel, longer.data(), size, descriptors, Sending::never_waits);
    return true;
}

template <class Reply> bool Conversation::hear(int channel, Reply &reply)
{
    if (is_over_)
        return false;
    pollfd about = {.fd = channel, .events = POLLIN, .revents = 0};
    // One that waits for what was left out says nothing.
    if (poll(&about, 1, said_ > wrong_.message ? 100 : 20000) <= 0)
        return false;
    const ReceivedMessage received = receive_message(channel, &reply, sizeof reply);
    is_over_ = received.size == 0;
    return received.size == sizeof reply;
}

bool Conversation::start()
{
    auto control = make_channel(), tuning = make_channel();
    if (!control || !tuning)
        return false;
    pid_t number = 0;
    const char *modules = std::getenv("DNN_TORCH_MODULE_PATH");
    const dnn_torch::ProgramStart start = {
        .program = engine_host,
        .arguments = {},
        .environment = {std::string("DNN_TORCH_MODULE_PATH=") + (modules ? modules : ""),
                        "ASAN_OPTIONS=exitcode=99", "TSAN_OPTIONS=exitcode=99",
                        "UBSAN_OPTIONS=halt_on_error=1:exitcode=99"},
        .inherited = {control->second.get(), tuning->second.get()},
        .has_own_session = true};
    if (dnn_torch::start_program(start, number) != 0)
        return false;
    child_ = std::make_unique<dnn_torch::ChildProcess>(number);
    control_ = std::move(control->first);
    tuning_ = std::move(tuning->first);
    return true;
}

WireTensor picture()
{
    WireTensor tensor = {.type = DNN_TORCH_F32,
                         .rank = 4,
                         .dims = {1, channels, height, width},
                         .strides = {},
                         .white = 0,
                         .low = 0,
                         .high = 1,
                         .area = Area::given,
                         .offset = 0};
    pack_strides(tensor);
    return tensor;
}

void Conversation::speak()
{
    Greeting greeting = greeting_of_this_build(), theirs = {};
    say(control_.get(), greeting);
    hear(control_.get(), theirs);
    constexpr std::string_view script = "scale 2\n";
    const Descriptor memory = make_constant_memory(script.data(), script.size());
    auto open = std::make_unique<OpenRequest>();
    open->head.kind = Kind::open;
    std::strcpy(open->engine, "fake");
    std::strcpy(open->name, "a script");
    open->data_size = static_cast<int64_t>(script.size());
    say(control_.get(), *open, {memory.get()});
    auto cage = std::make_unique<CageReply>();
    hear(control_.get(), *cage);
    auto opened = std::make_unique<PlainReply>();
    hear(control_.get(), *opened);
    auto channel = make_channel();
    if (!channel)
        return;
    PlainRequest request = {.head = {.kind = Kind::channel, .reserved = 0, .id = 0}};
    say(control_.get(), request, {channel->second.get()});
    channel->second = Descriptor();
    channel_ = std::move(channel->first);
    speak_of_model();
    speak_of_session();
    for (const Kind kind : {Kind::plan_close, Kind::stop, Kind::end}) {
        request.head = {.kind = kind, .reserved = 0, .id = 1};
        say(control_.get(), request);
    }
}

void Conversation::speak_of_model()
{
    TensorsRequest tensors = {.head = {.kind = Kind::tensors, .reserved = 0, .id = 0},
                              .direction = DNN_TORCH_INPUTS,
                              .reserved = 0};
    say(channel_.get(), tensors);
    auto infos = std::make_unique<TensorsReply>();
    hear(channel_.get(), *infos);
    KeyRequest key = {.head = {.kind = Kind::metadata, .reserved = 0, .id = 0}, .key = "notice"};
    say(channel_.get(), key);
    auto text = std::make_unique<TextReply>();
    hear(channel_.get(), *text);
    auto shapes = std::make_unique<ShapesRequest>();
    shapes->in_count = shapes->out_count = 1;
    shapes->in[0] = picture();
    shapes->head = {.kind = Kind::probe, .reserved = 0, .id = 0};
    say(channel_.get(), *shapes);
    auto probed = std::make_unique<ProbeReply>();
    hear(channel_.get(), *probed);
    const SharedMemory samples = make_shared_memory(picture_bytes, Writer::host);
    shapes->head = {.kind = Kind::plan, .reserved = 0, .id = 1};
    shapes->samples = picture();
    shapes->samples_bytes = picture_bytes;
    say(channel_.get(), *shapes, {samples.descriptor.get()});
    auto plan = std::make_unique<PlanReply>();
    hear(channel_.get(), *plan);
    key.head = {.kind = Kind::plan_metadata, .reserved = 0, .id = 1};
    say(channel_.get(), key);
    hear(channel_.get(), *text);
}

void Conversation::speak_of_session()
{
    SessionRequest session = {.head = {.kind = Kind::session_open, .reserved = 0, .id = 1},
                              .plan = 1,
                              .threads = 1,
                              .reserved = 0};
    say(channel_.get(), session);
    auto opened = std::make_unique<SessionReply>();
    hear(channel_.get(), *opened);
    auto plain = std::make_unique<PlainReply>();
    PlainRequest request = {.head = {.kind = Kind::session_warm, .reserved = 0, .id = 1}};
    say(channel_.get(), request);
    hear(channel_.get(), *plain);
    for (int number = 0; number < 3; number++)
        run(number);
    for (const Kind kind : {Kind::session_reset, Kind::session_close}) {
        request.head.kind = kind;
        say(channel_.get(), request);
        hear(channel_.get(), *plain);
    }
}

void Conversation::run(int number)
{
    const SharedMemory area = make_shared_memory(picture_bytes, Writer::host);
    auto run = std::make_unique<RunRequest>();
    run->head = {.kind = Kind::session_run, .reserved = 0, .id = 1};
    run->number = number;
    run->new_areas[0] = number == 1 ? 0 : picture_bytes; // once the memory of before
    run->in_count = run->out_count = 1;
    run->in[0] = picture();
    say(channel_.get(), *run,
        number == 1 ? std::vector<int>{} : std::vector{area.descriptor.get()});
    auto reply = std::make_unique<RunReply>();
    if (!hear(channel_.get(), *reply) || reply->wanted_bytes == 0)
        return;
    const size_t bytes = std::min<uint64_t>(reply->wanted_bytes, 1 << 20);
    const SharedMemory memory = make_shared_memory(bytes, Writer::child);
    OutputRequest output = {.head = {.kind = Kind::output, .reserved = 0, .id = 1}, .bytes = bytes};
    say(channel_.get(), output, {memory.descriptor.get()});
    hear(channel_.get(), *reply);
}

std::string Conversation::judge()
{
    const dnn_torch::ChildEnd end = child_->wait(std::chrono::steady_clock::now() + 20s);
    if (!end.come) {
        child_->end_by_force();
        child_->wait(std::chrono::steady_clock::now() + 5s);
        return "it does not end";
    }
    if (!end.known)
        return "";
    // 1 is engine-host's own line; a sanitizer has another status.
    if (WIFEXITED(end.status))
        return WEXITSTATUS(end.status) <= 1 ? "" : "a sanitizer ended it";
    return "it was ended by signal " + std::to_string(WTERMSIG(end.status));
}

std::string Conversation::hold()
{
    if (!start())
        return "it cannot be started";
    speak();
    for (Descriptor *each : {&channel_, &control_, &tuning_})
        *each = Descriptor();
    const std::string fault = judge();
    return fault.empty() ? ""
                         : fault + ": message " + std::to_string(wrong_.message) +
                               ", what is wrong " + std::to_string(wrong_.kind);
}

uint64_t conversations()
{
    const char *text = std::getenv("DNN_TORCH_CONVERSATIONS");
    return text ? std::strtoull(text, nullptr, 10) : 150;
}

TEST(WrongHost, EndsItsChild)
{
    for (uint64_t seed = 0; seed < conversations(); seed++)
        EXPECT_EQ(Conversation(seed).hold(), "") << "seed " << seed;
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc < 2)
        return 2;
    engine_host = argv[1];
    return RUN_ALL_TESTS();
}
