// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "model.h"

#include "base/compose.h"
#include "engine_kit/sized.h"
#include "engines/torch/failure.h"
#include "engines/torch/file/permission_check.h"
#include "engines/torch/loading/compiled_network.h"
#include "engines/torch/loading/export.h"
#include "engines/torch/loading/load.h"
#include "engines/torch/machine/blas.h"
#include "engines/torch/machine/device.h"
#include "engines/torch/machine/processor_quirks.h"
#include "engines/torch/machine/run_scope.h"
#include "engines/torch/onnx/runtime_operator.h"
#include "engines/torch/program/nonlocal_operator.h"
#include "engines/torch/program/rewrites.h"
#include "engines/torch/tuning/trial.h"

#include <string>
#include <vector>

namespace
{

using engine_torch::Failure;
using engine_torch::Precision;
using engine_torch::StateCopy;
using engine_torch::VariantKind;

std::vector<engine_torch::FileBytes> parts_of(const DnnTorchSource &source)
{
    std::vector<engine_torch::FileBytes> parts;
    for (size_t i = 0; i < source.part_count; i++)
        parts.emplace_back(engine_kit::taken(engine_kit::element(source.parts, i)));
    return parts;
}

engine_torch::Requested requested_of(const DnnTorchSource &source,
                                     const engine_kit::Options &options)
{
    return {.path = dnn_torch::text_or_empty(source.name),
            .contents = "",
            .device = options.value("device"),
            .precision = engine_torch::parse_precision(options.value("precision")),
            .pinned = engine_torch::parse_optimize(options.value("optimize"))};
}

std::vector<std::string> picture_names(const engine_torch::Source &source)
{
    std::vector<std::string> names = {source.input_name};
    for (const engine_torch::Constant &constant : source.binding.constants)
        if (constant.kind == engine_torch::Constant::Kind::picture ||
            constant.kind == engine_torch::Constant::Kind::state)
            names.push_back(constant.name);
    return names;
}

std::vector<std::string> given_names(const engine_torch::Source &source)
{
    std::vector<std::string> names = {source.input_name};
    for (const engine_torch::Constant &constant : source.binding.constants)
        names.push_back(constant.name);
    return names;
}

// Returns whether each node of memory gets a copy.
bool parse_weights(const std::string &text)
{
    if (!text.empty() && text != "shared" && text != "node")
        throw Failure(DNN_TORCH_BAD_OPTION,
                      "weights=" + text + " is unknown; choose among shared, node");
    return text == "node";
}

bool parse_inspect(const std::string &text)
{
    if (!text.empty() && text != "0" && text != "1")
        throw Failure(DNN_TORCH_BAD_OPTION, "inspect=" + text + " is neither 0 nor 1");
    return text == "1";
}

} // namespace

DnnTorchModel::DnnTorchModel(const DnnTorchSource &source, const engine_kit::Options &options)
    : requested_(requested_of(source, options)), output_name_(options.value("output")),
      is_inspected_(parse_inspect(options.value("inspect")) || !options.value("export").empty())
{
    engine_torch::avoid_unsound_instructions();
    engine_torch::keep_blas_in_the_calling_thread();
    if (!is_inspected_)
        source_.device = engine_torch::open_device(requested_.device);
    const engine_torch::Permissions permissions(options.value("allow"));
    engine_torch::FileBytes file(source);
    if (const std::string format = options.value("export"); !format.empty())
        export_file(source, std::move(file), format);
    else if (engine_torch::OnnxFile::is_one(file))
        open_onnx(engine_torch::OnnxFile(std::move(file), parts_of(source)), permissions);
    else if (engine_torch::ExportFile::is_one(file))
        open_export({std::move(file), engine_torch::lookup_of(permissions)}, permissions);
    else if (engine_torch::CompiledPackage::is_one(file))
        open_compiled(engine_torch::CompiledPackage(std::move(file)), permissions, source.code);
    else if (engine_torch::Checkpoint::is_one(file))
        open_checkpoint(engine_torch::Checkpoint(std::move(file)), permissions);
    else
        open_archive(engine_torch::Archive(std::move(file)), permissions);
    if (!is_inspected_)
        take_module(options);
    note_meaningless(permissions);
    description_.facts["precision_values"] = engine_torch::precision_values();
    description_.facts["optimize_values"] = engine_torch::optimize_values();
}

