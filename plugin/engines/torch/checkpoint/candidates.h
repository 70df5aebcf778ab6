// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Finds where in a checkpoint the weights of a model may be.  Needs no LibTorch.
//
// Authors save a state_dict alone, or in a dictionary with other entries (under "params_ema",
// "state_dict" and so on, even nested), or with prefixes before all names ("module.", "net_g."), or
// together with other networks of the training.  Only the architectures can tell which of these is
// a model, so the candidates are tried in order.
#pragma once

#include "torch_file.h"
#include "weights.h"

#include <string>
#include <vector>

namespace engine_torch
{

struct Candidate {
    std::string place; // "params_ema, names after module."; "" for the whole file
    Weights weights;
    // If not empty: why these weights cannot be used, although their names may be a model's.
    std::string fault;
    // If not empty: the file contains a whole module of this class, which has these weights.
    std::string module = {};
};
using Candidates = std::vector<Candidate>;

// Returns at least one, best first.  Throws a WeightFault that says what the file contains instead.
Candidates find_candidates(const TorchFile &file);

// Returns the candidate with the most tensors, which is likely the model.
const Candidate &largest_of(const Candidates &candidates);

// Returns how many candidates are numbered like this one: 25 if a file has the models "0" to "24".
// 0 if it has no number.
size_t count_numbered(const Candidates &candidates, const Candidate &candidate);

// Returns the weights as the only group of a file, and variants of them without prefixes.
Candidates find_candidates(Weights weights);

} // namespace engine_torch
