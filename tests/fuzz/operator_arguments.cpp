// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "operator_arguments.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

namespace fuzz
{
namespace
{

using c10::TypeKind;
using c10::TypePtr;
using Sizes = std::vector<int64_t>;

constexpr int64_t least = std::numeric_limits<int64_t>::min();
constexpr int64_t most = std::numeric_limits<int64_t>::max();

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool has(std::string_view name, std::string_view part)
{
    return name.find(part) != std::string_view::npos;
}

class Arguments
{
public:
    Arguments(const c10::FunctionSchema &schema, Random &random)
        : name_(schema.name()), random_(random), extents_(extents_in(name_)),
          sizes_(likely_sizes()),
          type_(random.pick(std::vector<std::string>{"float", "float", "float", "double", "long",
                                                     "int", "bool", "byte", "half", "bfloat16",
                                                     "complex"}))
    {
        if (extents_ > 0 && !random.one_in(8))
            type_ = "float";
    }

    Json types()
    {
        Json types = Json::object();
        for (const char *free : {"t", "t1", "t2", "tVal"})
            types[free] = random_.pick(std::vector<std::string>{"int", "float", "str", "Tensor"});
        types["key"] = random_.pick(std::vector<std::string>{"int", "str"});
        return types;
    }

    Json likely(const std::string &name, const TypePtr &type);
    Json unlikely(const TypePtr &type);

private:
    // 2 in "conv2d"; 0 if the name says nothing.
    static size_t extents_in(const std::string &name)
    {
        for (const size_t count : {1, 2, 3})
            if (has(name, std::to_string(count) + "d"))
                return count;
        return has(name, "col2im") || has(name, "im2col") || has(name, "grid_sampler") ? 2 : 0;
    }

    int64_t extent()
    {
        static const Sizes usual = {1, 2, 3, 4, 5, 6, 8, 16};
        return random_.one_in(40) ? 0 : random_.pick(usual);
    }

    Sizes likely_sizes()
    {
        static const std::vector<size_t> ranks = {0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5};
        const size_t rank = extents_ ? extents_ + 2 - random_.one_in(6) : random_.pick(ranks);
        Sizes sizes;
        for (size_t i = 0; i < rank; i++)
            sizes.push_back(i + extents_ >= rank && extents_ ? 4 + extent() : extent());
        if (random_.one_in(4) && rank >= 2) // matrices are mostly square
            sizes[rank - 1] = sizes[rank - 2];
        return sizes;
    }

    int64_t channels() const
    {
        return sizes_.size() > 1 ? sizes_[1] : sizes_.empty() ? 1 : sizes_[0];
    }

    int64_t dimension()
    {
        const auto rank = static_cast<int64_t>(std::max<size_t>(1, sizes_.size()));
        return static_cast<int64_t>(random_.below(static_cast<size_t>(2 * rank))) - rank;
    }

    Json tensor(const Sizes &sizes, const std::string &type, const std::string &values)
    {
        static const Sizes layouts = {0, 0, 0, 0, 0, 0, 1, 2, 3, 4};
        Json json = {{"sizes", sizes}, {"type", type}, {"values", values}};
        if (const auto layout = random_.pick(layouts))
            json["layout"] = tensor_layouts[static_cast<size_t>(layout)];
        return json;
    }

    // Of the same shape, or of one that is stretched to it.
    Sizes related_sizes()
    {
        Sizes sizes = sizes_;
        if (random_.one_in(5))
            for (int64_t &size : sizes)
                size = random_.one_in(2) ? 1 : size;
        if (random_.one_in(8) && !sizes.empty())
            sizes.erase(sizes.begin());
        return sizes;
    }

    Json likely_tensor(const std::string &name);
    Json likely_int(const std::string &name);
    Json likely_float(const std::string &name);
    Json likely_list(const std::string &name, const TypePtr &element);
    Json likely_text();

