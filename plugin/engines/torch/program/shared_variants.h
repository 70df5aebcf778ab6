// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The variants of a model that its plans run.
#pragma once

#include "variants.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace engine_torch
{

// Lets plans that run the same variant share it, and so its weights.  Every member function may be
// called from several threads at once.
class SharedVariants
{
public:
    // Returns the same variant of another plan if there is one, otherwise `made`.  int8 variants
    // are not shared, because each is calibrated for its plan.
    std::shared_ptr<const Variant> share(const Variant &made)
    {
        if (made.precision == Precision::int8)
            return std::make_shared<const Variant>(made);
        const std::lock_guard<std::mutex> lock(mutex_);
        std::weak_ptr<const Variant> &known = forms_[{made.kind, made.precision}];
        std::shared_ptr<const Variant> variant = known.lock();
        if (!variant)
            known = variant = std::make_shared<const Variant>(made);
        return variant;
    }

private:
    std::mutex mutex_;
    // ---- under mutex_
    std::map<std::pair<VariantKind, Precision>, std::weak_ptr<const Variant>> forms_;
};

} // namespace engine_torch