void DnnTorchModel::export_file(const DnnTorchSource &source, engine_torch::FileBytes file,
                                const std::string &format)
{
    const bool wants_code = format == "torchscript";
    if (!wants_code && format != "safetensors")
        throw Failure(DNN_TORCH_BAD_OPTION,
                      "export=" + format + " is neither torchscript nor safetensors");
    if (source.sink <= 0)
        throw Failure(DNN_TORCH_BAD_OPTION, "export needs a descriptor to write to");
    if (engine_torch::OnnxFile::is_one(file)) {
        const engine_torch::OnnxFile onnx(std::move(file), parts_of(source));
        if (!wants_code)
            onnx.refuse("is an ONNX model; convert it to TorchScript, which keeps its operators");
        return notices_.add(engine_torch::write_torchscript(onnx, source.sink));
    }
    if (engine_torch::ExportFile::is_one(file)) {
        const engine_torch::Permissions usual;
        const engine_torch::ExportFile program(std::move(file), engine_torch::lookup_of(usual));
        if (!wants_code)
            program.refuse("is a torch.export program; convert it to TorchScript, which keeps its "
                           "operators");
        return notices_.add(engine_torch::write_torchscript(program, source.sink));
    }
    if (!engine_torch::Checkpoint::is_one(file)) {
        const engine_torch::Archive archive(std::move(file));
        throw Failure(DNN_TORCH_BAD_MODEL,
                      "'" + archive.name() +
                          "' is TorchScript already; only files of weights are "
                          "converted");
    }
    const engine_torch::Checkpoint checkpoint(std::move(file));
    notices_.add(wants_code ? engine_torch::write_torchscript(checkpoint, source.sink)
                            : engine_torch::write_safetensors(checkpoint, source.sink));
}

void DnnTorchModel::open_archive(const engine_torch::Archive &archive,
                                 const engine_torch::Permissions &permissions)
{
    requested_.contents = archive.hash();
    if (is_inspected_) {
        description_ = engine_torch::inspect(archive);
        return;
    }
    source_.plain = engine_torch::load_module(archive, source_.device, permissions);
    description_ = engine_torch::describe(archive, source_.plain);
}

void DnnTorchModel::open_onnx(const engine_torch::OnnxFile &file,
                              const engine_torch::Permissions &permissions)
{
    requested_.contents = file.hash();
    const engine_torch::OnnxNetwork &network = file.network();
    callee_ = network.runtime;
    if (callee_) {
        callee_name_ = "operators in ONNX Runtime";
        expect_plain_run(dnn_torch::concat(
            "runs in ONNX Runtime ", engine_torch::onnx_runtime_version(),
            ", without fused programs: it ", network.reason.substr(0, network.reason.rfind("; "))));
    }
    source_.plain = engine_torch::load_network(
        file.name(), network.network, network.weights, source_.device,
        callee_ ? engine_torch::Permissions::of_generated_code(engine_torch::run_onnx)
                : permissions);
    description_ = engine_torch::describe(file, source_.plain);
}

void DnnTorchModel::open_compiled(const engine_torch::CompiledPackage &package,
                                  const engine_torch::Permissions &permissions, int memory)
{
    requested_.contents = package.hash();
    description_ = engine_torch::describe(package);
    if (is_inspected_) {
        description_.facts["refused"] = engine_torch::compiled_code;
        return;
    }
    if (!permissions.is_allowed(engine_torch::compiled_code))
        package.refuse(dnn_torch::concat("is an AOTInductor package: compiled code, which no check "
                                         "can read; write allow=",
                                         engine_torch::compiled_code, " if you trust the file"));
    expect_plain_run("is compiled code, which runs without fused programs");
    const engine_torch::CompiledNetwork compiled = engine_torch::open_compiled(package, memory);
    callee_ = compiled.code;
    callee_name_ = "compiled code";
    source_.plain = engine_torch::load_network(
        package.name(), compiled.network, engine_torch::Weights(), source_.device,
        engine_torch::Permissions::of_generated_code(engine_torch::run_compiled));
}

