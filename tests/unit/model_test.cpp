// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Models, plans and sessions of the host, with the fake engine.
#include "host/model/contract.h"
#include "host/model/engine_choice.h"
#include "host/model/model.h"
#include "host/model/model_request.h"
#include "host/model/picture_tensors.h"
#include "host/probing/model_probe.h"

extern "C" {
#include <libavutil/error.h>
}

#include <atomic>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace dnn_torch;

namespace
{

constexpr Size small = {8, 6};

// An option that nothing reads would be taken, and have no effect.
TEST(ModelOptions, OfTheContractAreReadFromTheirTexts)
{
    int of_the_contract = 0;
    for (const ModelOption &option : model_option_rows) {
        ModelRequest request;
        option.text_in(request) = "no such value";
        if (request.contract == ContractOptions())
            continue;
        of_the_contract++;
        try {
            EXPECT_NE(contract_in_words(read_contract(request.contract, "")), "") << option.name;
        } catch (const Error &) {
        }
    }
    EXPECT_GT(of_the_contract, 15);
}

class ModelTest : public testing::Test
{
protected:
    ~ModelTest() override { unlink(path_.c_str()); }

    ModelOptions script(const std::string &lines) const
    {
        std::ofstream(path_) << lines;
        return options();
    }

    ModelOptions options() const
    {
        ModelOptions made;
        made.path = path_;
        made.timeout = std::chrono::seconds(30);
        return made;
    }

    // The code of the Error, whose line must have these words in it.
    int refusal(const ModelOptions &wanted, const std::string &words) const
    {
        try {
            Model model(engine_, wanted);
        } catch (const Error &error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
            return error.code();
        }
        ADD_FAILURE() << "it was opened";
        return 0;
    }

    const DnnTorchEngine &engine_ = *open_engine("fake");
    const std::string path_ = testing::TempDir() + "dnn_torch_model_" + std::to_string(getpid());
};

TEST_F(ModelTest, NamesAFileThatCannotBeOpened)
{
    unlink(path_.c_str());
    EXPECT_EQ(refusal(options(), "'" + path_ + "' cannot be opened: No such file"),
              AVERROR(ENOENT));
    ModelOptions none;
    EXPECT_EQ(refusal(none, "no model is given"), AVERROR(EINVAL));
    if (geteuid() == 0)
        return; // who may read everything
    ModelOptions secret = script("");
    chmod(path_.c_str(), 0);
    EXPECT_EQ(refusal(secret, "Permission denied"), AVERROR(ENOENT));
}

TEST_F(ModelTest, TellsOfARefusedFile)
{
    ModelOptions refused = script("fail_open it is not for you\n");
    EXPECT_EQ(refusal(refused, "it is not for you"), AVERROR_INVALIDDATA);
    refused.inspect = true;
    Model model(engine_, refused);
    EXPECT_EQ(model.metadata("format"), "script");
    EXPECT_EQ(model.metadata("refused"), "it is not for you");
    EXPECT_EQ(model.metadata("nosuch"), "");
    EXPECT_TRUE(model.tensors(DNN_TORCH_INPUTS).empty());
    DnnTorchTensor shape = picture_shape(1, 3, small);
    EXPECT_THROW(model.plan({&shape, 1}, {}), Error);
}

// The law of pictures is the task's: the owner tells what comes out.
TEST_F(ModelTest, MayGiveOtherChannelsThanItTakes)
{
    Model model(engine_, script("output_channels 4\nscale 2\n"));
    DnnTorchTensor in = picture_shape(1, 3, small);
    DnnTorchTensor out = model.probe({&in, 1}, 1).front();
    EXPECT_EQ(std::vector<int64_t>(out.dims, out.dims + 4),
              (std::vector<int64_t>{1, 4, 2 * small.height, 2 * small.width}));
    EXPECT_THROW(probe_size(model, small, 3), Error);
}

TEST_F(ModelTest, IsPlannedAndProbedBesideRuns)
{
    Model model(engine_, script("latency_us 200\nhint be quick\n"));
    DnnTorchTensor shape = picture_shape(1, 3, small);
    std::shared_ptr<const ModelPlan> first = model.plan({&shape, 1}, {});
    std::atomic<bool> ended = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++)
        threads.emplace_back([&] {
            Session session(first, 1);
            std::vector<float> samples(3U * 6 * 8, 0.25F);
            while (!ended)
                EXPECT_EQ(run_pictures(session, float_planes(samples.data(), 1, 3, small)).height,
                          small.height);
        });
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(model.plan({&shape, 1}, {})->hint(), "be quick");
        EXPECT_EQ(probe_size(model, small, 3), small);
        EXPECT_EQ(model.notice(), "");
    }
    ended = true;
    for (std::thread &thread : threads)
        thread.join();
}

// A plan keeps what it needs of a model that its owner has let go.
TEST_F(ModelTest, IsOutlivedByItsPlans)
{
    DnnTorchTensor shape = picture_shape(1, 1, small);
    std::shared_ptr<const ModelPlan> plan =
        Model(engine_, script("each_run 1\n")).plan({&shape, 1}, {});
    Session session(plan, 1);
    std::vector<float> samples(6U * 8, 0);
    auto first_sample = [&] {
        Images output = run_pictures(session, float_planes(samples.data(), 1, 1, small));
        return *static_cast<const float *>(output.data);
    };
    EXPECT_EQ(first_sample(), 0.0F);
    EXPECT_EQ(first_sample(), 1.0F);
    session.reset();
    EXPECT_EQ(first_sample(), 0.0F);
}

} // namespace
