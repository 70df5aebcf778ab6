// SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
// SPDX-License-Identifier: LGPL-2.1-or-later

// A library that a GPU's driver might load.
int pretended_driver(void);

int pretended_driver(void)
{
    return 1;
}
