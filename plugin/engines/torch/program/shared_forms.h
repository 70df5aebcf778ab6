// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The variants of a model that its plans run.
#pragma once

#include "forms.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace engine_torch
{

// Lets plans that run the same variant share it, and so its weights.  Every member function may be
// called from several threads at once.
class SharedForms
{
public:
    // Returns the same variant of another plan if there is one, otherwise `made`.  int8 variants
    // are not shared, because each is calibrated for its plan.
    std::shared_ptr<const Form> share(const Form &made)
    {
        if (made.precision == Precision::int8)
            return std::make_shared<const Form>(made);
        const std::lock_guard<std::mutex> lock(mutex_);
        std::weak_ptr<const Form> &known = forms_[{made.kind, made.precision}];
        std::shared_ptr<const Form> form = known.lock();
        if (!form)
            known = form = std::make_shared<const Form>(made);
        return form;
    }

private:
    std::mutex mutex_;
    // ---- under mutex_
    std::map<std::pair<FormKind, Precision>, std::weak_ptr<const Form>> forms_;
};

} // namespace engine_torch
