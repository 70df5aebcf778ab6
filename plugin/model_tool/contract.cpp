// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch contract: what a model's tensors mean, as a file to edit (docs/contract.md).
#include "base/terminal.h"
#include "classifier_facts.h"
#include "detector_facts.h"
#include "kind.h"
#include "model_commands.h"
#include "probed_contract.h"

#include <cstdio>

namespace dnn_torch
{
namespace
{

Kind kind_of(const Place &place, const Request &request, const Contract &known,
             std::optional<Trials> &trials)
{
    return find_kind(
        known, {.picture = [&] { trials = try_model(open_model(place, request, "auto"), request); },
                .detector = [&] { try_detector(place, request); },
                .classifier = [&] { try_classifier(place, request); }});
}

// What nobody could try has a contract, too.
void try_it(const Place &place, const Request &request, Contract &contract)
{
    std::optional<Trials> trials;
    Kind kind = Kind::picture;
    try {
        kind = kind_of(place, request, contract, trials);
    } catch (const Error &error) {
        fprintf(stderr, "dnn-torch: the model could not be tried: %s\n",
                printable(error.what()).c_str());
    }
    if (kind != Kind::picture)
        add_task(kind == Kind::detector ? "detect" : "classify", contract);
    else if (trials)
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
