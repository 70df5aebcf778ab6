// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "class_map_task.h"

#include "frame_numbers.h"
#include "host/detection/tensor_view.h"
#include "host/error.h"
#include "host/frames/frame_converter.h"
#include "host/frames/frame_feeder.h"
#include "host/frames/frame_scaler.h"
#include "host/frames/picture.h"
#include "host/model/model.h"
#include "host/model/picture_tensors.h"
#include "host/workers/fork_gate.h"
#include "picture_session.h"

#include <cstddef>
#include <span>
#include <vector>

namespace dnn_torch
{
namespace
{

constexpr float black_border = 0;

// Runs a segmentation model on frames, and converts its class maps to pictures.
class ClassMapSession : public TaskSession
{
public:
    // `plan` must live during run() and bypass(); it may be gone after them.
    explicit ClassMapSession(const ClassMapPlan &plan);

    void run(FrameJob &job) override;
    void bypass(FrameJob &job) override;
    void reset() override { session_.reset(); }
    void stop() noexcept override { session_.stop(); }

private:
    Images input_for(const FrameJob &job);
    void feed(FrameJob &job, const Images &input);
    MapWindow window_in(const ClassMaps &maps) const;
    FramePointer result_of(const FrameItem &item, const ClassMaps &maps);
    void write_alpha(ClassRows &rows, const FrameItem &item, AVFrame *result);

    const ClassMapPlan &plan_;
    Session session_;
    FrameFeeder feeder_;
    FrameConverter converter_;
    InputMemory memory_;
    std::vector<float> alpha_;
};

} // namespace

std::unique_ptr<TaskSession> ClassMapPlan::open_session() const
{
    return std::make_unique<ClassMapSession>(*this);
}

ClassMapSession::ClassMapSession(const ClassMapPlan &plan)
    : plan_(plan), session_(plan.model, plan.threads), feeder_(plan.contract.input, black_border)
{
    // A model that remembers earlier runs must get no other picture before the first frame.
    if (!plan_.in_order)
        session_.warm();
}

Images ClassMapSession::input_for(const FrameJob &job)
{
    const auto floats = plan_.model->facts().interleaved != 0 ? float_pixels : float_planes;
    Images input =
        floats(nullptr, static_cast<int>(job.items.size()), plan_.channels, plan_.picture);
    input.data = memory_.of(session_, static_cast<size_t>(input.batch_stride) * plan_.batch_size);
    input.number = job.items.front().seed;
    input.predecessor_distance = job.predecessor_distance;
    return input;
}

void ClassMapSession::feed(FrameJob &job, const Images &input)
{
    Stopwatch watch(job.stages.convert_in);
    int index = 0;
    for (const FrameItem &item : job.items) {
        feeder_.feed(item.frame.get(), plan_.placement, input, index);
        if (!plan_.contract.sizes.only)
            pad_picture(input, index, plan_.placement.target.size,
                        plan_.contract.sizes.padding.value_or(Padding::reflect));
        index++;
    }
}

void ClassMapSession::run(FrameJob &job)
{
    const Images input = input_for(job);
    feed(job, input);
    std::vector<DnnTorchTensor> tensors;
    {
        Stopwatch watch(job.stages.forward);
        DnnTorchRun facts = {.size = sizeof(facts)};
        tensors = run_tensors(session_, input, facts, numbers_for(job, plan_));
    }
    job.add_run(session_);
    job.saw_nan |= plan_.hides && has_no_number(tensors);
    Stopwatch watch(job.stages.convert_out);
    int index = 0;
    for (FrameItem &item : job.items)
        set_result(item, result_of(item, class_maps_in(tensors, plan_.maps, input.batch, index++)));
}

// Returns the frame's part of the maps: frames are padded or scaled for the model, and its maps may
// be smaller than its input.
MapWindow ClassMapSession::window_in(const ClassMaps &maps) const
{
    const Region &target = plan_.placement.target;
    const double across = static_cast<double>(maps.size.width) / plan_.picture.width;
    const double down = static_cast<double>(maps.size.height) / plan_.picture.height;
    return {.left = target.x * across,
            .top = target.y * down,
            .width = target.size.width * across,
            .height = target.size.height * down};
}

FramePointer ClassMapSession::result_of(const FrameItem &item, const ClassMaps &maps)
{
    ClassRows rows(maps, window_in(maps), plan_.input.size);
    FramePointer result = taken_from(plan_.frames, item.frame.get());
    if (plan_.contract.as == As::alpha)
        write_alpha(rows, item, result.get());
    else if (plan_.contract.as == As::colours)
        write_class_colours(rows, plan_.shown, result.get());
    else
        write_class_numbers(rows, plan_.shown, result.get());
    return result;
}

void ClassMapSession::write_alpha(ClassRows &rows, const FrameItem &item, AVFrame *result)
{
    const auto width = static_cast<size_t>(plan_.input.size.width);
    alpha_.resize(width * static_cast<size_t>(plan_.input.size.height));
    for (int y = 0; y < plan_.input.size.height; y++)
        rows.share(y, plan_.shown, alpha_.data() + static_cast<size_t>(y) * width);
    const Images images = float_planes(alpha_.data(), 1, 1, plan_.input.size);
    copy_all_but(Part::alpha, item.frame.get(), result);
    write_picture(images, PictureNumbers{}, 0, item.frame.get(), result, Part::alpha);
}

// Frames that bypass the model have no class, and are opaque.
void ClassMapSession::bypass(FrameJob &job)
{
    for (FrameItem &item : job.items) {
        if (format_of_results(plan_.input) == plan_.input.format) {
            item.results.push_back(std::move(item.frame));
            continue;
        }
        FramePointer other = taken_from(plan_.frames, item.frame.get());
        converter_.convert(item.frame.get(), other.get());
        set_result(item, std::move(other));
    }
}

} // namespace dnn_torch
