// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the engine tells of a file; tests/golden/test_inspect.py has more of what is right.
#include "engine_torch_models.h"

#include <cstdlib>

namespace
{

class Inspected : public Model
{
public:
    explicit Inspected(const std::string &name) : Model(options(path_of(name))) {}

    int64_t number(const char *key) const { return std::atoll(metadata(key).c_str()); }

private:
    static Options options(const std::string &path)
    {
        static std::string kept;
        kept = path;
        Options wanted = options_for(kept);
        wanted.inspect = "1";
        return wanted;
    }
};

TEST(Describe, AModel)
{
    Inspected model("net_traced");
    EXPECT_EQ(model.opened.status, DNN_TORCH_OK);
    ASSERT_EQ(model.tensors(DNN_TORCH_INPUTS).size(), 1U);
    EXPECT_EQ(model.tensors(DNN_TORCH_OUTPUTS).size(), 1U);
    const DnnTorchTensorInfo input = model.tensors(DNN_TORCH_INPUTS).front();
    EXPECT_STREQ(input.type_text, "Tensor");
    EXPECT_EQ(input.rank, -1);
    EXPECT_EQ(model.metadata("refused"), "");
    EXPECT_GT(model.number("parameters"), 100);
    EXPECT_EQ(model.number("parameter_bytes"), 4 * model.number("parameters"));
    EXPECT_EQ(model.metadata("precision"), "fp32");
    EXPECT_EQ(engine().model_metadata(model.get(), "nosuch"), nullptr);
}

// A model that is opened to be run tells the same.
TEST(Describe, AModelThatRuns)
{
    const Inspected inspected("net_traced");
    const Model model(options_for(path_of("net_traced")));
    for (const char *key : {"format", "origin", "parameters", "parameter_bytes", "precision"})
        EXPECT_EQ(model.metadata(key), inspected.metadata(key)) << key;
    EXPECT_EQ(model.metadata("precision_values"), "auto, fp32, bf16, fp16, int8");
    EXPECT_EQ(model.metadata("optimize_values").find("0, 1, saved, "), 0U);
}

TEST(Describe, TheSameModelFrozenAndInAnotherPrecision)
{
    const Inspected plain("net_traced"), frozen("net_frozen"), half("net_bfloat16");
    // Freezing folds normalisation into the convolutions before it.
    EXPECT_NEAR(static_cast<double>(frozen.number("parameters")),
                static_cast<double>(plain.number("parameters")), 20);
    EXPECT_GT(half.number("parameters"), 0);
    EXPECT_EQ(half.number("parameter_bytes"), 2 * half.number("parameters"));
    EXPECT_EQ(half.metadata("precision"), "bf16");
}

// Its code is read and not run, so that no more than the code is known.
TEST(Describe, AModelThatWritesWhileItIsLoaded)
{
    Inspected model("writes_while_loading");
    EXPECT_EQ(model.opened.status, DNN_TORCH_OK);
    EXPECT_EQ(model.metadata("refused"), "__setstate__\naten::save");
    EXPECT_EQ(engine().model_metadata(model.get(), "parameters"), nullptr);
    EXPECT_TRUE(model.tensors(DNN_TORCH_INPUTS).empty());
    EXPECT_NE(model.metadata("format"), "");
    expect_failure(model.tune(usual_shape), DNN_TORCH_BAD_MODEL, {"inspect"});
    expect_failure(model.probe(usual_shape), DNN_TORCH_BAD_MODEL, {"inspect"});
}

TEST(Describe, WhatIsNoModelIsRefusedAsWell)
{
    expect_failure(Inspected("file_png").opened, DNN_TORCH_BAD_MODEL, {"file_png"});
}

} // namespace
