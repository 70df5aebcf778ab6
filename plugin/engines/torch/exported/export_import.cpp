// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "export_import.h"

#include "base/compose.h"
#include "engine_kit/text.h"
#include "engines/torch/graphs/graph_code.h"

#include <algorithm>
#include <cmath>

namespace engine_torch
{
namespace
{

using dnn_torch::concat;

constexpr std::string_view aten = "torch.ops.aten.";
constexpr std::string_view without_gradients = "torch.ops.higher_order.wrap_with_set_grad_enabled";

// Letters, digits and "_" only, as in the names of operators and of their arguments.
bool is_plain(std::string_view name)
{
    constexpr size_t longest = 64;
    return !name.empty() && name.size() <= longest &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_';
           });
}

// Returns "conv2d" for "torch.ops.aten.conv2d.default", or "" for other targets.
std::string operator_in(std::string_view target)
{
    if (!target.starts_with(aten))
        return "";
    target.remove_prefix(aten.size());
    const std::string name(target.substr(0, target.find('.')));
    return is_plain(name) ? export_name(name) : "";
}

// What Python computes with sizes, by the target: "_operator.add", "torch.sym_max".
struct NumberOperator {
    std::string_view target;
    const char *before, *between, *after;
};

constexpr NumberOperator number_operators[] = {
    {"_operator.add", "(", " + ", ")"},
    {"_operator.sub", "(", " - ", ")"},
    {"_operator.mul", "(", " * ", ")"},
    {"_operator.floordiv", "(", " // ", ")"},
    {"_operator.mod", "(", " % ", ")"},
    {"_operator.truediv", "(", " / ", ")"},
    {"_operator.eq", "(", " == ", ")"},
    {"_operator.ne", "(", " != ", ")"},
    {"_operator.le", "(", " <= ", ")"},
    {"_operator.ge", "(", " >= ", ")"},
    {"_operator.lt", "(", " < ", ")"},
    {"_operator.gt", "(", " > ", ")"},
    {"_operator.and_", "(", " and ", ")"},
    {"_operator.or_", "(", " or ", ")"},
    {"_operator.neg", "(-", "", ")"},
    {"_operator.pos", "(", "", ")"},
    {"_operator.lshift", "(", " << ", ")"},
    {"_operator.rshift", "(", " >> ", ")"},
    {"_operator.pow", "(", " ** ", ")"},
    {"torch.sym_not", "(not ", "", ")"},
    {"torch.sym_max", "max(", ", ", ")"},
    {"torch.sym_min", "min(", ", ", ")"},
    {"torch.sym_int", "int(", "", ")"},
    {"torch.sym_float", "float(", "", ")"},
    {"math.trunc", "int(", "", ")"},
    {"math.ceil", "torch.ceil(", "", ")"},
    {"math.floor", "torch.floor(", "", ")"},
    {"torch._sym_sqrt", "(float(", "", ") ** 0.5)"},
    {"torch.sym_sqrt", "(float(", "", ") ** 0.5)"},
};

const NumberOperator *find_number_operator(std::string_view target)
{
    const auto *const found =
        std::find_if(std::begin(number_operators), std::end(number_operators),
                     [&](const NumberOperator &each) { return each.target == target; });
    return found == std::end(number_operators) ? nullptr : found;
}

constexpr std::string_view one_of_two = "torch.sym_ite";

// The numbers of PyTorch for those of torch.export.  All floats are computed as float32.
Expression type_in_code(const ExportJson &value)
{
    constexpr int float32 = 6, boolean = 11;
    const std::optional<ElementType> type = export_type(value);
    if (!type)
        throw WeightFault("is a torch.export program that computes with complex numbers or others "
                          "of a type that is not known here");
    if (kind_of(*type) == NumberKind::real)
        return std::to_string(float32);
    return std::to_string(*type == ElementType::boolean ? boolean : whole_of(value) - 1);
}

Expression memory_format(const ExportJson &value)
{
    constexpr int numbers[] = {-1, 0, 2, 3, 1};
    const int64_t format = whole_of(value);
    if (format < 1 || format > 4)
        fail_as_damaged("it has a memory format that is not known");
    return std::to_string(numbers[format]);
}

