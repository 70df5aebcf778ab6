// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "registration/graph_text.h"

#include <gtest/gtest.h>

using dnn_torch::FilterText;
using dnn_torch::replace_filters;
using dnn_torch::scan_graph;

namespace
{

std::vector<std::string> names(const char *text)
{
    std::vector<std::string> found;
    for (const FilterText &filter : scan_graph(text))
        found.push_back(filter.name);
    return found;
}

using Names = std::vector<std::string>;

TEST(GraphText, FindsFiltersInOrder)
{
    EXPECT_EQ(names("scale=1:2,dnn_torch=m.pt,null"), (Names{"scale", "dnn_torch", "null"}));
    EXPECT_EQ(names(" split [a] [b] ; [a] null [c] ;\n [b][c] hstack"),
              (Names{"split", "null", "hstack"}));
    EXPECT_EQ(names("dnn_torch"), Names{"dnn_torch"});
}

TEST(GraphText, SkipsScalerFlags)
{
    EXPECT_EQ(names("sws_flags=bicubic;[0:v]dnn_torch=m"), Names{"dnn_torch"});
    EXPECT_EQ(names("  sws_flags=lanczos+accurate_rnd; null"), Names{"null"});
    EXPECT_TRUE(names("sws_flags=bicubic").empty());
}

TEST(GraphText, SplitsInstanceFromName)
{
    FilterText filter = scan_graph("null,dnn_torch@big one=m.pt")[1];
    EXPECT_EQ(filter.name, "dnn_torch");
    EXPECT_EQ(filter.instance, "big one");
    EXPECT_EQ(filter.context_name(), "dnn_torch@big one");
}

TEST(GraphText, NamesContextsByPosition)
{
    EXPECT_EQ(scan_graph("null,dnn_torch")[1].context_name(), "Parsed_dnn_torch_1");
}

TEST(GraphText, UnescapesArgumentsOnce)
{
    EXPECT_EQ(scan_graph("dnn_torch=model='a,b;[c].pt'")[0].arguments, "model=a,b;[c].pt");
    EXPECT_EQ(scan_graph(R"(dnn_torch=model=a\,b\\:c)")[0].arguments, R"(model=a,b\:c)");
    EXPECT_EQ(scan_graph(R"(dnn_torch=model=it\'s.pt)")[0].arguments, "model=it's.pt");
    EXPECT_EQ(scan_graph("dnn_torch = m.pt ,null")[0].arguments, "m.pt");
}

TEST(GraphText, CountsInputLabels)
{
    std::vector<FilterText> filters = scan_graph("null,[a] [b]dnn_torch[c];[c]null");
    EXPECT_EQ(filters[0].input_labels, 0U);
    EXPECT_EQ(filters[1].input_labels, 2U);
    EXPECT_EQ(filters[2].input_labels, 1U);
}

TEST(GraphText, TellsNoArgumentsFromEmptyOnes)
{
    EXPECT_FALSE(scan_graph("dnn_torch")[0].has_arguments);
    EXPECT_TRUE(scan_graph("dnn_torch=")[0].has_arguments);
}

TEST(GraphText, ANameInAnArgumentIsNoFilter)
{
    EXPECT_EQ(names("drawtext=text='dnn_torch=x,dnn_torch',null"), (Names{"drawtext", "null"}));
    EXPECT_EQ(names("[dnn_torch]null[dnn_torch]"), Names{"null"});
}

TEST(GraphText, StopsAtTheFirstFault)
{
    EXPECT_TRUE(names("[a dnn_torch=m").empty());
    EXPECT_EQ(names("dnn_torch=m[a"), Names{"dnn_torch"});
    EXPECT_EQ(names("null[a]garbage,dnn_torch"), Names{"null"});
    EXPECT_TRUE(names("").empty());
}

TEST(GraphText, TellsAFaultFromTheEnd)
{
    auto whole = [](const char *text) {
        bool result = false;
        scan_graph(text, &result);
        return result;
    };
    for (const char *text :
         {"null", "[a]null[b] ; [b] null", "sws_flags=bicubic;null", "null,null "})
        EXPECT_TRUE(whole(text)) << text;
    for (const char *text :
         {"[a null", "null[b", "null[]", "[]null", "null[a]x", "sws_flags=bicubic"})
        EXPECT_FALSE(whole(text)) << text;
}

TEST(GraphText, ReplacesOnlyTheFilters)
{
    const char *text = "[0:v] dnn_torch@x=model='a,b' [y]; [y]scale=1:2,dnn_torch=n";
    std::vector<FilterText> all = scan_graph(text);
    EXPECT_EQ(replace_filters(text, {all[0], all[2]}, {"null@1", "null@2"}),
              "[0:v] null@1[y]; [y]scale=1:2,null@2");
    EXPECT_EQ(replace_filters(text, {}, {}), text);
}

} // namespace
