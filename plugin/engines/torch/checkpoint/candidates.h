// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Where in a checkpoint the weights of a model may be.  Needs no LibTorch.
//
// Authors save a state_dict alone, or in a dictionary beside other things (under "params_ema",
// "state_dict" and so on, even twice), or with words before all names ("module.", "net_g."), or
// together with the other networks of a training.  Only the architectures can tell which of these
// is a model, so the candidates are tried in order.
#pragma once

#include "torch_file.h"
#include "weights.h"

#include <string>
#include <vector>

namespace engine_torch
{

struct Candidate {
    std::string place; // "params_ema, names after module."; "" for the whole file as it is
    Weights weights;
    // Not empty: why these weights cannot be used, though their names may be a model's.
    std::string fault;
    // Not empty: the file has a whole module of this class, and these are its weights.
    std::string module = {};
};
using Candidates = std::vector<Candidate>;

// Returns at least one, best first.  Throws a WeightFault that says what the file holds instead.
Candidates find_candidates(const TorchFile &file);

// Of candidates as they are in the file, the one with the most tensors: likely the model.
const Candidate &largest_of(const Candidates &candidates);

// How many candidates are numbered as this one is: 25 where a file holds the models "0" to "24".
// 0: it has no number.
size_t count_numbered(const Candidates &candidates, const Candidate &candidate);

// Adds those that differ from the only one by what stands before the names.
Candidates find_candidates(Weights weights);

} // namespace engine_torch