// Modes of operators, as their documents list them.
bool is_mode(std::string_view text)
{
    constexpr std::string_view known[] = {
        "none",          "tanh",   "floor", "trunc",      "constant", "reflect",  "replicate",
        "circular",      "same",   "valid", "ij",         "xy",       "mean",     "sum",
        "prod",          "amax",   "amin",  "nearest",    "bilinear", "bicubic",  "linear",
        "area",          "left",   "right", "reduced",    "complete", "backward", "ortho",
        "forward",       "fro",    "nuc",   "reflection", "zeros",    "border",   "trilinear",
        "nearest-exact", "higher", "lower", "midpoint"};
    return std::find(std::begin(known), std::end(known), text) != std::end(known);
}

// "nchw,ncd->nhd"
bool is_equation(std::string_view text)
{
    constexpr size_t longest = 256;
    return text.size() <= longest && text.find("->") != text.npos &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ',' || c == ' ' ||
                      c == '-' || c == '>' || c == '.';
           });
}

// These have the type `float`, for which TorchScript takes no whole number.
bool takes_float(std::string_view name)
{
    constexpr std::string_view known[] = {"eps",      "momentum",      "dropout_p",
                                          "scales_h", "scales_w",      "scales",
                                          "scale",    "scale_factors", "p"};
    return std::find(std::begin(known), std::end(known), name) != std::end(known);
}

Expression whole_in_code(const ExportJson &value, std::string_view name)
{
    const int64_t number = whole_of(value);
    return takes_float(name) ? literal(static_cast<double>(number)) : literal_of(number);
}

Expression real_in_code(const ExportJson &value, std::string_view name)
{
    // LibTorch 1.13 takes no other number here.
    if (name == "correction" && value.is_number_float() && (value == 0.0 || value == 1.0))
        return value == 0.0 ? "0" : "1";
    return real_of(value);
}

Expression truth_in_code(const ExportJson &value)
{
    if (!value.is_boolean())
        fail_as_damaged("it has something else in place of true or false");
    return value.get<bool>() ? "True" : "False";
}

// TorchScript takes no number for the tensor `self`, which Python does.
bool is_plain_number(const ExportJson &argument)
{
    const std::string_view kind = union_of(argument).kind;
    return kind == "as_int" || kind == "as_float" || kind == "as_sym_int" || kind == "as_sym_float";
}

} // namespace

std::string real_of(const ExportJson &value)
{
    if (value == "Infinity" || value == "-Infinity" || value == "NaN")
        return value == "NaN"        ? "float(\"nan\")"
               : value == "Infinity" ? "float(\"inf\")"
                                     : "float(\"-inf\")";
    if (!value.is_number())
        fail_as_damaged("it has something else in place of a number");
    return literal(value.get<double>());
}

ExportImport::ExportImport(const Weights::Map &tensors, Net &net, Expression device,
                           OperatorLookup lookup)
    : tensors_(tensors), net_(net), device_(std::move(device)), lookup_(std::move(lookup))
{
}

void ExportImport::refuse(const std::string &words) const
{
    const std::string what =
        node_ ? concat("is a torch.export program whose ", text_in(*node_, "target"))
              : "is a torch.export program that";
    throw WeightFault(engine_kit::printable(concat(what, " ", words)));
}

// ---- what is known

void ExportImport::expect_known(const ExportJson &graph) const
{
    std::set<std::string> unknown, missing;
    for (const ExportJson &node : list_in(graph, "nodes")) {
        const std::string target = text_in(node, "target"), name = operator_in(target);
        if (find_number_operator(target) || target == one_of_two || target == without_gradients ||
            find_export_recipe(name) || is_export_check(name))
            continue;
        if (name.empty() || !lookup_.is_allowed(name))
            unknown.insert(name.empty() ? target : name);
        else if (!lookup_.is_here(name))
            missing.insert(name);
    }
    if (!unknown.empty())
        throw WeightFault(engine_kit::printable(
            concat("is a torch.export program with operators that are not read here: ",
                   dnn_torch::joined(unknown), "; use the model's PyTorch file")));
    if (!missing.empty())
        throw WeightFault(concat("is a torch.export program with operators that this LibTorch "
                                 "does not have: ",
                                 dnn_torch::joined(missing),
                                 "; export it with run_decompositions(), or use a newer LibTorch"));
}

// ---- values

void ExportImport::define(const std::string &name, ExportValue value)
{
    if (!values_.emplace(name, std::move(value)).second)
        refuse(concat("makes ", name, ", which there is already"));
}

