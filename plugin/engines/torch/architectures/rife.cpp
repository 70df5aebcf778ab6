// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// RIFE 4.x: makes a frame between two.  Blocks find the optical flow from it to both, coarse first,
// and where each of them shows more.  The versions differ in what a block gets and returns.
#include "architecture.h"

#include "base/compose.h"

#include <algorithm>
#include <array>
#include <vector>

namespace engine_torch
{
namespace rife_network
{
namespace
{

using dnn_torch::concat;

constexpr int64_t colours = 3, flows = 4, residual_layers = 8, most_blocks = 5;
constexpr double slope = 0.2;

constexpr char smaller_function[] = R"(
def made_smaller(self, x, scale: float):
    size = [int(x.size(2) / scale), int(x.size(3) / scale)]
    return torch.upsample_bilinear2d(x, size, False)
)";

// Right and below, with zeros; a plane with its own number.
constexpr char pad_function[] = R"(
def border_of(self, x, multiple: int):
    return [0, (multiple - x.size(3) % multiple) % multiple, 0, (multiple - x.size(2) % multiple) % multiple]
)";

// In a batch, each frame is encoded once: pairs may be those before them at another time, or begin
// with the second frame of the pair before.
constexpr char once_functions[] = R"(
def last_that(self, begins):
    return torch.nonzero(begins)[:, 0].index_select(0, torch.cumsum(begins, 0) - 1)

def new_frames(self, follows, first, second):
    return torch.logical_not(torch.stack([torch.logical_or(follows, first), second], 1))

def places_of_frames(self, is_new, follows):
    own = (torch.cumsum(is_new.flatten(), 0) - 1).reshape([-1, 2])
    second = own[:, 1].index_select(0, self.last_that(is_new[:, 1]))
    first = torch.where(is_new[:, 0], own[:, 0], torch.cat([second[:1], second[:-1]]))
    begins = torch.logical_or(is_new[:, 0], follows)
    return torch.stack([first.index_select(0, self.last_that(begins)), second], 1)

def frames_once(self, x, is_new):
    frames = x.reshape([-1, 3, x.size(2), x.size(3)])
    return frames.index_select(0, torch.nonzero(is_new.flatten())[:, 0])
)";

// The pairs of the other order follow in the batch, so that a block's layers are written once.
constexpr char both_orders_functions[] = R"(
def in_both_orders(self, x, places, signs, offsets):
    turned = x.index_select(1, places) * signs.to(x.dtype) + offsets.to(x.dtype)
    return torch.cat([x, turned])

def mean_of_orders(self, x, places, signs):
    count = x.size(0) // 2
    return (x[:count] + x[count:].index_select(1, places) * signs.to(x.dtype)) / 2.0
)";

// Where each channel is, and by how much it differs, if a pair is taken in the other order.
struct OtherOrder {
    std::vector<int64_t> places;
    std::vector<float> signs, offsets;

    // Of two parts with so many channels each, the one takes the other's place.
    void swap(int64_t each)
    {
        const auto first = static_cast<int64_t>(places.size());
        for (int64_t i = 0; i < 2 * each; i++)
            add(first + (i + each) % (2 * each), 1, 0);
    }
    void keep(int64_t count)
    {
        for (int64_t i = 0; i < count; i++)
            add(static_cast<int64_t>(places.size()), 1, 0);
    }
    void subtract_from(float offset) { add(static_cast<int64_t>(places.size()), -1, offset); }

private:
    void add(int64_t place, float sign, float offset)
    {
        places.push_back(place);
        signs.push_back(sign);
        offsets.push_back(offset);
    }
};

bool recognises(const Weights &weights)
{
    for (const char *name : {"convblock.0.beta", "convblock.0.0.weight"})
        for (const char *block : {"block0.", "block1."})
            if (weights.has(concat(block, name)))
                return true;
    return false;
}

// What the shapes tell of the version.
struct Version {
    int64_t blocks = 0;
    int64_t features = 0; // of each frame, that the encoder finds; 0: there is none
    int64_t made = 0;     // channels that a block returns
    bool is_light = false;
    bool is_plain = false;  // up to 4.4: layers without residuals of their own, half of the extent
    bool has_prelu = false; // 4.0 and 4.1

    // Channels that a block hands on to the next one.
    int64_t handed_on() const { return made > 6 ? made - flows - 1 : 0; }
    int64_t first_input() const { return 2 * (colours + features) + 1; }
    int64_t later_input() const { return first_input() + 1 + handed_on() + flows; }
    // By how much smaller pictures the block of that number sees.
    int64_t scale(int64_t block) const
    {
        constexpr std::array<int64_t, most_blocks> light = {32, 16, 8, 4, 1};
        return is_light ? light[static_cast<size_t>(block)] : int64_t{1} << (blocks - 1 - block);
    }
    // From 4.21 on, their authors do not take the mean of both orders.
    bool may_ensemble() const { return handed_on() == 0; }
    const char *last_layer() const { return is_plain ? "lastconv.weight" : "lastconv.0.weight"; }
    // 4.0 may look again at pictures of half the size.
    int64_t multiple() const { return (has_prelu ? 8 : 4) * scale(0); }
};

