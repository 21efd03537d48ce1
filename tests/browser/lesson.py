"""What a lesson's page does in a browser. Arguments: the program, a folder to write in."""

import os
import subprocess
import sys

from checks import check, equal, in_browser, quiet

PROGRAM, WORK = sys.argv[1:3]
os.environ["XDG_CACHE_HOME"] = os.path.join(WORK, "cache")

panels = "[...document.querySelectorAll('.pane')].filter(p => !p.hidden).sort((a, b) => a.style.order - b.style.order).map(p => p.id.slice(5))"
moment = "document.querySelector('#moment output').textContent"
words = "document.getElementById('words').textContent"
title = "document.querySelector('#words h2').textContent"
choices = "[...document.querySelectorAll('.choice:enabled')].map(c => c.lastChild.textContent)"


def exported(lesson, name=None):
    path = os.path.join(WORK, name or lesson + ".html")
    subprocess.run([PROGRAM, "--quiet", "lesson", "export", lesson, "-o", path], check=True)
    return path


def choice(number):
    return f"document.querySelectorAll('.choice')[{number}]"


def lit(page, pane):
    return page.run(f"document.querySelectorAll('#pane-{pane} .lit rect').length")


def hides_what_follows_a_question(page):
    equal(page.run(title), "Two guesses are better than one", "the first step")
    equal(page.run(panels), ["text", "trie"], "the panels it names, in its order")
    equal(page.run(moment), "before step 9", "the moment it names")
    page.key("ArrowRight")
    equal(page.run(title), "A tree of drafts", "the second step")
    equal(page.run(panels), ["trie", "mask"], "its panels")
    equal(page.run(choices), ["One for each branch", "One for each draft", "One for everything"], "the choices")
    check("7 rows, one forward" not in page.run(words), "what follows the question is not there")
    check("what happened" not in page.run(words), "nor the answer")
    page.click(choice(1))
    check("You predicted something else; this is what happened." in page.run(words), "a wrong prediction")
    equal(page.run("[...document.querySelectorAll('.choice')].map(c => c.className)"), ["choice", "choice wrong", "choice right"], "the prediction beside what happened")
    equal(page.run("[...document.querySelectorAll('.choice .mark')].map(m => m.textContent)"), ["", "✗", "✓"], "told by glyph as well")
    check("7 rows, one forward" in page.run(words), "what follows is shown now")
    equal(page.run(panels), ["mask", "trie"], "the panels behind the question")
    equal(page.run(moment), "step 9, before accept", "its moment")
    equal(page.run("document.activeElement.className"), "verdict", "the keyboard goes on from the answer")
    page.click(choice(2))
    equal(page.run("document.querySelectorAll('.choice.wrong').length"), 1, "an answer stands")


def answers_by_keys(page):
    page.key("ArrowRight")
    page.key("ArrowRight")
    equal(page.run(title), "Positions of rivals", "the third step")
    page.key("2")
    check("As you predicted." in page.run(words), "a digit chooses")
    page.key("PageDown")
    equal(page.run(title), "The verdict", "the fourth step")
    check("decides between the rivals" not in page.run(words), "its text is hidden too")
    for _ in range(30):
        page.key("Tab")
        if page.run("document.activeElement.textContent") == "Show the answer":
            break
    page.key("Enter")
    check("This is what happened." in page.run(words), "one may ask to be shown, by Tab and Enter")
    check("decides between the rivals" in page.run(words), "and reads on")
    check(lit(page, "trie") > 0 and lit(page, "verdict") > 0, "the node it selects is lit in all panels")
    page.key("PageUp")
    page.key("PageUp")
    equal(page.run("document.querySelectorAll('.choice.wrong').length"), 1, "going back, answers are still there")
    page.key("Home")
    equal(page.run(title), "Two guesses are better than one", "Home")


def links_and_moments(page):
    page.key("ArrowRight")
    link = "[...document.querySelectorAll('#words a')].find(a => a.dataset.target?.startsWith('n'))"
    page.click(link)
    check(lit(page, "trie") > 0 and lit(page, "mask") > 0, "a link lights its node in all panels")
    page.key("Escape")
    equal(lit(page, "trie"), 0, "Escape ends that")
    pictures = page.run("[...document.querySelectorAll('.pane:not([hidden]) .scroller > svg')].map(s => s.textContent)")
    page.click("document.querySelector('#moment button[aria-label$=back]')")
    equal(page.run(moment), "step 9, before forward", "the run goes back by a phase")
    check(pictures != page.run("[...document.querySelectorAll('.pane:not([hidden]) .scroller > svg')].map(s => s.textContent)"), "and its pictures with it")
    page.click("document.querySelector('#moment .quiet')")
    equal(page.run(moment), "step 9, before accept", "Show again leads back")
    said = page.run("document.querySelector('.pane:not([hidden]) .scroller > svg').getAttribute('aria-label')")
    check(said.startswith(page.run("document.querySelector('.pane:not([hidden]) h2').textContent") + ". step 9, before accept. "), f"a picture has an alternative text: {said!r}")


