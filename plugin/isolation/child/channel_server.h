// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Serves one channel.
#pragma once

#include "isolation/protocol/channel.h"
#include "served_model.h"

#include <memory>
#include <span>

namespace isolation
{

// Belongs to the thread of its channel, and so do its sessions: an engine may keep state per
// thread.
class ChannelServer
{
public:
    ChannelServer(Descriptor socket, ServedModel &model);
    ~ChannelServer();
    ChannelServer(const ChannelServer &) = delete;
    ChannelServer &operator=(const ChannelServer &) = delete;

    // Returns when the host has closed the channel.
    void serve();

private:
    struct OpenSession; // the session and its memory

    void answer(Kind kind, std::span<const char> bytes, std::span<const Descriptor> descriptors);
    void answer(const TensorsRequest &request);
    void answer_metadata(const KeyRequest &request);
    DnnTorchPlanFacts facts_of(const DnnTorchPlan *plan) const;
    void answer_plan_metadata(const KeyRequest &request);
    void answer_probe(const ShapesRequest &request);
    void answer_plan(const ShapesRequest &request, std::span<const Descriptor> descriptors);
    void answer(const SessionRequest &request);
    void answer(const RunRequest &request, std::span<const Descriptor> descriptors);
    void hand_over(std::span<const DnnTorchTensor> out, RunReply &reply);
    bool ask_for_output(uint64_t bytes);
    void answer_plain(const PlainRequest &request);
    void answer_text(const Head &head, const char *text);

    Descriptor socket_;
    ServedModel &model_;
    std::unique_ptr<OpenSession> session_;
};

} // namespace isolation
