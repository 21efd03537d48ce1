"""What a handout's page does in a browser. Arguments: the program, the folder with captures, a folder to write in."""

import os
import shutil
import sqlite3
import subprocess
import sys

from checks import check, equal, in_browser, quiet

PROGRAM, CAPTURES, WORK = sys.argv[1:4]


def handout(capture, name, *options):
    path = os.path.join(WORK, name)
    subprocess.run([PROGRAM, "--quiet", "export", capture, "--format", "html", "-o", path, *options], check=True)
    return path


def opened(page, path):
    """Opens a page; returns the seconds until its first picture was painted. Its data are then `runData`."""
    seconds = page.open(path)
    page.run("(async () => { const text = atob(document.getElementById('run').textContent), bytes = Uint8Array.from(text, c => c.charCodeAt(0));"
             " window.runData = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).json(); })()")
    return seconds


shown_step = "document.getElementById('place').textContent"


def lit(page, pane):
    """How many boxes are lit in a pane."""
    return page.run(f"document.querySelectorAll('#pane-{pane} .lit rect').length")


def box_of(pane, node):
    """An expression: where a node's last box in a pane is, in px of the window."""
    return (f"(() => {{ const pane = document.querySelector('#pane-{pane} .scroller > svg'), box = pane.viewBox.baseVal,"
            f" shown = pane.getBoundingClientRect(), data = runData;"
            f" const one = data.panes.find(p => p.name === '{pane}'), index = Number(document.getElementById('slider').value);"
            " const numbers = []; let at = 0; const s = one.marks[index];"
            " for (let i = 0; i < s.length; i += 2) { at += s[i]; for (let k = 0; k < s[i + 1]; ++k) numbers.push(at++); }"
            f" const hit = numbers.map(n => one.hits[n]).filter(h => h[0] === {node}).at(-1), f = shown.width / box.width;"
            " return {x: shown.x + (hit[1] - box.x) * f, y: shown.y + (hit[2] - box.y) * f, width: hit[3] * f, height: hit[4] * f}; })()")


def lead(page):
    return page.run("runData.steps[Number(document.getElementById('slider').value)].lead")


def steps_by_every_way(page):
    last = page.run("Number(document.getElementById('slider').max)")
    equal(page.run(shown_step), f"step 0 of {last}", "at first")
    equal(page.run("document.getElementById('back').disabled"), True, "no step before the first")
    for key, shift, step in (("ArrowRight", False, 1), (" ", False, 2), ("PageDown", False, 3), ("ArrowLeft", False, 2),
                             (" ", True, 1), ("PageUp", False, 0), ("ArrowLeft", False, 0), ("End", False, last),
                             ("ArrowRight", False, last), ("Home", False, 0)):
        page.key(key, shift)
        equal(page.run(shown_step), f"step {step} of {last}", f"after {'Shift+' if shift else ''}{key!r}")
    page.click("document.getElementById('forward')")
    equal(page.run(shown_step), f"step 1 of {last}", "after a click on the button")
    page.key(" ")  # of the button that has the focus
    equal(page.run(shown_step), f"step 2 of {last}", "Space on a button presses it, once")
    page.click("document.getElementById('back')")
    equal(page.run(shown_step), f"step 1 of {last}", "after a click on the button back")
    page.click("document.getElementById('slider')")
    equal(page.run(shown_step), f"step {round(last / 2)} of {last}", "after a click on the middle of the slider")
    page.key("ArrowRight")
    equal(page.run(shown_step), f"step {round(last / 2) + 1} of {last}", "a key on the slider goes one step")
    pictures = []
    for index in (3, 4):
        page.run(f"(() => {{ const s = document.getElementById('slider'); s.value = {index}; s.dispatchEvent(new Event('input')); }})()")
        pictures.append(page.run("[...document.querySelectorAll('.scroller > svg')].map(s => s.textContent)"))
    check(all(a != b for a, b in zip(*pictures) if a), "another step shows other pictures")


