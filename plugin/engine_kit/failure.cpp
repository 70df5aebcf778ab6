// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

#include "failure.h"

#include "text.h"

#include <new>

namespace engine_kit
{
namespace
{

DnnTorchStatus say(DnnTorchStatus status, std::string_view text, DnnTorchMessage &message)
{
    copy_as_line(text, message.text, sizeof message.text);
    return status;
}

DnnTorchStatus rethrow(Phase phase, Translate translate, DnnTorchMessage &message)
{
    const auto say_failure = [&](const Failure &failure) {
        return say(failure.status(), failure.what(), message);
    };
    try {
        throw;
    } catch (const Failure &failure) {
        return say_failure(failure);
    } catch (const std::bad_alloc &) {
        return say_failure(out_of_memory(phase));
    } catch (const std::exception &error) {
        return say_failure(translate(phase, error));
    } catch (...) {
        return say(DNN_TORCH_INTERNAL, "something that is no C++ exception was thrown", message);
    }
}

} // namespace

Failure out_of_memory(Phase phase, bool of_device, const std::string &asked_for)
{
    const std::string words = of_device ? "the device is out of memory" : "out of memory";
    if (phase == Phase::loading)
        return {DNN_TORCH_OUT_OF_MEMORY,
                words +
                    " while the model was loaded; close other programs or take a smaller model"};
    return {DNN_TORCH_OUT_OF_MEMORY, words + " while the model ran" + asked_for +
                                         "; lower the frame size, batch_size or workers" +
                                         (of_device ? ", or choose precision=fp16" : "")};
}

Failure failure_in_words(Phase phase, const std::exception &error)
{
    const std::string line = short_message(error.what());
    return {phase == Phase::loading ? DNN_TORCH_BAD_MODEL : DNN_TORCH_RUN_FAILED,
            line.empty() ? "no reason given" : line};
}

DnnTorchStatus describe_current_exception(Phase phase, Translate translate,
                                          DnnTorchMessage &message) noexcept
{
    try {
        return rethrow(phase, translate, message);
    } catch (...) {
        // Memory ran out while the message was put together.
        copy_as_line("out of memory", message.text, sizeof message.text);
        return DNN_TORCH_OUT_OF_MEMORY;
    }
}

} // namespace engine_kit