// Such a network runs as it is, on the processor.
void DnnTorchModel::expect_plain_run(const std::string &how)
{
    if (!is_inspected_ && !source_.device.is_cpu())
        throw Failure(DNN_TORCH_NO_DEVICE,
                      "the model " + how + "; that is on the processor only (device=cpu)");
    if (requested_.precision.precision != Precision::fp32)
        throw Failure(DNN_TORCH_BAD_OPTION,
                      "the model " + how + "; that is as saved only (precision=auto)");
    notices_.add("the model " + how);
}

void DnnTorchModel::open_export(const engine_torch::ExportFile &file,
                                const engine_torch::Permissions &permissions)
{
    requested_.contents = file.hash();
    source_.plain = engine_torch::load_network(file.name(), file.network(), file.weights(),
                                               source_.device, permissions);
    description_ = engine_torch::describe(file, source_.plain);
}

void DnnTorchModel::open_checkpoint(const engine_torch::Checkpoint &checkpoint,
                                    const engine_torch::Permissions &permissions)
{
    requested_.contents = checkpoint.hash();
    const engine_torch::Recognised network = engine_torch::recognise(checkpoint);
    const engine_torch::Candidate &chosen = *network.candidate;
    if (const size_t count = engine_torch::count_numbered(checkpoint.candidates(), chosen);
        count > 1)
        notices_.add("the file holds " + std::to_string(count) + " models; it is " + chosen.place +
                     " that is run");
    source_.plain = engine_torch::load_network(checkpoint, network, source_.device, permissions);
    description_ = engine_torch::describe(checkpoint, network, source_.plain);
    network_ = {.architecture = network.network.architecture,
                .scale = network.network.scale,
                .in_channels = network.network.in_channels,
                .out_channels = network.network.out_channels,
                .shares_windows = network.network.shares_windows};
}

void DnnTorchModel::take_module(const engine_kit::Options &options)
{
    source_.weights_on_each_node = parse_weights(options.value("weights"));
    const std::string wanted_input = options.value("input");
    auto given = engine_torch::parse_constants(options.value("inputs"));
    engine_torch::add_matting_ratio(source_.plain, given);
    if (output_name_.empty() && engine_torch::is_matting(source_.plain))
        output_name_ = engine_torch::matting_output;
    source_.input_name =
        engine_torch::choose_input(source_.plain, requested_.path, wanted_input, given);
    source_.asked = engine_torch::requested_binding(
        options.value("input_type"), options.value("input_layout"), options.value("output_layout"),
        options.value("frames"), options.value("length"),
        engine_torch::constant_choices(given, source_.plain, source_.input_name));
    source_.asked.as_list = engine_torch::takes_list(source_.plain, source_.input_name);
    if (!given.empty())
        source_.asked.text += "; " + options.value("inputs");
    source_.asked.results = engine_torch::parse_results(options.value("results"));
    if (source_.asked.results != engine_torch::Results::picture)
        source_.asked.text +=
            std::string("; results=") + engine_torch::name_of(source_.asked.results);
    source_.binding = engine_torch::bindings_to_try(source_.asked, source_.plain).front();
    engine_torch::restore_traced_numbers(source_.plain);
    // Processors compute with float16 slowly or, in older LibTorch, not at all.
    if (source_.device.is_cpu())
        engine_torch::widen_halves(source_.plain);
    ignores_input_ = !wanted_input.empty() && wanted_input != source_.input_name;
    if (ignores_input_)
        notices_.add("input=" + wanted_input + " is ignored: the model's input is called " +
                     source_.input_name);
    note_output();
    engine_torch::preset_warning_flags(source_.plain);
    source_.own_tolerance = engine_torch::tolerance_of(source_.plain);
    prepare();
    current_ = std::make_shared<const engine_torch::Source>(source_);
}

std::shared_ptr<const engine_torch::Source> DnnTorchModel::source() const
{
    const std::lock_guard<std::mutex> lock(current_mutex_);
    return current_;
}

