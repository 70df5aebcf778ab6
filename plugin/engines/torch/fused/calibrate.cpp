// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "calibrate.h"

#include "rounding.h"
#include "run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <variant>

namespace engine_torch::fused
{
namespace
{

constexpr double most_decibel = 99.9;
// In deep networks several neighbours are measured together, because each measurement is a run.
// All runs together may have most_products, which takes a core with AVX2 10 to 20 seconds.
constexpr size_t least_measured = 4, most_measured = 24;
constexpr double most_products = 4e11;

double products_of(const Graph &graph, Extent extent)
{
    const std::vector<Extent> extents = extents_of(graph, extent);
    double sum = 0;
    for (const Node &node : graph.nodes())
        if (const auto *it = std::get_if<Convolution>(&node.operation))
            sum += static_cast<double>(it->weights.size()) *
                   static_cast<double>(extents[node.output].height) *
                   static_cast<double>(extents[node.output].width);
    return sum;
}

// How many groups of layers are measured one by one.
size_t groups_of(const Graph &graph, std::span<const CalibrationPicture> samples, size_t layers)
{
    double products = 1;
    for (const CalibrationPicture &sample : samples)
        products += products_of(graph, sample.extent);
    const double runs = std::clamp(most_products / products, static_cast<double>(least_measured),
                                   static_cast<double>(most_measured));
    return std::min(static_cast<size_t>(runs), layers);
}

// A sample's result, and memory for it that begins at a cache line.
class Computed
{
public:
    Computed(const std::shared_ptr<const Program> &program, const CalibrationPicture &sample,
             const Run::Watch &watch = nullptr)
    {
        Run run(program);
        run.watch(watch);
        const Extent made = program->output_extent();
        const int64_t channels =
            program->list().tensors[program->list().stages.back().output].channels;
        samples_.resize(static_cast<size_t>(channels * made.height * made.width));
        std::vector<std::byte> memory(run.memory_bytes() + cache_line);
        void *start = memory.data();
        size_t space = memory.size();
        std::align(cache_line, run.memory_bytes(), start, space);
        run.compute(sample.picture, {samples_.data(), planar_strides(made)},
                    static_cast<std::byte *>(start));
    }

    const std::vector<float> &samples() const { return samples_; }

private:
    std::vector<float> samples_;
};

// NaN is as bad as can be.
double decibel_of(double mean_square)
{
    if (mean_square == 0)
        return most_decibel;
    return mean_square > 0 ? std::min(-10 * std::log10(mean_square), most_decibel) : -INFINITY;
}

void add_row(Range &range, const float *row, const RowLayout &layout)
{
    for (int64_t plane = 0; plane < layout.planes(); plane++)
        for (int64_t x = 0; x < layout.width; x++, row += layout.lanes)
            for (int64_t lane = 0;
                 lane < std::min(layout.lanes, layout.channels - plane * layout.lanes); lane++)
                range.add(row[lane]);
}

class Calibrator
{
public:
    Calibrator(const Graph &graph, std::span<const CalibrationPicture> samples,
               const CalibrationGoal &goal)
        : graph_(graph), goal_(goal)
    {
        const size_t judged = goal.judged ? std::min(goal.judged, samples.size()) : samples.size();
        samples_ = samples.first(judged);
        for (const CalibrationPicture &sample : samples_)
            plain_.push_back(computed_plainly(sample));
        double products = 0;
        for (const CalibrationPicture &sample : samples.subspan(judged))
            if ((products += products_of(graph_, sample.extent)) <= most_products)
                computed_plainly(sample);
        for (const Plain &plain : plain_)
            if (goal_.peak == 0)
                for (const float number : plain.result)
                    largest_ = std::max(largest_, static_cast<double>(std::abs(number)));
        groups_ = groups_of(graph_, samples_, ranges_.size());
    }

