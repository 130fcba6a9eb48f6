"""The storage of the client in a browser: `storage.py DIST`, the compiled client. Each function is a rule."""

import os
import sys
import tempfile
import threading
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, FOLDER + "/../../System/BrowserTests/Scripts")

from control import Control, Page
from origin import Site
from rules import play_rules, rules_of
from tabs import Chromium

ORIGIN = "localhost:4711"
folder = tempfile.TemporaryDirectory()
site = Site({"/dist/": os.path.abspath(sys.argv[1]), "/": FOLDER + "/pages"})
stops = []
control = Control(lambda page, kind: stops.append(page))
pages = {name: Page(lambda message: None) for name in "ab"}
control.pages.update(pages)
chromium = Chromium(folder.name, {ORIGIN: site.port})


def open_tab(name="a"):
    tab = chromium.open(f"http://{ORIGIN}/storage.html?control=http://127.0.0.1:{control.port}&name={name}")
    until("the page", lambda: run(tab, "return window.isReady === true && location.protocol === 'http:'"))
    return tab


def run(tab, script, *arguments):
    return chromium.run(tab, script, *arguments)


def until(what, condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"never: {what}")
        time.sleep(0.02)


def fails(tab, script, kind):
    """Checks that a script throws an error of that kind."""
    seen = run(tab, "try { " + script + "; return 'nothing' } catch (error) { return error.kind ?? error.name }")
    assert seen == kind, seen


def restart():
    """Kills the browser, and starts it again with its profile."""
    global chromium
    chromium.close()
    chromium = Chromium(folder.name, {ORIGIN: site.port})


def clear(tab):
    """Removes what the origin has stored, as a browser does that needs the space."""
    chromium.command("Storage.clearDataForOrigin", tab, origin="http://" + ORIGIN, storageTypes="all")


def a_swap_outlives_a_killed_browser():
    """What a swap has returned is there after the browser was killed in the next moment."""
    tab = open_tab()
    assert run(tab, "return await parts.store.load()") is None
    assert run(tab, "return await parts.store.replace(null, 'one')") is True
    restart()
    tab = open_tab()
    assert run(tab, "return (await parts.store.load()).text") == "one"


def of_two_swaps_one_wins():
    """Tabs that swap the same version at once: as many wins as versions, and none is lost."""
    tabs = [open_tab("a"), open_tab("b")]
    script = """window.wins = 0; window.running = (async () => { for (let round = 0; round < 100; round++) {
        const {version, text} = await parts.store.load()
        if (await parts.store.replace(version, String(Number(text) + 1))) wins++ } })()"""
    run(tabs[0], "await parts.store.replace((await parts.store.load()).version, '0')")
    for tab in tabs:
        run(tab, script + "; return null")
    wins = sum(run(tab, "await running; return wins") for tab in tabs)
    text = run(tabs[0], "return (await parts.store.load()).text")
    assert text == str(wins) and wins >= 100, (text, wins)
    looks = sum(run(tab, "return looks()") for tab in tabs)
    assert looks > 0, "no tab was told of a swap"


def a_removed_record_is_certainly_none():
    """A text of null removes the record, and only of the version that was read."""
    tab = open_tab()
    assert run(tab, "return await parts.store.replace('another', null)") is False
    assert run(tab, "return await parts.store.replace((await parts.store.load()).version, null)") is True
    assert run(tab, "return await parts.store.load()") is None


def both_tabs_get_the_first_key():
    """Two tabs make a key at once. No script can export it, and it signs after a killed browser."""
    tabs = [open_tab("a"), open_tab("b")]
    for tab in tabs:
        run(tab, "window.made = parts.keys.makeKey(); return null")
    prints = [run(tab, "return (await made).thumbprint") for tab in tabs]
    assert prints[0] == prints[1] and len(prints[0]) == 43, prints
    restart()
    tab = open_tab()
    assert run(tab, "return (await parts.keys.key()).thumbprint") == prints[0]
    assert run(tab, "return (await (await parts.keys.key()).sign(new Uint8Array(3))).length") == 64
    exported = run(tab, """
        const database = await new Promise((resolve) => { indexedDB.open(name_).onsuccess = (e) => resolve(e.target.result) })
        const pair = await new Promise((resolve) => {
            database.transaction('keys').objectStore('keys').get('device').onsuccess = (e) => resolve(e.target.result) })
        database.close()
        return await crypto.subtle.exportKey('jwk', pair.privateKey).then(() => 'exported', (error) => error.name)""")
    assert exported == "InvalidAccessError", exported


