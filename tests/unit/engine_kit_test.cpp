// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// What engines share and what needs none of them.
#include "engine_kit/content_hash.h"

#include <gtest/gtest.h>
#include <string>

namespace engine_torch
{
namespace
{

// As b2sum -l 256 prints them: what is kept in users' folders goes by these.
TEST(ContentHash, IsBlake2b)
{
    EXPECT_EQ(content_hash(""), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    EXPECT_EQ(content_hash("abc"),
              "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    EXPECT_EQ(content_hash(std::string(129, '\0')),
              "baadfb64c3bd2cd187b54accc5e61a0720ed86bf48c28017873536cf9015d1b8");
    EXPECT_NE(content_hash(std::string(128, '\0')), content_hash(std::string(129, '\0')));
}

} // namespace
} // namespace engine_torch