void DnnTorchModel::set_binding(const engine_torch::Binding &binding,
                                const engine_torch::OutputChoice &output)
{
    auto bound = std::make_shared<engine_torch::Source>(source_);
    bound->binding = binding;
    bound->output = output;
    const std::lock_guard<std::mutex> lock(current_mutex_);
    current_ = std::move(bound);
}

void DnnTorchModel::expect_runnable() const
{
    if (is_inspected_)
        throw Failure(DNN_TORCH_BAD_MODEL,
                      "the model was opened with inspect=1, to be looked at and not to be run");
}

// Command lines made for dnn_processing always name an output.
void DnnTorchModel::note_output()
{
    ignores_output_ = !output_name_.empty() && engine_torch::returns_one_tensor(source_.plain);
    if (ignores_output_)
        notices_.add("output=" + output_name_ +
                     " is ignored: the model returns one tensor, which has no name");
}

void DnnTorchModel::prepare()
{
    const engine_torch::ThreadsScope one_thread(1);
    const std::unique_lock<std::mutex> alone = engine_torch::alone_with_blas();
    const std::vector<std::string> pictures = picture_names(source_), given = given_names(source_);
    traits_ = engine_torch::traits_of(source_.plain, pictures, given);
    if (traits_.keeps_state && engine_torch::forget_conversions(source_.plain, pictures, given))
        traits_ = engine_torch::traits_of(source_.plain, pictures, given);
    source_.writes_input = traits_.writes_input;
    source_.branches_on_data = traits_.branches_on_data;
    source_.uses_samples_as_numbers = traits_.uses_samples_as_numbers;
    if (network_ && network_->shares_windows)
        source_.branches_on_data = source_.uses_samples_as_numbers = false;
    source_.forks = traits_.forks;
    source_.draws_random_numbers = traits_.may_draw || !traits_.random.empty();
    note_random();
    if (source_.device.is_cpu() && engine_torch::blas_is_for_one_thread())
        note_blas();
    if (traits_.writes_constants)
        description_.facts.emplace("exclusive", "1");
    if (traits_.keeps_state)
        return note_state();
    std::string reason;
    source_.frozen = engine_torch::freeze(source_, reason);
    if (!source_.frozen && requested_.pinned != VariantKind::saved)
        notices_.add("the model cannot be frozen and runs as it was saved: " + reason);
}

void DnnTorchModel::note_blas()
{
    const std::string reason =
        "this system's OpenBLAS is one without threads (libopenblas0-serial), which multiplies "
        "wrongly where several threads use it";
    notices_.add(reason + ": frames run one at a time on one core; install libopenblas0-pthread");
}

void DnnTorchModel::note_meaningless(const engine_torch::Permissions &permissions)
{
    std::string names;
    for (const std::string &name : engine_torch::find_unknown(permissions))
        dnn_torch::add_to_list(names, name, "+");
    if (!names.empty())
        notices_.add("allow=" + names +
                     " names nothing that this LibTorch has: correct it, or "
                     "leave it out");
}

void DnnTorchModel::note_random()
{
    if (!traits_.training.empty())
        notices_.add("the model was exported in training mode (" + traits_.training.front() +
                     "), which changes its pictures: call model.eval() before the export");
    else if (!traits_.random.empty())
        notices_.add("the model draws random numbers (" + traits_.random.front() +
                     "): each frame has its own, the same in every run");
}

void DnnTorchModel::note_state()
{
    source_.writes_input = true; // it may keep its input, so it gets a copy
    notices_.add(
        "the model remembers earlier pictures: the frames reach it in order, one at a time");
    // Variants would share the state that such a model changes.
    const Precision precision = requested_.precision.precision;
    if (precision != Precision::fp32)
        notices_.add(std::string("precision=") + engine_torch::name_of(precision) +
                     " is ignored: such a model runs as it was saved");
    if (requested_.pinned && requested_.pinned != VariantKind::saved)
        notices_.add(std::string("optimize=") + engine_torch::name_of(*requested_.pinned) +
                     " is ignored: such a model runs as it was saved");
}

// The names are static.
const char *DnnTorchModel::type_of(bool input) const noexcept
{
    const std::lock_guard<std::mutex> lock(current_mutex_);
    if (!current_ || !current_->output || (!input && current_->returns_all()))
        return nullptr;
    return engine_torch::type_name(input ? current_->binding.type : current_->output->type);
}

