"""What a browser does to an app's storage, and how its client goes on: `faults.py SOJOURN DIST`. Each function is a rule."""

import os
import sys
import threading

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, FOLDER + "/../../System/BrowserTests/Scripts")

from app import App, PASSWORD
from rules import play_rules, rules_of

app = App(*sys.argv[1:3])
driver, origin = app.driver, app.origin
open_page, run, until, said, state = app.open_page, app.run, app.until, app.said, app.state
SIGN_IN = f"return (await sojourn.signIn({{username: 'anna', password: '{PASSWORD}'}})).username"
NO_DATABASE = "Object.defineProperty(window, 'indexedDB', {value: undefined})"
# Gives a script the objects of a store, and waits for what it has written.
STORE = """const name = 'sojourn/shop-web@' + new URL(settings.server).host + '/default'
    const database = await new Promise((resolve) => { indexedDB.open(name).onsuccess = (e) => resolve(e.target.result) })
    const asked = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result) })
    const objects = (store) => database.transaction(store, 'readwrite').objectStore(store)
    try { %s } finally { database.close() }"""


def store(text, *values):
    return run(STORE % text, *values)


def signed_in():
    # Opens the app, and signs in if need be.
    open_page()
    if state() != "signedIn":
        assert run(SIGN_IN) == "anna"
    run("window.problems = []; addEventListener('unhandledrejection', (event) => problems.push(String(event.reason)))")


def error_of(text):
    return run(f"try {{ {text}; return null }} catch (error) {{ return error.kind }}")


def texts():
    return store("return (await asked(objects('record').getAll())).map(({text}) => text)")


def data_deleted_under_an_open_page_show_the_login():
    """Everything is deleted while the page is open: no user, no loop, no unhandled error, and the next login works."""
    signed_in()
    app.clear()
    run("await sojourn.restore()")
    assert error_of("await sojourn.accessToken()") == "notSignedIn"
    assert said("state") == {"kind": "signedOut", "why": "never"}, said("state")
    assert run(SIGN_IN) == "anna" and state() == "signedIn", said("state")
    assert run("return problems") == [], run("return problems")


def data_deleted_between_load_and_answer_stay_deleted():
    """Everything is deleted while a renewal is under way: its answer makes no record, and the page shows the login."""
    signed_in()
    is_sent, goes_on = threading.Event(), threading.Event()

    def hold(path):
        if path == "/oauth/token":
            is_sent.set()
            goes_on.wait(30)
        return True

    app.site.after = hold
    # The start of the app renews.
    open_page()
    assert is_sent.wait(30), "no renewal"
    run("window.renewal = sojourn.accessToken().then((token) => sojourn.accessToken({after: token}))"
        ".then(() => 'token', (error) => error.kind); return null")
    app.clear()
    goes_on.set()
    assert run("return await renewal") == "notSignedIn"
    app.site.after = lambda path: True
    assert run("return (await sojourn.restore()).kind") == "signedOut"
    assert texts() == [], texts()


def data_deleted_while_the_app_is_closed_are_asked_for_at_the_server():
    """The login page's cookie survives, so that an app that asks with prompt=none has its user again without a form."""
    open_page()
    app.press("redirect")
    app.log_in()
    until("the user", lambda: said("result") == {"user": "anna"})
    app.clear()
    open_page()
    assert said("state") == {"kind": "signedOut", "why": "never"}, said("state")
    app.script("sojourn.signIn({page: {redirectURI: '/callback', prompt: 'none'}})")
    until("the user again", lambda: said("result") == {"user": "anna"})
    driver.delete_all_cookies()
    app.clear()
    open_page()
    app.script("sojourn.signIn({page: {redirectURI: '/callback', prompt: 'none'}})")
    until("the refusal", lambda: said("result") == {"error": "refused", "code": "login_required"})
    assert state() == "signedOut", said("state")