// The last layer of the encoder, which has features of the frame's size; "": there is none.
std::string last_of_encoder(const Weights &weights)
{
    for (const char *name : {"encode.cnn3", "encode.6", "encode.1"})
        if (weights.has(concat(name, ".weight")))
            return name;
    return weights.has_any("encode.") ? "encode.cnn3" : "";
}

int64_t width_of(const Weights &weights, int64_t block)
{
    return weights.size(concat("block", block, ".conv0.1.0.weight"), 0);
}

Version version_of(const Net &net)
{
    const Weights &weights = net.weights();
    Version version;
    while (version.blocks <= most_blocks && weights.has_any(concat("block", version.blocks, ".")))
        version.blocks++;
    if (version.blocks != 4 && version.blocks != most_blocks)
        net.contradict(concat("has ", version.blocks, " blocks, not 4 or 5"));
    if (const std::string last = last_of_encoder(weights); !last.empty())
        version.features = weights.size(last + ".weight", 1);
    version.is_plain = weights.has_any("block0.convblock.0.0.");
    version.has_prelu = weights.has_any("block0.conv0.0.1.");
    version.made = weights.size(concat("block0.", version.last_layer()), 1);
    if (!version.is_plain)
        version.made /= 4;
    version.is_light =
        version.blocks == most_blocks && width_of(weights, 4) < width_of(weights, 3) / 2;
    return version;
}

// The channels of each layer must be those of the version: no run shows a mistake before the first.
void check(const Net &net, const Version &version)
{
    const auto expect = [&](const std::string &name, size_t dimension, int64_t wanted) {
        if (const int64_t size = net.weights().size(name, dimension); size != wanted)
            net.contradict(concat(name, " has ", size, " channels, not ", wanted));
    };
    if (version.features < 0 || version.features > 64 || version.made < flows + 1 ||
        version.made > 64)
        net.contradict("has another number of features than any version");
    for (int64_t i = 0; i < version.blocks; i++) {
        const std::string block = concat("block", i, ".");
        const int64_t wide = width_of(net.weights(), i);
        expect(block + "conv0.0.0.weight", 1,
               i == 0 ? version.first_input() : version.later_input());
        expect(block + "conv0.1.0.weight", 1, net.weights().size(block + "conv0.0.0.weight", 0));
        expect(block + version.last_layer(), 0, wide);
        expect(block + version.last_layer(), 1, (version.is_plain ? 1 : 4) * version.made);
        for (int64_t k = 0; k < residual_layers && !version.is_plain; k++)
            expect(concat(block, "convblock.", k, ".beta"), 1, wide);
    }
}

class Rife
{
public:
    Rife(Net &net, const Version &version) : net_(net), version_(version)
    {
        for (const char *text : {smaller_function, pad_function})
            net_.function(text);
        if (version_.may_ensemble())
            net_.function(both_orders_functions);
    }

    Expression between(const Expression &x, const Expression &t)
    {
        const Expression multiple =
            net_.let(concat("int(", version_.multiple(), " / min(scale, 1.0))"));
        const Expression border = net_.let(concat("self.border_of(", x, ", ", multiple, ")"));
        const Expression all = net_.let(concat("torch.constant_pad_nd(", x, ", ", border, ")"));
        // LibTorch 1.13 does not pad so in bf16.
        time_ = net_.let(
            concat("torch.replication_pad2d(", t, ".float(), ", border, ").to(", x, ".dtype)"));
        for (size_t i = 0; i < 2; i++) {
            const auto first = static_cast<int64_t>(i) * colours;
            frames_[i] = net_.channels(all, first, first + colours);
        }
        if (version_.features != 0)
            encode(x, all);
        for (int64_t i = 0; i < version_.blocks; i++) {
            refine(i);
            if (i == 1 && version_.has_prelu)
                begin_anew_if_far();
        }
        const Expression weight = net_.activate(mask_, "sigmoid");
        return net_.let(
            concat(moved_[0], " * ", weight, " + ", moved_[1], " * (1.0 - ", weight, ")"));
    }

private:
    void encode(const Expression &pairs, const Expression &padded)
    {
        net_.function(once_functions);
        const Expression follows = net_.followers(pairs, colours);
        const Expression first = net_.repeats(net_.channels(pairs, 0, colours)),
                         second = net_.repeats(net_.channels(pairs, colours, 2 * colours));
        const Expression is_new =
            net_.let(concat("self.new_frames(", follows, ", ", first, ", ", second, ")"));
        const Expression places =
            net_.let(concat("self.places_of_frames(", is_new, ", ", follows, ")"));
        const Expression made =
            encoded(net_.let(concat("self.frames_once(", padded, ", ", is_new, ")")));
        for (size_t i = 0; i < 2; i++)
            features_[i] = net_.let(concat(made, ".index_select(0, ", places, "[:, ", i, "])"));
    }

