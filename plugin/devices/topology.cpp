// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "topology.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <sched.h>
#include <set>
#include <sstream>

namespace dnn_torch
{
namespace
{

// More than any kernel supports.  A kernel refuses a mask for fewer processors than it supports.
constexpr size_t most_processors = 1 << 16;

class AffinityMask
{
public:
    explicit AffinityMask(size_t processors)
        : processors_(processors), bytes_(CPU_ALLOC_SIZE(processors)), set_(CPU_ALLOC(processors))
    {
        if (set_)
            CPU_ZERO_S(bytes_, set_.get());
    }

    bool get() { return set_ && sched_getaffinity(0, bytes_, set_.get()) == 0; }
    bool apply() const { return set_ && sched_setaffinity(0, bytes_, set_.get()) == 0; }
    bool has(size_t processor) const
    {
        return processor < processors_ && CPU_ISSET_S(processor, bytes_, set_.get());
    }
    void add(size_t processor)
    {
        if (set_)
            CPU_SET_S(processor, bytes_, set_.get());
    }

private:
    struct Free {
        void operator()(cpu_set_t *set) const { CPU_FREE(set); }
    };
    size_t processors_, bytes_;
    std::unique_ptr<cpu_set_t, Free> set_;
};

std::string line_of(const std::string &path)
{
    std::string line;
    std::getline(std::ifstream(path) >> std::ws, line);
    return line;
}

bool read_number(std::istream &text, size_t &number)
{
    return text.peek() >= '0' && text.peek() <= '9' && text >> number && number < most_processors;
}

// Reads "8" or "0-3".
bool read_range(std::istream &text, std::set<size_t> &numbers)
{
    size_t first = 0;
    if (!read_number(text, first))
        return false;
    size_t last = first;
    if (text.peek() == '-' && (text.ignore(), !read_number(text, last) || last < first))
        return false;
    for (; first <= last; first++)
        numbers.insert(numbers.end(), first);
    return true;
}

Processors common_to(const Processors &some, const Processors &others)
{
    Processors common;
    std::set_intersection(some.begin(), some.end(), others.begin(), others.end(),
                          std::back_inserter(common));
    return common;
}

// Counts lists of siblings instead of core_id, which starts anew in each package, and on some
// machines in each part of a package.
size_t count_cores(const Processors &allowed, const std::string &root)
{
    std::set<size_t> firsts;
    for (size_t processor : allowed) {
        const Processors siblings =
            parse_processors(line_of(root + "/sys/devices/system/cpu/cpu" +
                                     std::to_string(processor) + "/topology/thread_siblings_list"));
        firsts.insert(siblings.empty() ? processor : siblings.front());
    }
    return firsts.size();
}

// Leaves out nodes without processors.
std::vector<Processors> nodes_of(const Processors &allowed, const std::string &root)
{
    const std::string folder = root + "/sys/devices/system/node/";
    std::vector<Processors> nodes;
    size_t found = 0;
    for (size_t node : parse_processors(line_of(folder + "online"))) {
        Processors here = common_to(
            allowed,
            parse_processors(line_of(folder + "node" + std::to_string(node) + "/cpulist")));
        found += here.size();
        if (!here.empty())
            nodes.push_back(std::move(here));
    }
    if (found != allowed.size()) // an incomplete list counts as not known
        nodes = {allowed};
    return nodes;
}

bool keep_to_or_throw(const Processors &processors)
{
    const Processors wanted = common_to(processors, allowed_processors());
    if (wanted.empty())
        return false;
    AffinityMask mask(wanted.back() + 1);
    for (size_t processor : wanted)
        mask.add(processor);
    return mask.apply();
}

} // namespace

Processors parse_processors(const std::string &text)
{
    std::istringstream stream(text);
    std::set<size_t> numbers;
    do
        if (!read_range(stream, numbers))
            return {};
    while (stream.get() == ',');
    if (!stream.eof())
        return {};
    return {numbers.begin(), numbers.end()};
}

Processors allowed_processors()
{
    AffinityMask mask(most_processors);
    Processors allowed;
    if (mask.get())
        for (size_t processor = 0; processor < most_processors; processor++)
            if (mask.has(processor))
                allowed.push_back(processor);
    return allowed;
}

Topology topology_of(const Processors &allowed, const std::string &root)
{
    const Processors some = allowed.empty() ? Processors{0} : allowed;
    return {.allowed = some, .cores = count_cores(some, root), .nodes = nodes_of(some, root)};
}

Topology usable_topology(const std::string &root)
{
    return topology_of(allowed_processors(), root);
}

size_t worthwhile_cores(const Topology &topology)
{
    return std::max(topology.cores, std::min<size_t>(topology.allowed.size(), 2));
}

bool keep_to(const Processors &processors) noexcept
try {
    return keep_to_or_throw(processors);
} catch (const std::exception &) {
    return false;
}

} // namespace dnn_torch
