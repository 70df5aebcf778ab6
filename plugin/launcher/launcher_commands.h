// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The launcher's commands.  Each returns the exit status.
#pragma once

namespace dnn_torch
{

constexpr int exit_usage = 2;
constexpr int exit_cannot_run = 126; // the status that shells use
constexpr int exit_not_found = 127;

// Execs `program`, a NULL-terminated argument vector, with the preload object.  Returns only on
// failure.
int run(char **program);

// Prints which parts are installed and which of them work.  Returns 0 if the filters would work.
int doctor();

// Prints the devices that can run models.  Returns 0 unless it cannot print.
int devices(bool as_json);

// Execs the program for "inspect", "bench" and the like with these arguments, which are the whole
// argv.  Returns only on failure.
int model_tool(char **arguments);

// Execs Python with the package in plugin/farm and the arguments after "farm", which are in a whole
// argv.  Returns only on failure.
int farm(char **arguments);

} // namespace dnn_torch
