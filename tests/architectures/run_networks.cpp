// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Runs many models, each on one picture, in one process: LibTorch takes a second to begin.
//
//     run_networks ENGINE < jobs > results
//
// A job is a line "MODEL CHANNELS HEIGHT WIDTH INPUT OUTPUT OPTIMIZE", files of floats and the
// option, or "-".  What comes of it is a line in JSON: the extents of the result, the form and the
// architecture, or an error.
#include "unit/engine_under_test.h"

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace
{

using nlohmann::json;

struct Job {
    std::string model, input, output, optimize;
    int channels = 0, height = 0, width = 0;
};

json architecture_of(const Model &model)
{
    json told = {{"architecture", model.metadata("architecture")},
                 {"scale", model.metadata("architecture_scale")}};
    std::istringstream lines(model.metadata("architecture_parameters"));
    for (std::string line; std::getline(lines, line);) {
        const size_t space = line.find(' ');
        told[line.substr(0, space)] = line.substr(space + 1);
    }
    return told;
}

void read(const std::string &path, std::vector<float> &samples)
{
    std::ifstream file(path, std::ios::binary);
    const auto bytes = static_cast<std::streamsize>(samples.size() * sizeof(float));
    file.read(reinterpret_cast<char *>(samples.data()), bytes);
    if (file.gcount() != bytes)
        throw std::runtime_error(path + " is too short");
}

void write(const std::string &path, const std::vector<float> &samples)
{
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(samples.data()),
               static_cast<std::streamsize>(samples.size() * sizeof(float)));
}

json run(const Job &job)
{
    Options options = options_for(job.model);
    if (job.optimize != "-")
        options.optimize = job.optimize.c_str();
    Model model(options);
    if (!model.get())
        return {{"error", model.opened.message}};
    Pictures pictures(1, job.channels, job.height, job.width);
    read(job.input, pictures.samples);
    model.tune(pictures.shape());
    Session session(model);
    const Outcome ran = session.run(pictures);
    if (ran.status != DNN_TORCH_OK)
        return {{"error", ran.message}};
    write(job.output, samples_of(session.output));
    return {{"shape", {session.output.channels, session.output.height, session.output.width}},
            {"format", model.metadata("format")},
            {"form", model.variant()},
            {"notice", model.notice()},
            {"told", architecture_of(model)},
            {"contract", model.metadata("architecture_contract")}};
}

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " ENGINE < jobs > results\n";
        return 2;
    }
    engine(argv[1]);
    Job job;
    while (std::cin >> job.model >> job.channels >> job.height >> job.width >> job.input >>
           job.output >> job.optimize)
        std::cout << run(job) << std::endl;
    return 0;
}
