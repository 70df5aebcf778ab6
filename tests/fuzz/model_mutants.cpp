// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Changes model files at random and opens, describes and runs what comes of it.
//
//   model_mutants ENGINE COUNT SEED FILE...
//
// Each mutant is seen by a child process, so that a signal or a hang costs one
// mutant and is told with the number that makes the same again.  The status is 0
// if there were none, and if no mutant whose CRCs were left alone gave another
// picture than the file that it was made from.
#include "mutations.h"
#include "unit/engine_under_test.h"

#include <fstream>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

constexpr unsigned seconds_for_one = 20;
constexpr std::uint64_t batch = 64;

enum Result { refused, failed, same, different, result_count };
constexpr const char *result_names[result_count] = {"refused", "failed", "the same", "different"};

// What the children tell, in memory that they share.
struct Board {
    std::uint64_t next;
    std::uint64_t counts[2][result_count]; // of repaired mutants behind those left alone
};

struct Subject {
    std::string bytes;
    std::vector<float> picture; // what becomes of the usual one
};

std::string temporary_path()
{
    return "/tmp/model-mutant-" + std::to_string(getppid()) + ".pt";
}

// Nothing where the file is refused or fails.
std::pair<Result, std::vector<float>> run_file(const std::string &path)
{
    DnnTorchDescription description = {};
    DnnTorchMessage message = {};
    engine().model_describe(path.c_str(), &description, &message);
    Model model(options_for(path, "0"));
    if (model.opened.status != DNN_TORCH_OK)
        return {refused, {}};
    Session session(model);
    const Pictures pictures(1, 3, 16, 16);
    if (session.run(pictures).status != DNN_TORCH_OK)
        return {failed, {}};
    return {same, samples_of(session.output)};
}

Result judge(const Subject &subject, const std::string &mutant)
{
    const std::string path = temporary_path();
    std::ofstream(path, std::ios::binary | std::ios::trunc) << mutant;
    const auto [result, picture] = run_file(path);
    if (result != same)
        return result;
    const bool equal =
        picture.size() == subject.picture.size() &&
        std::memcmp(picture.data(), subject.picture.data(), picture.size() * sizeof(float)) == 0;
    return equal ? same : different;
}

void run_batch(const std::vector<Subject> &subjects, std::uint64_t seed, std::uint64_t end,
               Board &board)
{
    for (; board.next < end; ++board.next) {
        alarm(seconds_for_one);
        const Subject &subject = subjects[board.next % subjects.size()];
        const Mutant mutant = mutate(subject.bytes, seed + board.next);
        const Result result = judge(subject, mutant.bytes);
        ++board.counts[mutant.repaired][result];
        if (result == different && !mutant.repaired)
            std::printf("mutant %llu gives another picture\n",
                        static_cast<unsigned long long>(seed + board.next));
        std::fflush(stdout);
    }
}

// How many of them ended by a signal, the alarm's among them.
int run_all(const std::vector<Subject> &subjects, std::uint64_t seed, std::uint64_t count,
            Board &board)
{
    int ended = 0;
    while (board.next < count) {
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            run_batch(subjects, seed, std::min(count, board.next + batch), board);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        std::printf("mutant %llu: %s %d\n", static_cast<unsigned long long>(seed + board.next),
                    WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        ++ended;
        ++board.next;
    }
    return ended;
}

// In a child, since LibTorch's threads do not survive a fork.
std::vector<float> picture_of(const std::string &path)
{
    int ends[2];
    if (pipe(ends) < 0)
        return {};
    if (fork() == 0) {
        const auto [result, picture] = run_file(path);
        const auto size = static_cast<std::int64_t>(picture.size() * sizeof(float));
        const bool whole = write(ends[1], picture.data(), static_cast<std::size_t>(size)) == size;
        _exit(whole ? 0 : 1);
    }
    close(ends[1]);
    std::string bytes;
    char part[4096];
    for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
        bytes.append(part, static_cast<std::size_t>(got));
    close(ends[0]);
    wait(nullptr);
    std::vector<float> picture(bytes.size() / sizeof(float));
    std::memcpy(picture.data(), bytes.data(), picture.size() * sizeof(float));
    return picture;
}

Subject read_subject(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return {bytes.str(), picture_of(path)};
}

} // namespace

int main(int count, char **words)
{
    if (count < 5) {
        std::fprintf(stderr, "usage: model_mutants ENGINE COUNT SEED FILE...\n");
        return 2;
    }
    engine(words[1]);
    std::vector<Subject> subjects;
    for (int i = 4; i < count; ++i) {
        subjects.push_back(read_subject(words[i]));
        if (subjects.back().picture.empty()) {
            std::fprintf(stderr, "%s does not run as it is\n", words[i]);
            return 2;
        }
    }
    auto *board = static_cast<Board *>(
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const int ended = run_all(subjects, std::stoull(words[3]), std::stoull(words[2]), *board);
    for (const bool repaired : {false, true})
        for (int i = 0; i < result_count; ++i)
            std::printf("%s, %s: %llu\n", repaired ? "CRCs repaired" : "CRCs left alone",
                        result_names[i],
                        static_cast<unsigned long long>(board->counts[repaired][i]));
    std::printf("ended by a signal or too slow: %d\n", ended);
    return ended == 0 && board->counts[0][different] == 0 ? 0 : 1;
}
