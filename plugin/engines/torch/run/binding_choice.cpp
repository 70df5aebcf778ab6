// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "binding_choice.h"

#include "base/compose.h"
#include "engine_kit/text.h"
#include "engines/torch/failure.h"
#include "engines/torch/machine/quiet.h"
#include "engines/torch/machine/run_scope.h"
#include "engines/torch/program/states.h"
#include "engines/torch/tuning/trial.h"
#include "images.h"

#include <algorithm>
#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace engine_torch
{
namespace
{

// A model that takes no binding mostly fails at once.  One that computes long before it fails must
// not do so with many bindings, at many sizes.
constexpr std::chrono::seconds longest_trials(5);
// A model that refuses all bindings at so many sizes refuses the sizes, or all layouts but the
// first.
constexpr int most_failed_sizes = 2;

// The result of running the model with one binding.
struct Attempt {
    Rehearsal result = {};
    OutputChoice output;
};

// The model must take what it returned, too.
void try_states(const DnnTorchModel &model, const Source &source, const at::Tensor &grey,
                const c10::IValue &returned)
{
    if (!source.has_states())
        return;
    const NamedTensors states = next_states(returned, source, {}, grey, Absent::refused);
    const c10::IValue next =
        model.rehearse(source, grey, {.number = 0, .states = states, .values = {}});
    next_states(next, source, states, grey);
}

// With results=tensors there is no layout, and the type is not looked at.
const OutputChoice all_outputs = {};

Attempt attempt(const DnnTorchModel &model, const Source &source, const Shape &shape)
{
    const Segment &segment = source.binding.segment;
    const auto batch = segment.is_filled ? static_cast<int32_t>(segment.length) : shape.batch;
    const at::Tensor grey =
        grey_pictures(shape.sized(batch, shape.height, shape.width), source.binding.white());
    const c10::IValue returned = model.rehearse(source, grey);
    if (!source.output)
        try_states(model, source, grey, returned);
    if (source.returns_all())
        return {.result = {.picture = {},
                           .tensors = all_tensors(returned, model.output_name(), model.device())},
                .output = all_outputs};
    const OutputChoice output =
        source.output ? *source.output
                      : choose_output(returned, output_request(model, source, grey.sizes()));
    const at::Tensor pictures = picture_of(returned, output, batch, model.device());
    const auto extent = [&](int64_t dimension) {
        return static_cast<int32_t>(pictures.size(dimension));
    };
    return {.result = {.picture = {shape.batch, extent(1), extent(2), extent(3)}, .tensors = {}},
            .output = output};
}

bool fits(const Binding &binding, const Shape &shape)
{
    const bool is_one = shape.batch == 1 || binding.segment.length > 0;
    return (has_batch(binding.layout) || is_one) &&
           (has_channels(binding.layout) || binding.frame_channels(shape.channels) == 1);
}

// Whether the model has read the layout as it was given, and wants another number of channels.
bool wants_other_channels(const std::exception &error, const Shape &shape, const Binding &binding)
{
    return refuses_channels_of(
        words_of(error),
        {shape.batch, binding.frame_channels(shape.channels), shape.height, shape.width});
}

// ---- whether a guess of a layout is plausible

// Shapes of inputs, each with the shape of its result.
using SizePairs = std::vector<std::pair<Shape, Shape>>;

int32_t along(const Shape &shape, bool across)
{
    return across ? shape.width : shape.height;
}

// Whether the extents of three results are linear in those of their inputs, but for rounding.
bool grow_in_proportion(const SizePairs &made, bool across)
{
    const auto in = [&](size_t i) { return int64_t{along(made[i].first, across)}; };
    const auto out = [&](size_t i) { return int64_t{along(made[i].second, across)}; };
    const int64_t more_in = in(1) - in(0), more_out = out(1) - out(0);
    const int64_t wrong = (out(2) - out(0)) * more_in - (in(2) - in(0)) * more_out;
    return more_out > 0 && std::abs(wrong) <= 2 * std::max(more_in, in(2) - in(0));
}

// All that one size can show is that the model keeps it, or multiplies or divides it.
bool is_whole_scale(const Shape &in, const Shape &out)
{
    const auto divides = [](int32_t extent, int32_t by) { return extent % by == 0; };
    const bool is_one = int64_t{out.width} * in.height == int64_t{out.height} * in.width;
    return is_one && (divides(out.width, in.width) || divides(in.width, out.width)) &&
           (divides(out.height, in.height) || divides(in.height, out.height));
}

// Whether the results scale with the inputs.  Tables of numbers look like pictures at some sizes,
// and rows like channels.
bool follow_inputs(const SizePairs &made)
{
    const auto has_other_channels = [&](const auto &each) {
        return each.second.channels != made.front().second.channels;
    };
    if (made.empty() || std::any_of(made.begin(), made.end(), has_other_channels))
        return false;
    if (made.size() < 3)
        return made.size() == 1 && is_whole_scale(made[0].first, made[0].second);
    return grow_in_proportion(made, true) && grow_in_proportion(made, false);
}

std::string sizes_in_words(const SizePairs &made)
{
    std::string words;
    for (const auto &[in, out] : made)
        dnn_torch::add_to_list(
            words, dnn_torch::concat(out.width, "x", out.height, " of ", in.width, "x", in.height));
    return words;
}

std::string words_of_guess(Layout layout, const SizePairs &made)
{
    return dnn_torch::concat("with the layout ", name_of(layout), " it makes ",
                             sizes_in_words(made),
                             ", which do not follow the pictures; if they are right, say so with "
                             "layout=IN|OUT");
}

std::string words_of_result(Layout layout, const SizePairs &made)
{
    return dnn_torch::concat(
        "the model returned tensors of rank ", rank_of(layout), ", which as pictures (",
        name_of(layout), ") are ", sizes_in_words(made),
        " and do not follow the pictures that go in; if they are right, say so "
        "with layout=IN|OUT, of ",
        layout_names());
}

constexpr const char *words_of_first_states =
    "; if a state begins with another shape, say which: NAME=state=OUTPUT/CHANNELSxSCALE";

class BindingChooser
{
public:
    BindingChooser(DnnTorchModel &model, const Shape &shape)
        : model_(model), shape_(shape), source_(*model.source()),
          bindings_(bindings_to_try(source_.asked, source_.plain))
    {
    }

    Rehearsal run()
    {
        if (source_.takes_segments())
            return run_segments();
        try {
            return take_if_consistent(bindings_.front(), attempt(model_, source_, shape_));
        } catch (const std::exception &error) {
            if (bindings_.size() == 1 || model_.network() || is_out_of_memory(error) ||
                is_fault_of_result(error) || wants_other_channels(error, shape_, bindings_.front()))
                throw;
            words_ = words_of(error);
            repeats_itself_ = has_refused_so();
            if (const auto result = run_others())
                return *result;
            if (layout_fault_.empty() && !repeats_itself_ && takes_frames())
                throw Failure(DNN_TORCH_WRONG_RANK, words_);
            if (layout_fault_.empty() && source_.has_states())
                throw Failure(failure_of(Phase::running, error).status(),
                              dnn_torch::concat(words_, words_of_first_states));
            if (are_alike_)
                model_.trials().refusals[shape_.channels] = words_;
            if (layout_fault_.empty())
                throw;
            throw Failure(failure_of(Phase::running, error).status(),
                          dnn_torch::concat(words_, "; ", layout_fault_));
        }
    }

private:
    // Returns whether the model has refused another size in these words, whatever the binding. Then
    // it may take this one in another type, if it says the same of types and of sizes.
    bool has_refused_so() const
    {
        const auto &refusals = model_.trials().refusals;
        const auto found = refusals.find(shape_.channels);
        return found != refusals.end() && found->second == words_;
    }

    // Whether few models take the type, and this one has no weights of it.
    bool is_unlikely(at::ScalarType type) const
    {
        if (type != at::kDouble && type != at::kBFloat16)
            return false;
        for (const at::Tensor &parameter : source_.plain.parameters())
            if (parameter.scalar_type() == type)
                return false;
        return true;
    }

    static bool is_fault_of_result(const std::exception &error)
    {
        const auto *const failure = dynamic_cast<const Failure *>(&error);
        return failure && (failure->status() == DNN_TORCH_BAD_OUTPUT ||
                           failure->status() == DNN_TORCH_BAD_OPTION);
    }

    Rehearsal take(const Binding &binding, const Attempt &taken)
    {
        model_.set_binding(binding, taken.output);
        return taken.result;
    }

    // A guessed layout of the result must hold at other sizes.
    Rehearsal take_if_consistent(const Binding &binding, const Attempt &taken)
    {
        if (const auto made = contradicting_sizes(binding, taken))
            throw Failure(DNN_TORCH_BAD_OUTPUT, words_of_result(taken.output.layout, *made));
        return take(binding, taken);
    }

    // Returns the sizes if a layout was guessed and they contradict it.
    std::optional<SizePairs> contradicting_sizes(const Binding &binding, const Attempt &taken)
    {
        if (!is_guessed(binding, taken.output))
            return std::nullopt;
        SizePairs made = sizes_tried(binding, taken);
        return follow_inputs(made) ? std::nullopt : std::optional(std::move(made));
    }

    bool is_guessed(const Binding &binding, const OutputChoice &output) const
    {
        if (source_.returns_all())
            return false;
        const bool is_input = !source_.asked.layout && binding.layout != bindings_.front().layout;
        const bool is_result = !source_.asked.output_layout && output.layout != binding.layout;
        return is_input || is_result;
    }

    // Returns the results for two further sizes, of other aspects, too, if the model takes them.
    SizePairs sizes_tried(const Binding &binding, const Attempt &taken)
    {
        SizePairs made;
        for (const int32_t step : {32, 64}) {
            made = {{shape_, taken.result.picture}};
            for (const auto &[rows, columns] : {std::pair(3, 1), std::pair(2, 3)}) {
                const Shape size = shape_.sized(shape_.batch, shape_.height + rows * step,
                                                shape_.width + columns * step);
                if (const auto other = try_quietly(binding, size, taken.output))
                    made.emplace_back(size, other->result.picture);
            }
            if (made.size() == 3)
                break;
        }
        return made;
    }

    std::optional<Attempt> try_quietly(const Binding &binding, const Shape &shape,
                                       const std::optional<OutputChoice> &output = std::nullopt)
    {
        const Quiet quiet;
        try {
            source_.binding = binding;
            source_.output = output;
            return attempt(model_, source_, shape);
        } catch (const std::exception &error) {
            if (is_out_of_memory(error))
                throw;
            are_alike_ = are_alike_ && words_of(error) == words_;
            return std::nullopt;
        }
    }

    std::optional<Rehearsal> run_others()
    {
        DnnTorchModel::Trials &trials = model_.trials();
        const bool any_layout = !repeats_itself_ && trials.failed_sizes < most_failed_sizes;
        for (size_t i = 1; i < bindings_.size() && trials.time < longest_trials; i++) {
            const bool is_default_layout = bindings_[i].layout == bindings_.front().layout;
            if (!fits(bindings_[i], shape_) || (!is_default_layout && !any_layout))
                continue;
            if (is_ambiguous(bindings_[i]) || (repeats_itself_ && is_unlikely(bindings_[i].type)))
                continue;
            const auto begin = std::chrono::steady_clock::now();
            const auto taken = try_quietly(bindings_[i], shape_);
            trials.time += std::chrono::steady_clock::now() - begin;
            if (!taken)
                continue;
            are_alike_ = false;
            if (!is_default_layout && (takes_larger() || takes_other_channels()))
                return std::nullopt;
            if (const auto made = contradicting_sizes(bindings_[i], *taken)) {
                layout_fault_ = words_of_guess(bindings_[i].layout, *made);
                continue;
            }
            return take(bindings_[i], *taken);
        }
        trials.failed_sizes++;
        return std::nullopt;
    }

    // Whether the model takes several frames in a dimension of their own, though its words for
    // refusing other tensors may not say so.
    bool takes_frames()
    {
        if (source_.asked.layout || source_.asked.frames > 1 || source_.asked.as_list)
            return false;
        const Quiet quiet;
        for (const int32_t frames : {5, 3, 7}) {
            source_.binding = bindings_.front();
            source_.binding.layout = Layout::ntchw;
            source_.binding.frames = frames;
            Shape shape = shape_;
            shape.channels *= frames;
            try {
                model_.rehearse(source_, grey_pictures(shape, source_.binding.white()));
                return true;
            } catch (const std::exception &error) {
                if (is_out_of_memory(error))
                    throw;
            }
        }
        return false;
    }

    // With as many frames as channels, a model may take either for the other.
    bool is_ambiguous(const Binding &binding) const
    {
        return !source_.asked.layout && has_frames(binding.layout) &&
               binding.frame_channels(shape_.channels) == binding.frames * binding.frames;
    }

    // ---- segments

    struct Working {
        Binding binding;
        OutputChoice output;
        Shape made;
        at::Tensor frames; // the result for frames that differ
    };

    // A wrong layout may work too, so all are tried.
    Rehearsal run_segments()
    {
        std::vector<Working> working;
        for (const Binding &binding : bindings_)
            if (is_worth_trying(binding, working))
                if (auto found = work_with(binding))
                    working.push_back(std::move(*found));
        if (working.empty()) {
            model_.trials().failed_sizes++;
            std::rethrow_exception(segment_fault_);
        }
        drop_unlikely(working);
        const Working &chosen = working.front();
        for (const Working &other : working)
            if (!is_same_result(other.frames, chosen.frames))
                throw Failure(DNN_TORCH_BAD_OPTION,
                              dnn_torch::concat("the model takes segments as ",
                                                name_of(chosen.binding.layout), " and as ",
                                                name_of(other.binding.layout),
                                                ", with other results; say which: layout=",
                                                name_of(chosen.binding.layout)));
        if (chosen.binding.segment.length > 1 && !chosen.binding.segment.mixes)
            model_.note("no frame of a segment has an effect on the others in the model: if it is "
                        "for single pictures, leave length out");
        source_.binding = chosen.binding;
        source_.output = chosen.output;
        return take(source_.binding, attempt(model_, source_, shape_));
    }

    // In the right layout, frames have an effect on each other.  Operators that take five
    // dimensions often take four as well, as something else; the reverse is rare.
    static void drop_unlikely(std::vector<Working> &working)
    {
        const auto keep_those = [&](const auto &is_likely) {
            if (std::any_of(working.begin(), working.end(), is_likely))
                std::erase_if(working, [&](const Working &each) { return !is_likely(each); });
        };
        keep_those([](const Working &each) { return each.binding.segment.mixes; });
        keep_those([](const Working &each) { return rank_of(each.binding.layout) == 5; });
    }

    // A model that refused one size in all types probably refuses sizes.
    bool is_worth_trying(const Binding &binding, const std::vector<Working> &working)
    {
        if (model_.trials().failed_sizes > 0 && binding.type != bindings_.front().type)
            return false;
        const bool is_first_layout = binding.layout == bindings_.front().layout;
        const bool is_new = working.empty() || working.back().binding.layout != binding.layout;
        return is_new && (is_first_layout || model_.trials().time < longest_trials);
    }

    std::optional<Working> work_with(const Binding &binding)
    {
        const auto begin = std::chrono::steady_clock::now();
        std::optional<Working> found;
        const Quiet quiet;
        try {
            found = run_whole(binding);
            Segment &segment = found->binding.segment;
            segment.is_filled = !takes_shorter(*found);
            segment.mixes = changes_others(found->frames, 0) ||
                            changes_others(found->frames, segment.length - 1);
        } catch (const std::exception &error) {
            found.reset();
            if (is_out_of_memory(error))
                throw;
            if (!segment_fault_ || (is_fault_of_result(error) && !has_fault_of_result_)) {
                segment_fault_ = std::current_exception();
                has_fault_of_result_ = is_fault_of_result(error);
            }
        }
        model_.trials().time += std::chrono::steady_clock::now() - begin;
        return found;
    }

    Working run_whole(const Binding &binding)
    {
        source_.binding = binding;
        source_.output = std::nullopt;
        const Attempt whole = attempt_of_length(binding.segment.length);
        source_.output = whole.output;
        return {.binding = binding,
                .output = whole.output,
                .made = whole.result.picture,
                .frames = result_of(different_frames())};
    }

    // Whether shorter segments have results like that of the whole one.
    bool takes_shorter(const Working &whole)
    {
        const int64_t length = whole.binding.segment.length;
        try {
            for (const int64_t shorter : std::set{int64_t{1}, length - 1}) {
                if (shorter < 1 || shorter == length)
                    continue;
                const Shape made = attempt_of_length(shorter).result.picture;
                if (made.channels != whole.made.channels || made.height != whole.made.height ||
                    made.width != whole.made.width)
                    return false;
            }
        } catch (const std::exception &error) {
            if (is_out_of_memory(error))
                throw;
            return false;
        }
        return true;
    }

    at::Tensor different_frames() const
    {
        const Binding &binding = source_.binding;
        return test_picture({static_cast<int32_t>(binding.segment.length), shape_.channels,
                             shape_.height, shape_.width, 0, static_cast<float>(binding.white())});
    }

    at::Tensor result_of(const at::Tensor &frames)
    {
        return picture_of(model_.rehearse(source_, frames), *source_.output, frames.size(0),
                          model_.device())
            .clone();
    }

    // Returns whether other frames have another result if that frame is another.
    bool changes_others(const at::Tensor &result, int64_t place)
    {
        at::Tensor others = different_frames();
        others.select(0, place).mul_(-1).add_(source_.binding.white());
        const at::Tensor made = result_of(others);
        const int64_t first = place == 0 ? 1 : 0, count = others.size(0) - 1;
        return !at::equal(made.narrow(0, first, count), result.narrow(0, first, count));
    }

    Attempt attempt_of_length(int64_t length)
    {
        return attempt(model_, source_,
                       shape_.sized(static_cast<int32_t>(length), shape_.height, shape_.width));
    }

    static bool is_same_result(const at::Tensor &one, const at::Tensor &other)
    {
        constexpr double tolerance = 1e-3;
        return one.sizes() == other.sizes() &&
               at::allclose(one, other, tolerance, tolerance, /*equal_nan=*/true);
    }

    // A model that refuses small pictures might take them by chance in another layout.
    bool takes_larger()
    {
        for (const int32_t extent : {64, 128, 256})
            if (std::max(shape_.height, shape_.width) < extent &&
                try_quietly(bindings_.front(), {shape_.batch, shape_.channels, extent, extent}))
                return true;
        return false;
    }

    // A model for RGBA might take RGB so: it finds as many rows where it expects channels.
    bool takes_other_channels()
    {
        const auto extra = static_cast<int32_t>(extra_channels(bindings_.front().constants));
        for (const int32_t channels : {extra + 1, extra + 3, extra + 4})
            if (channels != shape_.channels &&
                try_quietly(bindings_.front(),
                            {shape_.batch, channels, shape_.height, shape_.width}))
                return true;
        return false;
    }

    DnnTorchModel &model_;
    const Shape shape_;
    Source source_;
    const std::vector<Binding> bindings_;
    std::string words_;                // the first binding's refusal
    bool are_alike_ = true;            // all others were refused in these words
    bool repeats_itself_ = false;      // so were all at another size
    std::string layout_fault_;         // why a layout that the model takes was refused
    std::exception_ptr segment_fault_; // why the likeliest layout of segments was refused
    bool has_fault_of_result_ = false; // and it was only the result that was wrong
};

bool is_same(const Binding &one, const Binding &other)
{
    return one.type == other.type && one.layout == other.layout && one.text() == other.text();
}

} // namespace

OutputRequest output_request(const DnnTorchModel &model, const Source &source,
                             at::IntArrayRef extents)
{
    return {.name = model.output_name(),
            .layout = source.asked.output_layout,
            .input = source.binding.layout,
            .batch = extents[0],
            .height = extents[2],
            .width = extents[3],
            .is_map = source.asked.results == Results::maps,
            .segment = source.binding.segment};
}

Rehearsal run_and_choose_binding(DnnTorchModel &model, const Shape &shape, int threads)
{
    const ThreadsScope own_threads(threads);
    if (model.has_binding())
        return attempt(model, *model.source(), shape).result;
    return BindingChooser(model, shape).run();
}

std::optional<std::string> binding_text(const DnnTorchModel &model)
{
    const auto source = model.source();
    if (!source->output || engine_kit::printable(source->output->name) != source->output->name)
        return std::nullopt;
    const auto bindings = bindings_to_try(source->asked, source->plain);
    const auto place = std::find_if(bindings.begin(), bindings.end(), [&](const Binding &each) {
        return is_same(each, source->binding);
    });
    if (place == bindings.end())
        return std::nullopt;
    const Segment &segment = source->binding.segment;
    if (segment.length > 1 && !segment.mixes)
        return std::nullopt; // each trial says so
    return dnn_torch::concat(place - bindings.begin(), segment.is_filled ? " filled " : " any ",
                             name_of(source->output->layout), " ",
                             static_cast<int>(source->output->type), " ", source->output->name);
}

bool set_binding_by_text(DnnTorchModel &model, const std::string &text)
{
    if (model.has_binding())
        return binding_text(model) == text;
    const auto source = model.source();
    auto bindings = bindings_to_try(source->asked, source->plain);
    std::istringstream words(text);
    size_t place = 0;
    int type = 0;
    std::string lengths, layout, name;
    words >> place >> lengths >> layout >> type;
    const auto known = find_layout(layout);
    const bool makes_sense = words && known && place < bindings.size() && type >= 0 &&
                             type <= static_cast<int>(at::kBFloat16);
    if (!makes_sense)
        return false;
    words.get();
    std::getline(words, name);
    Segment &segment = bindings[place].segment;
    segment.is_filled = lengths == "filled";
    segment.mixes = segment.length > 1;
    model.set_binding(bindings[place], {.name = name,
                                        .layout = *known,
                                        .type = static_cast<at::ScalarType>(type),
                                        .is_segment = segment.length > 0});
    return true;
}

std::shared_ptr<const Source> source_with_binding(DnnTorchModel &model, const Shape &shape)
{
    constexpr int32_t small = 64;
    constexpr int64_t most_samples = int64_t{1} << 24;
    if (shape.is_empty())
        return model.source();
    const auto lock = model.lock_binding();
    const int64_t samples = int64_t{shape.channels} * shape.height * shape.width;
    for (const int32_t extent : {small, std::max(shape.height, shape.width)}) {
        if (model.has_binding() || (extent > small && samples > most_samples))
            break;
        try {
            run_and_choose_binding(
                model,
                {1, shape.channels, std::min(shape.height, extent), std::min(shape.width, extent)},
                1);
        } catch (const std::exception &) {
            // The next run reports it.
        }
    }
    return model.source();
}

} // namespace engine_torch
