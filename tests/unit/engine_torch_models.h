// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The models of make_engine_models.py, opened and run.
#pragma once

#include "engine_under_test.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unistd.h>

inline std::string &models_folder()
{
    static std::string folder;
    return folder;
}

inline std::string path_of(const std::string &name)
{
    return models_folder() + "/" + name + ".pt";
}

// A model, in the form that is chosen for it without measuring, and a session of it.
struct Running {
    explicit Running(const std::string &name, const char *optimize = "1",
                     const char *precision = nullptr)
        : path(path_of(name)), model(options_for(path, optimize, precision)), session(model)
    {
        EXPECT_EQ(model.opened.status, DNN_TORCH_OK) << name << ": " << model.opened.message;
        tuned = model.tune(usual_shape);
    }
    std::string path;
    Model model;
    Session session;
    Outcome tuned;
};

inline std::vector<float> run(Running &running, const Pictures &pictures)
{
    const Outcome result = running.session.run(pictures);
    EXPECT_EQ(result.status, DNN_TORCH_OK) << running.path << ": " << result.message;
    return result.status == DNN_TORCH_OK ? samples_of(running.session.output)
                                         : std::vector<float>();
}

inline std::vector<float> times(const std::vector<float> &samples, float factor)
{
    std::vector<float> result = samples;
    for (float &value : result)
        value *= factor;
    return result;
}

inline float difference(const std::vector<float> &a, const std::vector<float> &b)
{
    if (a.size() != b.size())
        return INFINITY;
    float largest = 0;
    for (size_t i = 0; i < a.size(); i++)
        largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

// The same model under a name that this process has not seen.
class Copy
{
public:
    explicit Copy(const char *name)
    {
        static int count = 0;
        path = testing::TempDir() + "copy-" + std::to_string(getpid()) + "-" +
               std::to_string(count++) + ".pt";
        std::filesystem::copy_file(path_of(name), path,
                                   std::filesystem::copy_options::overwrite_existing);
    }
    ~Copy() { std::filesystem::remove(path); }
    Copy(const Copy &) = delete;
    Copy &operator=(const Copy &) = delete;

    std::string path;
};

// Of samples whose white is 1.0.
inline double psnr_decibel(const std::vector<float> &a, const std::vector<float> &b)
{
    if (a.size() != b.size() || a.empty())
        return 0;
    double squares = 0;
    for (size_t i = 0; i < a.size(); i++)
        squares += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    return -10 * std::log10(squares / static_cast<double>(a.size()));
}
