// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Generates the code of a network, line by line.  Needs no LibTorch.
//
// Functions take and return expressions of TorchScript, mostly names of variables.  For example,
//
//     const auto x = net.conv(input, "conv_first");
//     return net.finish(net.activate(x, "relu"), ...);
//
// generates a forward() of two lines.  "torch.NAME" in an expression is the operator aten::NAME.  A
// network of 300 layers has 300 lines: the code hardly branches, which suits LibTorch's analysis.
#pragma once

#include "blueprint.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace engine_torch
{

// An expression of type Tensor in forward().
using Expression = std::string;

struct ConvOptions {
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t groups = 1;
    int64_t padding = -1; // below 0: keeps the picture's size
    bool has_bias = true;
};

// One network under construction.  Every member function throws a WeightFault if a weight is
// missing or has another number of dimensions than it needs.
class Net
{
public:
    // `weights` must outlive the object.
    Net(const Weights &weights, std::string architecture);

    const Weights &weights() const { return weights_; }
    const std::string &architecture() const { return blueprint_.architecture; }

    // Shown by `inspect`.
    void report(const std::string &parameter, const std::string &value);
    void report(const std::string &parameter, int64_t value);

    // ---- tensors
    // Returns the weight of that name.  weight_or_none() returns "None" if it is missing, and so in
    // all other blocks.
    Expression weight(const std::string &name);
    Expression weight_or_none(const std::string &name);
    // Generated numbers.
    Expression indices(std::vector<int64_t> shape, std::vector<int64_t> values);
    Expression numbers(std::vector<int64_t> shape, std::vector<float> values);
    // Ignores weights with this ending: training left them, and no result depends on them.
    void ignore_ending(std::string_view end);
    void ignore(const std::string &name) { used_.insert(name); }

    // Makes biases whose names end like this optional: all blocks have one, or none has.
    void allow_missing(const std::string &end) { optional_.push_back(end); }
    // Makes each bias optional on its own.
    void allow_missing_biases() { needs_biases_ = false; }

    // ---- code
    // Returns a name that no variable has.
    Expression new_name();
    // Writes a line "NAME = expression" and returns the name.
    Expression let(const std::string &expression);
    // Writes a line that is not an assignment, such as "h, w = x.shape[2], x.shape[3]".
    void line(const std::string &text);
    // Writes "if ...:"; the lines until end(), or otherwise(), are its block.
    void begin(const std::string &condition);
    // Writes "else:".
    void otherwise();
    // Writes "for ...:".
    void begin_for(const std::string &rounds);
    void end();
    // Adds a function of the class: "def name(self, x, n: int):\n    return ...\n".  Adds each text
    // only once.
    void function(const std::string &text);

    // ---- layers, by the prefix of their weights ("conv_first" for "conv_first.weight")
    Expression conv(const Expression &x, const std::string &name, const ConvOptions &options = {});
    // nn.ConvTranspose2d
    Expression conv_transpose(const Expression &x, const std::string &name, int64_t stride,
                              int64_t padding, int64_t output_padding = 0);
    Expression linear(const Expression &x, const std::string &name);
    Expression prelu(const Expression &x, const std::string &name);
    // nn.BatchNorm2d in evaluation mode, after the convolution of that name
    Expression batch_norm(const Expression &x, const std::string &name, const std::string &conv,
                          double epsilon = 1e-5);
    // nn.LayerNorm over the last dimension
    Expression layer_norm(const Expression &x, const std::string &name, double epsilon = 1e-5);

    // ---- layers without weights
    // relu, gelu, sigmoid, tanh, silu, mish, ...: any operator aten::NAME with one tensor.
    Expression activate(const Expression &x, const std::string &function);
    Expression leaky_relu(const Expression &x, double slope);
    Expression add(const Expression &a, const Expression &b);
    Expression scaled(const Expression &x, double factor);
    // a + factor * b
    Expression add_scaled(const Expression &a, const Expression &b, double factor);
    Expression cat(const std::vector<Expression> &parts, int64_t dimension = 1);
    Expression pixel_shuffle(const Expression &x, int64_t factor);
    Expression pixel_unshuffle(const Expression &x, int64_t factor);
    Expression enlarge_nearest(const Expression &x, int64_t factor);

    // Pads right and bottom, by reflection, to multiples.  crop() removes the padding after a
    // network that enlarges `scale` times.
    Expression pad_to_multiple(const Expression &x, int64_t multiple);
    Expression crop(const Expression &x, const Expression &original, int64_t scale);

    // Returns the whole network.  Throws a WeightFault if weights are unused.
    Blueprint finish(const Expression &result, int64_t scale, int64_t in_channels,
                     int64_t out_channels);

    // Returns the network with a forward() of those arguments, each after a comma, without further
    // checks.
    Blueprint finish_as(const std::string &arguments, const Expression &result);

    // The input of forward().
    static constexpr const char *input = "x";

    // ---- used by several architectures
    // Adds an optional argument of forward(): "sigma: float = 0.1".
    void argument(const std::string &text) { arguments_ += ", " + text; }
    // Returns the factor, from 1 to 16, by which pixel_shuffle() turns the layer's output into `to`
    // channels.  Throws a WeightFault if there is none.
    int64_t shuffle_factor(const std::string &layer, int64_t to) const;
    // A norm over each pixel's channels.
    Expression channel_norm(const Expression &x, const std::string &name, double epsilon);
    // sub_pixel(sub_pixel(x, ...)): convolutions `prefix`0, `prefix`STEP..., each before a
    // pixel_shuffle(), as long as there are such weights.  Multiplies `scale`.
    Expression shuffled_steps(Expression x, const std::string &prefix, int64_t step,
                              int64_t &scale);
    // Declares that a result depends on the whole picture, so that tiles would change it.
    void mark_nonlocal() { blueprint_.is_local = false; }
    // Declares that windows begin at multiples of this.  pad_to_multiple() does so.
    void align(int64_t multiple);
    // Declares that pictures have at least so many pixels in each direction.
    void need_size(int64_t minimum) { blueprint_.minimum = minimum; }
    // Declares that the input's channels are those of several frames: from -2 to 2 are five.
    void take_frames(int64_t first, int64_t last, const std::string &border = "reflect");
    // The pictures of a batch may be windows of consecutive frames.  What depends on three pictures
    // of a window alone is then computed once, though several windows have them.
    //
    // Says which windows are those before them, one frame later: the frames have `channels`.
    Expression followers(const Expression &windows, int64_t channels);
    // Says which pictures of a batch are the same as those before them.
    Expression repeats(const Expression &pictures);
    // Returns the threes of consecutive pictures, one behind the other in the channels, without
    // those that came before.  There are `count` pictures for each window.
    Expression distinct_threes(const Expression &pictures, const Expression &followers,
                               int64_t count);
    // Returns what was made of these, for each window: `count` pictures.
    Expression of_each_window(const Expression &pictures, const Expression &followers,
                              int64_t count);
    // Adds an optional argument of forward(), which gets the tensor of that number in what it
    // returned for the frame before, or None.  Returns the argument, or else the first value.
    Expression state(const std::string &name, int64_t output, const Expression &first);
    // Adds an optional argument of forward(), a plane that says how far the result lies on the way
    // from the first of two frames to the second.  Returns it, or else a plane of 0.5.
    Expression take_time(const std::string &name);
    // Declares that the result lies between two frames, in the middle if it takes no time.
    void make_between() { blueprint_.task = "interpolate"; }
    // Returns each sample of `flow`'s frame from where the flow leads, in fp32, whatever the
    // precision: others wobble.
    Expression moved_by_flow(const Expression &x, const Expression &flow);
    // Pads to multiples on all sides: border_around() says by how much, pad_around() repeats the
    // border or reflects the picture, and crop_around() removes that.
    Expression border_around(const Expression &x, const Expression &multiple);
    Expression pad_around(const Expression &x, const Expression &border,
                          const std::string &mode = "repeat");
    Expression crop_around(const Expression &x, const Expression &original,
                           const Expression &border);
    // Declares that the result is the frame's alpha.
    void make_alpha();
    // Enlarges bilinearly, pixels being areas.
    Expression enlarge_bilinear(const Expression &x, int64_t factor);
    // Returns the channels from `first` on, to before `last`.
    Expression channels(const Expression &x, int64_t first, int64_t last);
    // Returns the mean of each channel over the whole picture.
    Expression picture_mean(const Expression &x);
    Expression multiply(const Expression &a, const Expression &b);
    [[noreturn]] void contradict(const std::string &words) const;

private:
    // Throws a WeightFault unless the weight has that many dimensions and the bias, if any, fits.
    void expect_shape(const std::string &name, size_t dimensions, const char *layer) const;
    void expect_bias(const std::string &name, int64_t channels) const;
    void expect_one_for_each(const std::string &name, int64_t channels,
                             const std::string &layer) const;
    Expression attribute(NetTensor tensor);
    void begin_block(const std::string &head);
    static std::string place_of(std::string_view name);
    void expect_none_missing() const;
    void expect_all_used() const;

    const Weights &weights_;
    Blueprint blueprint_;
    std::map<std::string, std::string> attributes_; // by weight name
    std::set<std::string, std::less<>> used_;
    std::vector<std::string> optional_;
    std::set<std::string> absent_;
    bool needs_biases_ = true;
    std::set<std::string> functions_;
    std::string function_texts_, lines_, arguments_, margin_ = "    ";
    int64_t variables_ = 0;
    size_t line_count_ = 0;
};

// Returns a number that TorchScript reads back exactly: 0.2, 1e-05.
std::string literal(double number);

} // namespace engine_torch
