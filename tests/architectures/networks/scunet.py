# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""SCUNet."""
from published import Case
from swin_conv_parts import blocks, plain
from torch import nn
from torch.nn import functional


class ScUnet(nn.Module):
    def __init__(self, channels=3, wide=64, counts=(4,) * 7):
        super().__init__()
        self.m_head = nn.Sequential(plain(channels, wide))
        for i in range(3):
            thin, thick = wide * 2**i, 2 * wide * 2**i
            smaller = nn.Conv2d(thin, thick, 2, 2, bias=False)
            larger = nn.ConvTranspose2d(thick, thin, 2, 2, bias=False)
            self.add_module(f"m_down{i + 1}", nn.Sequential(*blocks(counts[i], thin), smaller))
            self.add_module(f"m_up{i + 1}", nn.Sequential(larger, *blocks(counts[6 - i], thin)))
        self.m_body = nn.Sequential(*blocks(counts[3], 8 * wide))
        self.m_tail = nn.Sequential(plain(wide, channels))

    def forward(self, x):
        height, width = x.shape[2:]
        x1 = self.m_head(functional.pad(x, (0, -width % 64, 0, -height % 64), "replicate"))
        x2 = self.m_down1(x1)
        x3 = self.m_down2(x2)
        x4 = self.m_down3(x3)
        x = self.m_up3(self.m_body(x4) + x4)
        x = self.m_up1(self.m_up2(x + x3) + x2)
        return self.m_tail(x + x1)[..., :height, :width]


def case(counts, channels=3):
    told = {"architecture": "SCUNet", "scale": 1, "features": 64, "blocks": counts[3]}
    return Case(lambda: ScUnet(channels, counts=counts), told, channels=channels, is_global=True, tolerance=1e-4)


CASES = {
    "colour": case((2, 1, 1, 2, 1, 1, 2)),
    "gray": case((1, 2, 1, 1, 1, 1, 1), channels=1),
}
