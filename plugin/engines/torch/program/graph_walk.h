// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Walks through a method's graph until nothing new is found of its values.
#pragma once

#include "known_values.h"

#include <map>
#include <memory>
#include <torch/csrc/jit/ir/ir.h>

namespace engine_torch
{

// Marks are bits that are only added; what they mean is up to the heir.  Belongs to one thread.
class GraphWalk
{
protected:
    // `graph` is the inlined graph of a method of `module`.
    GraphWalk(const torch::jit::Module &module, std::shared_ptr<torch::jit::Graph> graph)
        : graph_(std::move(graph)), known_(module, *graph_)
    {
    }
    ~GraphWalk() = default;

    // Visits all nodes, and again if that has changed something.
    void follow_all();
    void walk(const torch::jit::Block &block);

    virtual void visit(const torch::jit::Node &node) = 0;
    // The value becomes another one, in the same or in the next iteration of a loop.
    virtual void carry(const torch::jit::Value *from, const torch::jit::Value *to) = 0;
    virtual void carry_back(const torch::jit::Value *from, const torch::jit::Value *to)
    {
        carry(from, to);
    }
    // An If or Loop depends on values with these marks.
    virtual void decide(const torch::jit::Node &node, unsigned marks) = 0;

    void choose(const torch::jit::Node &node); // walks what an If may execute
    void repeat(const torch::jit::Node &node); // walks what a Loop executes

    unsigned marks_of(const torch::jit::Value *value) const;
    unsigned marks_of_inputs(const torch::jit::Node &node) const;
    void mark(const torch::jit::Value *value, unsigned marks);

    const std::shared_ptr<torch::jit::Graph> graph_;
    const KnownValues known_;
    bool changed_ = false;
    int loops_ = 0;  // around what is visited
    int passes_ = 0; // of follow_all()

private:
    std::map<const torch::jit::Value *, unsigned> marks_;
};

} // namespace engine_torch
