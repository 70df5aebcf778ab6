// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The variants of a model that its plans run.
#pragma once

#include "forms.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace engine_torch
{

struct SharedForm {
    explicit SharedForm(const Form &made) : form(made) {}

    const Form form;
    // Set if the form gave a wrong result for a first picture.  No plan runs the form then.
    std::atomic<bool> is_wrong{false};
};

// Lets plans that run the same form share it and so its weights.  Every member function may be
// called from several threads at once.
class SharedForms
{
public:
    // Returns the form that another plan runs already, or else `made`.  What was calibrated for a
    // plan is its own.
    std::shared_ptr<SharedForm> share(const Form &made)
    {
        if (made.precision == Precision::int8)
            return std::make_shared<SharedForm>(made);
        const std::lock_guard<std::mutex> lock(mutex_);
        std::weak_ptr<SharedForm> &known = forms_[{made.kind, made.precision}];
        std::shared_ptr<SharedForm> form = known.lock();
        if (!form)
            known = form = std::make_shared<SharedForm>(made);
        return form;
    }

private:
    std::mutex mutex_;
    // ---- under mutex_
    std::map<std::pair<FormKind, Precision>, std::weak_ptr<SharedForm>> forms_;
};

} // namespace engine_torch