    Calibration run()
    {
        Calibration all = measured(LayerRanges(ranges_.begin(), ranges_.end()));
        if (all.decibel >= goal_.decibel || !all.in_int8)
            return all;
        const std::vector<size_t> order = by_loss();
        // As few as possible of those that lose the most are left out.
        size_t too_few = 0, enough = order.size();
        Calibration found;
        found.layers.resize(ranges_.size());
        found.decibel = most_decibel;
        while (too_few + 1 < enough) {
            const size_t middle = too_few + (enough - too_few) / 2;
            Calibration made = measured(without(order, middle));
            if (made.decibel < goal_.decibel) {
                too_few = middle;
            } else {
                enough = middle;
                found = std::move(made);
            }
        }
        return found;
    }

private:
    struct Plain {
        std::shared_ptr<const Program> program;
        std::vector<float> result;
    };

    // Runs in fp32 and adds the inputs of each convolution to its range.
    Plain computed_plainly(const CalibrationPicture &sample)
    {
        std::shared_ptr<const Program> program = plain_program_;
        if (!program || program->input_extent() != sample.extent)
            program = Program::compile(graph_, sample.extent, {}, program.get());
        plain_program_ = program;
        std::map<TensorId, Range> seen;
        for (const Stage &stage : program->list().stages)
            if (std::holds_alternative<Convolution>(stage.core))
                seen[stage.inputs.front()];
        const auto watch = [&](TensorId tensor, const float *row) {
            if (const auto found = seen.find(tensor); found != seen.end())
                add_row(found->second, row, program->layout(tensor));
        };
        Plain made = {program, Computed(program, sample, watch).samples()};
        ranges_.resize(program->convolutions());
        size_t place = 0;
        for (const Stage &stage : program->list().stages)
            if (std::holds_alternative<Convolution>(stage.core)) {
                const Range &range = seen[stage.inputs.front()];
                ranges_[place].add(range.low);
                ranges_[place++].add(range.high);
            }
        return made;
    }

    Calibration measured(LayerRanges layers) const
    {
        Calibration made = {.layers = std::move(layers)};
        double squares = 0, count = 0;
        for (size_t i = 0; i < samples_.size(); i++) {
            const auto program = Program::compile(graph_, samples_[i].extent, {.int8 = made.layers},
                                                  plain_[i].program.get());
            made.in_int8 = program->in_int8();
            const Computed computed(program, samples_[i]);
            for (size_t at = 0; at < computed.samples().size(); at++) {
                const double apart = static_cast<double>(computed.samples()[at]) -
                                     static_cast<double>(plain_[i].result[at]);
                squares += apart * apart;
            }
            count += static_cast<double>(computed.samples().size());
        }
        const double peak = goal_.peak > 0 ? goal_.peak : largest_;
        made.decibel = decibel_of(squares / count / (peak * peak));
        return made;
    }

    // Layers that are measured together.
    std::vector<size_t> group(size_t number) const
    {
        std::vector<size_t> layers;
        for (size_t layer = number * ranges_.size() / groups_;
             layer < (number + 1) * ranges_.size() / groups_; layer++)
            layers.push_back(layer);
        return layers;
    }

    // The groups in order, the one with the largest loss first.
    std::vector<size_t> by_loss() const
    {
        std::vector<size_t> order(groups_);
        std::iota(order.begin(), order.end(), size_t{0});
        std::vector<double> decibel;
        for (const size_t number : order) {
            LayerRanges alone(ranges_.size());
            for (const size_t layer : group(number))
                alone[layer] = ranges_[layer];
            decibel.push_back(measured(std::move(alone)).decibel);
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b) { return decibel[a] < decibel[b]; });
        return order;
    }

    LayerRanges without(const std::vector<size_t> &order, size_t count) const
    {
        LayerRanges layers(ranges_.begin(), ranges_.end());
        for (size_t i = 0; i < count; i++)
            for (const size_t layer : group(order[i]))
                layers[layer].reset();
        return layers;
    }

    const Graph &graph_;
    std::span<const CalibrationPicture> samples_; // that are judged
    const CalibrationGoal goal_;
    std::shared_ptr<const Program> plain_program_; // that was run last
    std::vector<Plain> plain_;                     // by sample
    std::vector<Range> ranges_;                    // by convolution
    size_t groups_ = 0;                            // of layers that are measured together
    double largest_ = 1e-6;
};

} // namespace

Calibration calibrate(const Graph &graph, std::span<const CalibrationPicture> samples,
                      const CalibrationGoal &goal)
{
    return Calibrator(graph, samples, goal).run();
}

} // namespace engine_torch::fused