Expression ExportImport::tensor_of(const std::string &name, const Weight &weight)
{
    const NumberKind kind = kind_of(weight.type);
    if (std::find(weight.shape.begin(), weight.shape.end(), 0) != weight.shape.end())
        return net_.let(concat("torch.zeros(", list_of(weight.shape), ", dtype=", type_number(kind),
                               ", device=", device_, ")"));
    const Expression made = tensor_in_code(net_, name, weight);
    if (kind != NumberKind::whole || weight.type == ElementType::int64)
        return made;
    const int width = weight.type == ElementType::int32   ? 3
                      : weight.type == ElementType::int16 ? 2
                      : weight.type == ElementType::int8  ? 1
                                                          : 0;
    return net_.let(concat(made, ".to(", width, ")"));
}

Expression ExportImport::text_of(const std::string &name)
{
    const auto found = values_.find(name);
    if (found == values_.end())
        refuse(concat("uses ", name, " before it is made, or a kind of value that is not read"));
    if (!found->second.text.empty())
        return found->second.text;
    const std::string &weight = found->second.weight;
    Expression &text = weights_[weight];
    const auto tensor = tensors_.find(weight);
    if (tensor == tensors_.end())
        fail_as_damaged(concat("it lacks the tensor ", weight));
    if (text.empty())
        text = tensor_of(weight, tensor->second);
    return text;
}

Expression ExportImport::value_of(const ExportJson &argument, std::string_view name)
{
    const auto [kind, value] = union_of(argument);
    const auto expect_list = [&value = value] {
        if (!value.is_array())
            fail_as_damaged("it has something else in place of a list");
    };
    // TorchScript makes a list of the right type of a tuple.
    const auto all = [&](auto &&each_of, bool as_tuple = false) {
        Numbers values;
        expect_list();
        for (const ExportJson &each : value)
            values.push_back(each_of(each));
        if (values.empty())
            return Expression("()");
        return as_tuple ? concat("(", dnn_torch::joined(values), ",)") : list_of(values);
    };
    const auto tensor = [&](const ExportJson &each) { return text_of(text_in(each, "name")); };
    const auto any = [&](const ExportJson &each) { return value_of(each, name); };
    if (kind == "as_none")
        return "None";
    if (kind == "as_tensor")
        return tensor(value);
    if (kind == "as_name")
        return text_of(value.is_string() ? value.get<std::string>() : "");
    if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool" ||
        kind == "as_optional_tensor")
        return value_of(value, name);
    if (kind == "as_int")
        return whole_in_code(value, name);
    if (kind == "as_float")
        return real_in_code(value, name);
    if (kind == "as_bool")
        return truth_in_code(value);
    if (kind == "as_tensors")
        return all(tensor);
    if (kind == "as_optional_tensors")
        return all(any, true);
    if (kind == "as_ints")
        return all([&](const ExportJson &each) { return whole_in_code(each, name); });
    if (kind == "as_floats")
        return all([&](const ExportJson &each) { return real_in_code(each, name); });
    if (kind == "as_sym_ints" || kind == "as_sym_floats")
        return all(any);
    if (kind == "as_bools")
        return all(truth_in_code);
    if (kind == "as_scalar_type")
        return type_in_code(value);
    if (kind == "as_memory_format")
        return memory_format(value);
    if (kind == "as_device")
        return device_;
    if (kind == "as_layout" && value == 7)
        return "0";
    if (kind == "as_string" && value.is_string()) {
        const auto &text = value.get_ref<const std::string &>();
        if (is_mode(text) || (name == "equation" && is_equation(text)))
            return concat("\"", text, "\"");
        refuse(concat("has ", name, " ", text.substr(0, 80), ", which is not known here"));
    }
    refuse(concat("has an argument of a kind that is not read (", kind, ")"));
}

// ---- an operator's arguments

const ExportJson *ExportImport::find(std::string_view argument) const
{
    for (const ExportJson &each : list_in(*node_, "inputs"))
        if (member_of(each, "name") == argument)
            return &member_of(each, "arg");
    return nullptr;
}

bool ExportImport::has(std::string_view argument) const
{
    const ExportJson *const found = find(argument);
    return found && union_of(*found).kind != "as_none";
}

