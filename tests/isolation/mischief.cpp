// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mischief.h"

#include "attempts.h"
#include "forged.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <map>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace
{

const std::string forging = "forge_";
constexpr int first_descriptor = 3, last_descriptor = 64;

// Descriptors that it finds: its lanes, the model's file.
std::vector<int> found_descriptors()
{
    std::vector<int> found;
    for (int file = first_descriptor; file < last_descriptor; file++)
        if (fcntl(file, F_GETFD) >= 0)
            found.push_back(file);
    return found;
}

void send_everywhere(const std::vector<char> &bytes, int times)
{
    for (int file : found_descriptors())
        for (int i = 0; i < times; i++)
            send(file, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Of every size that a message might have, and of every byte that a number might be made of.
void send_garbage()
{
    for (size_t size : {1, 8, 64, 1500, 2000, 4096, 20000})
        for (char byte : {'\0', '\x7f', '\xff'})
            send_everywhere(std::vector<char>(size, byte), 1);
}

// One after the other, so that each is the next that some request takes for its own.
void forge(size_t which)
{
    static const std::vector<std::vector<char>> replies = forged_replies();
    if (which < replies.size())
        send_everywhere(replies[which], 1);
}

void flood()
{
    send_everywhere(std::vector<char>(2000, '\1'), 10000);
}

void close_everything()
{
    for (int file : found_descriptors())
        close(file);
}

void shut_everything()
{
    for (int file : found_descriptors())
        shutdown(file, SHUT_RDWR);
}

// What is sent to it is gone.
void eat_everything()
{
    std::vector<char> piece(1 << 16);
    for (int file : found_descriptors())
        while (recv(file, piece.data(), piece.size(), MSG_DONTWAIT) > 0) {
        }
}

void pass_descriptors()
{
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    char byte = 0;
    iovec part = {.iov_base = &byte, .iov_len = 1};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    for (int file : found_descriptors()) {
        std::memcpy(CMSG_DATA(header), &file, sizeof(int));
        sendmsg(file, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

void loop()
{
    volatile bool forever = true;
    while (forever) {
    }
}

// The address is used afterwards, so that each call needs a frame of its own.
int overflow_stack(volatile int *outer)
{
    volatile int frame[1024] = {};
    frame[0] = outer ? *outer + 1 : 0;
    if (frame[0] < 0)
        return 0;
    return overflow_stack(frame) + frame[0];
}

void take_all_memory()
{
    constexpr size_t piece = 16 << 20, most = 4096;
    for (size_t i = 0; i < most; i++) {
        void *memory = std::malloc(piece);
        if (!memory)
            return;
        std::memset(memory, 1, piece);
    }
}

void print_much()
{
    for (int i = 0; i < 100000; i++)
        std::fprintf(i % 2 ? stderr : stdout, "\x1b[31mstranger %d\r\n%%n", i);
}

void start_many_threads()
{
    for (int i = 0; i < 2000; i++)
        try {
            std::thread([] { pause(); }).detach();
        } catch (const std::exception &) {
            return;
        }
}

// The host is whom it would like to reach.
Scene scene_from_within()
{
    const char *home = std::getenv("HOME");
    Scene scene = {};
    scene.home = home ? home : "/root";
    scene.secret = "/etc/passwd";
    scene.spare = "/tmp";
    scene.readable = scene.writable = scene.tcp = scene.unix_ = 0;
    scene.keyboard = scene.terminal = scene.listener = scene.home_handle = 0;
    scene.shared = -1;
    scene.victim = getppid();
    scene.victim_pidfd = -1;
    scene.in_victim = &scene;
    return scene;
}

std::string try_all()
{
    Scene scene = scene_from_within();
    std::string came_about;
    for (const std::vector<Attempt> &attempts :
         {attempts_at_files(), attempts_at_others(), attempts_at_the_kernel()})
        for (const Attempt &attempt : attempts)
            if (attempt.act(scene) == 0)
                came_about += std::string(came_about.empty() ? "" : ", ") + attempt.name;
    return came_about;
}

using Acts = std::map<std::string, void (*)()>;

const Acts &endless_acts()
{
    static const Acts table{
        {"loop", loop},
        {"stop", [] { raise(SIGSTOP); }},
    };
    return table;
}

const Acts &sudden_acts()
{
    static const Acts table{
        {"abort", [] { std::abort(); }},
        {"close_everything", close_everything},
        {"eat_everything", eat_everything},
        {"exit", [] { std::exit(0); }},
        {"exit_at_once", [] { _exit(3); }},
        {"flood", flood},
        {"garbage", send_garbage},
        {"kill", [] { raise(SIGKILL); }},
        {"overflow_stack", [] { overflow_stack(nullptr); }},
        {"pass_descriptors", pass_descriptors},
        {"print", print_much},
        {"segfault", [] { raise(SIGSEGV); }},
        {"shut_everything", shut_everything},
        {"take_all_memory", take_all_memory},
        {"threads", start_many_threads},
        {"throw", [] { throw 1; }},
    };
    return table;
}

std::vector<std::string> names_of(const Acts &acts)
{
    std::vector<std::string> names;
    for (const auto &[name, act] : acts)
        names.push_back(name);
    return names;
}

} // namespace

std::string do_mischief(const std::string &name)
{
    if (name == "attempts")
        return try_all();
    if (name.rfind(forging, 0) == 0)
        forge(std::stoul(name.substr(forging.size())));
    for (const Acts &acts : {sudden_acts(), endless_acts()})
        if (auto act = acts.find(name); act != acts.end())
            act->second();
    return {};
}

std::vector<std::string> sudden_mischief()
{
    return names_of(sudden_acts());
}

std::vector<std::string> forged_mischief()
{
    std::vector<std::string> names;
    for (size_t i = 0; i < forged_replies().size(); i++)
        names.push_back(forging + std::to_string(i));
    return names;
}

std::vector<std::string> endless_mischief()
{
    return names_of(endless_acts());
}

void overwrite(const DnnTorchTensor &tensor)
{
    constexpr size_t far_beyond = 1 << 24;
    std::memset(tensor.data, 0x55, far_beyond);
}
