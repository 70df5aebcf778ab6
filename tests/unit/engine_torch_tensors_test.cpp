// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// results=tensors and models that take lists; the models are those of tensor_models.py.
#include "engine_torch_models.h"

#include <cmath>
#include <memory>
#include <thread>

namespace
{

constexpr size_t usual_capacity = 64;

// What a caller keeps of a tensor.
struct Kept {
    std::string name;
    int32_t type = 0;
    std::vector<int64_t> dims;
    std::vector<double> numbers;
};

bool is_there(const DnnTorchTensor &tensor)
{
    return tensor.type != 0;
}

int64_t count_of(const DnnTorchTensor &tensor)
{
    int64_t count = 1;
    for (int i = 0; i < tensor.rank; i++)
        count *= tensor.dims[i];
    return count;
}

void expect_packed(const DnnTorchTensor &tensor)
{
    int64_t stride = tensor.type == DNN_TORCH_I64 ? 8 : 4;
    for (int i = tensor.rank - 1; i >= 0; i--) {
        EXPECT_EQ(tensor.strides[i], stride) << tensor.name << ' ' << i;
        stride *= std::max<int64_t>(tensor.dims[i], 1);
    }
}

Kept kept(const DnnTorchTensor &tensor)
{
    Kept result = {.name = tensor.name,
                   .type = tensor.type,
                   .dims = {tensor.dims, tensor.dims + tensor.rank},
                   .numbers = {}};
    for (int64_t i = 0; tensor.data && i < count_of(tensor); i++)
        result.numbers.push_back(tensor.type == DNN_TORCH_I64
                                     ? static_cast<double>(static_cast<int64_t *>(tensor.data)[i])
                                     : static_cast<double>(static_cast<float *>(tensor.data)[i]));
    return result;
}

// A model whose tensors all come back.
class Detector
{
public:
    explicit Detector(const std::string &name, std::vector<DnnTorchOption> options = {},
                      const char *results = "tensors")
        : path_(path_of(name)), fd_(open(path_.c_str(), O_RDONLY | O_CLOEXEC))
    {
        options.push_back({"results", results});
        const DnnTorchSource source = {
            .size = sizeof source, .name = path_.c_str(), .fd = fd_, .data = nullptr};
        model = std::make_unique<Model>(source, options);
        close(fd_);
    }

    Outcome probe(const Shape &shape, size_t capacity = usual_capacity)
    {
        const DnnTorchTensor in = tensor_of(shape);
        DnnTorchMessage message = {};
        std::vector<DnnTorchTensor> out(capacity, DnnTorchTensor{.size = sizeof out[0]});
        const int status =
            engine().model_probe(model->get(), &in, 1, out.data(), capacity, &message);
        take(status, out);
        return outcome(status, message);
    }

    Outcome run(const Pictures &pictures, size_t capacity = usual_capacity)
    {
        if (!session_)
            session_ = std::make_unique<Session>(*model);
        const DnnTorchTensor in = tensor_of(pictures.view);
        DnnTorchMessage message = {};
        DnnTorchRun report = {.size = sizeof report};
        std::vector<DnnTorchTensor> out(capacity,
                                        DnnTorchTensor{.size = sizeof out[0], .type = 99});
        const std::vector<float> before = pictures.samples;
        const int status =
            engine().session_run(session_->get(), &in, 1, out.data(), capacity, &report, &message);
        EXPECT_EQ(before, pictures.samples) << "the engine wrote into its input";
        take(status, out);
        return outcome(status, message);
    }

    std::unique_ptr<Model> model;
    std::vector<Kept> tensors; // of the last call

private:
    // Those that are not there come last and are empty.
    void take(int status, const std::vector<DnnTorchTensor> &out)
    {
        tensors.clear();
        if (status != DNN_TORCH_OK)
            return;
        const auto end = std::find_if_not(out.begin(), out.end(), is_there);
        EXPECT_TRUE(std::none_of(end, out.end(), is_there));
        for (auto each = out.begin(); each != end; each++) {
            expect_packed(*each);
            tensors.push_back(kept(*each));
        }
        for (auto each = end; each != out.end(); each++) {
            EXPECT_EQ(each->data, nullptr);
            EXPECT_EQ(each->rank, 0);
        }
    }

