// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// fuzz_KIND [OPTION...] [FILE...]; scripts/fuzz.sh --help tells the options.
#include "campaign.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <unistd.h>

namespace
{

using fuzz::CorpusFile;
using fuzz::Plan;
using fuzz::target;

struct Request {
    Plan plan;
    std::filesystem::path corpus = FUZZ_CORPUS;
    std::vector<std::string> files;
};

Request parse(int argc, char **argv)
{
    Request request;
    request.plan.again = argv[0];
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        if (word.compare(0, 2, "--") != 0) {
            request.files.push_back(word);
            continue;
        }
        if (++i == argc)
            throw std::invalid_argument(word + " needs a value");
        if (word == "--mutants")
            request.plan.mutants = std::stoull(argv[i]);
        else if (word == "--seconds") {
            request.plan.seconds = std::stod(argv[i]);
            request.plan.mutants = SIZE_MAX / 2;
        } else if (word == "--seed")
            request.plan.seed = std::stoull(argv[i]);
        else if (word == "--from")
            request.plan.from = std::stoull(argv[i]);
        else if (word == "--save")
            request.plan.save = argv[i];
        else if (word == "--corpus")
            request.corpus = argv[i];
        else
            throw std::invalid_argument("unknown: " + word);
    }
    return request;
}

// malloc hands out small pieces again without filling them, unless told not to keep any;
// and threads that were running would be missing in a child.
void restart_with_environment(char **argv)
{
    if (getenv("FUZZ_RESTARTED"))
        return;
    setenv("FUZZ_RESTARTED", "1", 1);
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("DNN_TORCH_CACHE", "", 1);
    execv("/proc/self/exe", argv);
}

const char *word_for(const fuzz::Result &result)
{
    if (result.is_finding())
        return "FOUND";
    if (result.event == fuzz::Event::too_long)
        return "let in, but it takes too long";
    return result.outcome.ending == fuzz::Ending::accepted ? "accepted" : "refused";
}

int run_files(const std::vector<std::string> &files)
{
    size_t findings = 0;
    for (const std::string &path : files) {
        std::ifstream file(path, std::ios::binary);
        if (!file)
            throw std::runtime_error("cannot read " + path);
        const std::istreambuf_iterator<char> begin(file), end;
        const fuzz::Result result = fuzz::run_alone({begin, end});
        findings += result.is_finding();
        std::printf("%s: %s %s (%016llx, %.2f s)\n", path.c_str(), word_for(result),
                    result.kind().c_str(), static_cast<unsigned long long>(result.outcome.digest),
                    result.seconds);
    }
    std::printf("%zu inputs, %zu findings\n", files.size(), findings);
    return findings != 0;
}

// Beside what is found, so that a later reader knows what was looked at.
void save_inventory(const Plan &plan)
{
    if (!target.inventory || plan.save.empty())
        return;
    const std::string text = target.inventory();
    std::filesystem::create_directories(plan.save);
    std::ofstream(plan.save / "inventory") << "seed " << plan.seed << ", " << text;
    std::printf("seed %llu, %s\n", static_cast<unsigned long long>(plan.seed),
                text.substr(0, text.find('\n')).c_str());
}

int run(Request request)
{
    std::vector<CorpusFile> corpus = fuzz::read_corpus(request.corpus / target.name);
    fuzz::Inputs seeds;
    for (const CorpusFile &file : corpus)
        seeds.push_back(file.bytes);
    if (target.prepare)
        target.prepare(seeds);
    fuzz::require_one_thread();
    save_inventory(request.plan);
    if (!request.files.empty())
        return run_files(request.files);
    fuzz::Campaign campaign(std::move(request.plan), std::move(corpus));
    const size_t findings = campaign.run();
    std::printf("%zu inputs, %zu findings\n", campaign.inputs(), findings);
    return findings != 0;
}

} // namespace

int main(int argc, char **argv)
{
    restart_with_environment(argv);
    try {
        return run(parse(argc, argv));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 2;
    }
}
