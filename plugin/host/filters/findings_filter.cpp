// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "findings_filter.h"

#include "base/compose.h"

#include <string>

namespace dnn_torch
{
namespace
{

FindingsData &findings_data(AVFilterContext *ctx)
{
    return *static_cast<FindingsData *>(ctx->priv);
}

std::string name_in(const std::string &path)
{
    return path.substr(path.rfind('/') + 1);
}

} // namespace

OptionTable findings_model_options()
{
    const OptionTable groups[] = {
        without_picture_options(model_options(offsetof(FindingsData, common.settings.model))),
        without(run_options(offsetof(FindingsData, common.settings.run)), {"strength"}),
        backend_options(offsetof(FindingsData, common.backend)),
    };
    OptionTable all;
    for (const OptionTable &group : groups)
        all.insert(all.end(), group.begin(), group.end());
    return all;
}

OptionTable findings_results_options()
{
    return results_options(offsetof(FindingsData, results));
}

int prepare_findings(AVFilterContext *ctx)
{
    CommonData &data = common_data(ctx);
    data.settings.run.strength = 1; // findings cannot be mixed with the frame
    return apply_backend_configs(&data, data.backend);
}

bool is_parameter(AVFilterContext *ctx, const char *option, size_t offset, size_t size)
{
    if (!is_changeable(ctx, option))
        return false;
    const AVOption *const found = av_opt_find(ctx->priv, option, nullptr, 0, 0);
    const auto place = static_cast<size_t>(found ? found->offset : 0);
    return found && place >= offset && place < offset + size;
}

int change_parameter(AVFilterContext *ctx, const char *option, const char *value,
                     const std::function<void()> &apply)
{
    uint8_t *before = nullptr;
    if (int ret = av_opt_get(ctx->priv, option, AV_OPT_ALLOW_NULL, &before); ret < 0)
        return ret;
    const TextPointer old(reinterpret_cast<char *>(before));
    if (int ret = av_opt_set(ctx->priv, option, value, 0); ret < 0)
        return ret;
    try {
        apply();
    } catch (...) {
        av_opt_set(ctx->priv, option, old.get(), 0);
        throw;
    }
    return 0;
}

std::shared_ptr<FindingsStep> open_step(AVFilterContext *ctx)
{
    const FindingsData &data = findings_data(ctx);
    const std::string model = name_in(request_of(data.common.settings.model).path);
    const char *const filter = ctx->filter->name;
    auto step =
        std::make_shared<FindingsStep>(request_of(data.results, concat(filter, ": ", model)));
    step->open();
    return step;
}

} // namespace dnn_torch
