// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "served_model.h"

namespace isolation
{

void ServedModel::add_plan(int64_t id, DnnTorchPlan *plan)
{
    SharedPlan shared(plan, [this](DnnTorchPlan *last) { engine_.plan_close(&last); });
    const std::lock_guard lock(mutex_);
    plans_[id] = std::move(shared);
}

void ServedModel::close_plan(int64_t id)
{
    SharedPlan last; // freed without the lock
    const std::lock_guard lock(mutex_);
    if (const auto found = plans_.find(id); found != plans_.end()) {
        last = std::move(found->second);
        plans_.erase(found);
    }
}

SharedPlan ServedModel::plan(int64_t id) const
{
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(id);
    return found == plans_.end() ? nullptr : found->second;
}

void ServedModel::add_session(int64_t id, DnnTorchSession *session)
{
    const std::lock_guard lock(mutex_);
    sessions_[id] = session;
}

void ServedModel::forget_session(int64_t id)
{
    const std::lock_guard lock(mutex_);
    sessions_.erase(id);
}

void ServedModel::stop(int64_t id)
{
    const std::lock_guard lock(mutex_);
    if (const auto found = sessions_.find(id); found != sessions_.end())
        engine_.session_stop(found->second);
}

bool ServedModel::close(std::chrono::milliseconds patience)
{
    std::unique_lock lock(mutex_);
    if (!unused_.wait_for(lock, patience, [this] { return uses_ == 0; }) || !plans_.empty() ||
        !sessions_.empty())
        return false;
    engine_.model_close(&model_);
    return true;
}

} // namespace isolation
