// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// An engine that is loaded, and a cage that closes then: models must run as they do without.
//
// usage: engine_in_cage_test ENGINE MODEL...
#include "caged.h"

#include "../unit/engine_under_test.h"

#include <cmath>
#include <filesystem>

namespace
{

// What an engine may do differently in each run, such as divide the work, changes no more.
constexpr double tolerance = 1000;

// What is added to the results of a run.
constexpr int ran = 1000000;

struct Way {
    const char *name, *optimize, *precision;
    double budget_seconds;
    int threads;
};

constexpr Way ways[] = {
    {.name = "plain", .optimize = "0", .precision = nullptr, .budget_seconds = 0, .threads = 1},
    {.name = "tuned", .optimize = "1", .precision = nullptr, .budget_seconds = 0.5, .threads = 2},
    {.name = "bf16", .optimize = "1", .precision = "bf16", .budget_seconds = 0.5, .threads = 2},
};

// Returns a number that stands for the results, and below it those of failures.
int run_model(const std::string &path, int file, const Way &way)
{
    DnnTorchSource source = {
        .size = sizeof source, .name = path.c_str(), .fd = file, .data = nullptr, .data_size = 0};
    Model model(source,
                {{"device", "cpu"}, {"optimize", way.optimize}, {"precision", way.precision}});
    if (model.opened.status != DNN_TORCH_OK)
        return model.opened.status;
    Pictures pictures(1, 3, 48, 64);
    Outcome end = model.probe(pictures.shape());
    if (end.status == DNN_TORCH_OK)
        end = model.tune(pictures.shape(), way.budget_seconds);
    if (end.status != DNN_TORCH_OK)
        return end.status;
    Session session(model, way.threads);
    end = session.run(pictures);
    if (end.status != DNN_TORCH_OK)
        return end.status;
    double sum = 0;
    for (float value : samples_of(session.output))
        sum += value;
    return ran + static_cast<int>(std::lround(sum));
}

class EngineInCage : public testing::Test
{
public:
    EngineInCage(std::string path, const Way &way) : path_(std::move(path)), way_(way) {}

protected:
    void TestBody() override
    {
        if (std::string reason = not_granted(all_layers); !reason.empty())
            GTEST_SKIP() << reason;
        int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        ASSERT_GE(file, 0) << path_;
        auto run = [&] { return run_model(path_, file, way_); };
        End outside = run_caged(0, run), inside = run_caged(all_layers, run);
        close(file);
        EXPECT_GE(outside.answer, ran) << describe(outside);
        EXPECT_EQ(inside.signal, 0);
        EXPECT_NEAR(inside.answer, outside.answer, outside.answer / tolerance);
    }

private:
    std::string path_;
    Way way_;
};

void add_test(const std::string &path, const Way &way)
{
    std::string name = std::filesystem::path(path).stem().string() + "/" + way.name;
    testing::RegisterTest("EngineInCage", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [=]() -> EngineInCage * { return new EngineInCage(path, way); });
}

} // namespace

int main(int count, char **words)
{
    testing::InitGoogleTest(&count, words);
    engine(count > 1 ? words[1] : "");
    for (int i = 2; i < count; i++)
        for (const Way &way : ways)
            add_test(words[i], way);
    return RUN_ALL_TESTS();
}
