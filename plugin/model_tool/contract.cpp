// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch contract: what a model's tensors mean, as a file to edit (docs/contract.md).
#include "base/terminal.h"
#include "model_commands.h"
#include "probed_contract.h"

#include <cstdio>

namespace dnn_torch
{
namespace
{

// A model that is no picture filter has a contract, too.
void try_it(const Place &place, const Request &request, Contract &contract)
{
    std::optional<Trials> trials;
    try {
        trials = try_model(open_model(place, request, "auto"), request);
    } catch (const Error &error) {
        fprintf(stderr, "dnn-torch: the model could not be tried: %s\n",
                printable(error.what()).c_str());
    }
    if (trials)
        add_trials(*trials, contract);
}

} // namespace

int write_contract(const Request &request)
{
    const Place place = find_place(request);
    std::shared_ptr<Model> model = look_at_model(place, request);
    Contract contract = known_contract(*model, request);
    model.reset();
    try_it(place, request, contract);
    fputs(file_of(contract).c_str(), stdout);
    return 0;
}

} // namespace dnn_torch
