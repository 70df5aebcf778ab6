// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "candidates.h"

#include "base/compose.h"
#include "engine_kit/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;
using Kind = PickledValue::Kind;

constexpr int deepest = 4, most_prefixes = 3;
// The largest published networks have some thousand weights.
constexpr size_t most_groups = 32, most_weights = 100'000, longest_name = 1024;

// The usual keys of weights, best first.  A moving average gives better pictures.
constexpr std::array<std::string_view, 32> common_keys = {
    "params_ema",
    "params-ema",
    "ema_params",
    "g_ema",
    "netG_ema",
    "net_g_ema",
    "generator_ema",
    "model_ema",
    "ema_model",
    "state_dict_ema",
    "ema_state_dict",
    "ema",
    "shadow",
    "params",
    "state_dict",
    "model_state_dict",
    "model_state",
    "model",
    "net",
    "network",
    "net_g",
    "netG",
    "generator",
    "G",
    "gen",
    "weights",
    "weight",
    "state",
    "module",
    "student",
    "model_weights",
    "net_state_dict",
};

// The usual prefixes of the model itself among the parts of a training.
constexpr std::array<std::string_view, 20> common_prefixes = {
    "params_ema", "g_ema",     "netG_ema",  "net_g_ema", "generator_ema",
    "model_ema",  "ema_model", "ema",       "generator", "net_g",
    "netG",       "G",         "gen",       "model",     "net",
    "network",    "module",    "_orig_mod", "student",   "upscaler",
};

// What a training keeps in addition: tensors that are not weights of a model.
bool is_no_model(std::string_view key)
{
    constexpr std::array<std::string_view, 10> beginnings = {
        "optim", "sched", "lr_", "amp", "scaler", "callback", "loop", "hyper", "rng", "random"};
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [key](std::string_view beginning) { return key.starts_with(beginning); });
}

void check_count(size_t weights)
{
    if (weights > most_weights)
        throw WeightFault(concat("has more than ", most_weights,
                                 " tensors, which is too many for a model; save the weights of one "
                                 "alone"));
}

std::string shown(std::string_view name)
{
    return engine_kit::printable(name.substr(0, 80));
}

// Searches dictionaries within dictionaries.
class Search
{
public:
    explicit Search(const TorchFile &file) : file_(file), pickle_(file.pickle()) {}

    Candidates run()
    {
        search(pickle_.root(), "", 0);
        if (found_.empty())
            throw WeightFault(why_none());
        return std::move(found_);
    }

private:
    struct Item {
        std::string_view key;
        const PickledValue *value;
    };

    // Visits each dictionary only once, however often it occurs.  Some people save a list: the
    // weights, the state of the training, its step.
    void search(const PickledValue &value, const std::string &place, int depth)
    {
        record(value);
        if (depth > deepest || found_.size() >= most_groups || !seen_.insert(&value).second)
            return;
        if (value.kind == Kind::dict)
            search_dict(value, place, depth);
        if (value.kind == Kind::opaque && is_module(value))
            take_module(value, place);
        if (value.kind == Kind::list || value.kind == Kind::tuple)
            for (size_t i = 0; i < value.parts.size() && i < most_groups; i++)
                search(pickle_.at(value.parts[i]), within(place, std::to_string(i)), depth + 1);
    }

    void search_dict(const PickledValue &value, const std::string &place, int depth)
    {
        std::vector<Item> inner;
        for (size_t i = 0; i + 1 < value.parts.size(); i += 2) {
            const PickledValue &key = pickle_.at(value.parts[i]);
            if (key.kind == Kind::text && key.text.size() <= longest_name)
                inner.push_back({.key = key.text, .value = &pickle_.at(value.parts[i + 1])});
            else
                record(pickle_.at(value.parts[i + 1]));
        }
        for (const std::string_view key : common_keys)
            for (const Item &item : inner)
                if (item.key == key)
                    search(*item.value, within(place, key), depth + 1);
        take(inner, place);
        for (const Item &item : inner)
            if (is_no_model(item.key))
                has_training_ = true;
            else
                search(*item.value, within(place, item.key), depth + 1);
    }

    static std::string within(const std::string &place, std::string_view key)
    {
        return concat(place, place.empty() ? "" : ".", shown(key));
    }

    void take(const std::vector<Item> &items, const std::string &place)
    {
        Weights::Map weights;
        std::string fault;
        bytes_ = 0;
        for (const Item &item : items) {
            if (item.value->kind == Kind::tensor)
                weights.insert_or_assign(std::string(item.key), weight(item));
            else if (item.value->kind == Kind::opaque && fault.empty())
                fault = concat("asks to run ", shown(item.value->text), " for ", shown(item.key),
                               ", which is not done; ", how_to_save);
        }
        if (!weights.empty())
            found_.push_back(
                {.place = place, .weights = Weights(std::move(weights)), .fault = fault});
    }

