#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The photographs from Debian's packages that the nets of this folder learn from.

Run as a program it fetches them, without installing anything, and lists them with
their authors and licences.
"""

import pathlib
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).parent.parent / "out" / "photographs"
LONGER_SIDE = 1600
"""Pictures are reduced to this: what cameras and JPEG leave at full size is no detail."""

PACKAGES = {
    "mate-backgrounds": "usr/share/backgrounds/mate/nature/{}.jpg",
    "lomiri-wallpapers-16.04": "usr/share/backgrounds/{}.jpg",
    "lomiri-wallpapers-20.04": "usr/share/backgrounds/{}.jpg",
    "plasma-workspace-wallpapers": "usr/share/wallpapers/{}/contents/images/2560x1600.jpg",
}
"""Where each package keeps its photographs."""


class Photograph(NamedTuple):
    package: str
    name: str
    author: str
    licence: str
    held_out: bool = False
    """No net learns from it: it is there to measure them with."""

    @property
    def path(self):
        return FOLDER / PACKAGES[self.package].format(self.name)


def rows(package, licence, *authors_and_names):
    """A name that begins with "-" is held out."""
    return [Photograph(package, name.lstrip("-"), author, licence, name.startswith("-"))
            for author, names in authors_and_names for name in names.split()]


PHOTOGRAPHS = [
    *rows("mate-backgrounds", "GPL-2+",
          ("Charles Barbin", "Aqua Garden LadyBird -YellowFlower"),
          ("Charles Barbin, Hylke Bons", "TwoWings"),
          ("Lennart Poettering, Andrea Cimitan", "Blinds"),
          ("Marco Cogoni, Hylke Bons", "-Dune"),
          ("Jens Ansorg", "FreshFlower"),
          ("Timothy Schellhase, Lapo Calamandrei", "GreenMeadow"),
          ("blackcombwhistler07", "-RainDrops"),
          ("Sergey Nazarov", "Storm"),
          ("Jean-François Fortin Tam", "-Wood")),
    *rows("lomiri-wallpapers-16.04", "CC-BY-4.0",
          ("Aitzol Berasategi",
           "aitzgorri_by_Aitzol_Berasategi -friends_by_Aitzol_Berasategi "
           "life_by_Aitzol_Berasategi -picosdeeuropa_by_Aitzol_Berasategi "
           "sunset_by_Aitzol_Berasategi"),
          ("Trevor \"Freespace\"", "Picture_0B_by_freespace -Picture_1A_by_freespace"),
          ("Jakub Mede", "Wine_by_Jakkub_Mede")),
    *rows("lomiri-wallpapers-16.04", "CC-BY-SA-4.0",
          ("\"Bolly\"", "Dragonfly_by_Bolly"),
          ("Peter Nerlich", "-free_by_Peter_Nerlich greentock_by_Peter_Nerlich"),
          ("Sander Klootwijk", "Bridge_by_Sander_Klootwijk")),
    *rows("lomiri-wallpapers-16.04", "CC0-1.0",
          ("Clemens Engelhardt", "seeding_by_Clements_Engelhardt")),
    *rows("lomiri-wallpapers-20.04", "CC-BY-SA-3.0",
          ("Lukas Baubkus", "Kleiber_by_Lukas_Baubkus")),
    *rows("plasma-workspace-wallpapers", "LGPL-3",
          ("Risto Saukonpää", "ColdRipple OneStandsOut -Path -Kite summer_1am DarkestHour"),
          ("Martin Klapetek", "-FallenLeaf"),
          ("Dmitri Popov", "ColorfulCups"),
          ("Maciej Wiklo", "BytheWater"),
          ("Ian Hex", "-EveningGlow"),
          ("Sigi Sagi", "Grey")),
]  # fmt: skip


def fetch(*packages):
    """Unpacks Debian packages into FOLDER; those that are there already stay."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for package in packages:
        if (FOLDER / "usr/share/doc" / package).exists():
            continue
        subprocess.run(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", package],
                       cwd=FOLDER, check=True, stdout=sys.stderr)
        archive = next(FOLDER.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg", "-x", archive, FOLDER], check=True)
        archive.unlink()


def size_of(path):
    shown = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
         "stream=width,height", "-of", "csv=p=0", path],
        check=True, stdout=subprocess.PIPE, text=True)
    return [int(number) for number in shown.stdout.strip().split(",")[:2]]


def read(path, longer_side=LONGER_SIDE):
    """Bytes of RGB, [3, height, width] of even extents, reduced by area."""
    width, height = size_of(path)
    factor = min(1, longer_side / max(width, height))
    width, height = (int(extent * factor) // 2 * 2 for extent in (width, height))
    shown = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", path, "-frames:v", "1", "-vf",
         f"scale={width}:{height}:flags=area+accurate_rnd+full_chroma_int,format=rgb24",
         "-f", "rawvideo", "-"], check=True, stdout=subprocess.PIPE)
    picture = np.frombuffer(shown.stdout, np.uint8).reshape(height, width, 3)
    return torch.from_numpy(picture.copy()).permute(2, 0, 1).contiguous()


def load(held_out=False, longer_side=LONGER_SIDE):
    """All photographs that nets learn from, or all others."""
    fetch(*PACKAGES)
    return [read(each.path, longer_side) for each in PHOTOGRAPHS if each.held_out == held_out]


def main():
    fetch(*PACKAGES)
    for each in PHOTOGRAPHS:
        width, height = size_of(each.path)
        print(f"{'held out' if each.held_out else 'learnt':9} {each.package:28} {each.name:36} "
              f"{width}x{height}  {each.author}, {each.licence}")


if __name__ == "__main__":
    main()
