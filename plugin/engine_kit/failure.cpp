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

DnnTorchStatus out_of_memory(Phase phase, std::string_view text, DnnTorchMessage &message)
{
    const bool on_device = reports_device_out_of_memory(text);
    std::string words = on_device ? "the device is out of memory" : "out of memory";
    if (phase == Phase::loading)
        words += " while the model was loaded; close other programs or take a smaller model";
    else
        words += " while the model ran" + asked_for(text) +
                 "; lower the frame size, batch_size or workers" +
                 (on_device ? ", or choose precision=fp16" : "");
    return say(DNN_TORCH_OUT_OF_MEMORY, words, message);
}

DnnTorchStatus foreign(Phase phase, std::string_view text, DnnTorchMessage &message)
{
    if (reports_out_of_memory(text))
        return out_of_memory(phase, text, message);
    const std::string line = short_message(text);
    return say(phase == Phase::loading ? DNN_TORCH_BAD_MODEL : DNN_TORCH_RUN_FAILED,
               line.empty() ? "no reason given" : line, message);
}

DnnTorchStatus rethrow(Phase phase, LibraryWords words, DnnTorchMessage &message)
{
    if (const auto text = words ? words() : std::nullopt)
        return foreign(phase, *text, message);
    try {
        throw;
    } catch (const Failure &failure) {
        return say(failure.status(), failure.what(), message);
    } catch (const std::bad_alloc &) {
        return out_of_memory(phase, "", message);
    } catch (const std::exception &error) {
        return foreign(phase, error.what(), message);
    } catch (...) {
        return say(DNN_TORCH_INTERNAL, "something that is no C++ exception was thrown", message);
    }
}

} // namespace

DnnTorchStatus describe_current_exception(Phase phase, LibraryWords words,
                                          DnnTorchMessage &message) noexcept
{
    try {
        return rethrow(phase, words, message);
    } catch (...) {
        // Memory ran out while the message was put together.
        copy_as_line("out of memory", message.text, sizeof message.text);
        return DNN_TORCH_OUT_OF_MEMORY;
    }
}

} // namespace engine_kit