def deleted_data_are_found_missing():
    """The browser deletes everything while the page is open: no hang, no error, and the next write works."""
    tab = open_tab()
    run(tab, "await parts.store.replace(null, 'one')")
    clear(tab)
    assert run(tab, "return await parts.store.load()") is None
    assert run(tab, "return await parts.keys.key()") is None
    assert run(tab, "return await parts.store.replace(null, 'two')") is True


def a_swap_writes_the_key_again():
    """The key is gone and the page still holds it: the transaction of the next swap has both."""
    tab = open_tab()
    before = run(tab, "return (await parts.keys.makeKey()).thumbprint")
    clear(tab)
    assert run(tab, "return await parts.store.replace(null, 'three')") is True
    assert run(tab, "return (await make().keys.key()).thumbprint") == before


def a_later_schema_is_used_as_it_is():
    """Another tab has code of a later version: its database is not made older, and this tab goes on."""
    tab = open_tab()
    run(tab, """await parts.store.load()
        const later = await new Promise((resolve, reject) => {
            const request = indexedDB.open(name_, 7)
            request.onupgradeneeded = () => request.result.createObjectStore('later')
            request.onsuccess = () => resolve(request.result)
            request.onerror = () => reject(request.error) })
        later.close()""")
    assert run(tab, "return (await parts.store.load()).text") == "three"
    version = run(tab, "return (await indexedDB.databases()).find(({name}) => name === name_).version")
    assert version == 7, version


def a_missing_store_is_an_error():
    """Half a database: the store cannot tell, and nothing is deleted."""
    tab = open_tab()
    run(tab, """await new Promise((resolve) => {
        const request = indexedDB.open('half', 1)
        request.onupgradeneeded = () => request.result.createObjectStore('record').put({version: 'v', text: 'kept'}, 'record')
        request.onsuccess = () => { request.result.close(); resolve() } })""")
    fails(tab, """const half = new Database('half', {pauses: [1, 1]})
        await new IndexedDBStore(half, random, {}, undefined).load()""".replace("random", "() => 'r'"), "failed")
    kept = run(tab, """return await new Promise((resolve) => { indexedDB.open('half').onsuccess = (e) => {
        const database = e.target.result
        database.transaction('record').objectStore('record').get('record').onsuccess = (e) => {
            database.close(); resolve(e.target.result.text) } } })""")
    assert kept == "kept", kept


def a_foreign_value_is_set_aside():
    """What is no record has a version of its own, and is kept under another name."""
    tab = open_tab()
    write = """const database = await new Promise((resolve) => {
            indexedDB.open(name_).onsuccess = (e) => resolve(e.target.result) })
        await new Promise((resolve) => {
            const transaction = database.transaction('record', 'readwrite')
            transaction.objectStore('record').put('no record', 'record')
            transaction.oncomplete = resolve })
        database.close()"""
    run(tab, write)
    assert run(tab, "return (await parts.store.load()).text") == ""
    assert run(tab, "return await parts.store.replace(null, 'next')") is False
    run(tab, "await parts.store.setAside()")
    assert run(tab, "return await parts.store.load()") is None
    names = run(tab, """return await new Promise((resolve) => { indexedDB.open(name_).onsuccess = (e) => {
        const database = e.target.result
        database.transaction('record').objectStore('record').getAll().onsuccess = (e) => {
            database.close(); resolve(e.target.result) } } })""")
    assert names == ["no record"], names


def a_browser_without_a_database_says_so():
    """No IndexedDB at all, or one that is refused, is told apart from one that fails."""
    tab = open_tab()
    fails(tab, "await make({factory: () => undefined}).store.load()", "Error")
    fails(tab, "await make({factory: () => { throw new DOMException('', 'SecurityError') }}).store.load()", "Error")
    fails(tab, """await make({pauses: [1, 1], factory: () => ({open() { throw new DOMException('', 'UnknownError') }})})
        .store.load()""", "failed")


def a_closed_connection_is_opened_again():
    """Two failures in a row cost two pauses; a database that stays away is given up, and asked again by the next call."""
    tab = open_tab()
    seen = run(tab, """let failures = 2
        const factory = () => { if (failures-- > 0) throw new DOMException('', 'UnknownError'); return indexedDB }
        const {store} = make({factory, pauses: [1, 1]})
        const first = await store.load()
        failures = 3
        const database = make({factory, pauses: [1, 1]})
        const second = await database.store.load().catch((error) => error.kind)
        return [first, second, await database.store.load()]""")
    assert seen == [None, "failed", None], seen


