// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// dnn-torch contract: prints what a model's tensors mean, as a file to edit (docs/contract.md).
#include "base/terminal.h"
#include "kind.h"
#include "model_commands.h"
#include "probed_contract.h"
#include "progress.h"

#include <cstdio>

namespace dnn_torch
{
namespace
{

Kind kind_of(const Backend &backend, const Request &request, const Contract &known,
             std::optional<Trials> &trials)
{
    return find_kind(
        known,
        {.picture = [&] { trials = try_model(open_model(backend, request, "auto"), request); },
         .detector = [&] { try_detector(backend, request); },
         .classifier = [&] { try_classifier(backend, request); }});
}

// Adds what trying the model shows.  A model that cannot be tried still has a contract.
void add_probed(const Backend &backend, const Request &request, Contract &contract)
{
    std::optional<Trials> trials;
    Kind kind = Kind::picture;
    try {
        const Progress progress("trying what the model takes ...");
        kind = kind_of(backend, request, contract, trials);
    } catch (const AnyError &error) {
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
    const Backend backend = find_backend(request);
    std::shared_ptr<Model> model = open_to_inspect(backend, request);
    Contract contract = known_contract(*model, request);
    model.reset();
    add_probed(backend, request, contract);
    fputs(file_of(contract).c_str(), stdout);
    return 0;
}

} // namespace dnn_torch