    // Takes the weights with the names that state_dict() gives them.
    void take_module(const PickledValue &module, const std::string &place)
    {
        std::vector<Item> items;
        gather(module, "", 0, items);
        const size_t before = found_.size();
        take(items, place);
        if (found_.size() > before)
            found_.back().module = shown(module.text);
    }

    void gather(const PickledValue &module, const std::string &before, int depth,
                std::vector<Item> &items)
    {
        constexpr int deepest_module = 64;
        if (depth > deepest_module || before.size() > longest_name)
            return;
        for (const char *const group : {"_parameters", "_buffers"})
            each_of(module, group, [&](std::string_view name, const PickledValue &value) {
                check_count(items.size());
                if (value.kind == Kind::tensor)
                    items.push_back(
                        {.key = *names_.insert(concat(before, name)).first, .value = &value});
            });
        each_of(module, "_modules", [&](std::string_view name, const PickledValue &value) {
            check_steps(value.parts.empty() ? 0 : pickle_.at(value.parts[0]).parts.size());
            if (is_module(value))
                gather(value, concat(before, name, "."), depth + 1, items);
        });
    }

    // A pickle can refer to one module a million times.
    void check_steps(size_t further)
    {
        constexpr size_t most = 4'000'000;
        steps_ += further;
        if (steps_ > most)
            throw WeightFault("has more nested modules than any model");
    }

    // Calls `use` with each name and value of one of a module's dictionaries.
    template <class Use> void each_of(const PickledValue &module, std::string_view group, Use use)
    {
        const PickledValue &state = pickle_.at(module.parts[0]);
        check_steps(state.parts.size());
        for (size_t i = 0; i + 1 < state.parts.size(); i += 2) {
            const PickledValue &key = pickle_.at(state.parts[i]);
            const PickledValue &dict = pickle_.at(state.parts[i + 1]);
            if (key.kind != Kind::text || key.text != group || dict.kind != Kind::dict)
                continue;
            check_steps(dict.parts.size());
            for (size_t j = 0; j + 1 < dict.parts.size(); j += 2)
                if (const PickledValue &name = pickle_.at(dict.parts[j]);
                    name.kind == Kind::text && name.text.size() <= longest_name)
                    use(name.text, pickle_.at(dict.parts[j + 1]));
        }
    }

    // A pickle can declare a few numbers to be a million large tensors.
    Weight weight(const Item &item)
    {
        constexpr uint64_t spare = uint64_t{256} << 20, most_uses = 4;
        check_count(++weights_);
        Weight weight = file_.weight(*item.value, item.key);
        bytes_ += bytes_of(weight);
        if (bytes_ > spare + most_uses * file_.size())
            throw WeightFault("has tensors that take far more memory than the file; clone() them "
                              "before they are saved");
        return weight;
    }

    // Records what to report if there are no weights.
    void record(const PickledValue &value)
    {
        has_tensors_ = has_tensors_ || value.kind == Kind::tensor;
        if (value.kind == Kind::opaque && (opaque_.empty() || (!is_module_ && is_module(value)))) {
            opaque_ = shown(value.text);
            is_module_ = is_module(value);
        }
        if (value.kind == Kind::list || value.kind == Kind::tuple)
            for (const ValueId part : value.parts)
                has_tensors_ = has_tensors_ || pickle_.at(part).kind == Kind::tensor;
    }

    // Whether the value has the state of a torch.nn.Module.
    bool is_module(const PickledValue &value) const
    {
        if (value.kind != Kind::opaque || value.parts.empty())
            return false;
        const PickledValue &state = pickle_.at(value.parts[0]);
        for (size_t i = 0; state.kind == Kind::dict && i < state.parts.size(); i += 2)
            if (const PickledValue &key = pickle_.at(state.parts[i]);
                key.kind == Kind::text && (key.text == "_modules" || key.text == "_parameters"))
                return true;
        return false;
    }

    std::string why_none() const
    {
        if (is_module_)
            return concat("is a whole module (", opaque_, ") without weights; ", how_to_save);
        if (!opaque_.empty())
            return concat("asks to run ", opaque_, ", which is not done; ", how_to_save);
        if (has_tensors_)
            return concat("holds tensors without names; ", how_to_save);
        if (has_training_)
            return concat("holds the state of a training and no model's weights; ", how_to_save);
        return concat("is a checkpoint without weights; ", how_to_save);
    }

