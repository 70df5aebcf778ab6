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
        model_options(offsetof(FindingsData, common.settings.model)),
        without(contract_options(offsetof(FindingsData, common.settings.contract)),
                {"as", "depth", "classes"}),
        only(size_options(offsetof(FindingsData, common.settings.sizes)), {"multiple"}),
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
    data.settings.run.strength = 1; // of a result that is found, not mixed
    return apply_backend_configs(&data, data.backend);
}

std::shared_ptr<FindingsStep> open_step(AVFilterContext *ctx)
{
    const FindingsData &data = findings_data(ctx);
    const std::string model = name_in(text_or_empty(data.common.settings.model.path));
    const char *const filter = ctx->filter->name;
    auto step =
        std::make_shared<FindingsStep>(request_of(data.results, concat(filter, ": ", model)));
    step->open();
    return step;
}

} // namespace dnn_torch