def an_open_that_hangs_is_given_up():
    """An open request without an event holds no caller longer than the limit, and the next call begins anew."""
    tab = open_tab()
    seen = run(tab, """let isHanging = true
        const factory = () => isHanging ? {open: () => ({})} : indexedDB
        const {store} = make({factory, limit: 100})
        const first = await store.load().catch((error) => error.kind)
        isHanging = false
        return [first, await store.load()]""")
    assert seen == ["failed", None], seen


def a_tab_frozen_inside_a_swap_holds_others_for_five_seconds():
    """The other tab cannot tell after five seconds, its swap never happens later, and after the thaw it goes on."""
    first, second = open_tab("a"), open_tab("b")
    run(first, "await parts.store.replace(null, 'before'); stopAt('temp-written')")
    run(second, "window.version = (await parts.store.load()).version; return null")
    run(first, "setTimeout(() => parts.store.load().then(({version}) => parts.store.replace(version, 'after')), 50)")
    until("a tab that stands still", lambda: stops)
    begin = time.monotonic()
    fails(second, "await parts.store.replace(version, 'late')", "failed")
    seconds = time.monotonic() - begin
    assert 4.5 < seconds < 8, seconds
    pages["a"].thawed.set()
    until("the swap of the frozen tab", lambda: run(second, "return (await parts.store.load()).text") == "after")


def a_swap_that_was_given_up_is_never_written():
    """A tab freezes inside a transaction that changes nothing: after the thaw the swap that waited behind it does not happen."""
    stops.clear()
    first, second = open_tab("a"), open_tab("b")
    version = run(second, "return (await parts.store.load()).version")
    run(first, """const database = await new Promise((resolve) => {
            indexedDB.open(name_).onsuccess = (e) => resolve(e.target.result) })
        setTimeout(() => {
            const transaction = database.transaction('record', 'readwrite')
            transaction.objectStore('record').get('record').onsuccess = () => stop('freeze')
        }, 50)""")
    until("a tab that stands still", lambda: stops)
    fails(second, f"await parts.store.replace('{version}', 'late')", "failed")
    pages["a"].thawed.set()
    until("the end of the frozen transaction", lambda: run(first, "return (await parts.store.load()).text"))
    assert run(second, "return (await parts.store.load()).version") == version


def attempts_last_for_an_hour():
    """A login under way is found by its state for an hour, and the next one removes what is older."""
    tab = open_tab()
    seen = run(tab, """const attempt = (state, at) => ({state, at, nonce: 'n', verifier: 'v', redirectURI: 'r', mode: 'NO'})
        const now = Date.now() / 1000
        await parts.attempts.keep(attempt('old', now))
        await parts.attempts.notePopup('old')
        const found = [(await parts.attempts.find('old')).verifier, await parts.attempts.isPopup('old')]
        moveWall(3700)
        found.push(await parts.attempts.find('old'))
        await parts.attempts.keep(attempt('new', now + 3700))
        moveWall(-3700)
        found.push(await parts.attempts.find('old'), (await parts.attempts.find('new'))?.state ?? null)
        return found""")
    assert seen == ["v", True, None, None, None], seen


def clocks_that_are_set_or_stand_still_are_told():
    """Deadlines take the larger advance and sent_at the smaller one: a clock set by a day, a sleep, a clock that stands still."""
    tab = open_tab()
    seen = run(tab, """let [steady, wall] = [0, 1e12]
        const clock = new BrowserClock({steady: () => steady, wall: () => wall})
        const look = () => [Math.round(clock.uptime()), Math.round(clock.cautious())]
        const seen = []
        const pass = (s, w) => { steady += s * 1000; wall += w * 1000; seen.push(look()) }
        pass(10, 10); pass(0, 86400); pass(10, 10); pass(0, -86400); pass(10, 10); pass(0, 3600); pass(0, 5)
        for (let tick = 0; tick < 1000; tick++) { steady += 0.1; wall = Math.floor(steady) + 1e12; look() }
        return seen""")
    assert seen == [[10, 10], [86410, 10], [86420, 20], [86420, 20], [86430, 30], [90030, 30], [90035, 30]], seen


def nothing_is_written_elsewhere():
    """No localStorage, no sessionStorage, no cookie."""
    tab = open_tab()
    assert run(tab, "return [localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]


try:
    sys.exit(1 if play_rules(rules_of(globals())) else 0)
finally:
    chromium.close()
    folder.cleanup()
