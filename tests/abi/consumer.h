/* SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/** A user of libavfilter that reaches our filter in every way there is. */
#ifndef DNN_TORCH_TEST_CONSUMER_H
#define DNN_TORCH_TEST_CONSUMER_H

/** Prints a line for each way, "ok" or "FAILED"; returns how many failed.
 * `model` is a script of the fake engine. */
int consume(const char *model);

#endif
