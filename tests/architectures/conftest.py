# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