def focus_is_linked(page):
    node = lead(page)
    for pane in ("trie", "text"):
        equal(lit(page, pane), 0, f"{pane}: nothing is lit before a click")
    page.click(box_of("trie", node))
    for pane in ("trie", "text"):
        check(lit(page, pane) > 0, f"{pane}: a click on a node of the trie lights it")
    check(f"node {node}" in page.run("document.getElementById('node').textContent"), "what is in focus is said")
    page.hover("document.querySelector('h1')")
    check(lit(page, "text") > 0, "what was clicked stays lit")
    page.key("Escape")
    equal(lit(page, "text"), 0, "Escape ends the focus")
    page.click(box_of("text", node))
    check(lit(page, "trie") > 0, "a click on a token lights its node in the trie")
    page.click(box_of("text", node))
    page.hover("document.querySelector('h1')")
    equal(lit(page, "trie"), 0, "a second click ends it")
    page.hover(box_of("trie", node))
    check(lit(page, "text") > 0, "the mouse lights what it is over")
    page.hover("document.querySelector('h1')")
    equal(lit(page, "text"), 0, "and no longer than that")
    # The narration's links.
    link = "[...document.querySelectorAll('#words a')].find(a => a.dataset.target === 'n' + %d)" % node
    check(page.run(f"Boolean({link})"), "the narration has a link to the newest token")
    page.run(f"{link}.scrollIntoView()")
    page.click(link)
    for pane in ("trie", "text"):
        check(lit(page, pane) > 0, f"{pane}: a link of the narration lights its node")
    page.key("Escape")
    page.run(f"{link}.focus()")
    page.key("Enter")
    check(lit(page, "trie") > 0, "and so does Enter on it")
    page.key("Escape")


def is_read_aloud(page):
    labels = page.run("[...document.querySelectorAll('.scroller > svg')].map(s => [s.getAttribute('role'), s.getAttribute('aria-label')])")
    told = page.run("runData.steps[Number(document.getElementById('slider').value)]"
                    ".words.find(w => w[0] === 'accept')[1][0].map(p => Array.isArray(p) ? p[0] : p).join('')")
    for role, label in labels:
        equal(role, "img", "role of a picture")
        check(told in label, f"an alternative text has the narration's words: {label!r}")
    check(page.run("document.getElementById('slider').getAttribute('aria-valuetext')").startswith("step "), "the slider says its step")


def text_can_be_selected(page):
    words = "[...document.querySelectorAll('#pane-text .scroller text')].filter(t => t.textContent.trim().length > 3 && t.getBoundingClientRect().top > 0).at(0)"
    x, y = page.middle_of(words)
    width = page.run(f"{words}.getBoundingClientRect().width")
    page.drag((x - width / 2 + 1, y), (x + width / 2 - 1, y))
    selected = page.run("getSelection().toString()")
    check(len(selected) > 2 and selected.strip() in page.run(f"{words}.textContent"), f"a text of a picture can be selected: {selected!r}")
    equal(lit(page, "trie"), 0, "selecting a text is no click")
    page.run("getSelection().removeAllRanges()")


def follows_the_theme(page):
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    ink = "document.querySelector('#pane-text .scroller text').getAttribute('fill')"
    light = page.run(ground), page.run(ink)
    page.dark(True)
    dark = page.run(ground), page.run(ink)
    equal(light[0], "rgb(255, 255, 255)", "light ground")
    equal(dark[0], "rgb(27, 29, 33)", "dark ground")
    check(light[1] != dark[1], "letters have other colours in the dark")
    page.dark(False)
    equal((page.run(ground), page.run(ink)), light, "and back")


def fits_a_phone(page):
    page.size(360, 740, 2, phone=True)
    check(page.run("document.documentElement.scrollWidth") <= 360, "nothing is wider than a phone")
    visible = "[...document.querySelectorAll('.pane')].filter(p => p.getBoundingClientRect().height > 0).map(p => p.id)"
    equal(page.run(visible), ["pane-trie"], "one panel at a time")
    page.click("document.querySelector('#tabs button[data-pane=text]')")
    equal(page.run(visible), ["pane-text"], "a tab shows its panel")
    equal(page.run("document.querySelector('#tabs [aria-pressed=true]').textContent"), "Text", "and says so")
    letters = page.run("Math.min(...[...document.querySelectorAll('#pane-text .scroller text')].filter(t => t.textContent.trim()).map(t => t.getBoundingClientRect().height))")
    check(letters >= 10, f"letters can be read: {letters} px high")
    page.key("Home")
    x, y = page.middle_of("document.getElementById('words')")
    page.swipe((x + 100, y), (x - 100, y + 5))
    check(page.run(shown_step).startswith("step 1 "), "a swipe to the left goes on")
    page.swipe((x - 100, y), (x + 100, y - 5))
    check(page.run(shown_step).startswith("step 0 "), "a swipe to the right goes back")
    page.swipe((x, y + 60), (x + 20, y - 60))
    check(page.run(shown_step).startswith("step 0 "), "a swipe upwards scrolls")
    page.key("End")
    node = lead(page)
    link = "[...document.querySelectorAll('#words a')].find(a => a.dataset.target[0] === 'p')"
    if page.run(f"Boolean({link})"):
        panel = page.run(f"{link}.dataset.target").removeprefix("p")
        page.run(f"{link}.click()")
        equal(page.run(visible), [f"pane-{panel}"], "a link to a panel shows it")
    page.click("document.querySelector('#tabs button[data-pane=trie]')")
    x, y = page.middle_of(box_of("trie", node))
    check(0 < x < 360, "the newest node is in sight")
    page.tap(x, y)
    check(lit(page, "trie") > 0, "a tap lights a node")
    page.size(1280, 800)