def tasks(page):
    page.key("End")
    page.key("2")
    check("Your turn" in page.run(words), "a task")
    # By hand: to step 1, before commit.
    for _ in range(60):
        if page.run(moment) == "step 1, before commit":
            break
        check("✓ Done." not in page.run(words), "not met on the way")
        page.click("document.querySelector('#moment button[aria-label$=back]')")
    check("✓ Done." in page.run(words), "it is met by what one does")
    check("The lesson that follows" in page.run(words), "the next lesson is named")


def fits_a_phone(page):
    page.size(360, 740, 2, phone=True)
    check(page.run("document.documentElement.scrollWidth") <= 360, "nothing is wider than a phone")
    seen = "[...document.querySelectorAll('.pane')].filter(p => p.getBoundingClientRect().height > 0).map(p => p.id)"
    equal(page.run(seen), ["pane-text"], "one panel at a time, the first that the step names")
    equal(page.run("[...document.querySelectorAll('#tabs button')].filter(b => !b.hidden).length"), 2, "tabs of its panels alone")
    x, y = page.middle_of("document.getElementById('words')")
    page.swipe((x + 100, y), (x - 100, y + 5))
    equal(page.run(title), "A tree of drafts", "a swipe goes on")
    place = page.run("(() => { const c = document.querySelectorAll('.choice')[2]; c.scrollIntoView({block: 'center'}); const r = c.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2, r.height]; })()")
    check(place[2] >= 44, f"a choice is as high as a finger: {place[2]} px")
    page.tap(place[0], place[1])
    check("As you predicted." in page.run(words), "a tap answers")
    page.size(1280, 800)


def number_and_experiment(browser):
    source = os.path.join(WORK, "own.md")
    subprocess.run([PROGRAM, "--quiet", "lesson", "export", "05-garbage-and-recycling", "-o", os.path.join(WORK, "five.html")], check=True)
    page = browser.page()
    page.size(1280, 800)
    page.open(exported("10-why-nothing-is-lost"))
    last = page.run("Number(document.getElementById('slider').max)")
    for _ in range(last + 1):
        for _ in range(4):
            if not page.run("Boolean(document.querySelector('.ask .quiet'))"):
                break
            page.click("document.querySelector('.ask .quiet')")
        if page.run("Boolean(document.querySelector('.chart'))"):
            break
        page.key("ArrowRight")
    check(page.run("document.querySelectorAll('.chart tr').length") > 5, "an experiment has its chart")
    check("✓ They agree" in page.run(words) and "10,000 draws" in page.run(words), "and says what came of it")
    quiet(page, "lesson 10")
    # A number: the file beside a capture of the program's.
    cached = [os.path.join(folder, name) for folder, _, names in os.walk(os.environ["XDG_CACHE_HOME"]) for name in names if name == "lossless.tscap"]
    os.link(cached[0], os.path.join(WORK, "run.tscap"))
    with open(source, "w", encoding="utf-8") as file:
        file.write("---\ntitle: <b>Own</b>\nsummary: s\nminutes: 1\ncapture: run.tscap\nmethod: draft_model\nprompt: p\n---\n\n## <i>One</i>\n\n"
                   "```do\ncursor 2\npanels trie\n```\n\n```predict\nHow many tokens had the prompt?\nanswer: prompt_tokens + 0.5\nwithin: 1\n```\n\nBehind <img src=x onerror=1>.\n")
    page = browser.page()
    page.size(1280, 800)
    page.open(exported(source, "own.html"))
    equal(page.run("document.querySelectorAll('#words b, #words i, #words img, h1 b').length"), 0, "no text becomes markup")
    check("Behind" not in page.run(words), "hidden behind a number as well")
    page.click("document.querySelector('input[type=number]')")
    page.key("1")
    page.key("Enter")
    check("You said 1; the run says" in page.run(words), "a number that is not right")
    check("Behind <img src=x" in page.run(words), "a text is shown as it is")
    quiet(page, "own.html")


def tests(browser, page):
    page.open(exported("08-checking-a-tree"))
    for test in (hides_what_follows_a_question, answers_by_keys, links_and_moments, tasks):
        page.key("Home")
        test(page)
    quiet(page, "lesson 8")
    page = browser.page()
    page.open(os.path.join(WORK, "08-checking-a-tree.html"))
    fits_a_phone(page)
    quiet(page, "lesson 8 on a phone")
    number_and_experiment(browser)


sys.exit(in_browser(tests))