    const std::string name_;
    Random &random_;
    const size_t extents_;
    const Sizes sizes_;
    std::string type_;
};

Json Arguments::likely_tensor(const std::string &name)
{
    const bool convolves = has(name_, "conv") && extents_ > 0;
    if (is_one_of(name, {"weight", "offset"}) && convolves) {
        Sizes sizes = {4, channels()};
        sizes.resize(2 + extents_, static_cast<int64_t>(1 + random_.below(3)));
        if (has(name_, "transpose"))
            std::swap(sizes[0], sizes[1]);
        return tensor(sizes, type_, "fraction");
    }
    if (is_one_of(name, {"bias", "bias_opt"}) && convolves)
        return tensor({4}, type_, "fraction");
    if (is_one_of(name, {"weight", "bias", "running_mean", "running_var", "scale", "zero_point",
                         "mean", "variance"}) &&
        random_.one_in(2))
        return tensor({channels()}, type_, "fraction");
    if (name == "grid") {
        Sizes sizes(1, sizes_.empty() ? 1 : sizes_[0]);
        for (size_t i = 2; i < sizes_.size(); i++)
            sizes.push_back(extent());
        sizes.push_back(static_cast<int64_t>(sizes.size()) - 1);
        return tensor(sizes, type_, random_.pick(tensor_values));
    }
    if (is_one_of(name, {"index", "indices", "target", "repeats", "batch_sizes", "indexes", "boxes",
                         "tensor_indices_or_sections", "ind", "counts"}))
        return tensor(random_.one_in(2) ? related_sizes() : Sizes{extent()},
                      random_.one_in(8) ? type_ : "long", random_.one_in(3) ? "order" : "index");
    if (is_one_of(name, {"mask", "condition", "attn_mask", "key_padding_mask", "pivot"}))
        return tensor(related_sizes(), "bool", "index");
    return tensor(related_sizes(), random_.one_in(10) ? random_.pick(tensor_types) : type_,
                  random_.one_in(3) ? random_.pick(tensor_values) : "ramp");
}

Json Arguments::likely_int(const std::string &name)
{
    if (has(name, "dim") || has(name, "axis") || is_one_of(name, {"source", "destination"}))
        return dimension();
    if (name == "dtype")
        return random_.pick(Sizes{0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 15});
    if (name == "memory_format")
        return random_.pick(Sizes{0, 1, 2, 3});
    if (name == "layout")
        return random_.one_in(6) ? 1 : 0;
    if (has(name, "groups") || has(name, "num_heads") || name == "num_layers")
        return random_.pick(Sizes{1, 1, 2});
    return random_.pick(Sizes{0, 1, 1, 2, 2, 3, 4, 5, -1});
}

Json Arguments::likely_float(const std::string &name)
{
    if (has(name, "scale"))
        return random_.pick(std::vector<double>{0.5, 1.0, 2.0, 2.0, 1.5, 3.0});
    return random_.pick(std::vector<double>{0.0, 0.1, 0.5, 0.5, 1.0, 2.0, 1e-5});
}

Json Arguments::likely_text()
{
    return random_.pick(std::vector<std::string>{
        "mean",      "sum",       "none",     "nearest", "bilinear", "bicubic", "constant",
        "reflect",   "replicate", "circular", "reduced", "complete", "same",    "valid",
        "ij,jk->ik", "...i->...", "amax",     "prod",    "fro",      "nuc",     "floor",
        "trunc",     "tanh",      "left",     "linear",  "ij",       "cpu",     "L",
        "gelu",      "a",         "%d"});
}

Json Arguments::likely_list(const std::string &name, const TypePtr &element)
{
    Json list = Json::array();
    const bool of_extents =
        is_one_of(name, {"kernel_size", "stride", "padding", "dilation", "output_padding",
                         "output_size", "scale_factors", "block_size"});
    size_t count = 1 + random_.below(3);
    if (of_extents && extents_)
        count = extents_;
    else if (is_one_of(name, {"pad"}) || (has(name_, "_pad") && name == "padding"))
        count = 2 * (extents_ ? extents_ : 1 + random_.below(2));
    else if (is_one_of(name, {"size", "shape", "repeats", "sizes", "dims", "normalized_shape"}))
        count = std::max<size_t>(1, sizes_.size());
    const bool is_size = is_one_of(name, {"size", "shape", "sizes", "normalized_shape"});
    for (size_t i = 0; i < count; i++) {
        const bool is_int = element->kind() == TypeKind::IntType;
        if (is_int && is_size && i < sizes_.size())
            list.push_back(sizes_[i]);
        else if (is_int && of_extents)
            list.push_back(name == "output_size" ? extent()
                                                 : random_.pick(Sizes{1, 1, 1, 2, 2, 3, 0}));
        else
            list.push_back(likely(name, element));
    }
    return list;
}

Json Arguments::likely(const std::string &name, const TypePtr &type)
{
    switch (type->kind()) {
    case TypeKind::TensorType:
        return likely_tensor(name);
    case TypeKind::IntType:
        return likely_int(name);
    case TypeKind::FloatType:
        return likely_float(name);
    case TypeKind::BoolType:
        return random_.one_in(2);
    case TypeKind::StringType:
        return likely_text();
    case TypeKind::NumberType:
        return random_.one_in(2) ? likely_int(name) : likely_float(name);
    case TypeKind::ComplexType:
        return {{"complex", {0.5, 1.0}}};
    case TypeKind::DeviceObjType:
        return {{"device", "cpu"}};
    case TypeKind::OptionalType:
        return random_.one_in(2)
                   ? Json()
                   : likely(name, type->expectRef<c10::OptionalType>().getElementType());
    case TypeKind::ListType:
        return likely_list(name, type->expectRef<c10::ListType>().getElementType());
    case TypeKind::AnyListType:
        return likely_list(name, c10::IntType::get());
    case TypeKind::DictType: {
        Json pairs = Json::array();
        for (size_t i = random_.below(3); i > 0; i--)
            pairs.push_back({likely(name, type->containedTypes().at(0)),
                             likely(name, type->containedTypes().at(1))});
        return {{"pairs", pairs}};
    }
    case TypeKind::TupleType: {
        Json elements = Json::array();
        for (const TypePtr &inner : type->containedTypes())
            elements.push_back(likely(name, inner));
        return elements;
    }
    case TypeKind::AnyType:
        return random_.one_in(3) ? likely_tensor(name) : likely_int(name);
    default:
        return {};
    }
}

// What no model would have.
Json Arguments::unlikely(const TypePtr &type)
{
    switch (type->kind()) {
    case TypeKind::TensorType: {
        Sizes sizes = related_sizes();
        switch (random_.below(6)) {
        case 0:
            sizes.resize(random_.below(7), 2);
            break;
        case 1:
            if (!sizes.empty())
                random_.pick(sizes) = 0;
            break;
        case 2:
            if (!sizes.empty())
                random_.pick(sizes) += random_.one_in(2) ? 1 : 50;
            break;
        default:
            break;
        }
        Json json = {{"sizes", sizes},
                     {"type", random_.one_in(2) ? type_ : random_.pick(tensor_types)},
                     {"values", random_.pick(tensor_values)}};
        if (random_.one_in(3))
            json["layout"] = random_.pick(tensor_layouts);
        return json;
    }
    case TypeKind::IntType:
        return random_.pick(Sizes{0, -1, -2, 7, 17, 99, 1 << 20, int64_t{1} << 31,
                                  -(int64_t{1} << 31), (int64_t{1} << 31) - 1, int64_t{1} << 32,
                                  int64_t{1} << 62, least, most});
    case TypeKind::FloatType: {
        static const std::vector<Json> numbers = {0.0,
                                                  -1.0,
                                                  0.9,
                                                  0.2,
                                                  0.01,
                                                  1e-10,
                                                  1e10,
                                                  1e300,
                                                  -1e300,
                                                  {{"float", "nan"}},
                                                  {{"float", "inf"}},
                                                  {{"float", "-inf"}}};
        return random_.pick(numbers);
    }
    case TypeKind::StringType:
        return random_.pick(std::vector<std::string>{"", "nosuch", "%s%n", "i,i,i->ijkl", "...",
                                                     "\xc3\xa9", std::string(300, 'i')});
    case TypeKind::NumberType:
        return unlikely(random_.one_in(2) ? TypePtr(c10::IntType::get())
                                          : TypePtr(c10::FloatType::get()));
    case TypeKind::DeviceObjType:
        return {{"device", random_.one_in(2) ? "meta" : "cuda"}};
    case TypeKind::OptionalType:
        return random_.one_in(3) ? Json()
                                 : unlikely(type->expectRef<c10::OptionalType>().getElementType());
    case TypeKind::ListType: {
        const TypePtr element = type->expectRef<c10::ListType>().getElementType();
        Json list = Json::array();
        for (size_t i = random_.below(7); i > 0; i--)
            list.push_back(random_.one_in(3) ? unlikely(element) : likely("", element));
        return list;
    }
    default:
        return likely("", type);
    }
}

} // namespace

Json likely_call(const c10::FunctionSchema &schema, Random &random)
{
    Arguments arguments(schema, random);
    Json call = {{"operator", schema.name()}, {"types", arguments.types()}};
    if (!schema.overload_name().empty())
        call["overload"] = schema.overload_name();
    if (random.one_in(2))
        call["begin"] = true;
    Json &list = call["arguments"] = Json::array();
    for (const c10::Argument &argument : schema.arguments())
        if (argument.default_value() && random.one_in(3))
            list.push_back({{"default", true}});
        else
            list.push_back(
                arguments.likely(argument.name(), concrete(argument.type(), call["types"])));
    return call;
}

std::string spoil(Json &call, const c10::FunctionSchema &schema, Random &random)
{
    Json &list = call.at("arguments");
    if (schema.arguments().empty() || list.size() != schema.arguments().size())
        return "nothing";
    Arguments arguments(schema, random);
    const size_t place = random.below(list.size());
    const c10::Argument &argument = schema.arguments()[place];
    Json &value = list[place];
    // One element of a list, and the rest stays.
    const auto type = concrete(argument.type(), call.value("types", Json::object()));
    if (value.is_array() && !value.empty() && type->kind() == TypeKind::ListType &&
        random.one_in(2))
        random.pick(value) = arguments.unlikely(type->expectRef<c10::ListType>().getElementType());
    else
        value = arguments.unlikely(type);
    return argument.name();
}

} // namespace fuzz
