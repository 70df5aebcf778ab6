// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the engine finds in a model's graph, and that nothing comes of it that
// a user could see: state begins where the model was saved, random numbers hang
// on the frame alone.
#include "engine_torch_models.h"

#include <thread>

namespace
{

const char *const stateful[] = {
    "state_in_tensor", "state_in_view",          "state_in_out",   "state_in_parameter",
    "state_in_list",   "state_in_dict",          "state_in_tuple", "state_in_optional",
    "state_in_number", "state_in_length",        "state_in_keys",  "state_in_part",
    "state_in_branch", "state_in_fork",          "state_in_with",  "state_in_fresh_list",
    "state_constant",  "state_through_interface"};

const char *const pure[] = {"pure_espcn",
                            "pure_srvgg",
                            "pure_normal",
                            "pure_attention",
                            "pure_window",
                            "pure_temporaries",
                            "pure_on_input",
                            "pure_unet",
                            "pure_dense",
                            "pure_flags",
                            "pure_lstm",
                            "pure_unrolled",
                            "pure_hardswish",
                            "pure_without_grad",
                            "pure_two_tasks",
                            "pure_traced_espcn",
                            "pure_traced_srvgg",
                            "pure_traced_normal",
                            "pure_traced_attention",
                            "pure_traced_window",
                            "pure_traced_on_input",
                            "pure_traced_unet"};

bool contains(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

// ---- state --------------------------------------------------------------------------

// Probing, tuning and warming leave no trace: the first picture is the first run.
TEST(State, IsFoundAndBeginsWithTheFirstPicture)
{
    for (const char *name : stateful) {
        Model model(options_for(path_of(name)));
        ASSERT_EQ(model.opened.status, DNN_TORCH_OK) << name << ": " << model.opened.message;
        const Shape shape = {1, 3, 16, 16};
        for (int i = 0; i < 3; i++)
            EXPECT_EQ(model.probe(shape).status, DNN_TORCH_OK) << name;
        EXPECT_EQ(model.tune(shape, 0.2).status, DNN_TORCH_OK) << name;
        EXPECT_EQ(model.tuning.in_order, 1) << name;
        EXPECT_TRUE(contains(model.notice(), "remembers")) << name << ": " << model.notice();
        Session session(model);
        session.warm();
        for (int run = 1; run <= 3; run++) {
            ASSERT_EQ(session.run(Pictures(1, 3, 16, 16)).status, DNN_TORCH_OK) << name;
            EXPECT_EQ(sample(session.output, 0, 0, 0, 0), static_cast<float>(run)) << name;
            EXPECT_EQ(model.probe(shape).status, DNN_TORCH_OK) << name;
        }
        EXPECT_EQ(session.reset().status, DNN_TORCH_OK) << name;
        ASSERT_EQ(session.run(Pictures(1, 3, 16, 16)).status, DNN_TORCH_OK) << name;
        EXPECT_EQ(sample(session.output, 0, 0, 0, 0), 1.0F) << name << " after a reset";
    }
}

TEST(State, IsNotSeenInPublishedKindsOfModels)
{
    for (const char *name : pure) {
        Running running(name);
        EXPECT_EQ(running.model.tuning.in_order, 0) << name;
        EXPECT_FALSE(contains(running.model.notice(), "remembers")) << name;
        EXPECT_FALSE(contains(running.model.notice(), "random")) << running.model.notice();
        EXPECT_FALSE(contains(running.model.notice(), "training")) << running.model.notice();
        run(running, Pictures(1, 3, 32, 48));
    }
}

// Its hidden state has the size of its first picture: not that of a probe.
TEST(State, TakesTheSizeOfTheFirstPicture)
{
    Model model(options_for(path_of("state_conv_rnn")));
    for (const int side : {16, 24, 40}) {
        ASSERT_EQ(model.probe({1, 3, side, side}).status, DNN_TORCH_OK) << side;
        EXPECT_EQ(model.probed.height, side);
    }
    model.tune({1, 3, 20, 28}, 0.1);
    Session session(model);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(session.run(Pictures(1, 3, 20, 28)).status, DNN_TORCH_OK);
}

TEST(State, IsLeftAloneByProbesInMidstream)
{
    Running twice("state_denoiser"), once("state_denoiser");
    const Pictures pictures(1, 3, 24, 24);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(run(twice, pictures), run(once, pictures)) << i;
        EXPECT_EQ(twice.model.probe({1, 3, 24, 24}).status, DNN_TORCH_OK);
        twice.model.probe({1, 3, 8, 8}); // which what it remembers does not fit
    }
}

// ---- random numbers -------------------------------------------------------------------

const char *const random_models[] = {"random_rand",        "random_rand_like", "random_normals",
                                     "random_bernoulli",   "random_randperm",  "random_multinomial",
                                     "random_monte_carlo", "random_traced",    "training_dropout"};

std::vector<float> run_number(Session &session, int64_t number)
{
    Pictures pictures(1, 3, 32, 48);
    pictures.view.number = number;
    EXPECT_EQ(session.run(pictures).status, DNN_TORCH_OK);
    return samples_of(session.output);
}

TEST(Random, HangsOnTheFrameAlone)
{
    constexpr int64_t frames = 8;
    for (const char *name : random_models) {
        Running running(name);
        EXPECT_FALSE(contains(running.model.notice(), "wrong")) << running.model.notice();
        std::vector<std::vector<float>> expected, found(frames);
        for (int64_t i = 0; i < frames; i++)
            expected.push_back(run_number(running.session, i));
        EXPECT_NE(expected[0], expected[1]) << name;
        EXPECT_EQ(run_number(running.session, 0), expected[0]) << name;
        std::vector<std::thread> threads;
        for (int64_t first = 0; first < 4; first++)
            threads.emplace_back([&, first] {
                Session session(running.model);
                for (int64_t i = frames - 1 - first; i >= 0; i -= 4)
                    found[static_cast<size_t>(i)] = run_number(session, i);
            });
        for (std::thread &thread : threads)
            thread.join();
        EXPECT_EQ(found, expected) << name;
    }
}

TEST(Random, IsToldWithTheOperator)
{
    const char *const told[][2] = {{"random_rand", "random numbers (aten::rand)"},
                                   {"random_monte_carlo", "(aten::dropout)"},
                                   {"random_normals", "random numbers (aten::normal_)"},
                                   {"training_dropout", "in training mode (aten::dropout)"},
                                   {"training_norm", "in training mode (aten::batch_norm)"}};
    for (const auto &[name, words] : told)
        EXPECT_TRUE(contains(Running(name).model.notice(), words))
            << name << ": " << Running(name).model.notice();
    EXPECT_TRUE(contains(Running("training_norm").model.notice(), "model.eval()"));
}

} // namespace
