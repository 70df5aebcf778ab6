#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes every model that the tests run: make_models.py OUTDIR

The exact models move or scale samples without rounding, so that a test can say
what every byte must be.  The nets compute; they are compared with PyTorch.  The
faulty ones each do one thing that no image filter can use.  Where a model acts
on a frame number, the test has put that number into the first sample.
"""
import os
import pathlib
import pickle
import sys
import warnings

# oneDNN dies of AMX that a hypervisor promises and has not.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
import torch
import torch.nn.functional as functional
from torch import Tensor, nn

warnings.filterwarnings("ignore")


def frame_number(x: Tensor) -> int:
    return int(torch.round(x[0, 0, 0, 0] * 255.0).item())


# ---- exact models ---------------------------------------------------------


class Identity(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x


class Invert(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return 1.0 - x


class Enlarge(nn.Module):
    """Every sample becomes a square."""

    def __init__(self, factor: int):
        super().__init__()
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        return x.repeat_interleave(self.factor, 2).repeat_interleave(self.factor, 3)


class Shuffle(nn.Module):
    """Enlarge(2) the way that super-resolution nets end."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.pixel_shuffle(x.repeat_interleave(4, 1), 2)


class Crop(nn.Module):
    """A convolution without padding, whose kernel picks the middle: shrinks by 4."""

    def __init__(self):
        super().__init__()
        kernel = torch.zeros(1, 1, 5, 5)
        kernel[0, 0, 2, 2] = 1
        self.kernel = nn.Parameter(kernel)

    def forward(self, x: Tensor) -> Tensor:
        channels = x.size(1)
        return functional.conv2d(x, self.kernel.expand(channels, 1, 5, 5), groups=channels)


class Halve(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, :, ::2, ::2]


class ForChannels(nn.Module):
    """Another model, for one channel count alone."""

    def __init__(self, channels: int, inner: nn.Module):
        super().__init__()
        self.channels = channels
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        if x.size(1) != self.channels:
            raise RuntimeError("made for another channel count")
        return self.inner(x)


class Stretch(nn.Module):
    """2x - 64/255: leaves the range on both sides."""

    def forward(self, x: Tensor) -> Tensor:
        return 2.0 * x - 64.0 / 255.0


class SwapRedAndBlue(nn.Module):
    """A view that walks its channels in its own order."""

    def forward(self, x: Tensor) -> Tensor:
        return x.flip(1)


class ChannelsLast(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.contiguous(memory_format=torch.channels_last)


class FirstPixelEverywhere(nn.Module):
    """Strides of zero."""

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :, :1, :1].expand_as(x)


class Tuple2(nn.Module):
    def forward(self, x: Tensor):
        return x, 1.0 - x


class Dict2(nn.Module):
    def forward(self, x: Tensor):
        return {"image": 1.0 - x, "features": x}


class Dict1(nn.Module):
    def forward(self, x: Tensor):
        return {"image": 1.0 - x}


class Tuple1(nn.Module):
    def forward(self, x: Tensor):
        return (1.0 - x,)


class DefaultArgument(nn.Module):
    def forward(self, x: Tensor, strength: float = 1.0) -> Tensor:
        return strength - x


# ---- nets -----------------------------------------------------------------


class Espcn(nn.Module):
    """Doubles; small weights on top of the nearest sample, so that the picture stays one."""

    def __init__(self, channels: int):
        super().__init__()
        self.first = nn.Conv2d(channels, 16, 5, padding=2)
        self.second = nn.Conv2d(16, 8, 3, padding=1)
        self.last = nn.Conv2d(8, channels * 4, 3, padding=1)
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, x: Tensor) -> Tensor:
        detail = torch.tanh(self.second(torch.tanh(self.first(x))))
        return self.shuffle(self.last(detail) + x.repeat_interleave(4, 1))


class Bfloat16(nn.Module):
    """Weights of 16 bits in a net that takes and gives 32."""

    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(3, 3, 3, padding=1).to(torch.bfloat16)

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x.to(torch.bfloat16)).to(torch.float32)


