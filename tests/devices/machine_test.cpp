// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Reading this machine, and machines that a folder pretends.
#include "devices/cpu.h"
#include "devices/device_files.h"
#include "pretended_machine.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dnn_torch;
namespace fs = std::filesystem;

namespace
{

using Machine = PretendedMachine;

TEST_F(Machine, WithoutControlGroupsHasNoQuota)
{
    EXPECT_EQ(quota_cores(root), 0);
    EXPECT_GE(usable_cores(root), 1U);
    EXPECT_FALSE(cpu_info(root).model.empty());
}

TEST_F(Machine, TheTightestGroupOfVersion2Counts)
{
    file("/proc/self/cgroup", "0::/system/service/inner\n");
    file("/sys/fs/cgroup/system/cpu.max", "150000 100000\n");
    file("/sys/fs/cgroup/system/service/cpu.max", "300000 100000\n");
    file("/sys/fs/cgroup/system/service/inner/cpu.max", "max 100000\n");
    EXPECT_DOUBLE_EQ(quota_cores(root), 1.5);
}

TEST_F(Machine, AContainerSeesItsGroupAtTheMount)
{
    file("/proc/self/cgroup", "0::/docker/0123456789\n");
    file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    EXPECT_DOUBLE_EQ(quota_cores(root), 0.5);
    EXPECT_EQ(usable_cores(root), 1U);
}

TEST_F(Machine, QuotasOfVersion1)
{
    file("/proc/self/cgroup", "9:cpuset:/a\n4:cpu,cpuacct:/docker/1\n0::/\n");
    file("/sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us", "-1\n");
    file("/sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quota_cores(root), 0);
    file("/sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us", "250000\n");
    EXPECT_DOUBLE_EQ(quota_cores(root), 2.5);
}

TEST_F(Machine, Version1UnderTheShortName)
{
    file("/proc/self/cgroup", "1:cpu:/job\n");
    file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n");
    file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    EXPECT_DOUBLE_EQ(quota_cores(root), 2);
}

TEST_F(Machine, NonsenseIsNoQuota)
{
    for (const char *line : {"", "\n", "0::", "x", "::", "1:cpu", "1:cpu:noslash", "0::/../.."}) {
        file("/proc/self/cgroup", line);
        file("/sys/fs/cgroup/cpu.max", "many 100000");
        EXPECT_EQ(quota_cores(root), 0) << line;
    }
}

TEST(Cores, AreRoundedDownAndAtLeastOne)
{
    EXPECT_EQ(cores_within(8, 0), 8U);
    EXPECT_EQ(cores_within(8, 2.9), 2U);
    EXPECT_EQ(cores_within(8, 0.1), 1U);
    EXPECT_EQ(cores_within(2, 64), 2U);
    EXPECT_EQ(cores_within(0, 0), 1U);
}

TEST(Cores, FollowTheAffinity)
{
    cpu_set_t before, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
    size_t core = 0;
    while (!CPU_ISSET(core, &before))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    size_t all = cpu_info().allowed_cores;
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(usable_cores(), 1U);
    ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
    EXPECT_EQ(all, static_cast<size_t>(CPU_COUNT(&before)));
}

TEST_F(Machine, NamesTheProcessorAndWhatItCan)
{
    file("/proc/cpuinfo",
         "processor\t: 0\nmodel name\t: Some CPU @ 2:0\nflags\t\t: fpu avx2 avx512bw "
         "avx512_bf16 amx_bf16 xavx2\n\nprocessor\t: 1\nmodel name\t: Other\n");
    CpuInfo info = cpu_info(root);
    EXPECT_EQ(info.model, "Some CPU @ 2:0");
    EXPECT_EQ(info.features,
              (std::vector<std::string>{"AVX2", "AVX-512", "AVX-512 bf16", "AMX bf16"}));
}

TEST_F(Machine, KnowsWhatCpuFeaturesMeanOnArm)
{
    file("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd sve bf16\n");
    EXPECT_EQ(cpu_info(root).features, (std::vector<std::string>{"NEON", "SVE", "bf16"}));
}

TEST_F(Machine, FindsDeviceFilesAndTheirVendors)
{
    for (const char *name :
         {"/dev/dri/renderD129", "/dev/dri/renderD128", "/dev/dri/card0", "/dev/kfd",
          "/dev/dri/renderDX", "/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"})
        file(name, "");
    file("/sys/class/drm/renderD128/device/vendor", "0x8086\n");
    std::vector<std::string> paths;
    std::vector<DeviceFile> files = find_device_files(root);
    for (const DeviceFile &one : files)
        paths.push_back(one.path);
    EXPECT_EQ(paths, (std::vector<std::string>{"/dev/dri/renderD128", "/dev/dri/renderD129",
                                               "/dev/kfd", "/dev/nvidia0", "/dev/nvidiactl"}));
    EXPECT_EQ(files[0].vendor, Vendor::intel);
    EXPECT_EQ(files[1].vendor, Vendor::unknown);
    EXPECT_TRUE(files[0].permitted);
}

// Root may do everything, hence as somebody else.
TEST_F(Machine, TellsAFileThatIsDenied)
{
    file("/dev/dri/renderD128", "");
    fs::permissions(root + "/dev/dri/renderD128", fs::perms(0));
    pid_t child = fork();
    if (child == 0) {
        if (getuid() == 0 && setresuid(65534, 65534, 65534) != 0)
            _exit(2);
        std::vector<DeviceFile> files = find_device_files(root);
        _exit(files.size() == 1 && !files[0].permitted ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Machine, WithoutDevicesHasNone)
{
    EXPECT_TRUE(find_device_files(root).empty());
}

} // namespace
