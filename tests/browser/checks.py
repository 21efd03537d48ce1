"""What the browser's tests check with."""

import chromium

failures = []


def in_browser(tests):
    """tests(browser, page of a desk's size) in a Chromium of their own -> the exit status: 0, 1 failed, 77 there is no Chromium."""
    path = chromium.program()
    if not path:
        print("[SKIPPED] no Chromium is installed")
        return 77
    browser = chromium.Browser(path)
    try:
        page = browser.page()
        page.size(1280, 800)
        page.dark(False)
        tests(browser, page)
    finally:
        browser.close()
    return failed()


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def equal(found, expected, what):
    check(found == expected, f"{what}: expected {expected!r}, found {found!r}")


def failed():
    return 1 if failures else 0


def quiet(page, what):
    """Nothing was asked of a network, nothing was complained about."""
    asked = [e["request"]["url"] for e in page.events("Network.requestWillBeSent")]
    check(len(asked) > 0 and all(url.startswith("file://") for url in asked), f"{what}: asked for {asked}")
    equal([e["entry"]["text"] for e in page.events("Log.entryAdded")], [], f"{what}: entries of the log")
    equal([e["type"] for e in page.events("Runtime.consoleAPICalled")], [], f"{what}: calls of the console")
    equal([e["exceptionDetails"]["text"] for e in page.events("Runtime.exceptionThrown")], [], f"{what}: exceptions")
