// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// usage: units_test [NAME]
//
// Runs the tests in NAME_test.cpp, or all that there are.
#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace
{

// The tests of one source, as --gtest_filter takes them.
std::string tests_in(const std::string &file)
{
    std::string names;
    const testing::UnitTest &all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); i++) {
        const testing::TestSuite &suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); j++) {
            const testing::TestInfo &test = *suite.GetTestInfo(j);
            if (std::string_view(test.file()).ends_with(file))
                names += std::string(suite.name()) + '.' + test.name() + ':';
        }
    }
    return names;
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc > 1) {
        const std::string names = tests_in(std::string("/") + argv[1] + "_test.cpp");
        if (names.empty()) {
            fprintf(stderr, "units_test: there is no test in %s_test.cpp\n", argv[1]);
            return 1;
        }
        testing::GTEST_FLAG(filter) = names;
    }
    return RUN_ALL_TESTS();
}