Expression ExportImport::argument(std::string_view name, const Expression &otherwise)
{
    const ExportJson *const found = find(name);
    return found ? value_of(*found, name) : otherwise;
}

bool ExportImport::is_number(std::string_view name) const
{
    const ExportJson *const found = find(name);
    return found && is_plain_number(*found);
}

bool ExportImport::is_true(std::string_view name)
{
    return argument(name, "False") == "True";
}

const ExportJson *ExportImport::about(std::string_view argument) const
{
    const ExportJson *const found = find(argument);
    if (!found || union_of(*found).kind != "as_tensor")
        return nullptr;
    const ExportJson &all = member_of(*graph_, "tensor_values");
    const auto known = all.find(text_in(union_of(*found).value, "name"));
    return known == all.end() ? nullptr : &*known;
}

int ExportImport::rank(std::string_view argument) const
{
    const ExportJson *const known = about(argument);
    return known ? static_cast<int>(list_in(*known, "sizes").size()) : -1;
}

int ExportImport::type(std::string_view argument) const
{
    const ExportJson *const known = about(argument);
    const auto type = known ? export_type(member_of(*known, "dtype")) : std::nullopt;
    return type ? type_number(kind_of(*type)) : -1;
}

std::vector<int64_t> ExportImport::wholes(std::string_view argument) const
{
    std::vector<int64_t> wholes;
    const ExportJson *const found = find(argument);
    if (!found || union_of(*found).kind != "as_ints" || !union_of(*found).value.is_array())
        refuse(concat("has no constant ", argument));
    for (const ExportJson &each : union_of(*found).value)
        wholes.push_back(whole_of(each));
    return wholes;
}

// The first argument has no name in the code, as in torch.relu(x): some have "self".
Expression ExportImport::call(const std::string &name, const std::set<std::string_view> &without)
{
    std::string arguments;
    for (const ExportJson &each : list_in(*node_, "inputs")) {
        const std::string argument = text_in(each, "name");
        if (without.count(argument) > 0)
            continue;
        if (!is_plain(argument))
            refuse("has an argument with an impossible name");
        Expression value = value_of(member_of(each, "arg"), argument);
        if (argument == "self" && is_plain_number(member_of(each, "arg")))
            value = concat("torch.tensor(", value, ", device=", device_, ")");
        dnn_torch::add_to_list(arguments, arguments.empty() ? value : concat(argument, "=", value));
    }
    return concat("torch.", name, "(", arguments, ")");
}

// ---- its outputs

// Texts that grow with each operator would fill the memory.
void ExportImport::define_number(const ExportJson &output, Expression number)
{
    constexpr size_t longest = 200;
    const ExportUnion place = union_of(output);
    if (place.kind != "as_sym_int" && place.kind != "as_sym_float" && place.kind != "as_sym_bool")
        refuse("returns something else than a number");
    if (number.size() > longest)
        number = net_.let(number);
    define(text_in(place.value, "as_name"), {.text = std::move(number)});
}

void ExportImport::give(const Expression &result)
{
    const ExportJson &outputs = list_in(*node_, "outputs");
    if (outputs.empty() || union_of(outputs[0]).kind != "as_tensor")
        refuse("returns something else than a tensor");
    define(text_in(union_of(outputs[0]).value, "name"), {.text = net_.let(result)});
}

void ExportImport::give_number(const Expression &number)
{
    const ExportJson &outputs = list_in(*node_, "outputs");
    if (outputs.empty())
        refuse("returns nothing");
    define_number(outputs[0], number);
}

void ExportImport::give_element(const Expression &tensor)
{
    const ExportJson &outputs = list_in(*node_, "outputs");
    const std::string_view kind = outputs.empty() ? "" : union_of(outputs[0]).kind;
    const char *const type = kind == "as_sym_float"  ? "float"
                             : kind == "as_sym_bool" ? "bool"
                                                     : "int";
    give_number(concat(type, "(", tensor, ")"));
}

