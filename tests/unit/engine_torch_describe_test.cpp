// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What the engine tells of a file; tests/golden/test_inspect.py has more of what is right.
#include "engine_torch_models.h"

namespace
{

Outcome describe(const std::string &path, DnnTorchDescription &description)
{
    DnnTorchMessage message = {};
    return outcome(engine().model_describe(path.c_str(), &description, &message), message);
}

TEST(Describe, AModel)
{
    DnnTorchDescription description = {};
    EXPECT_EQ(describe(path_of("net_traced"), description).status, DNN_TORCH_OK);
    EXPECT_EQ(description.input_count, 1);
    EXPECT_EQ(description.output_count, 1);
    EXPECT_STREQ(description.inputs[0].type, "Tensor");
    EXPECT_EQ(description.refused_count, 0);
    EXPECT_EQ(description.parameters_known, 1);
    EXPECT_GT(description.parameters, 100);
    EXPECT_EQ(description.parameter_bytes, 4 * description.parameters);
    EXPECT_STREQ(description.precision, "fp32");
}

TEST(Describe, TheSameModelFrozenAndInAnotherPrecision)
{
    DnnTorchDescription plain = {}, frozen = {}, half = {};
    EXPECT_EQ(describe(path_of("net_traced"), plain).status, DNN_TORCH_OK);
    EXPECT_EQ(describe(path_of("net_frozen"), frozen).status, DNN_TORCH_OK);
    EXPECT_EQ(describe(path_of("net_bfloat16"), half).status, DNN_TORCH_OK);
    // Freezing folds normalisation into the convolutions before it.
    EXPECT_NEAR(static_cast<double>(frozen.parameters), static_cast<double>(plain.parameters), 20);
    EXPECT_EQ(half.parameter_bytes, 2 * half.parameters);
    EXPECT_STREQ(half.precision, "bf16");
}

// Its code is read and not run, so that no more than the code is known.
TEST(Describe, AModelThatWritesWhileItIsLoaded)
{
    DnnTorchDescription description = {};
    EXPECT_EQ(describe(path_of("writes_while_loading"), description).status, DNN_TORCH_OK);
    ASSERT_EQ(description.refused_count, 2);
    EXPECT_STREQ(description.refused[0].name, "__setstate__");
    EXPECT_STREQ(description.refused[1].name, "aten::save");
    EXPECT_EQ(description.parameters_known, 0);
    EXPECT_EQ(description.input_count, 0);
    EXPECT_STRNE(description.format, "");
}

TEST(Describe, FailuresLeaveItUntouched)
{
    DnnTorchDescription description = {};
    expect_failure(describe(path_of("no_such_model"), description), DNN_TORCH_NO_FILE,
                   {"no_such_model"});
    expect_failure(describe("", description), DNN_TORCH_BAD_OPTION, {"no model"});
    EXPECT_STREQ(description.format, "");
}

} // namespace