    Expression encoded(const Expression &frame)
    {
        const Weights &weights = net_.weights();
        const std::string last = last_of_encoder(weights);
        std::vector<std::string> layers = {"encode.cnn0", "encode.cnn1", "encode.cnn2"};
        if (last == "encode.6")
            layers = {"encode.0", "encode.2", "encode.4"};
        const bool is_short = last == "encode.1";
        if (is_short)
            layers = {"encode.0"};
        Expression x = frame;
        for (size_t i = 0; i < layers.size(); i++) {
            x = net_.conv(x, layers[i], {.stride = i == 0 ? 2 : 1, .padding = 1});
            if (!is_short)
                x = net_.leaky_relu(x, slope);
        }
        return net_.conv_transpose(x, last, 2, 1);
    }

    // What a block gets besides the flow.
    Expression seen_by(int64_t block)
    {
        std::vector<Expression> parts = {moved_[0], moved_[1]};
        if (version_.features != 0)
            parts.insert(parts.end(), moved_features_.begin(), moved_features_.end());
        parts.push_back(time_);
        if (block > 0)
            parts.push_back(mask_);
        if (block > 0 && version_.handed_on() != 0)
            parts.push_back(handed_on_);
        return net_.cat(parts);
    }

    Expression moved(const Expression &x, size_t frame)
    {
        const auto first = static_cast<int64_t>(frame) * 2;
        return net_.moved_by_flow(x, concat(flow_, "[:, ", first, ":", first + 2, "]"));
    }

    Expression activated(const Expression &x, const std::string &layers)
    {
        return version_.has_prelu ? net_.prelu(x, layers + "1") : net_.leaky_relu(x, slope);
    }

    // Up to 4.4.
    Expression through_plain(const std::string &block, const Expression &x)
    {
        Expression y = x;
        for (int64_t k = 0; k < residual_layers; k++) {
            const std::string layers = concat(block, "convblock.", k, ".");
            y = activated(net_.conv(y, layers + "0"), layers);
        }
        return net_.conv_transpose(version_.has_prelu ? net_.add(y, x) : y, block + "lastconv", 2,
                                   1);
    }

    Expression through_residual(const std::string &block, Expression x)
    {
        for (int64_t k = 0; k < residual_layers; k++) {
            const std::string layer = concat(block, "convblock.", k);
            const int64_t wide = net_.weights().size(layer + ".conv.weight", 0),
                          of_group = net_.weights().size(layer + ".conv.weight", 1);
            const Expression made =
                net_.conv(x, layer + ".conv",
                          {.groups = of_group > 0 ? std::max<int64_t>(wide / of_group, 1) : 1});
            x = net_.leaky_relu(
                net_.let(concat(made, " * ", net_.weight(layer + ".beta"), " + ", x)), slope);
        }
        return net_.pixel_shuffle(net_.conv_transpose(x, block + "lastconv.0", 2, 1), 2);
    }

    // Returns what the block's layers make of a smaller picture.
    Expression through(const std::string &block, Expression x)
    {
        for (const char *part : {"conv0.0.", "conv0.1."}) {
            const std::string layers = block + part;
            x = activated(net_.conv(x, layers + "0", {.stride = 2, .padding = 1}), layers);
        }
        return version_.is_plain ? through_plain(block, x) : through_residual(block, x);
    }

    // Makes `x` and what a block makes of it those of both orders, or the mean of both.
    void take_both_orders(const Expression &x, int64_t block)
    {
        OtherOrder order;
        order.swap(colours);
        order.swap(version_.features);
        order.subtract_from(1); // the time
        if (block > 0) {
            order.subtract_from(0); // the mask
            order.swap(flows / 2);
        }
        const auto count = static_cast<int64_t>(order.places.size());
        net_.begin("ensemble");
        net_.line(concat(x, " = self.in_both_orders(", x, ", ", net_.indices({count}, order.places),
                         ", ", net_.numbers({count, 1, 1}, order.signs), ", ",
                         net_.numbers({count, 1, 1}, order.offsets), ")"));
        net_.end();
    }

    void take_mean_of_orders(const Expression &made)
    {
        OtherOrder order;
        order.swap(flows / 2);
        order.subtract_from(0);
        order.keep(version_.made - flows - 1);
        net_.begin("ensemble");
        net_.line(concat(made, " = self.mean_of_orders(", made, ", ",
                         net_.indices({version_.made}, order.places), ", ",
                         net_.numbers({version_.made, 1, 1}, order.signs), ")"));
        net_.end();
    }