class Denoiser(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.first = nn.Conv2d(channels, 12, 3, padding=1)
        self.normal = nn.BatchNorm2d(12)
        self.last = nn.Conv2d(12, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return x - self.last(torch.relu(self.normal(self.first(x))))


# ---- models that fit only some frames ---------------------------------------


class EvenOnly(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.pixel_shuffle(functional.pixel_unshuffle(x, 2), 2)


class MultiplesOf4(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.pixel_shuffle(functional.pixel_unshuffle(x, 4), 4)


class Needs16(nn.Module):
    """Padding by reflection asks for more than 15 samples each way."""

    def forward(self, x: Tensor) -> Tensor:
        padded = functional.pad(x, [15, 15, 15, 15], mode="reflect")
        return padded[:, :, 15:-15, 15:-15]


class OneMoreThanMultiplesOf8(nn.Module):
    """As nets that align corners are exported."""

    def forward(self, x: Tensor) -> Tensor:
        if x.size(2) % 8 != 1 or x.size(3) % 8 != 1:
            raise RuntimeError("made for 8n + 1")
        return x


class FixedInput(nn.Module):
    def __init__(self, width: int, height: int):
        super().__init__()
        self.width = width
        self.height = height

    def forward(self, x: Tensor) -> Tensor:
        if x.size(2) != self.height or x.size(3) != self.width:
            raise RuntimeError(f"made for {self.width}x{self.height} alone")
        return 1.0 - x


class FixedOutput(nn.Module):
    """Always 32x24."""

    def forward(self, x: Tensor) -> Tensor:
        return functional.interpolate(x, [24, 32], mode="nearest")


class SmallOnly(nn.Module):
    """Stands any probe and fails at the first real frame."""

    def forward(self, x: Tensor) -> Tensor:
        if x.size(3) > 600:
            raise RuntimeError("wider than the model can bear")
        return x


# ---- faulty models ----------------------------------------------------------


class MethodFailsAt51(nn.Module):
    """An operator in a method of its own fails where the first sample is 51 of 255."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(1))

    def looked_up(self, x: Tensor) -> Tensor:
        place = ((x[:1, :1, :1, :1].flatten() * 255).round() == 51).long()
        return torch.index_select(self.table, 0, place * 5)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.looked_up(x)


class WantsChannels(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.only = nn.Conv2d(channels, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.only(x)


class MoreChannels(nn.Module):
    """Three channels in, two out."""

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :2]


class ReturnsString(nn.Module):
    def forward(self, x: Tensor) -> str:
        return "no picture"


class ReturnsNone(nn.Module):
    def forward(self, x: Tensor) -> None:
        return None


class ReturnsInt(nn.Module):
    def forward(self, x: Tensor) -> int:
        return x.size(0)


class Rank3(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[0]


class Rank5(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.unsqueeze(0)


class WrongBatch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, x[:1]])


class Int64(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return (x * 255.0).long()


class Empty(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, :, :0]


class Counted(nn.Module):
    """Convolutions whose products are easily counted."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.ConvTranspose2d(16, 3, 4, stride=2, padding=1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class SmallProducts(nn.Module):
    """Returns its input, after products that leave it as it is."""

    def forward(self, x: Tensor) -> Tensor:
        block = x[0, 0, :16, :16].contiguous()
        start = block
        one = torch.eye(16)
        for _ in range(3000):
            block = torch.mm(block, one)
        return x + (block - start).abs().max()


class LargeProducts(nn.Module):
    """Products that several threads would share if they could."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                                    nn.Linear(512, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class SmallProductsInThreads(nn.Module):
    def __init__(self):
        super().__init__()
        self.products = SmallProducts()

    def forward(self, x: Tensor) -> Tensor:
        other = torch.jit.fork(self.products, x)
        return (self.products(x) + torch.jit.wait(other)) / 2


@torch.jit.interface
class Part(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Noise(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 0.5 + torch.rand_like(x) * 0.4


class BehindAnInterface(nn.Module):
    """Calls what the graph does not show."""

    part: Part

    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, x: Tensor) -> Tensor:
        return self.part.forward(x)


class BrightIsNan(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.where(x > 0.9, torch.full_like(x, float("nan")), x)


class Prints(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        print("printed by the model")
        return x


class Warns(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        warnings.warn("the model warns")
        warnings.warn("the model warns of " + str(x.size(3)))
        return x


class ExtremesAreInfinite(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        high = torch.where(x > 0.9, torch.full_like(x, float("inf")), x)
        return torch.where(x < 0.1, torch.full_like(x, float("-inf")), high)


class Throws(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("this model never works")


class ThrowsAt(nn.Module):
    def __init__(self, number: int):
        super().__init__()
        self.number = number

    def forward(self, x: Tensor) -> Tensor:
        if frame_number(x) == self.number:
            raise RuntimeError("the model met its unlucky number")
        return 1.0 - x


class WrongSizeAt5(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if frame_number(x) == 5:
            return x[:, :, 1:]
        return x


class TooBigAt5(nn.Module):
    """Asks for more than the address space holds, so that no overcommitting kernel agrees."""

    def forward(self, x: Tensor) -> Tensor:
        if frame_number(x) == 5:
            return x + torch.ones([1 << 46]).sum()
        return x


class TwoAtMost(nn.Module):
    """Asks for more than the address space holds where it gets three pictures or more."""

    def forward(self, x: Tensor) -> Tensor:
        if x.size(0) > 2:
            x = x + torch.ones([1 << 46]).sum()
        return x


class NeverReturns(nn.Module):
    """Computes for ever, with every thread that it has."""

    def __init__(self, size: int, number: int):
        super().__init__()
        self.size = size
        self.number = number
        self.convolution = nn.Conv2d(3, 32, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        if frame_number(x) == self.number or x.size(3) < self.size:
            while bool(x.sum() < 1e30):
                x = x + 1e-30 * self.convolution(x).sum()
        return x


class LoadsForEver(nn.Module):
    @torch.jit.export
    def __getstate__(self) -> bool:
        return self.training

    @torch.jit.export
    def __setstate__(self, state: bool):
        count = 0
        while count >= 0:
            count = (count + 1) % 7
        self.training = state

    def forward(self, x: Tensor) -> Tensor:
        return x


class TwoInputs(nn.Module):
    def forward(self, x: Tensor, sigma: Tensor) -> Tensor:
        return x * sigma


class NoInput(nn.Module):
    def forward(self) -> Tensor:
        return torch.zeros(1, 3, 8, 8)


class ReadsFile(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        secret = torch.from_file("/etc/passwd", False, 1, dtype=torch.uint8)
        return x + 0.0 * secret.sum()


class WritesFile(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        torch.save(x, "written-by-the-model")
        return x


class ReadsAndWrites(nn.Module):
    def __init__(self):
        super().__init__()
        self.reads = ReadsFile()
        self.writes = WritesFile()

    def forward(self, x: Tensor) -> Tensor:
        return self.writes(self.reads(x))


def scripted_models():
    return {
        "identity": Identity(),
        "invert": Invert(),
        "enlarge2": Enlarge(2),
        "enlarge3": Enlarge(3),
        "enlarge4": Enlarge(4),
        "shuffle2": Shuffle(),
        "crop": Crop(),
        "halve": Halve(),
        "luma_identity": ForChannels(1, Identity()),
        "luma_invert": ForChannels(1, Invert()),
        "rgb_identity": ForChannels(3, Identity()),
        "rgb_invert": ForChannels(3, Invert()),
        "stretch": Stretch(),
        "swap_red_and_blue": ForChannels(3, SwapRedAndBlue()),
        "channels_last": ChannelsLast(),
        "first_pixel_everywhere": FirstPixelEverywhere(),
        "dict1": Dict1(),
        "tuple1": Tuple1(),
        "default_argument": DefaultArgument(),
        "espcn_rgb": Espcn(3),
        "espcn_luma": Espcn(1),
        "bfloat16": Bfloat16(),
        "denoiser": Denoiser(3),
        "denoiser_luma": Denoiser(1),
        "even_only": EvenOnly(),
        "multiples_of_4": MultiplesOf4(),
        "one_more_than_8n": OneMoreThanMultiplesOf8(),
        "needs16": Needs16(),
        "fixed_input": FixedInput(64, 48),
        "fixed_100x76": FixedInput(100, 76),
        "fixed_output": FixedOutput(),
        "small_only": SmallOnly(),
        "method_fails_at_51": MethodFailsAt51(),
        "wants2": WantsChannels(2),
        "wants5": WantsChannels(5),
        "more_channels": ForChannels(3, MoreChannels()),
        "returns_string": ReturnsString(),
        "returns_none": ReturnsNone(),
        "returns_int": ReturnsInt(),
        "rank3": Rank3(),
        "rank5": Rank5(),
        "wrong_batch": WrongBatch(),
        "int64": Int64(),
        "empty": Empty(),
        "counted": Counted(),
        "small_products": SmallProducts(),
        "large_products": LargeProducts(),
        "small_products_in_threads": SmallProductsInThreads(),
        "threads_behind_an_interface": BehindAnInterface(SmallProductsInThreads()),
        "noise": Noise(),
        "noise_behind_an_interface": BehindAnInterface(Noise()),
        "bright_is_nan": BrightIsNan(),
        "prints": Prints(),
        "warns": Warns(),
        "extremes_are_infinite": ExtremesAreInfinite(),
        "throws": Throws(),
        "throws_at_1": ThrowsAt(1),
        "throws_at_50": ThrowsAt(50),
        "wrong_size_at_5": WrongSizeAt5(),
        "too_big_at_5": TooBigAt5(),
        "two_at_most": TwoAtMost(),
        "never_returns_at_5": NeverReturns(0, 5),
        "never_returns_below_64": NeverReturns(64, -1),
        "never_returns_everywhere": NeverReturns(1 << 20, -1),
        "loads_for_ever": LoadsForEver(),
        "dict2": Dict2(),
        "tuple2": Tuple2(),
        "two_inputs": TwoInputs(),
        "no_input": NoInput(),
        "reads_file": ReadsFile(),
        "writes_file": WritesFile(),
        "reads_and_writes": ReadsAndWrites(),
    }


def make_files_that_are_no_models(folder: pathlib.Path):
    net = Espcn(3)
    torch.save(net.state_dict(), folder / "file_state_dict.pt")
    torch.save(net, folder / "file_pickled_module.pt")
    whole = (folder / "espcn_rgb.pt").read_bytes()
    (folder / "file_truncated.pt").write_bytes(whole[: len(whole) // 2])
    (folder / "file_garbage.pt").write_bytes(bytes((i * i * 31 + i * 7) & 255 for i in range(5000)))
    (folder / "file_text.pt").write_text("This is a letter and no model.\n" * 20)
    (folder / "file_empty.pt").write_bytes(b"")
    (folder / "file_pickle.pt").write_bytes(pickle.dumps({"epoch": 3}))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(20260801)
    torch.set_num_threads(1)
    for name, model in scripted_models().items():
        torch.jit.script(model.eval()).save(str(folder / f"{name}.pt"))
    traced = torch.jit.trace(Espcn(3).eval(), torch.full([1, 3, 16, 16], 0.5))
    traced.save(str(folder / "espcn_traced.pt"))
    frozen = torch.jit.freeze(torch.jit.script(Espcn(3).eval()))
    frozen.save(str(folder / "espcn_frozen.pt"))
    make_files_that_are_no_models(folder)
    (folder / "made").touch()


if __name__ == "__main__":
    main()