    const std::string path_;
    const int fd_;
    std::unique_ptr<Session> session_;
};

// Runs the model for two pictures and returns the tensors.
std::vector<Kept> tensors_of(const std::string &name, std::vector<DnnTorchOption> options = {})
{
    Detector detector(name, std::move(options));
    EXPECT_EQ(detector.model->opened.status, DNN_TORCH_OK) << detector.model->opened.message;
    const Outcome result = detector.run(Pictures(2, 3, 32, 48));
    EXPECT_EQ(result.status, DNN_TORCH_OK) << name << ": " << result.message;
    return detector.tensors;
}

std::vector<std::string> names_of(const std::vector<Kept> &tensors)
{
    std::vector<std::string> names;
    for (const Kept &each : tensors)
        names.push_back(each.name);
    return names;
}

Outcome failure_of(const std::string &name, std::vector<DnnTorchOption> options = {})
{
    Detector detector(name, std::move(options));
    return detector.model->opened.status ? detector.model->opened
                                         : detector.run(Pictures(2, 3, 32, 48));
}

using Names = std::vector<std::string>;
using Dims = std::vector<int64_t>;
using Numbers = std::vector<double>;

// ---- what comes back --------------------------------------------------------------

TEST(Tensors, OfABareOneHaveNoName)
{
    const auto tensors = tensors_of("tensors_bare");
    ASSERT_EQ(tensors.size(), 1U);
    EXPECT_EQ(tensors[0].name, "");
    EXPECT_EQ(tensors[0].type, DNN_TORCH_F32);
    EXPECT_EQ(tensors[0].dims, (Dims{2, 5}));
    EXPECT_TRUE(std::isnan(tensors[0].numbers[1]));
    EXPECT_TRUE(std::isinf(tensors[0].numbers[2]));
    EXPECT_EQ(tensors[0].numbers[3], -3);
    EXPECT_EQ(tensors[0].numbers[4], 7);
}

TEST(Tensors, KeepTheirOrderAndNames)
{
    const auto nested = tensors_of("tensors_nested");
    EXPECT_EQ(names_of(nested), (Names{"1.0.boxes", "1.0.labels", "1.1.boxes", "1.1.labels"}));
    EXPECT_EQ(nested.at(0).dims, (Dims{2, 4}));
    EXPECT_EQ(nested.at(2).numbers.front(), 1);
    EXPECT_EQ(nested.at(3).type, DNN_TORCH_I64);
    EXPECT_EQ(nested.at(3).numbers, (Numbers{3, 5}));
    const auto named = tensors_of("tensors_named");
    EXPECT_EQ(names_of(named), (Names{"boxes", "scores"}));
    EXPECT_EQ(named.at(0).dims, (Dims{2, 3, 32}));
    EXPECT_EQ(names_of(tensors_of("dict_two")), (Names{"image", "mask"}));
    EXPECT_EQ(names_of(tensors_of("list_two")), (Names{"0", "1"}));
    EXPECT_EQ(names_of(tensors_of("tuple_two")), (Names{"1", "2"}));
}

TEST(Tensors, MayBeEmptyOrNotThere)
{
    const auto empties = tensors_of("tensors_empties");
    ASSERT_EQ(names_of(empties), (Names{"boxes", "labels", "one"}));
    EXPECT_EQ(empties[0].dims, (Dims{0, 4}));
    EXPECT_EQ(empties[1].dims, (Dims{0}));
    EXPECT_EQ(empties[1].type, DNN_TORCH_I64);
    EXPECT_EQ(empties[2].dims, Dims{});
    EXPECT_EQ(empties[2].numbers.size(), 1U);
    EXPECT_EQ(names_of(tensors_of("tensors_with_none")), Names{"1"});
    EXPECT_EQ(names_of(tensors_of("list_empty")), Names{});
}

TEST(Tensors, AreFloatsOrWholeNumbers)
{
    const auto tensors = tensors_of("tensors_types");
    ASSERT_EQ(tensors.size(), 8U);
    for (size_t i = 0; i < tensors.size(); i++)
        EXPECT_EQ(tensors[i].type, i < 3 ? DNN_TORCH_F32 : DNN_TORCH_I64) << i;
    EXPECT_NEAR(tensors[0].numbers[0], tensors[2].numbers[0], 1e-3);
    EXPECT_NEAR(tensors[1].numbers[0], tensors[2].numbers[0], 1e-2);
    EXPECT_EQ(tensors[3].numbers, Numbers(6, 0));
    EXPECT_EQ(tensors[4].numbers, Numbers(6, 1));
    EXPECT_EQ(tensors[5].numbers, Numbers(6, 8));
    EXPECT_EQ(tensors[6].numbers, Numbers(6, -5));
    EXPECT_EQ(tensors[7].numbers, Numbers{1099511627776.0});
}

TEST(Tensors, WithLongNamesAreCut)
{
    const auto tensors = tensors_of("tensors_long_names");
    ASSERT_EQ(tensors.size(), 2U);
    EXPECT_EQ(tensors[0].name.size(), sizeof(DnnTorchTensor::name) - 1);
    EXPECT_EQ(tensors[0].name.substr(0, 50), std::string(50, 'n'));
    EXPECT_EQ(tensors[1].name, "second");
}

// Theirs is the session's memory, not the caller's.
TEST(Tensors, MayBeTheInput)
{
    const auto tensors = tensors_of("tensors_same_picture");
    ASSERT_EQ(tensors.size(), 2U);
    EXPECT_EQ(tensors[0].dims, (Dims{2, 3, 32, 48}));
    EXPECT_NEAR(tensors[1].numbers[7], tensors[0].numbers[7] / 2, 1e-6);
}

TEST(Tensors, AreChosenByName)
{
    EXPECT_EQ(names_of(tensors_of("tensors_nested", {{"output", "1.1"}})),
              (Names{"1.1.boxes", "1.1.labels"}));
    EXPECT_EQ(tensors_of("tensors_nested", {{"output", "1"}}).size(), 4U);
    EXPECT_EQ(names_of(tensors_of("tensors_named", {{"output", "1"}})), Names{"scores"});
    EXPECT_EQ(names_of(tensors_of("tensors_named", {{"output", "scores"}})), Names{"scores"});
    EXPECT_EQ(names_of(tensors_of("tensors_bare", {{"output", "whatever"}})), Names{""});
    expect_failure(failure_of("tensors_nested", {{"output", "1.7"}}), DNN_TORCH_BAD_OUTPUT,
                   {"1.7", "output=NAME", "1.0.boxes"});
    expect_failure(failure_of("tensors_named", {{"output", "score"}}), DNN_TORCH_BAD_OUTPUT,
                   {"score", "boxes, scores"});
}

TEST(Tensors, ThatCannotBeHandedOut)
{
    expect_failure(failure_of("tensors_many"), DNN_TORCH_BAD_OUTPUT,
                   {"70 tensors", "64", "output=NAME"});
    expect_failure(failure_of("tensors_rank9"), DNN_TORCH_BAD_OUTPUT, {"rank 9", "8"});
    expect_failure(failure_of("tensors_complex"), DNN_TORCH_BAD_OUTPUT, {"complex"});
    expect_failure(failure_of("text"), DNN_TORCH_BAD_OUTPUT, {"no tensor but str"});
    expect_failure(failure_of("nothing"), DNN_TORCH_BAD_OUTPUT, {"no tensor but None"});
    expect_failure(failure_of("raises"), DNN_TORCH_RUN_FAILED, {"this model never works"});
    expect_failure(Detector("tensors_bare", {}, "everything").model->opened, DNN_TORCH_BAD_OPTION,
                   {"results=everything", "picture"});
    EXPECT_EQ(tensors_of("tensors_many", {{"output", "7"}}).size(), 1U);
}

TEST(Tensors, AreAsManyAsTheCallerTakes)
{
    Detector detector("tensors_nested");
    expect_failure(detector.run(Pictures(2, 3, 32, 48), 3), DNN_TORCH_BAD_OUTPUT,
                   {"4 tensors", "at most 3"});
    EXPECT_EQ(detector.run(Pictures(2, 3, 32, 48), 4).status, DNN_TORCH_OK);
    EXPECT_EQ(detector.run(Pictures(1, 3, 32, 48), 2).status, DNN_TORCH_OK);
    EXPECT_EQ(detector.tensors.size(), 2U);
    EXPECT_NE(detector.run(Pictures(1, 3, 32, 48), 0).status, DNN_TORCH_OK);
}

TEST(Tensors, AreProbedByTheirShapes)
{
    Detector detector("tensors_nested");
    for (const int32_t batch : {1, 3}) {
        ASSERT_EQ(detector.probe({batch, 3, 32, 48}).status, DNN_TORCH_OK);
        ASSERT_EQ(detector.tensors.size(), static_cast<size_t>(2 * batch));
        EXPECT_EQ(detector.tensors[0].name, "1.0.boxes");
        EXPECT_EQ(detector.tensors[0].dims, (Dims{2, 4}));
        EXPECT_EQ(detector.tensors[0].numbers.size(), 0U);
    }
    EXPECT_EQ(detector.model->metadata("output_type"), "");
    expect_failure(detector.probe({1, 3, 0, 48}), DNN_TORCH_BAD_INPUT, {"empty"});
}

// ---- how pictures go in -----------------------------------------------------------

TEST(Tensors, OfModelsThatTakeOtherPictures)
{
    const auto bytes = tensors_of("tensors_bytes");
    ASSERT_EQ(names_of(bytes), (Names{"0", "1"}));
    EXPECT_EQ(bytes[0].dims, (Dims{2, 3}));
    EXPECT_EQ(bytes[0].numbers[0], 1); // white, as these pictures have it
    Detector one("tensors_one_at_a_time");
    ASSERT_EQ(one.run(Pictures(1, 3, 32, 48)).status, DNN_TORCH_OK);
    EXPECT_EQ(one.tensors.at(0).dims, Dims{3});
    one.model->tune({2, 3, 32, 48});
    expect_failure(one.model->planned, DNN_TORCH_BAD_INPUT,
                   {"one picture at a time", "batch_size=1"});
}

TEST(Lists, GetThePicturesOfABatch)
{
    Detector detector("tensors_picture_list");
    ASSERT_EQ(detector.model->opened.status, DNN_TORCH_OK) << detector.model->opened.message;
    EXPECT_STREQ(detector.model->tensors(DNN_TORCH_INPUTS).at(0).type_text, "List[Tensor]");
    for (const int batch : {1, 3}) {
        const Outcome result = detector.run(Pictures(batch, 3, 32, 48));
        ASSERT_EQ(result.status, DNN_TORCH_OK) << result.message;
        ASSERT_EQ(detector.tensors.size(), static_cast<size_t>(2 * batch));
        EXPECT_EQ(detector.tensors[0].name, "0.size");
        EXPECT_EQ(detector.tensors[0].numbers, (Numbers{3, 32, 48}));
        EXPECT_EQ(detector.tensors.back().dims, Dims{3});
    }
}

TEST(Lists, MayHaveTheirChannelsLast)
{
    for (const char *layout : {"nhwc", "hwc"}) {
        const auto tensors = tensors_of("tensors_picture_list", {{"input_layout", layout}});
        EXPECT_EQ(tensors.at(0).numbers, (Numbers{32, 48, 3}));
    }
}

TEST(Lists, AreNotTheCallersMemory)
{
    EXPECT_EQ(tensors_of("tensors_writes_picture_list").size(), 2U);
}

TEST(Lists, MayBecomeAPicture)
{
    Model model(options_for(path_of("tensors_picture_list_to_picture")));
    ASSERT_EQ(model.opened.status, DNN_TORCH_OK) << model.opened.message;
    Session session(model);
    const Pictures pictures(2, 3, 32, 48);
    ASSERT_EQ(session.run(pictures).status, DNN_TORCH_OK);
    EXPECT_LT(difference(samples_of(session.output), times(pictures.samples, 2)), 1e-6F);
}

// ---- state that is none -----------------------------------------------------------

int in_order(const std::string &name)
{
    Detector detector(name);
    EXPECT_EQ(detector.model->opened.status, DNN_TORCH_OK) << detector.model->opened.message;
    detector.model->tune(usual_shape);
    return detector.model->tuning.in_order;
}

TEST(Flags, ThatOnlyWarnAreNoState)
{
    EXPECT_EQ(in_order("tensors_warns_once"), 0);
    EXPECT_EQ(in_order("tensors_takes_targets"), 0);
    EXPECT_EQ(in_order("tensors_converts_anchors"), 0);
    EXPECT_EQ(in_order("tensors_converts_to_features"), 0);
}

TEST(Flags, ThatChangeResultsAreState)
{
    EXPECT_EQ(in_order("tensors_sees_first"), 1);
    EXPECT_EQ(in_order("tensors_sees_bright"), 1);
    EXPECT_EQ(in_order("tensors_changes_anchors"), 1);
    for (const char *name :
         {"tensors_appends_to_alias", "tensors_writes_view", "tensors_writes_through_list"})
        EXPECT_EQ(in_order(name), 1) << name;
}

TEST(Flags, OfAnchorsServeSeveralSessions)
{
    Detector detector("tensors_converts_anchors");
    Session first(*detector.model), second(*detector.model);
    std::vector<std::thread> threads;
    for (Session *session : {&first, &second})
        threads.emplace_back([session] {
            for (int i = 0; i < 20; i++) {
                const Pictures pictures(1, 3, 32, 48);
                const DnnTorchTensor in = tensor_of(pictures.view);
                DnnTorchMessage message = {};
                DnnTorchRun report = {.size = sizeof report};
                std::vector<DnnTorchTensor> out(2, {.size = sizeof(DnnTorchTensor)});
                ASSERT_EQ(engine().session_run(session->get(), &in, 1, out.data(), out.size(),
                                               &report, &message),
                          DNN_TORCH_OK)
                    << message.text;
                EXPECT_EQ(kept(out[0]).dims, (Dims{2, 4}));
                EXPECT_EQ(kept(out[1]).numbers, Numbers(4, 0));
            }
        });
    for (std::thread &thread : threads)
        thread.join();
}

// ---- maps -------------------------------------------------------------------------

// Returns the shape and the numbers of what a model returns for two pictures with results=maps.
Kept map_of(const std::string &name, std::vector<DnnTorchOption> options = {})
{
    Detector detector(name, std::move(options), "maps");
    EXPECT_EQ(detector.model->opened.status, DNN_TORCH_OK) << detector.model->opened.message;
    const Outcome result = detector.run(Pictures(2, 3, 32, 48), 1);
    EXPECT_EQ(result.status, DNN_TORCH_OK) << name << ": " << result.message;
    return detector.tensors.empty() ? Kept{} : detector.tensors[0];
}

TEST(Maps, HaveAnyNumberOfChannels)
{
    const Kept classes = map_of("tensors_segments");
    EXPECT_EQ(classes.dims, (Dims{2, 21, 32, 48}));
    EXPECT_EQ(classes.type, DNN_TORCH_F32);
    EXPECT_EQ(classes.numbers.front(), 0);
    EXPECT_EQ(map_of("tensors_segments", {{"output", "aux"}}).numbers.front(), 1);
}

TEST(Maps, OfWholeNumbersArePlainFloats)
{
    for (const char *name : {"tensors_indices", "tensors_index_channel", "tensors_byte_indices"}) {
        const Kept indices = map_of(name);
        EXPECT_EQ(indices.dims, (Dims{2, 1, 32, 48})) << name;
        EXPECT_EQ(indices.type, DNN_TORCH_F32);
        EXPECT_EQ(indices.numbers.front(), 17) << name;
    }
}

// ---- variants ---------------------------------------------------------------------

TEST(Tensors, AreThoseOfThePlainModel)
{
    for (const char *name : {"net_relu", "tensors_types", "tensors_named", "tensors_empties"}) {
        const auto plain = tensors_of(name, {{"optimize", "0"}});
        for (const char *variant : {"1", "frozen", "channels_last", "inference"}) {
            const auto others = tensors_of(name, {{"optimize", variant}});
            ASSERT_EQ(names_of(others), names_of(plain)) << name << ' ' << variant;
            for (size_t i = 0; i < plain.size(); i++) {
                EXPECT_EQ(others[i].dims, plain[i].dims);
                for (size_t j = 0; j < plain[i].numbers.size(); j++)
                    EXPECT_NEAR(others[i].numbers[j], plain[i].numbers[j], 2e-3);
            }
        }
    }
}

} // namespace