def a_record_without_its_key_ends_and_is_kept():
    """The key alone is gone, and certainly: the session ends as key_lost, its record stays, and a login makes a new key."""
    signed_in()
    store("await asked(objects('keys').clear())")
    open_page()
    until("the end", lambda: state() == "ended")
    assert said("state")["reason"] == "key_lost", said("state")
    assert len(texts()) == 1, texts()
    assert run(SIGN_IN) == "anna" and state() == "signedIn", said("state")


def a_key_without_its_record_is_used_again():
    """The record alone is gone: the app shows the login, and the next session is bound to the key that is there."""
    signed_in()
    before = run("return JSON.parse(values[0]).key_thumbprint", texts()[0])
    store("await asked(objects('record').clear())")
    open_page()
    assert said("state") == {"kind": "signedOut", "why": "never"}, said("state")
    assert run(SIGN_IN) == "anna"
    assert run("return JSON.parse(values[0]).key_thumbprint", texts()[0]) == before


def a_record_of_another_schema_is_kept():
    """An older and a later record cannot be read: nothing is deleted, and a login sets them aside."""
    for schema in (0, 2):
        signed_in()
        other = '{"schema": %d, "device_id": "d", "retry_secret": "r"}' % schema
        store("const record = await asked(objects('record').get('record'));"
              "await asked(objects('record').put({...record, text: values[0]}, 'record'))", other)
        open_page()
        assert said("state") in ({"kind": "signedOut", "why": "unreadable"}, {"kind": "storeFailed"}) \
            or state() == "storeFailed", said("state")
        assert texts().count(other) == 1, texts()
        assert run(SIGN_IN) == "anna" and other in texts(), texts()


def a_full_disk_keeps_what_is_stored():
    """Nothing can be written: the token that is stored goes on, and nothing is deleted."""
    signed_in()
    before = texts()
    run("""const put = IDBObjectStore.prototype.put
        IDBObjectStore.prototype.put = function () { throw new DOMException('', 'QuotaExceededError') }
        window.restorePut = () => { IDBObjectStore.prototype.put = put }""")
    assert run("const token = await sojourn.accessToken();"
               "return await sojourn.accessToken({after: token}).then(() => 'token', (error) => error.kind)") == "store"
    assert run("return (await sojourn.accessToken()).value.length > 0 && sojourn.state.kind === 'signedIn'")
    run("restorePut()")
    assert texts() == before


def a_browser_that_asks_to_keep_data_is_not_waited_for():
    """The question whether data may be kept waits for the user in some browsers: the login does not."""
    signed_in()
    run("await sojourn.signOut(); navigator.storage.persist = () => new Promise(() => {})")
    assert run(SIGN_IN) == "anna"


def a_page_without_a_database_says_that_it_forgets():
    """No IndexedDB: the session is in memory, the state says so, a redirect is refused, and a popup signs in."""
    script = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NO_DATABASE})["identifier"]
    open_page()
    assert run(SIGN_IN) == "anna"
    assert state() == "signedIn" and said("state")["isPersistent"] is False, said("state")
    open_page()
    assert state() == "signedOut", said("state")
    app.press("redirect")
    until("the refusal", lambda: said("result") == {"error": "refused", "code": "storage_unavailable"})
    assert run("return [localStorage.length, sessionStorage.length]") == [0, 0]
    driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})


def a_lost_network_keeps_the_user():
    """No answer, a page of a portal, and a redirect: the app starts with its user, and a renewal says unreachable."""
    signed_in()
    app.site.before = lambda path: not path.startswith("/oauth/")
    try:
        open_page()
        assert state() == "signedIn", said("state")
        assert error_of("await sojourn.accessToken({after: await sojourn.accessToken()})") == "unreachable"
        assert run("return sojourn.state.kind") == "signedIn"
    finally:
        app.site.before = lambda path: True


try:
    rules = rules_of(globals())
    sys.exit(1 if play_rules(rules, failed=lambda rule: f"{driver.current_url} {said('state')} {said('result')}") else 0)
finally:
    app.close()
