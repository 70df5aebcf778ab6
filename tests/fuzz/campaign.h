// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Many mutants, one after the other, and what was found among them.
#pragma once

#include "recipe.h"
#include "sandbox.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

namespace fuzz
{

// An input that is kept.  Its name says what is expected of it: "accepted-...",
// "refused-...", or anything else for either.
struct CorpusFile {
    std::filesystem::path path;
    std::string bytes;
};

// All below the folder, in the order of their names.
std::vector<CorpusFile> read_corpus(const std::filesystem::path &folder);

struct Plan {
    size_t mutants = 1000;
    double seconds = 0; // 0: until all mutants are through
    uint64_t seed = 1;
    size_t from = 0;            // the number of the first mutant
    std::filesystem::path save; // where findings are kept; "": nowhere
    std::string again = "";     // the program, for the line that shows how to repeat a finding
};

class Campaign
{
public:
    Campaign(Plan plan, std::vector<CorpusFile> corpus);

    // Prints what it finds.  Returns the number of inputs that are findings.
    size_t run();

    size_t inputs() const { return inputs_; }

private:
    struct Counts {
        size_t accepted = 0, refused = 0, too_long = 0, findings = 0;
    };
    void run_corpus();
    void run_mutants();
    Result judged(Result result, const Recipe &recipe) const;
    void count(const Result &result);
    void take(size_t index, const Result &result);
    void report(const Result &result, const Recipe &recipe);
    Recipe fewest_steps(Recipe recipe, const std::string &kind) const;
    std::string shortest(std::string bytes, const std::string &kind) const;
    std::string save(const std::string &kind, const std::string &bytes) const;
    void print_summary() const;

    const Plan plan_;
    const std::vector<CorpusFile> corpus_;
    const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    Inputs seeds_;
    std::vector<Result> seed_results_;
    Counts counts_;
    size_t inputs_ = 0;
    std::map<std::string, size_t> kinds_; // of findings, and how often
};

} // namespace fuzz