def prints_what_is_on_the_screen(page):
    boxes = "Object.fromEntries([...document.querySelectorAll('.pane')].map(p => [p.id.slice(5), p.querySelector('.scroller > svg').getAttribute('viewBox').split(' ').map(Number)]))"
    on_screen = page.run(boxes)
    node, hit = lead(page), page.run(box_of("trie", lead(page)).replace("return {x", "return hit; return {x"))
    for width in (1280, 700):
        page.size(width, 800)
        page.run("dispatchEvent(new Event('beforeprint'))")
        for pane, (x, y, w, h) in page.run(boxes).items():
            check(w <= 11000 and h <= 8000, f"{pane}: as much as a sheet of paper shows at a size that can be read: {w} x {h}")
            check(h < on_screen[pane][3] or pane in ("trie", "verdict", "memory", "kv"), f"{pane}: no room for steps to come is printed")
            if pane == "trie":
                check(x <= hit[1] and hit[1] + hit[3] <= x + w and y <= hit[2] <= y + h, f"the newest node {node} is printed")
        page.run("dispatchEvent(new Event('afterprint'))")
        equal(page.run(boxes), on_screen, "and the pictures are as before")
    page.size(1280, 800)
    page.send("Emulation.setEmulatedMedia", media="print")
    check("step 3 of" in page.run("getComputedStyle(document.getElementById('title'), '::after').content + document.getElementById('title').dataset.place"),
          "a printed page says its step")
    equal(page.run("[...document.querySelectorAll('footer, #tabs, details')].filter(e => e.getClientRects().length > 0).length"), 0, "what cannot be pressed on paper")
    page.send("Emulation.setEmulatedMedia", media="")


def refuses_what_is_not_its_own(page):
    """The last test of a page: what it tries is complained about."""
    page.run("(() => { const s = document.createElement('script'); s.textContent = 'window.strange = 1'; document.body.append(s); })()")
    equal(page.run("window.strange"), None, "a script that is put in does not run")
    equal(page.run("fetch('https://example.org/').then(() => 'sent', () => 'refused')"), "refused", "nothing is sent")
    equal(page.run("(() => { const i = new Image(); const p = new Promise(d => { i.onload = () => d('loaded'); i.onerror = () => d('refused'); });"
                   " i.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw='; return p; })()"), "refused", "no picture is loaded")


def hostile_capture(path):
    """A capture whose texts would like to be markup."""
    shutil.copy(os.path.join(CAPTURES, "self_beam.tscap"), path)
    with sqlite3.connect(path) as database:
        database.execute("update run set prompt_text = ?", ("</script><img src=x onerror=\"window.strange=1\">\u2028'\"&",))
        database.execute("update piece set bytes = ?", (b"</script><b>\"'",))
    return path


def tests(browser, page):
    opened(page, handout(os.path.join(CAPTURES, "self_beam.tscap"), "beam.html"))
    for test in (steps_by_every_way, focus_is_linked, is_read_aloud, text_can_be_selected, follows_the_theme, fits_a_phone, prints_what_is_on_the_screen):
        page.key("Home")
        page.key("Escape")
        if test is not steps_by_every_way:
            for _ in range(3):
                page.key("ArrowRight")
        test(page)
    quiet(page, "beam.html")
    refuses_what_is_not_its_own(page)

    # A browser from before DecompressionStream: the page's own reader.
    page = browser.page()
    page.size(1280, 800)
    page.send("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")
    page.open(os.path.join(WORK, "beam.html"))
    equal(page.run("typeof DecompressionStream"), "undefined", "a browser that cannot inflate")
    equal(page.run("document.querySelectorAll('.pane').length"), 5, "panels of a page that unpacked itself")
    page.key("End")
    check(len(page.run("document.getElementById('pane-trie').textContent")) > 100, "the trie of a page that unpacked itself")
    quiet(page, "beam.html, unpacked by itself")

    page = browser.page()
    page.size(1280, 800)
    opened(page, handout(hostile_capture(os.path.join(WORK, "hostile.tscap")), "hostile.html"))
    check(page.run("document.getElementById('prompt').textContent").startswith("</script><img src=x"), "a prompt is shown as it is")
    page.key("End")
    check("</script>" in page.run("document.getElementById('pane-trie').textContent"), "a token is shown as it is")
    equal(page.run("document.querySelectorAll('img, b').length"), 0, "elements that a text asked for")
    equal(page.run("window.strange"), None, "a script in a text")
    quiet(page, "hostile.html")


sys.exit(in_browser(tests))
