# SPDX-FileCopyrightText: 2026 the ffmpeg-dnn-torch authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of `dnn-torch compare` in a browser, with pictures that these tests make."""
import base64
import hashlib
import json
import re
import struct
import time
import zlib

import numpy
import pytest
import support
import webdriver

PAGE = support.REPOSITORY / "plugin" / "compare" / "page.html"
WIDTH, HEIGHT = 192, 108
HOSTILE = "<img src=http://127.0.0.1:9/x onerror=alert(1)></script><script>alert(2)</script>.pth"


# ---- pages to look at -------------------------------------------------------


def png(pixels):
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def picture(seed, scale=1):
    """Blocks of random colours, other ones for each seed."""
    width, height = WIDTH // scale, HEIGHT // scale
    blocks = numpy.random.default_rng(seed).integers(0, 256, (9, 16, 3), numpy.uint8)
    pixels = blocks.repeat(height // 9, 0).repeat(width // 16, 1)
    uri = "data:image/png;base64," + base64.b64encode(png(pixels)).decode()
    return {"uri": uri, "width": width, "height": height}


def column(name, seed, frames, kind="model", **members):
    return {
        "kind": kind,
        "name": name,
        "failure": "",
        "seconds": None,
        "facts": [],
        "pictures": [picture(100 * seed + frame) for frame in range(frames)],
        "scores": [None] * frames,
        **members,
    }


def facts(memory):
    return [["architecture", "ESRGAN, x2"], ["licence", "unknown"], ["memory", memory]]


def comparison(frames=2):
    """Four models: a fast one, a slow one, one that fails at once and one that fails later."""
    source = [picture(frame, 2) for frame in range(frames)]
    columns = [
        column("clip.mkv", 0, frames, "source", pictures=source),
        column("good.mkv", 1, frames, "reference"),
        column("slow.pth", 2, frames, seconds=2.5, facts=facts("1.2 GB")),
        column("fast.pth", 3, frames, seconds=0.04, facts=facts("800 MB")),
        column("broken.pth", 4, frames, pictures=[None] * frames, failure="no data.pkl in it"),
        column("later.pth", 5, frames, seconds=1, failure="no frame within 60 s"),
    ]
    columns[2]["scores"] = [{"psnr": 31.25, "ssim": 0.9125, "vmaf": 88.5}] * frames
    columns[3]["scores"] = [{"psnr": None, "ssim": 1}] * frames
    columns[5]["pictures"][-1] = None
    columns[5]["scores"][0] = {"psnr": 20, "ssim": 0.5}
    frame = {"width": WIDTH, "height": HEIGHT, "crop": None}
    return {
        "clip": "clip.mkv",
        "program": "dnn-torch 1",
        "machine": "a machine, 2 cores",
        "options": "",
        "reference": "good.mkv",
        "frames": [{"seconds": 1.5 * number, **frame} for number in range(frames)],
        "columns": columns,
    }


def text_of(data):
    """As the program writes it: nothing of it ends a script element."""
    text = json.dumps(data)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    missing = [name for name, path in zip(("chromium", "chromium-driver"), webdriver.programs())
               if not path]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed")
    started = webdriver.Browser(tmp_path_factory.mktemp("browser"))
    yield started
    started.close()


@pytest.fixture
def show(browser, tmp_path):
    """show(data) opens the page of it, in a window of 1200 x 800."""

    def open_page(data, text=None):
        # A page that scrolls smoothly is not yet where the test clicks.
        browser.prefer(color_scheme="light", reduced_motion="reduce")
        browser.resize(1200, 800)
        path = tmp_path / "page.html"
        path.write_text(PAGE.read_text().replace("@DATA@", text or text_of(data)))
        browser.open(path)
        return browser

    return open_page


# ---- what is on it ----------------------------------------------------------


def box(browser, selector):
    return browser.run(
        "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [box.left, box.top, box.width, box.height];",
        selector,
    )


def at(browser, selector, across=0.5, down=0.5):
    """A point of the window, by shares of an element."""
    left, top, width, height = box(browser, selector)
    return left + across * width, top + down * height


def texts(browser, selector):
    return browser.run(
        "return [...document.querySelectorAll(arguments[0])].map(one => one.textContent)", selector
    )


def attribute(browser, selector, name):
    return browser.run(
        "return document.querySelector(arguments[0]).getAttribute(arguments[1])", selector, name
    )


def wait_for(browser, condition):
    for _ in range(100):
        if browser.run(f"return {condition}"):
            return
        time.sleep(0.1)
    raise AssertionError(f"never: {condition}")


def windows(browser):
    """What part of its picture each pane shows: left, top, width and height as shares of it."""
    return numpy.array(browser.run("""
        return [...document.querySelectorAll(".pane img, .layer img")].map(image => {
          const all = image.getBoundingClientRect();
          const shown = image.closest(".pane, .stage").getBoundingClientRect();
          return [(shown.left - all.left) / all.width, (shown.top - all.top) / all.height,
                  shown.width / all.width, shown.height / all.height];
        });"""))


def common_window(browser):
    """The one part that all panes show."""
    found = windows(browser)
    assert len(found) >= 6
    assert abs(found - found[0]).max() < 0.003, found
    return found[0]


def clip_of_right(browser):
    """How much of the right picture is cut off, in percent, and where the handle is."""
    clip = browser.run(
        "return getComputedStyle(document.querySelector('.layer.right')).clipPath")
    left, _, width, _ = box(browser, "#stage")
    middle, _ = at(browser, ".handle")
    return float(re.search(r"([\d.]+)%\)$", clip).group(1)), 100 * (middle - left) / width


def sources(browser):
    """The pictures on the stage: left and right."""
    return browser.run(
        "return [...document.querySelectorAll('.layer img')].map(one => one.getAttribute('src'))")


# ---- tests ------------------------------------------------------------------


def test_policy_has_the_right_hashes():
    """After a change of the style or script, the message says what to put into the policy."""
    text = PAGE.read_text()
    for tag, kind in (("style", ""), ("script", ' type="module"')):
        (body,) = re.findall(rf"<{tag}{kind}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        wanted = f"{tag}-src 'sha256-{digest}'"
        assert wanted in text, f"the policy needs {wanted}"
    assert re.findall(".*@DATA@.*", text) == ["@DATA@"]


def test_divider(show):
    browser = show(comparison())
    assert clip_of_right(browser) == pytest.approx((50, 50), abs=0.5)
    browser.drag(at(browser, ".handle"), at(browser, "#stage", 0.25))
    assert clip_of_right(browser) == pytest.approx((25, 25), abs=0.5)
    # Without a zoom there is nothing to pan, and all of the stage moves it.
    browser.drag(at(browser, "#stage", 0.6, 0.2), at(browser, "#stage", 0.75, 0.3), kind="touch")
    assert clip_of_right(browser) == pytest.approx((75, 75), abs=0.5)
    browser.drag(at(browser, ".handle"), (1190, 300))
    assert clip_of_right(browser) == pytest.approx((100, 100), abs=0.5)
    browser.run("document.getElementById('divider').focus()")
    for key, expected in [("PageDown", 90), ("ArrowLeft", 88), ("ArrowUp", 90), ("Home", 0),
                          ("ArrowRight", 2), ("End", 100)]:
        browser.press(key)
        assert clip_of_right(browser) == pytest.approx((expected, expected), abs=0.5)
    assert attribute(browser, "#divider", "aria-valuetext") == (
        "100 %: clip.mkv left of it, slow.pth right of it")


def test_zoom_and_pan_move_all_pictures(show):
    browser = show(comparison())
    assert common_window(browser) == pytest.approx([0, 0, 1, 1], abs=0.003)
    browser.click("#in")
    browser.click("#in")
    assert common_window(browser) == pytest.approx([0.25, 0.25, 0.5, 0.5], abs=0.003)
    browser.drag(at(browser, "#stage", 0.2, 0.2), at(browser, "#stage", 0.4, 0.3))
    assert common_window(browser) == pytest.approx([0.15, 0.2, 0.5, 0.5], abs=0.005)
    browser.drag(at(browser, "#stage", 0.3, 0.3), at(browser, "#stage", 0.2, 0.3), kind="touch")
    assert common_window(browser) == pytest.approx([0.2, 0.2, 0.5, 0.5], abs=0.005)
    assert clip_of_right(browser) == pytest.approx((50, 50), abs=0.5), "panning moved the divider"
    browser.run("document.getElementById('stage').focus()")
    browser.press("ArrowRight", "ArrowDown", "ArrowDown")
    assert common_window(browser) == pytest.approx([0.25, 0.3, 0.5, 0.5], abs=0.005)
    browser.press("+", "+", "-", "-", "-", "-")
    assert common_window(browser) == pytest.approx([0, 0, 1, 1], abs=0.003)
    # The point below the pointer stays.
    browser.wheel(at(browser, "#stage", 0.75, 0.75), -100)
    assert common_window(browser) == pytest.approx([0.15, 0.15, 0.8, 0.8], abs=0.005)
    browser.click("#fit")
    assert common_window(browser) == pytest.approx([0, 0, 1, 1], abs=0.003)
    # Two fingers part from 20 to 60 percent of the width.
    browser.drag_fingers([at(browser, "#stage", 0.4), at(browser, "#stage", 0.2)],
                         [at(browser, "#stage", 0.6), at(browser, "#stage", 0.8)])
    assert common_window(browser) == pytest.approx([1 / 3, 1 / 3, 1 / 3, 1 / 3], abs=0.01)
    assert clip_of_right(browser) == pytest.approx((50, 50), abs=0.5), "a pinch moved the divider"


def test_panning_in_a_card_does_not_choose_it(show):
    browser = show(comparison())
    browser.click("#in")
    browser.click("#in")
    browser.run("document.querySelector('.card:nth-child(4)').scrollIntoView()")
    pane = ".card:nth-child(4) .pane"
    browser.drag(at(browser, pane, 0.5), at(browser, pane, 0.3))
    assert common_window(browser) == pytest.approx([0.35, 0.25, 0.5, 0.5], abs=0.005)
    assert attribute(browser, pane, "aria-pressed") == "false"


def test_one_to_one(show):
    """A pixel of the frame is one of the screen; above that, pixels have edges."""
    browser = show(comparison())
    rendering = "return getComputedStyle(document.querySelector('.layer img')).imageRendering"
    for scale in (1, 2):
        browser.resize(1200, 800, scale)
        browser.click("#real")
        assert box(browser, ".layer img")[2] == pytest.approx(WIDTH / scale, abs=0.5)
        assert texts(browser, "#level") == ["100\u00a0%"]
        assert browser.run(rendering) == "auto"
    browser.click("#fit")
    assert browser.run(rendering) == "pixelated"
    browser.click("#crisp")
    assert browser.run(rendering) == "auto"


def test_wheel_scrolls_the_page_where_it_cannot_zoom(show):
    browser = show(comparison())
    browser.wheel(at(browser, "#stage"), 100)
    wait_for(browser, "scrollY > 0")
    assert common_window(browser) == pytest.approx([0, 0, 1, 1], abs=0.003)


def test_choosing_frames_and_sides(show):
    data = comparison()
    columns = data["columns"]

    def shown(frame, *sides):
        return [columns[side]["pictures"][frame]["uri"] for side in sides]

    browser = show(data)
    assert sources(browser) == shown(0, 0, 2), "the source and the first model"
    browser.click(".frames label:nth-of-type(2) input")
    assert sources(browser) == shown(1, 0, 2)
    assert attribute(browser, ".card:nth-child(4) img", "src") == shown(1, 3)[0]
    assert attribute(browser, ".layer.right img", "alt") == "slow.pth, 1.5\u00a0s"
    browser.press("ArrowUp")
    assert sources(browser) == shown(0, 0, 2), "by keys"
    browser.click(".card:nth-child(4) .pane")
    assert sources(browser) == shown(0, 0, 3)
    assert texts(browser, ".card .side") == ["left", "", "", "right", "", ""]
    assert texts(browser, "#said") == ["fast.pth is on the right."]
    browser.click("#left option:nth-child(2)")
    assert sources(browser) == shown(0, 1, 3)
    assert texts(browser, "#pair thead bdi") == ["good.mkv", "fast.pth"]
    browser.click("#swap")
    assert sources(browser) == shown(0, 3, 1)
    assert texts(browser, ".tag") == ["fast.pth", "good.mkv"]


def test_sorting(show):
    browser = show(comparison())

    def after_click(number):
        browser.click(f"#table th:nth-child({number}) button")
        names = [text.split(".")[0] for text in texts(browser, "#table tbody th > bdi")]
        order = [text.split(".")[0] for text in texts(browser, ".card h3")]
        assert order[:2] == ["clip", "good"], "source and reference are the first cards"
        assert order[2:] == [name for name in names if name not in order[:2]]
        sorts = "return [...document.querySelectorAll('[aria-sort]')].map(one => one.ariaSort)"
        return names[:3], browser.run(sorts)

    heads = ["name", "time a frame", "PSNR", "SSIM", "VMAF", "architecture", "licence", "memory"]
    assert texts(browser, "#table thead button") == heads
    assert after_click(2) == (["fast", "later", "slow"], ["ascending"])
    assert after_click(2) == (["slow", "later", "fast"], ["descending"])
    assert after_click(3) == (["fast", "slow", "later"], ["descending"]), "infinite is the best"
    assert after_click(1) == (["broken", "clip", "fast"], ["ascending"])
    assert after_click(8)[0][:2] == ["fast", "slow"], "800 MB is less than 1.2 GB"
    bars = browser.run("return [...document.querySelectorAll('.bar')].map(one => one.style.width)")
    assert sorted(bars) == ["1.6%", "100%", "40%"]
    cells = texts(browser, "#table tbody td.best")
    assert "infinite · best" in cells and "40\u00a0ms · best" in cells


def test_failures_are_told(show):
    browser = show(comparison())
    assert texts(browser, "#failed") == ["2 models failed: the table says why."]
    for where in (".card", "#table tbody tr"):
        told = [text for text in texts(browser, where) if "Failed: " in text]
        assert len(told) == 2 and "no data.pkl in it" in told[0] and "60 s" in told[1]
    assert browser.run("return document.querySelector('#right option:nth-child(5)').disabled")
    browser.click("#right option:nth-child(6)")
    browser.click(".frames label:nth-of-type(2) input")
    assert texts(browser, ".layer.right .none") == ["no frame within 60 s"]
    assert texts(browser, ".card:nth-child(6) .none") == ["No picture"]


def test_nothing_worked(show):
    data = comparison(frames=1)
    data["columns"] = [data["columns"][0], data["columns"][4]]
    browser = show(data)
    assert texts(browser, "#failed") == ["1 model failed: the table says why."]
    assert texts(browser, ".tag") == ["clip.mkv", "clip.mkv"]
    assert not browser.run("return document.getElementById('frames').checkVisibility()")


def test_a_part_of_the_frame_is_told(show):
    data = comparison()
    data["frames"][1]["crop"] = {"left": 20, "top": 10, "width": 96, "height": 54}
    browser = show(data)
    assert not browser.run("return document.getElementById('part').checkVisibility()")
    browser.click(".frames label:nth-of-type(2) input")
    told = f"96 × 54 of {WIDTH} × {HEIGHT} pixels, 20 from the left and 10 from the top"
    assert told in texts(browser, "#part")[0]


@pytest.mark.parametrize("crop,pixel_aspect,wanted", [
    (None, 1, WIDTH / HEIGHT),
    (None, 16 / 15, WIDTH / HEIGHT * 16 / 15),
    ({"left": 0, "top": 0, "width": 80, "height": 60}, 1, 80 / 60),
    ({"left": 0, "top": 0, "width": 80, "height": 60}, 64 / 45, 80 / 60 * 64 / 45),
])  # fmt: skip
def test_the_shape_of_what_is_shown(show, crop, pixel_aspect, wanted):
    """That of the part, with pixels that are as wide as the clip says."""
    data = comparison(1)
    data["frames"][0].update(crop=crop, pixel_aspect=pixel_aspect)
    browser = show(data)
    for selector in ("#stage", ".pane"):
        width, height = box(browser, selector)[2:]
        assert width / height == pytest.approx(wanted, rel=0.02), selector


def test_names_are_text_and_nothing_is_requested(show):
    data = comparison()
    data["clip"] = data["options"] = data["machine"] = data["reference"] = HOSTILE
    for one in data["columns"]:
        one["name"] = one["failure"] = HOSTILE
        one["facts"] = [[HOSTILE, HOSTILE]]
    browser = show(data)
    browser.log("performance")
    browser = show(data)
    assert texts(browser, "h1") == [HOSTILE]
    assert HOSTILE in texts(browser, ".card h3") and HOSTILE in texts(browser, "#left option")
    assert browser.run("return document.querySelectorAll('script').length") == 2
    browser.click("#in")
    browser.click(".frames label:nth-of-type(2) input")
    assert not browser.run("return performance.getEntriesByType('resource')"
                           ".filter(one => !one.name.startsWith('data:')).length")
    assert browser.log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    asked = [event["params"]["request"]["url"] for event in events
             if event["method"] == "Network.requestWillBeSent"]
    others = {url[:80] for url in asked if not url.startswith("data:image/png;base64,")}
    assert len(others) == 1 and others.pop().startswith("file:///")


def test_the_policy_forbids_requests(show):
    """What markup from elsewhere would ask for is refused before it leaves the browser."""
    browser = show(comparison())
    browser.run("""
        window.refused = [];
        addEventListener("securitypolicyviolation",
          event => refused.push(event.effectiveDirective));
        document.body.insertAdjacentHTML("beforeend",
          "<img src=http://127.0.0.1:9/x onerror='document.title = 1'><iframe src=about:blank#x>" +
          "</iframe><link rel=stylesheet href=http://127.0.0.1:9/y><b style='color: red'></b>");
        fetch("http://127.0.0.1:9/z").catch(() => 0);""")
    for kind in ("img-src", "style-src-elem", "style-src-attr", "connect-src", "script-src-attr"):
        wait_for(browser, f"refused.includes('{kind}')")
    browser.log("browser")


CONTRAST = """
    const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    function rgba(text) {
      paint.clearRect(0, 0, 1, 1);
      paint.fillStyle = text;
      paint.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    }
    const over = (top, below) =>
      top.slice(0, 3).map((v, i) => v * top[3] + below[i] * (1 - top[3]));
    function back(element) {
      if (!element) return [255, 255, 255];
      const own = rgba(getComputedStyle(element).backgroundColor);
      return own[3] === 1 ? own.slice(0, 3) : over(own, back(element.parentElement));
    }
    const light = colour => colour.map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const text = walk.currentNode.data.trim(), element = walk.currentNode.parentElement;
      const isLeftOut = element.closest("script, .unseen, option:disabled");
      if (!text || isLeftOut || !element.checkVisibility()) continue;
      const below = back(element), own = over(rgba(getComputedStyle(element).color), below);
      const [low, high] = [light(below), light(own)].sort((a, b) => a - b);
      found.push([(high + 0.05) / (low + 0.05), text.slice(0, 60)]);
    }
    return [found, back(document.body)];
"""


def test_contrast_in_light_and_dark(show):
    backs = []
    browser = show(comparison())
    browser.run("document.querySelectorAll('.frames input')[1].click()")
    for scheme in ("light", "dark"):
        browser.prefer(color_scheme=scheme, reduced_motion="reduce")
        found, back = browser.run(CONTRAST)
        assert len(found) > 80
        assert [pair for pair in found if pair[0] < 4.5] == []
        backs.append(sum(back))
    assert backs[0] > 600 and backs[1] < 150


def test_motion_is_a_wish(show):
    browser = show(comparison())
    motion = "return getComputedStyle(document.documentElement).scrollBehavior"
    browser.prefer(reduced_motion="no-preference")
    assert browser.run(motion) == "smooth"
    browser.prefer(reduced_motion="reduce")
    assert browser.run(motion) == "auto"


def test_twenty_models_on_a_phone(show):
    """Nothing is wider than the window but the table, which scrolls in a box of its own."""
    data = comparison()
    names = ["x" * 200 + ".pth", "two words " * 30, HOSTILE]
    for number in range(16):
        name = names[number] if number < len(names) else f"{number}.pth"
        data["columns"].append(column(name, 10 + number, 2, seconds=number + 1, facts=facts("1 GB"),
                                      failure="y" * 300 if number == 2 else ""))
    data["clip"] = data["machine"] = data["options"] = "z" * 300
    browser = show(data)
    browser.resize(360, 740, 3)
    browser.click("#right option:nth-child(7)")
    wide = browser.run("""
        const all = [...document.querySelectorAll("body *")];
        const wide = all.filter(one => !one.closest(".wide table, .layer, .pane"))
          .filter(one => one.getBoundingClientRect().right > innerWidth);
        return wide.map(one => one.tagName + "." + one.className);""")
    assert wide == []
    assert browser.run(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_keys_alone_reach_everything(show):
    browser = show(comparison())
    # One stop for the radio buttons, as in every form.
    wanted = browser.run("""
        return [...document.querySelectorAll("a, button, select, input, [tabindex]")]
          .filter(one => !one.disabled && !(one.type === "radio" && !one.checked)).length""")
    focused = """
        const one = document.activeElement, shows = [one, one.nextElementSibling,
          one.nextElementSibling?.firstElementChild].filter(Boolean);
        window.every ??= [...document.querySelectorAll("*")];
        return [every.indexOf(one), one === document.body, one.matches(":focus-visible") &&
          shows.some(each => getComputedStyle(each).outlineStyle === "solid")];"""
    seen = []
    for _ in range(wanted + 1):
        browser.press("Tab")
        index, is_body, is_marked = browser.run(focused)
        if is_body or index in seen:
            break
        assert is_marked, f"no mark of the focus at stop {len(seen)}"
        seen.append(index)
    assert len(seen) == wanted
    assert seen == sorted(seen), "the order of the page"
    browser.run("document.querySelectorAll('.pane')[3].focus()")
    browser.press("Enter")
    assert texts(browser, ".tag") == ["clip.mkv", "fast.pth"]
    browser.press("+")
    assert common_window(browser)[2] == pytest.approx(0.707, abs=0.005)


def test_what_a_screen_reader_is_told(show):
    browser = show(comparison())
    tree = browser.developer("Accessibility.getFullAXTree")["nodes"]
    told = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree
            if not node["ignored"]]
    expected = [
        ("slider", "Divider between left and right"),
        ("group", "Pictures, left and right of a divider"),
        ("group", "Frame"),
        ("radio", "0\u00a0s"),
        ("image", "clip.mkv, 0\u00a0s"),
        ("button", "Zoom in"),
        ("combobox", "Left"),
        ("button", "fast.pth: show on the right"),
        ("heading", "All pictures"),
        ("columnheader", "Time a frame"),
        ("region", "All numbers"),
    ]
    assert [one for one in expected if one not in told] == []
    controls = ("button", "combobox", "slider", "checkbox", "radio", "image")
    assert [role for role, name in told if role in controls and not name] == []
    assert attribute(browser, "html", "lang") == "en"


def test_damaged_data(show):
    """A page that was cut off, or the template itself, says so."""
    for text in ("@DATA@", text_of(comparison())[:-100]):
        browser = show(None, text)
        assert browser.run("return document.getElementById('trouble').checkVisibility()")
        assert not browser.run("return document.querySelector('main').checkVisibility()")
        browser.log("browser")
