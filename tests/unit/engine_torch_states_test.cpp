// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Inputs that differ from run to run: states, and tensors by name.  The models are those of
// state_models.py.
#include "engine_torch_models.h"

#include <memory>

namespace
{

// A model with extra inputs, and a session of it.
class Stream
{
public:
    explicit Stream(const std::string &name, const char *inputs,
                    std::vector<DnnTorchOption> options = {}, Shape shape = usual_shape)
        : path_(path_of(name)), fd_(open(path_.c_str(), O_RDONLY | O_CLOEXEC))
    {
        options.push_back({"inputs", inputs});
        const DnnTorchSource source = {
            .size = sizeof source, .name = path_.c_str(), .fd = fd_, .data = nullptr};
        model = std::make_unique<Model>(source, options);
        close(fd_);
        if (!model->opened.status)
            model->tune(shape);
    }

    // Runs the model on even pictures of that brightness, with the named tensors besides.
    Outcome run(float brightness, const std::vector<DnnTorchTensor> &named = {})
    {
        if (model->opened.status)
            return model->opened;
        if (!session)
            session = std::make_unique<Session>(*model);
        Pictures pictures(1, 3, 32, 48);
        std::fill(pictures.samples.begin(), pictures.samples.end(), brightness);
        std::vector<DnnTorchTensor> in = named;
        in.push_back(tensor_of(pictures.view));
        DnnTorchTensor out = {.size = sizeof out};
        DnnTorchRun report = {.size = sizeof report, .number = number++};
        DnnTorchMessage message = {};
        const int status =
            engine().session_run(session->get(), in.data(), in.size(), &out, 1, &report, &message);
        EXPECT_EQ(std::count(pictures.samples.begin(), pictures.samples.end(), brightness),
                  static_cast<int64_t>(pictures.samples.size()))
            << "the engine wrote into its input";
        result = status == DNN_TORCH_OK ? samples_of(images_of(out)) : std::vector<float>();
        return outcome(status, message);
    }

    // Returns the one number that all samples of the result are.
    float number_for(float brightness, const std::vector<DnnTorchTensor> &named = {})
    {
        const Outcome ran = run(brightness, named);
        EXPECT_EQ(ran.status, DNN_TORCH_OK) << path_ << ": " << ran.message;
        if (result.empty())
            return NAN;
        EXPECT_EQ(std::count(result.begin(), result.end(), result.front()),
                  static_cast<int64_t>(result.size()));
        return result.front();
    }

