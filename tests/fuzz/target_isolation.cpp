// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The replies of a child that a model has taken over: what the isolated engine makes of them.
#include "changes.h"
#include "digest.h"
#include "played_child.h"
#include "tensor_use.h"

#include "engine_kit/failure.h"
#include "engine_kit/sized.h"
#include "isolation/protocol/tensor_views.h"
#include "isolation/proxy/model.h"
#include "isolation/proxy/session.h"

#include <cmath>
#include <cstring>
#include <optional>

namespace
{

using engine_kit::Failure;
using fuzz::Ending;
using fuzz::Fault;
using fuzz::Outcome;
using isolation::Child;

void expect_line(const char *text, const char *what)
{
    if (!text)
        return;
    for (const char *at = text; *at; at++)
        if (static_cast<unsigned char>(*at) < ' ' && *at != '\n' && *at != '\t')
            throw Fault(std::string("a control byte in ") + what);
}

// What the model is opened for: a picture, or all tensors.
struct Wanted {
    size_t count;
    isolation::Extents extents;
};
constexpr Wanted picture = {1, isolation::Extents::from_one};
constexpr Wanted all_tensors = {isolation::most_outputs, isolation::Extents::from_zero};

void expect_shape(const DnnTorchTensor &tensor, const Wanted &wanted)
{
    const auto wire = isolation::to_wire(tensor);
    if (!isolation::has_shape(wire, wanted.extents) ||
        !isolation::packed_bytes(wire, wanted.extents))
        throw Fault("a tensor of no shape");
    if (!std::memchr(tensor.name, 0, sizeof tensor.name))
        throw Fault("a name without an end");
    expect_line(tensor.name, "a name");
}

// Those that are not there come last and have nothing.
void expect_shapes(const std::vector<DnnTorchTensor> &out, const Wanted &wanted)
{
    const size_t there = isolation::count_there(std::span(out));
    if (wanted.count == picture.count && there == 0)
        throw Fault("no picture");
    for (size_t i = 0; i < out.size(); i++)
        if (i < there)
            expect_shape(out[i], wanted);
        else if (out[i].type || out[i].data || out[i].rank)
            throw Fault("a tensor behind one that is not there");
}

// Reads the first and the last element, and some between.
void read_elements(const DnnTorchTensor &tensor, fuzz::Digest &digest)
{
    if (isolation::packed_bytes(isolation::to_wire(tensor), isolation::Extents::from_zero) == 0)
        return;
    const auto element = static_cast<size_t>(isolation::element_bytes(tensor.type));
    constexpr int64_t steps = 5;
    for (int64_t step = 0; step <= steps; step++) {
        const char *at = static_cast<const char *>(tensor.data);
        for (int i = 0; i < tensor.rank; i++)
            at += (tensor.dims[i] - 1) * step / steps * tensor.strides[i];
        digest.add(at, element);
    }
}

DnnTorchTensor input(std::vector<float> &samples)
{
    return {.size = sizeof(DnnTorchTensor),
            .data = samples.data(),
            .type = DNN_TORCH_F32,
            .rank = 4,
            .dims = {1, 1, 2, 2},
            .strides = {16, 16, 8, 4},
            .white = 0};
}

void look_at(DnnTorchModel &model, fuzz::Digest &digest)
{
    std::vector<DnnTorchTensorInfo> infos(70, {.size = sizeof(DnnTorchTensorInfo)});
    if (model.tensors(DNN_TORCH_INPUTS, infos.data(), infos.size()) > infos.size())
        throw Fault("more tensors than there can be");
    for (const DnnTorchTensorInfo &info : infos)
        if (!std::memchr(info.name, 0, sizeof info.name) || info.rank > DNN_TORCH_DIMENSIONS)
            throw Fault("a description without an end");
    for (const char *key : {"format", "notice", "cage"})
        if (const char *text = model.metadata(key)) {
            expect_line(text, "a text");
            digest.add(text);
        }
}

std::vector<DnnTorchTensor> probe(DnnTorchModel &model, const DnnTorchTensor &in,
                                  const Wanted &wanted, fuzz::Digest &digest)
{
    std::vector<DnnTorchTensor> out(wanted.count, {.size = sizeof(DnnTorchTensor)});
    model.probe(&in, 1, out.data(), out.size());
    expect_shapes(out, wanted);
    for (const DnnTorchTensor &each : out)
        digest.add(each.dims, sizeof each.dims);
    out.resize(isolation::count_there(std::span(std::as_const(out))));
    return out;
}

// Where the child may change its memory, what was read is no part of `digest`.
void use(std::span<const DnnTorchTensor> shapes, std::span<const DnnTorchTensor> out,
         const Wanted &wanted, bool is_rewritten, fuzz::Digest &digest)
{
    fuzz::Digest before, after, ignored;
    for (const DnnTorchTensor &each : out)
        read_elements(each, before);
    if (wanted.count == picture.count) {
        if (!is_rewritten)
            digest.add(std::to_string(before.value()));
        return;
    }
    fuzz::use_tensors(shapes, out, is_rewritten ? ignored : digest);
    for (const DnnTorchTensor &each : out)
        read_elements(each, after);
    if (before.value() != after.value())
        throw Fault("tensors that change while they are used");
}

void run(DnnTorchModel &model, const Wanted &wanted, bool is_rewritten, fuzz::Digest &digest)
{
    std::vector<float> samples(4, 0.5F);
    DnnTorchTensor in = input(samples);
    const std::vector<DnnTorchTensor> shapes = probe(model, in, wanted, digest);
    const DnnTorchPlanParameters parameters = {
        .size = sizeof parameters, .budget_seconds = 0, .samples = &in};
    const DnnTorchPlan plan(model, &in, 1, parameters);
    const DnnTorchPlanFacts &facts = plan.facts();
    if (!std::isfinite(facts.run_seconds) || facts.run_seconds < 0 || facts.run_bytes < 0)
        throw Fault("a plan that costs what nothing costs");
    expect_line(plan.metadata("variant"), "a variant");
    DnnTorchSession session(plan, 1);
    session.warm();
    for (int i = 0; i < 2; i++) {
        std::vector<DnnTorchTensor> out(
            wanted.count, {.size = sizeof(DnnTorchTensor), .data = nullptr, .type = DNN_TORCH_F32});
        DnnTorchRun report = {.size = sizeof report, .number = i, .had_nan = 0};
        session.run(&in, 1, out.data(), out.size(), report);
        expect_shapes(out, wanted);
        const size_t there = isolation::count_there(std::span(std::as_const(out)));
        use(shapes, std::span(std::as_const(out)).first(there), wanted, is_rewritten, digest);
        in.data = session.memory(samples.size() * sizeof(float));
    }
    session.reset();
}

// An input that begins with this line opens the model for all its tensors.
constexpr std::string_view wish_for_all = "tensors\n";

Outcome run_part(std::string_view input, const fuzz::ChildsPart &part, bool &broke_in)
{
    auto channel = isolation::make_channel();
    if (!channel)
        return {};
    const fuzz::PlayedChild child(std::move(channel->second), part);
    isolation::Descriptor control = std::move(channel->first);
    const DnnTorchSource source = {
        .size = sizeof source, .name = "a model", .fd = -1, .data = "", .data_size = 0};
    fuzz::Digest digest;
    try {
        const bool wants_all = input.starts_with(wish_for_all);
        const DnnTorchOption option = {"results", wants_all ? "tensors" : "picture"};
        DnnTorchModel model(isolation::Settings(source, &option, 1),
                            [&](Child::OnNotice on_notice, const auto &) {
                                return Child::adopt(std::move(control), std::move(on_notice));
                            });
        look_at(model, digest);
        run(model, wants_all ? all_tensors : picture, part.rewrites.has_value(), digest);
        broke_in = child.broke_in();
    } catch (const Fault &fault) {
        return {Ending::fault, 0, fault.what()};
    } catch (const Failure &failure) {
        if (!*failure.what())
            return {Ending::fault, 0, "a failure without words"};
        return {Ending::refused, 0, failure.what()};
    }
    return {Ending::accepted, digest.value(), ""};
}

Outcome run(std::string_view input)
{
    bool broke_in = false;
    const Outcome outcome = run_part(input, fuzz::parse_part(input), broke_in);
    return broke_in ? Outcome{Ending::fault, 0, "a child that wrote into its inputs"} : outcome;
}

const fuzz::Language language = {{"patch", "size", "close", "twice", "0", "1", "2", "4", "8", "64",
                                  "4294967295", "9223372036854775807", "18446744073709551615",
                                  "18446744073709551552", "\n"},
                                 200};

// One field of one reply.
std::string patch(fuzz::Random &random)
{
    static const std::vector<isolation::Kind> kinds = fuzz::kinds_of_replies();
    const size_t reply = random.below(kinds.size());
    const fuzz::Field field = fuzz::any_field(kinds[reply], random);
    return std::to_string(reply) + " patch " + std::to_string(field.at) + ' ' +
           std::to_string(field.width) + ' ' + std::to_string(fuzz::extreme_number(random)) + '\n';
}

std::string play(fuzz::Random &random)
{
    static const std::vector<std::string> names = fuzz::names_of_layouts();
    if (random.one_in(3))
        return "rewrite " + std::to_string(random.below(1000)) + '\n';
    const std::string &returned = random.pick(names);
    std::string lines = random.one_in(4) ? "" : "probe " + returned + '\n';
    return lines + "run " + returned + ' ' + std::to_string(random.below(1000)) + '\n';
}

std::string change(std::string &input, fuzz::Family family, fuzz::Random &random,
                   const fuzz::Inputs &seeds)
{
    if (random.one_in(8))
        return fuzz::change_by_family(input, family, random, language, seeds);
    if (random.one_in(2) && !input.starts_with(wish_for_all))
        input.insert(0, wish_for_all);
    const std::string lines = random.one_in(2) ? play(random) : patch(random);
    input += (input.empty() || input.ends_with('\n') ? "" : "\n") + lines;
    return "lines more: " + lines;
}

} // namespace

const fuzz::Target fuzz::target = {
    .name = "isolation",
    .prepare = nullptr,
    .run = run,
    .change = change,
    .damage_must_show = false,
    .seconds = 10,
    .memory = uint64_t{1} << 28,
    .inputs_a_fork = 100,
};