    static constexpr std::string_view how_to_save =
        "in PyTorch, save the weights alone with torch.save(model.state_dict(), 'weights.pth')";

    const TorchFile &file_;
    const Pickle &pickle_;
    std::set<const PickledValue *> seen_;
    std::set<std::string, std::less<>> names_; // of weights in modules
    Candidates found_;
    std::string opaque_;
    uint64_t bytes_ = 0; // of one group
    size_t weights_ = 0; // of all groups
    size_t steps_ = 0;   // through modules
    bool is_module_ = false, has_tensors_ = false, has_training_ = false;
};

// ---- prefixes of names ---------------------------------------------------------------

bool is_number(std::string_view text)
{
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view first_word(std::string_view name)
{
    return name.substr(0, std::min(name.find('.'), name.size()));
}

// Returns the weights whose names begin with "WORD.", without that prefix.
Weights after(const Weights &weights, std::string_view word)
{
    const std::string prefix = concat(word, ".");
    Weights::Map map;
    for (auto i = weights.all().lower_bound(prefix);
         i != weights.all().end() && i->first.starts_with(prefix); i++)
        map.emplace(i->first.substr(prefix.size()), i->second);
    Weights rest(std::move(map));
    rest.set_named_scale(weights.named_scale());
    return rest;
}

// Returns the word that all names begin with, unless it is a number or the whole name.
std::optional<std::string> common_word(const Weights &weights)
{
    const std::string_view word = first_word(weights.all().begin()->first);
    const std::string prefix = concat(word, ".");
    const bool is_common =
        std::all_of(weights.all().begin(), weights.all().end(),
                    [&](const auto &each) { return each.first.starts_with(prefix); });
    return is_common && !is_number(word) ? std::optional<std::string>(word) : std::nullopt;
}

std::string place_after(const std::string &place, std::string_view word)
{
    return concat(place, place.empty() ? "" : ", ", "names after ", shown(word), ".");
}

void add_without_common(Candidate candidate, Candidates &all)
{
    for (int i = 0; i < most_prefixes && !candidate.weights.all().empty(); i++) {
        const std::optional<std::string> word = common_word(candidate.weights);
        if (!word)
            return;
        candidate.place = place_after(candidate.place, *word);
        candidate.weights = after(candidate.weights, *word);
        all.push_back(candidate);
    }
}

// Adds single networks of several: "generator." next to "discriminator.".
void add_groups(const Candidate &candidate, Candidates &all)
{
    for (const std::string_view word : common_prefixes) {
        Weights group = after(candidate.weights, word);
        if (group.all().empty() || group.all().size() == candidate.weights.all().size())
            continue;
        Candidate inner = {.place = place_after(candidate.place, word),
                           .weights = std::move(group),
                           .fault = candidate.fault};
        all.push_back(inner);
        add_without_common(std::move(inner), all);
    }
}

Candidates with_prefixes(Candidates found)
{
    Candidates all;
    for (Candidate &each : found) {
        all.push_back(each);
        add_without_common(each, all);
        add_groups(each, all);
        if (const std::optional<std::string> word = common_word(each.weights))
            add_groups({.place = place_after(each.place, *word),
                        .weights = after(each.weights, *word),
                        .fault = each.fault},
                       all);
    }
    return all;
}

} // namespace

Candidates find_candidates(const TorchFile &file)
{
    return with_prefixes(Search(file).run());
}

const Candidate &largest_of(const Candidates &candidates)
{
    return *std::max_element(candidates.begin(), candidates.end(),
                             [](const Candidate &a, const Candidate &b) {
                                 return a.weights.all().size() < b.weights.all().size();
                             });
}

namespace
{

// Returns "params." for "params.0".
std::string_view before_last(std::string_view place)
{
    return place.substr(0, place.rfind('.') + 1);
}

} // namespace

size_t count_numbered(const Candidates &candidates, const Candidate &candidate)
{
    const std::string_view before = before_last(candidate.place);
    const auto is_numbered = [before](const Candidate &each) {
        return before_last(each.place) == before &&
               is_number(std::string_view(each.place).substr(before.size()));
    };
    if (!is_numbered(candidate))
        return 0;
    return static_cast<size_t>(std::count_if(candidates.begin(), candidates.end(), is_numbered));
}

Candidates find_candidates(Weights weights)
{
    if (weights.all().empty())
        throw WeightFault("is a checkpoint without weights; download or save it again");
    check_count(weights.all().size());
    Candidates found;
    found.push_back({.place = "", .weights = std::move(weights), .fault = ""});
    return with_prefixes(std::move(found));
}

} // namespace engine_torch
