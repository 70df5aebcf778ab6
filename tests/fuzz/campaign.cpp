// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "campaign.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace fuzz
{
namespace
{

constexpr size_t mutants_at_once = 1000;
constexpr size_t shortest_tries = 200;
constexpr size_t worth_shortening = 8192; // bytes
constexpr const char *other_result = "a damaged file is accepted, with another result";

bool begins_with(const std::string &text, std::string_view begin)
{
    return text.compare(0, begin.size(), begin) == 0;
}

Result fault(const std::string &words)
{
    Result result;
    result.outcome = {Ending::fault, 0, words};
    return result;
}

bool is_accepted(const Result &result)
{
    return result.event == Event::ended && result.outcome.ending == Ending::accepted;
}

bool is_refused(const Result &result)
{
    return result.event == Event::ended && result.outcome.ending == Ending::refused;
}

// What its name promises of a file.
Result expected(Result result, const std::string &name)
{
    if (result.is_finding())
        return result;
    if (begins_with(name, "accepted-") && !is_accepted(result))
        return fault("it was to be accepted: " + result.kind());
    if (begins_with(name, "refused-") && !is_refused(result))
        return fault("it was to be refused");
    return result;
}

std::string file_name_for(const std::string &kind)
{
    std::string name;
    for (const char c : kind.substr(0, 60))
        if (std::isalnum(static_cast<unsigned char>(c)))
            name += c;
        else if (!name.empty() && name.back() != '-')
            name += '-';
    return name;
}

} // namespace

std::vector<CorpusFile> read_corpus(const std::filesystem::path &folder)
{
    std::vector<CorpusFile> files;
    if (!std::filesystem::is_directory(folder))
        return files;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file())
            continue;
        std::ifstream file(entry.path(), std::ios::binary);
        const std::istreambuf_iterator<char> begin(file), end;
        files.push_back({entry.path(), {begin, end}});
    }
    std::sort(files.begin(), files.end(),
              [](const CorpusFile &a, const CorpusFile &b) { return a.path < b.path; });
    return files;
}

Campaign::Campaign(Plan plan, std::vector<CorpusFile> corpus)
    : plan_(std::move(plan)), corpus_(std::move(corpus))
{
}

size_t Campaign::run()
{
    run_corpus();
    if (seeds_.empty())
        std::printf("no input to change: %zu in the corpus\n", corpus_.size());
    else
        run_mutants();
    print_summary();
    return counts_.findings;
}

void Campaign::count(const Result &result)
{
    inputs_++;
    if (result.is_finding())
        counts_.findings++;
    else if (result.event == Event::too_long)
        counts_.too_long++;
    else
        ++(is_accepted(result) ? counts_.accepted : counts_.refused);
}

// One that is a finding itself would only be found again and again.
void Campaign::run_corpus()
{
    const auto make = [this](size_t i) { return corpus_[i].bytes; };
    run_in_children(0, corpus_.size(), make, [this](size_t i, const Result &found) {
        const std::string name = corpus_[i].path.filename().string();
        const Result result = expected(found, name);
        count(result);
        if (result.is_finding()) {
            ++kinds_[result.kind()];
            std::printf("FOUND %s\n  in %s\n", result.kind().c_str(), corpus_[i].path.c_str());
            return;
        }
        seeds_.push_back(corpus_[i].bytes);
        seed_results_.push_back(result);
    });
}

void Campaign::run_mutants()
{
    const auto make = [this](size_t i) {
        return make_mutant(recipe_of(plan_.seed, i, seeds_.size()), seeds_).bytes;
    };
    for (size_t done = 0; done < plan_.mutants; done += mutants_at_once) {
        const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - began_;
        if (plan_.seconds > 0 && so_far.count() >= plan_.seconds)
            break;
        run_in_children(plan_.from + done, std::min(mutants_at_once, plan_.mutants - done), make,
                        [this](size_t i, const Result &result) { take(i, result); });
        std::fflush(stdout);
    }
}

Result Campaign::judged(Result result, const Recipe &recipe) const
{
    const Result &seed = seed_results_[recipe.seed];
    const bool differs =
        is_accepted(result) && (!is_accepted(seed) || seed.outcome.digest != result.outcome.digest);
    if (target.damage_must_show && recipe.family == Family::damage && differs)
        return fault(other_result);
    return result;
}

void Campaign::take(size_t index, const Result &found)
{
    const Recipe recipe = recipe_of(plan_.seed, index, seeds_.size());
    const Result result = judged(found, recipe);
    // A busy machine may be late once.
    if (result.event == Event::hung &&
        run_alone(make_mutant(recipe, seeds_).bytes).event != Event::hung) {
        std::printf("late once: mutant %zu\n", index);
        return;
    }
    count(result);
    if (result.is_finding() && ++kinds_[result.kind()] == 1)
        report(result, recipe);
}

void Campaign::report(const Result &result, const Recipe &recipe)
{
    const std::string kind = result.kind();
    const Recipe few = fewest_steps(recipe, kind);
    const Mutant mutant = make_mutant(few, seeds_);
    const bool is_long = kind == other_result || result.event == Event::hung;
    const std::string bytes = is_long ? mutant.bytes : shortest(mutant.bytes, kind);
    const bool alone = judged(run_alone(bytes), few).is_finding();
    std::printf("FOUND %s%s\n  by %s\n", kind.c_str(), alone ? "" : " (only after other inputs)",
                mutant.changes.c_str());
    if (const std::string path = save(kind, bytes); !path.empty())
        std::printf("  again: %s %s   (%zu bytes)\n", plan_.again.c_str(), path.c_str(),
                    bytes.size());
    std::fflush(stdout);
}

// Without the steps that do not matter.
Recipe Campaign::fewest_steps(Recipe recipe, const std::string &kind) const
{
    for (size_t i = recipe.steps.size(); i-- > 0 && recipe.steps.size() > 1;) {
        Recipe fewer = recipe;
        fewer.steps.erase(fewer.steps.begin() + static_cast<ptrdiff_t>(i));
        if (judged(run_alone(make_mutant(fewer, seeds_).bytes), fewer).kind() == kind)
            recipe = fewer;
    }
    return recipe;
}

// Without the pieces that do not matter, halves first, then smaller ones.
std::string Campaign::shortest(std::string bytes, const std::string &kind) const
{
    if (bytes.size() > worth_shortening)
        return bytes;
    size_t tries = 0;
    for (size_t piece = bytes.size() / 2; piece > 0; piece /= 2)
        for (size_t at = 0; at < bytes.size() && tries < shortest_tries; tries++) {
            std::string less = bytes;
            less.erase(at, piece);
            if (run_alone(less).kind() == kind)
                bytes = less;
            else
                at += piece;
        }
    return bytes;
}

std::string Campaign::save(const std::string &kind, const std::string &bytes) const
{
    if (plan_.save.empty())
        return "";
    std::filesystem::create_directories(plan_.save);
    const std::filesystem::path path = plan_.save / file_name_for(kind);
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path.string();
}

void Campaign::print_summary() const
{
    for (const auto &[kind, count] : kinds_)
        std::printf("%6zu times: %s\n", count, kind.c_str());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    std::printf("%s: seed %llu, %zu accepted, %zu refused, %zu too long, %zu found in %.0f s\n",
                target.name, static_cast<unsigned long long>(plan_.seed), counts_.accepted,
                counts_.refused, counts_.too_long, counts_.findings, took.count());
}

} // namespace fuzz