    std::unique_ptr<Model> model;
    std::unique_ptr<Session> session;
    std::vector<float> result;
    int64_t number = 0;

private:
    const std::string path_;
    const int fd_;
};

DnnTorchTensor named_number(const char *name, float &number)
{
    DnnTorchTensor tensor = {
        .size = sizeof tensor, .data = &number, .type = DNN_TORCH_F32, .rank = 0};
    std::strcpy(tensor.name, name);
    return tensor;
}

// ---- states -----------------------------------------------------------------------

TEST(States, AreWhatTheRunBeforeReturned)
{
    Stream sum("states_sum", "r=state=1");
    EXPECT_EQ(sum.number_for(0.25F), 0.25F);
    EXPECT_EQ(sum.number_for(0.5F), 0.75F);
    EXPECT_EQ(sum.number_for(0.125F), 0.875F);
    Stream difference("states_difference", "before=state=before", {{"output", "image"}});
    EXPECT_EQ(difference.number_for(0.5F), 0.5F); // zeros come first
    EXPECT_EQ(difference.number_for(0.75F), 0.25F);
    EXPECT_EQ(difference.number_for(0.75F), 0);
}

TEST(States, MayBeTheResultItself)
{
    Stream enlarged("states_enlarged", "previous=state=0/3x4");
    EXPECT_EQ(enlarged.number_for(0.25F), 0.25F);
    EXPECT_EQ(enlarged.number_for(0.5F), 0.75F);
    Stream guessed("states_enlarged", "previous=state=0");
    EXPECT_EQ(guessed.number_for(0.25F), 0.25F);
    EXPECT_EQ(guessed.number_for(0.5F), 0.75F);
    Stream named("states_sum", "r=state=0");
    EXPECT_EQ(named.number_for(0.25F), 0.25F);
    EXPECT_EQ(named.number_for(0.25F), 0.5F);
}

TEST(States, BelongToTheirSession)
{
    Stream stream("states_sum", "r=state=1");
    EXPECT_EQ(stream.number_for(0.25F), 0.25F);
    const std::unique_ptr<Session> first = std::move(stream.session);
    EXPECT_EQ(stream.number_for(0.5F), 0.5F);
    stream.session->warm();
    EXPECT_EQ(stream.number_for(0.25F), 0.75F);
}

TEST(States, AreForgottenByAReset)
{
    Stream stream("states_sum", "r=state=1");
    EXPECT_EQ(stream.number_for(0.25F), 0.25F);
    EXPECT_EQ(stream.number_for(0.25F), 0.5F);
    EXPECT_EQ(stream.session->reset().status, DNN_TORCH_OK);
    EXPECT_EQ(stream.number_for(0.25F), 0.25F);
}

TEST(States, BeginAsTheOptionSays)
{
    Stream hidden("states_hidden", "h=state=1/8x0.5");
    EXPECT_EQ(hidden.number_for(0), 1);
    EXPECT_EQ(hidden.number_for(0), 2);
    Stream frame("states_difference", "before=state=before/frame", {{"output", "image"}});
    EXPECT_EQ(frame.number_for(0.5F), 0);
    EXPECT_EQ(frame.number_for(0.75F), 0.25F);
    Stream stretched("states_stretches", "r=state=1");
    EXPECT_EQ(stretched.number_for(0.5F), 0.5F);
    EXPECT_EQ(stretched.number_for(0.25F), 0.75F);
}

TEST(States, MakeAPlanInOrder)
{
    Stream stream("states_sum", "r=state=1");
    EXPECT_EQ(stream.model->tuning.in_order, 1);
    EXPECT_EQ(Stream("states_timed", "t=0.5").model->tuning.in_order, 0);
}

TEST(States, StayWhereTheModelWritesToThem)
{
    Stream stream("states_writes_state", "r=state=1");
    for (const float expected : {0.25F, 0.5F, 1.0F, 2.0F, 4.0F})
        EXPECT_EQ(stream.number_for(0.25F), expected);
}

TEST(States, PassThroughEachVariant)
{
    Stream saved("states_convolved", "r=state=1", {{"optimize", "0"}});
    for (const char *variant : {"frozen", "channels_last", "inference", "fused"}) {
        Stream stream("states_convolved", "r=state=1", {{"optimize", variant}});
        saved.session.reset();
        for (const float brightness : {0.25F, 0.5F, 0.75F, 0.5F}) {
            EXPECT_EQ(saved.run(brightness).status, DNN_TORCH_OK);
            const Outcome ran = stream.run(brightness);
            EXPECT_EQ(ran.status, DNN_TORCH_OK) << variant << ": " << ran.message;
            EXPECT_LT(difference(saved.result, stream.result), 1e-4F) << variant;
        }
    }
}

TEST(States, OfNoSenseAreRefused)
{
    for (const char *inputs : {"r=state=", "r=state=1/", "r=state=1/8x", "r=state=1/8x99",
                               "r=state=1/0x1", "r=state=1/nothing", "r=state=/zeros"})
        expect_failure(Stream("states_sum", inputs).model->opened, DNN_TORCH_BAD_OPTION,
                       {"OUTPUT/FIRST"});
    expect_failure(Stream("states_difference", "before=state=before/none").model->opened,
                   DNN_TORCH_BAD_OPTION, {"OUTPUT/FIRST"});
    expect_failure(Stream("states_sum", "r=state=9").model->probe(usual_shape),
                   DNN_TORCH_BAD_OPTION, {"r=state=9", "no such tensor", "0, 1"});
    Stream grows("states_grows", "r=state=1");
    const std::vector<std::string> words = {"state r changes its shape", "[1, 3, 32, 48]",
                                            "[1, 6, 32, 48]"};
    expect_failure(grows.model->probe(usual_shape), DNN_TORCH_BAD_OUTPUT, words);
    EXPECT_EQ(grows.run(0.5F).status, DNN_TORCH_OK);
    expect_failure(grows.run(0.5F), DNN_TORCH_BAD_OUTPUT, words);
}

// ---- tensors by name --------------------------------------------------------------

TEST(NamedInputs, ReplaceTheValueForOneRun)
{
    float half = 0.5F, two = 2;
    Stream timed("states_timed", "t=1|gain=1");
    EXPECT_EQ(timed.number_for(0.5F), 0.5F);
    EXPECT_EQ(timed.number_for(0.5F, {named_number("t", half)}), 0.25F);
    EXPECT_EQ(timed.number_for(0.5F, {named_number("gain", two)}), 1);
    EXPECT_EQ(timed.number_for(0.5F, {named_number("gain", two), named_number("t", half)}), 0.5F);
    EXPECT_EQ(timed.number_for(0.5F), 0.5F);
    Stream masked("states_masked", "t=1"); // the model decides that it is a plane
    EXPECT_EQ(masked.number_for(0.5F, {named_number("t", half)}), 0.25F);
}

TEST(NamedInputs, MayHaveAShapeOfTheirOwn)
{
    float numbers[] = {1, 2, 3, 4, 5, 6};
    DnnTorchTensor tensor = {.size = sizeof tensor,
                             .data = numbers,
                             .type = DNN_TORCH_F32,
                             .rank = 2,
                             .dims = {2, 3},
                             .strides = {12, 4}};
    std::strcpy(tensor.name, "weights");
    Stream table("states_table", "weights=1", {{"results", "tensors"}});
    DnnTorchTensor out[2] = {{.size = sizeof out[0]}, {.size = sizeof out[0]}};
    Pictures pictures(1, 3, 32, 48);
    const DnnTorchTensor in[] = {tensor_of(pictures.view), tensor};
    DnnTorchRun report = {.size = sizeof report};
    DnnTorchMessage message = {};
    Session session(*table.model);
    const int status = engine().session_run(session.get(), in, 2, out, 2, &report, &message);
    ASSERT_EQ(status, DNN_TORCH_OK) << message.text;
    EXPECT_EQ(*static_cast<float *>(out[0].data), 21);
    EXPECT_EQ(out[1].dims[1], 3);
}

TEST(NamedInputs, MayBeOneForEachPicture)
{
    float numbers[] = {0.5F, 2};
    DnnTorchTensor given = named_number("t", numbers[0]);
    given.rank = 1;
    given.dims[0] = 1;
    given.strides[0] = sizeof(float);
    Stream changing("states_masked", "t=time");
    EXPECT_EQ(changing.number_for(0.5F), 0); // as in trials
    EXPECT_EQ(changing.number_for(0.5F, {given}), 0.25F);
    given.dims[0] = 2;
    expect_failure(changing.run(0.5F, {given}), DNN_TORCH_BAD_INPUT,
                   {"2 numbers as t for 1 picture"});
}

TEST(NamedInputs, OfNoSenseAreRefused)
{
    float half = 0.5F;
    Stream timed("states_timed", "t=1|gain=1");
    expect_failure(timed.run(0.5F, {named_number("time", half)}), DNN_TORCH_BAD_INPUT,
                   {"no extra input time"});
    expect_failure(timed.run(0.5F, {named_number("t", half), named_number("t", half)}),
                   DNN_TORCH_BAD_INPUT, {"two", "t"});
    expect_failure(timed.run(0.5F, {named_number("", half)}), DNN_TORCH_BAD_INPUT, {"no name"});
    DnnTorchTensor vector = named_number("gain", half);
    vector.rank = 1;
    vector.dims[0] = 1;
    vector.strides[0] = 4;
    expect_failure(timed.run(0.5F, {vector}), DNN_TORCH_BAD_INPUT, {"one number as gain"});
    DnnTorchTensor bytes = named_number("t", half);
    bytes.type = DNN_TORCH_U8;
    expect_failure(timed.run(0.5F, {bytes}), DNN_TORCH_BAD_INPUT, {"extra input"});
    vector.dims[0] = 2;
    vector.strides[0] = 8;
    expect_failure(timed.run(0.5F, {vector}), DNN_TORCH_BAD_INPUT, {"gaps"});
    EXPECT_EQ(timed.number_for(0.5F), 0.5F) << "after refusals";
}

} // namespace
