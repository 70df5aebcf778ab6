// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "operator_call.h"

#include <algorithm>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/zeros.h>
#include <limits>
#include <map>
#include <stdexcept>

namespace fuzz
{
namespace
{

using c10::IValue;
using c10::TypeKind;
using c10::TypePtr;

const std::map<std::string, at::ScalarType> scalar_types = {{"float", at::kFloat},
                                                            {"double", at::kDouble},
                                                            {"half", at::kHalf},
                                                            {"bfloat16", at::kBFloat16},
                                                            {"byte", at::kByte},
                                                            {"char", at::kChar},
                                                            {"short", at::kShort},
                                                            {"int", at::kInt},
                                                            {"long", at::kLong},
                                                            {"bool", at::kBool},
                                                            {"complex", at::kComplexFloat},
                                                            {"double complex", at::kComplexDouble}};

at::Tensor filled(const std::string &values, at::IntArrayRef sizes, at::ScalarType type)
{
    const at::TensorOptions options = at::TensorOptions().dtype(type);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::map<std::string, double> constants = {
        {"zero", 0},
        {"one", 1},
        {"minus one", -1},
        {"half", 0.5},
        {"large", 1000},
        {"huge", 1e30},
        {"nan", std::numeric_limits<double>::quiet_NaN()},
        {"inf", infinity},
        {"minus inf", -infinity}};
    at::Tensor tensor = at::zeros(sizes, options);
    const int64_t count = tensor.numel();
    const at::Tensor numbers = at::arange(count, at::TensorOptions().dtype(at::kLong));
    if (const auto constant = constants.find(values); constant != constants.end()) {
        const double number = constant->second;
        if (at::isIntegralType(type, true))
            tensor.fill_(number == number && std::abs(number) < 1e9 ? static_cast<int64_t>(number)
                         : number > 0 ? std::numeric_limits<int64_t>::max()
                                      : std::numeric_limits<int64_t>::min());
        else
            tensor.fill_(number);
    } else if (values == "ramp")
        tensor.copy_(numbers.mul(37).remainder(17).sub(8).view(sizes));
    else if (values == "fraction")
        tensor.copy_(numbers.mul(37).remainder(16).to(at::kDouble).div(16).view(sizes));
    else if (values == "index")
        tensor.copy_(numbers.remainder(2).view(sizes));
    else if (values == "order")
        tensor.copy_(numbers.view(sizes));
    else
        throw std::invalid_argument("no such values: " + values);
    return tensor;
}

at::Tensor laid_out(const at::Tensor &tensor, const std::string &layout)
{
    if (layout == "plain")
        return tensor;
    if (layout == "turned")
        return tensor.dim() < 2 ? tensor : tensor.transpose(-1, -2).contiguous().transpose(-1, -2);
    if (layout == "expanded")
        return tensor.dim() < 1 || tensor.size(0) == 0
                   ? tensor
                   : tensor.narrow(0, 0, 1).expand(tensor.sizes());
    if (layout == "gaps")
        return tensor.dim() < 1 ? tensor : tensor.repeat_interleave(2, -1).slice(-1, 0, {}, 2);
    if (layout == "channels last")
        return tensor.dim() == 4 ? tensor.contiguous(at::MemoryFormat::ChannelsLast) : tensor;
    if (layout == "sparse")
        return tensor.to_sparse();
    if (layout == "mkldnn")
        return tensor.to_mkldnn();
    if (layout == "meta")
        return tensor.to(c10::Device("meta"));
    if (layout == "quantized")
        return at::quantize_per_tensor(tensor.to(at::kFloat), 0.1, 10, at::kQUInt8);
    if (layout == "conjugate")
        return tensor.conj();
    throw std::invalid_argument("no such layout: " + layout);
}

at::Tensor tensor_of(const Json &json)
{
    const auto sizes = json.at("sizes").get<std::vector<int64_t>>();
    const at::ScalarType type = scalar_types.at(json.value("type", "float"));
    return laid_out(filled(json.value("values", "ramp"), sizes, type),
                    json.value("layout", "plain"));
}

double float_of(const Json &json)
{
    if (json.is_number())
        return json.get<double>();
    const auto word = json.at("float").get<std::string>();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return word == "inf"    ? infinity
           : word == "-inf" ? -infinity
                            : std::numeric_limits<double>::quiet_NaN();
}

c10::complex<double> complex_of(const Json &json)
{
    const Json &parts = json.at("complex");
    return {parts.at(0).get<double>(), parts.at(1).get<double>()};
}

IValue number_of(const Json &json)
{
    if (json.is_boolean())
        return json.get<bool>();
    if (json.is_number_integer())
        return json.get<int64_t>();
    return json.contains("complex") ? IValue(complex_of(json)) : IValue(float_of(json));
}

IValue value_of(const Json &json, const TypePtr &type);

IValue list_of(const Json &json, const TypePtr &element)
{
    if (!json.is_array())
        throw std::invalid_argument("no list");
    c10::impl::GenericList list(element);
    for (const Json &each : json)
        list.push_back(value_of(each, element));
    return list;
}

IValue dict_of(const Json &json, const c10::DictType &type)
{
    c10::impl::GenericDict dict(type.getKeyType(), type.getValueType());
    for (const Json &pair : json.at("pairs"))
        dict.insert_or_assign(value_of(pair.at(0), type.getKeyType()),
                              value_of(pair.at(1), type.getValueType()));
    return dict;
}

IValue tuple_of(const Json &json, const c10::TupleType &type)
{
    std::vector<IValue> elements;
    for (size_t i = 0; i < type.elements().size(); i++)
        elements.push_back(value_of(json.at(i), type.elements()[i]));
    return c10::ivalue::Tuple::create(std::move(elements));
}

// Of a value whose declaration allows any type.
IValue any_of(const Json &json)
{
    if (json.is_null())
        return {};
    if (json.is_string())
        return json.get<std::string>();
    if (json.is_array())
        return list_of(json, c10::IntType::get());
    if (json.is_object() && json.contains("sizes"))
        return tensor_of(json);
    return number_of(json);
}

IValue value_of(const Json &json, const TypePtr &type)
{
    switch (type->kind()) {
    case TypeKind::TensorType:
        return tensor_of(json);
    case TypeKind::OptionalType:
        return json.is_null()
                   ? IValue()
                   : value_of(json, type->expectRef<c10::OptionalType>().getElementType());
    case TypeKind::IntType:
        return json.get<int64_t>();
    case TypeKind::FloatType:
        return float_of(json);
    case TypeKind::ComplexType:
        return complex_of(json);
    case TypeKind::BoolType:
        return json.get<bool>();
    case TypeKind::StringType:
        return json.get<std::string>();
    case TypeKind::NumberType:
        return number_of(json);
    case TypeKind::ListType:
        return list_of(json, type->expectRef<c10::ListType>().getElementType());
    case TypeKind::DictType:
        return dict_of(json, type->expectRef<c10::DictType>());
    case TypeKind::TupleType:
        return tuple_of(json, type->expectRef<c10::TupleType>());
    case TypeKind::DeviceObjType:
        return c10::Device(json.at("device").get<std::string>());
    case TypeKind::AnyType:
        return any_of(json);
    case TypeKind::AnyListType:
        return list_of(json, c10::IntType::get());
    default:
        if (json.is_null())
            return {};
        throw std::invalid_argument("a type that no text tells");
    }
}

bool can_be_told(const TypePtr &type, bool may_be_absent)
{
    switch (type->kind()) {
    case TypeKind::TensorType:
    case TypeKind::IntType:
    case TypeKind::FloatType:
    case TypeKind::ComplexType:
    case TypeKind::BoolType:
    case TypeKind::StringType:
    case TypeKind::NumberType:
    case TypeKind::DeviceObjType:
    case TypeKind::AnyType:
    case TypeKind::AnyListType:
    case TypeKind::VarType:
        return true;
    case TypeKind::OptionalType:
        return can_be_told(type->expectRef<c10::OptionalType>().getElementType(), true);
    case TypeKind::ListType:
    case TypeKind::DictType:
    case TypeKind::TupleType:
        return std::all_of(type->containedTypes().begin(), type->containedTypes().end(),
                           [](const TypePtr &inner) { return can_be_told(inner, false); });
    default:
        return may_be_absent;
    }
}

TypePtr type_named(const std::string &name)
{
    if (name == "int")
        return c10::IntType::get();
    if (name == "float")
        return c10::FloatType::get();
    if (name == "str")
        return c10::StringType::get();
    return c10::TensorType::get();
}

std::vector<std::string> names_of_types()
{
    std::vector<std::string> names;
    for (const auto &[name, type] : scalar_types)
        names.push_back(name);
    return names;
}

} // namespace

const std::vector<std::string> tensor_types = names_of_types();
const std::vector<std::string> tensor_values = {
    "ramp", "zero", "one",       "minus one", "half",  "large", "huge",
    "nan",  "inf",  "minus inf", "fraction",  "index", "order"};
const std::vector<std::string> tensor_layouts = {"plain",         "turned",   "expanded", "gaps",
                                                 "channels last", "sparse",   "mkldnn",   "meta",
                                                 "quantized",     "conjugate"};

bool can_be_called(const c10::FunctionSchema &schema)
{
    const auto &arguments = schema.arguments();
    return !schema.is_vararg() &&
           std::all_of(arguments.begin(), arguments.end(), [](const c10::Argument &argument) {
               return can_be_told(argument.type(), false);
           });
}

TypePtr concrete(const TypePtr &type, const Json &types)
{
    if (type->kind() == TypeKind::VarType)
        return type_named(types.value(type->expectRef<c10::VarType>().name(), "int"));
    if (type->containedTypes().empty())
        return type;
    std::vector<TypePtr> inner;
    for (const TypePtr &each : type->containedTypes())
        inner.push_back(concrete(each, types));
    return type->withContained(inner);
}

std::vector<IValue> values_of(const Json &call, const c10::FunctionSchema &schema)
{
    const Json &arguments = call.at("arguments");
    const Json types = call.value("types", Json::object());
    std::vector<IValue> values;
    for (size_t i = 0; i < schema.arguments().size(); i++) {
        const c10::Argument &argument = schema.arguments()[i];
        const Json &json = arguments.at(i);
        const bool is_default = json.is_object() && json.contains("default");
        if (is_default && !argument.default_value())
            throw std::invalid_argument("no default");
        values.push_back(is_default ? *argument.default_value()
                                    : value_of(json, concrete(argument.type(), types)));
    }
    return values;
}

} // namespace fuzz