// A network of our own has a contract with its reach, and a model that keeps state is never tiled.
bool DnnTorchModel::needs_reach() const
{
    return !is_inspected_ && !network_ && !traits_.keeps_state && !source_.has_states();
}

const char *DnnTorchModel::nonlocal_operator() const noexcept
{
    if (!needs_reach())
        return nullptr;
    if (callee_)
        return callee_name_;
    try {
        find_reach();
    } catch (...) {
        return "code that cannot be read";
    }
    return nonlocal_operator_.empty() ? nullptr : nonlocal_operator_.c_str();
}

// Found when first asked for.
void DnnTorchModel::find_reach() const
{
    std::call_once(reach_known_, [this] {
        const engine_torch::Locality locality =
            engine_torch::locality_of(source_.plain, source_.input_name, source_.binding.layout);
        nonlocal_operator_ = engine_kit::printable(locality.nonlocal_operator);
        if (nonlocal_operator_.empty() && !traits_.random.empty())
            nonlocal_operator_ = traits_.random.front();
        if (!locality.kernels)
            return;
        const auto &[down, across] = *locality.kernels;
        kernel_reach_ =
            dnn_torch::concat(across.reach, " ", down.reach, " ", across.step, " ", down.step);
    });
}

const char *DnnTorchModel::kernel_reach() const noexcept
{
    if (!needs_reach() || callee_)
        return nullptr;
    try {
        find_reach();
    } catch (...) {
        return nullptr; // nonlocal_operator() says so
    }
    return kernel_reach_.empty() ? nullptr : kernel_reach_.c_str();
}

const char *DnnTorchModel::metadata(std::string_view key) const noexcept
{
    // LibTorch uses another algorithm, with other rounding, for convolutions of at most that many
    // samples.
    if (key == "small_samples")
        return "20480";
    if (key == "nonlocal_operator")
        return nonlocal_operator();
    if (key == "kernel_reach")
        return kernel_reach();
    if (key == "notice")
        return notices_.text();
    if (key == "ignores_input" || key == "ignores_output")
        return (key == "ignores_input" ? ignores_input_ : ignores_output_) ? "1" : nullptr;
    if (key == "input_type" || key == "output_type")
        return type_of(key == "input_type");
    const auto found = description_.facts.find(key);
    return found == description_.facts.end() ? nullptr : found->second.c_str();
}

// All copies of a module share the tensors in its code.
std::unique_lock<std::mutex> DnnTorchModel::lock_constants() const
{
    return traits_.writes_constants ? std::unique_lock(constants_) : std::unique_lock<std::mutex>();
}

c10::IValue DnnTorchModel::rehearse(const engine_torch::Source &source, const at::Tensor &images,
                                    const engine_torch::RunArguments &given) const
{
    if (!keeps_state())
        return run_as_saved(source, images, given);
    const auto lock = lock_constants();
    StateCopy state(source.plain, traits_);
    return run_state(source, state, images, given);
}

std::unique_ptr<StateCopy> DnnTorchModel::new_state() const
{
    if (!keeps_state())
        return nullptr;
    const auto lock = lock_constants();
    return std::make_unique<StateCopy>(source_.plain, traits_);
}

c10::IValue DnnTorchModel::run_with(const engine_torch::Source &source, StateCopy &state,
                                    const at::Tensor &images,
                                    const engine_torch::RunArguments &given) const
{
    const auto lock = lock_constants();
    return run_state(source, state, images, given);
}

c10::IValue DnnTorchModel::run_state(const engine_torch::Source &source, StateCopy &state,
                                     const at::Tensor &images,
                                     const engine_torch::RunArguments &given) const
{
    const StateCopy::Use use(state);
    return engine_torch::copy_of(
        run_as({VariantKind::saved, Precision::fp32, use.module()}, source, images, given));
}

c10::IValue DnnTorchModel::run_as_saved(const engine_torch::Source &source,
                                        const at::Tensor &images,
                                        const engine_torch::RunArguments &given) const
{
    return run_as(plain_variant(source), source, images, given);
}
