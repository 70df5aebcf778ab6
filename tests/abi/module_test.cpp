// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The host module's refusals, each made to happen.  argv[1] is the module.
#include "dnn_torch/filter_module.h"

#include <lavfi_abi.h>

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/version.h>
}

#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>

namespace
{

std::string module_path;

FilterModuleOpen *opener()
{
    void *library = dlopen(module_path.c_str(), RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<FilterModuleOpen *>(dlsym(library, FILTER_MODULE_SYMBOL))
                   : nullptr;
}

// What filter_module_open() says; empty where it does not refuse.
std::string refusal(uint32_t version, const FilterRegistry *real, uint32_t abi = FILTER_MODULE_ABI)
{
    char message[512] = "";
    FilterModuleHost host = {abi, version, real, message, sizeof(message)};
    const FilterModule *module = opener()(&host);
    EXPECT_EQ(module == nullptr, *message != 0);
    EXPECT_EQ(strchr(message, '\n'), nullptr);
    return message;
}

std::string version_text(unsigned version)
{
    return std::to_string(version >> 16) + "." + std::to_string(version >> 8 & 255) + "." +
           std::to_string(version & 255);
}

void expect_both_versions(const std::string &message, unsigned running)
{
    EXPECT_NE(message.find(version_text(running)), std::string::npos) << message;
    EXPECT_NE(message.find(version_text(LIBAVFILTER_VERSION_INT)), std::string::npos) << message;
}

FilterRegistry linked()
{
    FilterRegistry registry{};
    registry.get_by_name = avfilter_get_by_name;
    registry.iterate = av_filter_iterate;
    registry.graph_parse_ptr = avfilter_graph_parse_ptr;
    return registry;
}

TEST(Module, OpensForTheLibavfilterThatRuns)
{
    FilterRegistry real = linked();
    EXPECT_EQ(refusal(avfilter_version(), &real), "");
    EXPECT_EQ(refusal(avfilter_version(), nullptr), "") << "as a patched FFmpeg opens it";
}

TEST(Module, ListsItsFilters)
{
    char message[512] = "";
    FilterModuleHost host = {FILTER_MODULE_ABI, avfilter_version(), nullptr, message, 512};
    const FilterModule *module = opener()(&host);
    ASSERT_NE(module, nullptr) << message;
    EXPECT_EQ(module->abi, FILTER_MODULE_ABI);
    EXPECT_EQ(module->built_against, static_cast<uint32_t>(LIBAVFILTER_VERSION_INT));
    EXPECT_STREQ(module->filters[0]->name, "dnn_torch");
    EXPECT_STREQ(module->filters[1]->name, "dnn_torch_detect");
    EXPECT_STREQ(module->filters[2]->name, "dnn_torch_classify");
    EXPECT_STREQ(module->filters[3]->name, "dnn_torch_interpolate");
    EXPECT_EQ(module->filters[4], nullptr);
}

TEST(Module, RefusesAnotherMajor)
{
    for (unsigned major : {LIBAVFILTER_VERSION_MAJOR - 1, LIBAVFILTER_VERSION_MAJOR + 1}) {
        unsigned version = AV_VERSION_INT(major, 44, 100);
        expect_both_versions(refusal(version, nullptr), version);
    }
}

// Also development versions between two releases of a major.
TEST(Module, RefusesWhatIsOutsideItsWindow)
{
    for (unsigned version : {unsigned(AV_VERSION_INT(LIBAVFILTER_VERSION_MAJOR, 0, 100)),
                             lavfi_abi::window_first - 1, unsigned(LAVFI_ABI_EARLY_LAST) + 1,
                             unsigned(LAVFI_ABI_LATE_FIRST) - 1, lavfi_abi::window_last + 1})
        if (!lavfi_abi::in_window(version))
            expect_both_versions(refusal(version, nullptr), version);
}

TEST(Module, RefusesAnotherModuleAbi)
{
    std::string message = refusal(avfilter_version(), nullptr, FILTER_MODULE_ABI + 1);
    EXPECT_NE(message.find("ABI"), std::string::npos) << message;
}

const AVFilter *find_nothing(const char *)
{
    return nullptr;
}

const AVFilter *find_no_sink(const char *name)
{
    return strcmp(name, "buffersink") ? avfilter_get_by_name(name) : nullptr;
}

// Each in a process of its own: a module tests itself once.
void expect_failed_self_test(const AVFilter *(*get_by_name)(const char *))
{
    char message[512] = "";
    FilterRegistry real = linked();
    real.get_by_name = get_by_name;
    FilterModuleHost host = {FILTER_MODULE_ABI, avfilter_version(), &real, message, 512};
    const FilterModule *module = opener()(&host);
    ASSERT_NE(module, nullptr) << message;
    const char *fault = module->self_test();
    ASSERT_NE(fault, nullptr);
    EXPECT_NE(strstr(fault, "self-test"), nullptr) << fault;
    expect_both_versions(fault, avfilter_version());
    EXPECT_EQ(module->self_test(), fault);
    fprintf(stderr, "%s\n", fault);
}

TEST(ModuleDeathTest, SaysWhatTheSelfTestFound)
{
    for (auto get_by_name : {find_nothing, find_no_sink})
        EXPECT_EXIT(
            {
                expect_failed_self_test(get_by_name);
                exit(HasFailure());
            },
            testing::ExitedWithCode(0), "the self-test failed, no private graph can be made");
}

// The scanner must leave a text alone where the filters are not offered.
void expect_no_offer()
{
    char message[512] = "";
    FilterRegistry real = linked();
    real.graph_parse_ptr = avfilter_graph_parse_ptr;
    real.get_by_name = find_nothing;
    FilterModuleHost host = {FILTER_MODULE_ABI, avfilter_version(), &real, message, 512};
    const FilterModule *module = opener()(&host);
    ASSERT_NE(module, nullptr) << message;
    AVFilterGraph *graph = avfilter_graph_alloc();
    AVFilterInOut *inputs = nullptr, *outputs = nullptr;
    EXPECT_LT(module->wrappers->graph_parse_ptr(graph, "dnn_torch", &inputs, &outputs, nullptr), 0);
    EXPECT_EQ(graph->nb_filters, 0U);
    avfilter_graph_free(&graph);
}

TEST(ModuleDeathTest, OffersNothingAfterAFailedSelfTest)
{
    EXPECT_EXIT(
        {
            expect_no_offer();
            exit(HasFailure());
        },
        testing::ExitedWithCode(0),
        "dnn_torch: the filters are not offered: the self-test failed.*No such filter");
}

int foreign_parse_ptr(AVFilterGraph *, const char *, AVFilterInOut **, AVFilterInOut **, void *)
{
    return -1;
}

TEST(Module, RefusesAProgramWithALibavfilterOfItsOwn)
{
    FilterRegistry real = linked();
    real.graph_parse_ptr = foreign_parse_ptr;
    std::string message = refusal(avfilter_version(), &real);
    EXPECT_NE(message.find("another libavfilter"), std::string::npos) << message;
}

TEST(Module, OpensAfterARefusal)
{
    EXPECT_NE(refusal(AV_VERSION_INT(1, 2, 3), nullptr), "");
    EXPECT_EQ(refusal(avfilter_version(), nullptr), "");
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    module_path = argc > 1 ? argv[1] : "";
    return RUN_ALL_TESTS();
}