void ExportImport::give_all(const Expression &results)
{
    const ExportJson &outputs = list_in(*node_, "outputs");
    if (outputs.empty())
        return net_.line(results);
    const bool is_one = outputs.size() == 1;
    if (is_one && union_of(outputs[0]).kind.starts_with("as_sym_"))
        return define_number(outputs[0], results);
    const Expression made = net_.let(results);
    for (size_t i = 0; i < outputs.size(); i++) {
        const auto [kind, value] = union_of(outputs[i]);
        const Expression each = is_one ? made : concat(made, "[", i, "]");
        if (kind == "as_tensor") {
            define(text_in(value, "name"), {.text = each});
        } else if (kind == "as_tensors" && value.is_array()) {
            for (size_t k = 0; k < value.size(); k++)
                define(text_in(value[k], "name"), {.text = concat(each, "[", k, "]")});
        } else if (kind != "as_none") {
            refuse(concat("returns a kind of value that is not read (", kind, ")"));
        }
    }
}

// ---- nodes

// Python's arithmetic of sizes.
void ExportImport::take_number(const std::string &target)
{
    Numbers operands;
    for (const ExportJson &each : list_in(*node_, "inputs"))
        operands.push_back(value_of(member_of(each, "arg")));
    const ExportJson &outputs = list_in(*node_, "outputs");
    const NumberOperator *const known = find_number_operator(target);
    const size_t wanted = !known ? 3 : *known->between ? 2 : 1;
    if (operands.size() != wanted || outputs.size() != 1)
        refuse("has another number of operands than it should");
    Expression number =
        known ? concat(known->before, dnn_torch::joined(operands, known->between), known->after)
              : concat("(", operands[1], " if ", operands[0], " else ", operands[2], ")");
    // TorchScript's power of two whole numbers is a float.
    if (target == "_operator.pow" && union_of(outputs[0]).kind == "as_sym_int")
        number = concat("int", number);
    define_number(outputs[0], std::move(number));
}

// with torch.no_grad():  Its block is a graph of its own.
void ExportImport::take_branch(const ExportJson &node)
{
    const ExportJson &inputs = list_in(node, "inputs");
    if (inputs.size() < 2 || union_of(member_of(inputs[1], "arg")).kind != "as_graph")
        refuse("has no graph");
    const ExportJson &inner = member_of(union_of(member_of(inputs[1], "arg")).value, "graph");
    const ExportJson &names = list_in(inner, "inputs"), &results = list_in(inner, "outputs");
    if (names.size() != inputs.size() - 2)
        refuse("has another number of inputs than its graph");
    const auto name_of = [](const ExportJson &value) {
        const auto [kind, place] = union_of(value);
        return text_in(place, kind.starts_with("as_sym_") ? "as_name" : "name");
    };
    Values values;
    for (size_t i = 0; i < names.size(); i++)
        values.emplace(name_of(names[i]),
                       ExportValue{.text = value_of(member_of(inputs[i + 2], "arg"))});
    const ExportJson *const outer = graph_;
    std::swap(values, values_);
    run(inner, std::move(values_));
    Numbers made;
    for (const ExportJson &each : results)
        made.push_back(value_of(each));
    values_ = std::move(values);
    graph_ = outer;
    node_ = &node;
    const ExportJson *places = &list_in(node, "outputs");
    if (places->size() == 1 && union_of((*places)[0]).kind == "as_tensors")
        places = &union_of((*places)[0]).value;
    if (places->size() != made.size())
        refuse("has another number of outputs than its graph");
    for (size_t i = 0; i < made.size(); i++) {
        const ExportJson &place = (*places)[i];
        define(place.contains("name") ? text_in(place, "name") : name_of(place), {.text = made[i]});
    }
}

void ExportImport::take_node(const ExportJson &node)
{
    node_ = &node;
    const std::string target = text_in(node, "target"), name = operator_in(target);
    if (find_number_operator(target) || target == one_of_two)
        return take_number(target);
    if (target == without_gradients)
        return take_branch(node);
    if (is_export_check(name))
        return;
    if (const ExportRecipe recipe = find_export_recipe(name))
        return recipe(*this);
    if (!lookup_.is_allowed(name)) // in a graph within the graph
        refuse("is an operator that is not read here");
    give_all(call(name));
}

void ExportImport::run(const ExportJson &graph, Values values)
{
    constexpr size_t most_nodes = 100'000;
    if (list_in(graph, "nodes").size() > most_nodes)
        refuse("has more than 100,000 operators");
    graph_ = &graph;
    values_ = std::move(values);
    for (const ExportJson &node : list_in(graph, "nodes"))
        take_node(node);
    node_ = nullptr;
}

} // namespace engine_torch