    Expression change_in(const Expression &made, const Expression &scale)
    {
        return net_.let(
            concat(made, "[:, :", flows, "].float() * ", scale, version_.is_plain ? " * 2.0" : ""));
    }

    void refine(int64_t block, bool in_both_orders = true)
    {
        if (block == 0) {
            moved_ = frames_;
            moved_features_ = features_;
        }
        const Expression scale = net_.let(concat(version_.scale(block), ".0 / scale"));
        Expression x = net_.let(concat("self.made_smaller(", seen_by(block), ", ", scale, ")"));
        if (block > 0) {
            const Expression flow = net_.let(
                concat("(self.made_smaller(", flow_, ", ", scale, ") / ", scale, ").to(x.dtype)"));
            x = net_.cat({x, flow});
        }
        in_both_orders = in_both_orders && version_.may_ensemble();
        if (in_both_orders)
            take_both_orders(x, block);
        const Expression small = through(concat("block", block, "."), x);
        const Expression made = net_.let(concat("torch.upsample_bilinear2d(", small, ", [", time_,
                                                ".size(2), ", time_, ".size(3)], False)"));
        if (version_.has_prelu && block == 1)
            own_change_ = change_in(concat(made, "[:", time_, ".size(0)]"), scale);
        if (in_both_orders)
            take_mean_of_orders(made);
        change_ = change_in(made, scale);
        const Expression mask = net_.channels(made, flows, flows + 1);
        flow_ = block == 0 ? change_ : net_.add(flow_, change_);
        // Up to 4.6 it is refined, too.
        mask_ = block > 0 && version_.features == 0 ? net_.add(mask_, mask) : mask;
        if (version_.handed_on() != 0)
            handed_on_ = net_.channels(made, flows + 1, version_.made);
        for (size_t i = 0; i < 2; i++)
            move(i, block + 1 == version_.blocks);
    }

    // With its features, which takes less time than one after the other.
    void move(size_t frame, bool is_last)
    {
        if (version_.features == 0 || is_last) {
            moved_[frame] = moved(frames_[frame], frame);
            return;
        }
        const Expression both = moved(net_.cat({frames_[frame], features_[frame]}), frame);
        moved_[frame] = net_.channels(both, 0, colours);
        moved_features_[frame] = net_.channels(both, colours, colours + version_.features);
    }

    // 4.0 begins anew with smaller pictures where the second block changes both flows by much.
    void begin_anew_if_far()
    {
        constexpr const char *far = "bool(torch.gt(torch.max(torch.abs(";
        net_.begin(
            concat(far, own_change_, "[:, :2])), 32)) and ", far, own_change_, "[:, 2:])), 32))"));
        net_.line("scale = scale / 2.0");
        const std::array<Expression, 4> before = {flow_, mask_, moved_[0], moved_[1]};
        refine(0, false);
        refine(1);
        const std::array<Expression, 4> anew = {flow_, mask_, moved_[0], moved_[1]};
        for (size_t i = 0; i < before.size(); i++)
            net_.line(concat(before[i], " = ", anew[i]));
        net_.end();
        flow_ = before[0], mask_ = before[1], moved_ = {before[2], before[3]};
    }

    Net &net_;
    const Version version_;
    std::array<Expression, 2> frames_, moved_, features_, moved_features_;
    Expression time_, flow_, change_, mask_, handed_on_;
    Expression own_change_; // of the pair in its own order alone
};

std::string widths(const Weights &weights, int64_t blocks)
{
    std::string text;
    for (int64_t i = 0; i < blocks; i++)
        dnn_torch::add_to_list(text, std::to_string(width_of(weights, i)), "/");
    return text;
}

Blueprint build(const Weights &weights)
{
    Net net(weights, rife.name);
    // What training left.
    for (const auto &[name, weight] : weights.all())
        if (name.starts_with("teacher.") || name.starts_with("caltime."))
            net.ignore(name);
    const Version version = version_of(net);
    check(net, version);
    net.report("blocks", version.blocks);
    net.report("features", widths(weights, version.blocks));
    net.report("encoder", version.features);
    const Expression t = net.take_time("t");
    net.argument("scale: float = 1.0");
    if (version.may_ensemble())
        net.argument("ensemble: bool = False");
    net.mark_nonlocal();
    net.take_frames(0, 1, "repeat");
    const Expression made = Rife(net, version).between(Net::input, t);
    return net.finish(net.crop(made, Net::input, 1), 1, 2 * colours, colours);
}

} // namespace
} // namespace rife_network

const Architecture rife = {
    .name = "RIFE", .recognises = rife_network::recognises, .build = rife_network::build};

} // namespace engine_torch
