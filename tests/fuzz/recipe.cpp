// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "recipe.h"

namespace fuzz
{

Recipe recipe_of(uint64_t campaign, size_t index, size_t seeds)
{
    Random random(Random(campaign).next() ^ Random(~index).next());
    Recipe recipe = {};
    recipe.seed = random.below(seeds);
    recipe.family = random.one_in(3) ? Family::damage : Family::rewriting;
    size_t count = 1;
    while (count < 6 && random.one_in(2))
        count++;
    for (; count > 0; count--)
        recipe.steps.push_back(random.next());
    return recipe;
}

Mutant make_mutant(const Recipe &recipe, const Inputs &seeds)
{
    Mutant mutant = {seeds[recipe.seed], ""};
    for (const uint64_t step : recipe.steps) {
        Random random(step);
        const std::string change = target.change(mutant.bytes, recipe.family, random, seeds);
        mutant.changes += (mutant.changes.empty() ? "" : "; ") + change;
    }
    return mutant;
}

} // namespace fuzz
