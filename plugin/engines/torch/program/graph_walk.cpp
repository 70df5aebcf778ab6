// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "graph_walk.h"

namespace engine_torch
{

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Value;

void GraphWalk::follow_all()
{
    do {
        changed_ = false;
        passes_++;
        walk(*graph_->block());
    } while (changed_);
}

void GraphWalk::walk(const Block &block)
{
    for (const Node *node : block.nodes())
        visit(*node);
}

void GraphWalk::choose(const Node &node)
{
    const auto truth = known_.truth_of(node.input());
    if (!truth)
        decide(node, marks_of(node.input()));
    for (size_t branch = 0; branch < 2; branch++) {
        if (truth && *truth != (branch == 0))
            continue;
        const Block *block = node.blocks().at(branch);
        walk(*block);
        for (size_t i = 0; i < node.outputs().size(); i++)
            carry(block->outputs()[i], node.outputs()[i]);
    }
}

// The node's inputs are the most iterations, whether to begin, and the loop-carried values.
void GraphWalk::repeat(const Node &node)
{
    const Block *body = node.blocks().at(0);
    loops_++;
    for (size_t i = 2; i < node.inputs().size(); i++) {
        carry(node.inputs()[i], body->inputs()[i - 1]);
        carry(node.inputs()[i], node.outputs()[i - 2]);
    }
    walk(*body);
    for (size_t i = 1; i < body->outputs().size(); i++) {
        carry_back(body->outputs()[i], body->inputs()[i]);
        carry(body->outputs()[i], node.outputs()[i - 1]);
    }
    loops_--;
    decide(node, marks_of(node.input(0)) | marks_of(node.input(1)) | marks_of(body->outputs()[0]));
}

unsigned GraphWalk::marks_of(const Value *value) const
{
    const auto found = marks_.find(value);
    return found == marks_.end() ? 0 : found->second;
}

unsigned GraphWalk::marks_of_inputs(const Node &node) const
{
    unsigned marks = 0;
    for (const Value *input : node.inputs())
        marks |= marks_of(input);
    return marks;
}

void GraphWalk::mark(const Value *value, unsigned marks)
{
    unsigned &all = marks_[value];
    changed_ = changed_ || (all | marks) != all;
    all |= marks;
}

} // namespace engine_torch
