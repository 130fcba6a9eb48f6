"""An app in a browser signs its user in at a real server: `walk.py SOJOURN DIST one|two`, the program and the compiled client.

one: the app and the server have one origin, by a proxy. two: they have two, and the client has a list of origins. Each function
is a rule; they run in this order in one profile of the browser."""

import os
import sys
import threading

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, FOLDER + "/../../System/BrowserTests/Scripts")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.virtual_authenticator import VirtualAuthenticatorOptions

from app import App, PASSWORD
from rules import play_rules, rules_of

app = App(*sys.argv[1:])
driver, server, origin, issuer = app.driver, app.server, app.origin, app.issuer
open_page, script, run, until, said, state = app.open_page, app.script, app.run, app.until, app.said, app.state
press, log_in, requests, sessions = app.press, app.log_in, app.requests, app.sessions


def other_window(known):
    until("a popup", lambda: set(driver.window_handles) - set(known))
    return (set(driver.window_handles) - set(known)).pop()


def a_login_by_redirect_ends_in_the_app():
    """The page is left and comes back, the code is used once though the app asks twice, and leaves the address bar."""
    open_page()
    assert said("state") == {"kind": "signedOut", "why": "never"}, said("state")
    press("redirect")
    log_in()
    until("the user", lambda: said("result") == {"user": "anna"})
    assert state() == "signedIn" and said("state")["isPersistent"] is True, said("state")
    assert "code=" not in driver.current_url and driver.current_url.startswith(origin + "/callback"), driver.current_url
    assert requests("/oauth/token") == 1, requests("/oauth/token")
    assert len(sessions()) == 1, sessions()


def a_reload_is_still_signed_in():
    """The next page has the session from the store, though the server cannot be reached."""
    app.block(["*/oauth/*"])
    try:
        open_page()
        assert state() == "signedIn" and said("state")["account"]["username"] == "anna", said("state")
    finally:
        app.block([])
    open_page()


def an_access_token_is_at_hand():
    """Nothing is due: a token takes less than 100 microseconds, and no access to the store."""
    microseconds = run("""await sojourn.accessToken()
        const begin = performance.now()
        for (let count = 0; count < 5000; count++) await sojourn.accessToken()
        return (performance.now() - begin) / 5""")
    print(f"accessToken: {microseconds:.1f} microseconds")
    assert microseconds < 100, microseconds


def the_first_token_of_a_page_comes_from_the_store():
    """A page that has just loaded has a token within 20 milliseconds, without the network."""
    milliseconds = run("""const begin = performance.now()
        await new Sojourn(settings).accessToken()
        return performance.now() - begin""")
    print(f"first accessToken: {milliseconds:.1f} milliseconds")
    # Twenty on a machine that has nothing else to do.
    assert milliseconds < 200, milliseconds


def a_renewal_is_proven_by_the_key():
    """A refused token is renewed with a proof of the key that no script can export."""
    open_page()
    # The start renews by itself.
    until("the renewal of the start", lambda: requests("/oauth/token") == 1)
    before = requests("/oauth/token")
    types = run("""const first = await sojourn.accessToken()
        const second = await sojourn.accessToken({after: first})
        return [first.type, second.type]""")
    assert types == ["DPoP", "DPoP"], types
    until("the renewal", lambda: requests("/oauth/token") > before)


def a_sign_out_is_seen_in_other_tabs():
    """A second tab shows the sign-out of the first one at once, and the session ends at the server."""
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    open_page()
    assert state() == "signedIn", said("state")
    second = driver.current_window_handle
    driver.switch_to.window(first)
    press("leave")
    until("the sign-out", lambda: state() == "signedOut")
    driver.switch_to.window(second)
    until("the sign-out in the other tab", lambda: said("state") == {"kind": "signedOut", "why": "byUser"})
    until("no session", lambda: sessions() == [])
    driver.close()
    driver.switch_to.window(first)


def a_popup_signs_in():
    """The popup opens within the click, ends the login itself, reports it and closes."""
    sign_in_by_popup("/app")


def a_popup_that_is_cut_off_signs_in():
    """The page isolates itself from other windows (Cross-Origin-Opener-Policy): the report comes all the same."""
    run("await sojourn.signOut()")
    sign_in_by_popup("/coop/app")


def sign_in_by_popup(path):
    open_page(path)
    known = driver.window_handles
    press("popup")
    popup = other_window(known)
    driver.switch_to.window(popup)
    log_in()
    driver.switch_to.window(known[0])
    until("the user", lambda: said("result") == {"user": "anna"})
    assert state() == "signedIn", said("state")
    until("a closed popup", lambda: len(driver.window_handles) == len(known))


def a_closed_popup_is_given_up_by_the_app():
    """Closing the popup changes nothing that can be seen; the app cancels, and the next popup signs in."""
    run("await sojourn.signOut()")
    open_page()
    known = driver.window_handles
    press("popup")
    driver.switch_to.window(other_window(known))
    driver.close()
    driver.switch_to.window(known[0])
    assert said("result") is None, said("result")
    press("cancel")
    until("the end of the attempt", lambda: said("result") == {"error": "cancelled", "code": None})
    sign_in_by_popup("/app")


def a_popup_that_the_browser_blocks_is_refused():
    """The app is told that its popup was blocked, and nothing has changed."""
    run("window.open = () => null")
    press("popup")
    until("the refusal", lambda: said("result") == {"error": "refused", "code": "popup_blocked"})
    assert state() == "signedIn", said("state")


def an_answer_that_no_login_waits_for_is_refused():
    """A foreign or old callback says so, changes nothing, and keeps nothing."""
    driver.get(f"{origin}/callback?code=x&state=y&iss={issuer}")
    until("the refusal", lambda: said("result") == {"error": "refused", "code": "no_login_pending"})
    assert state() == "signedIn", said("state")


def back_does_not_show_the_old_user():
    """After a sign-out elsewhere, Back shows no user, also where the page was kept as it was left."""
    open_page()
    script("window.mark = 1")
    press("elsewhere")
    until("another page", lambda: driver.current_url.endswith("/elsewhere"))
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    open_page()
    run("await sojourn.signOut()")
    driver.close()
    driver.switch_to.window(first)
    driver.back()
    until("no user", lambda: state() == "signedOut")
    print(f"Back: kept as it was left: {script('return window.mark === 1')}")


def one_code_in_two_tabs_is_one_session():
    """The tab of the callback is duplicated while its code is exchanged: both tabs get the user, and there is one session."""
    known = driver.window_handles
    sent, goes_on = [], threading.Event()

    def hold(path):
        if path == "/oauth/token":
            sent.append(path)
            goes_on.wait(30)
        return True

    open_page()
    app.site.before = hold
    press("redirect")
    log_in()
    until("the callback", lambda: "code=" in driver.current_url)
    callback = driver.current_url
    # Where app and server have two origins, the request does not come by here.
    if issuer == origin:
        until("an exchange", lambda: len(sent) == 1)
    driver.switch_to.new_window("tab")
    driver.get(callback)
    if issuer == origin:
        until("an exchange of the second tab", lambda: len(sent) == 2)
    goes_on.set()
    app.site.before = lambda path: True
    if issuer == origin:
        until("the user in the second tab", lambda: said("result") == {"user": "anna"})
    driver.close()
    driver.switch_to.window(known[0])
    until("the user", lambda: said("result") == {"user": "anna"})
    assert state() == "signedIn" and len(sessions()) == 1, (said("state"), sessions())


def a_phone_is_asked_for_by_a_picture():
    """The text of the picture comes with the time until which it counts; the app can give the login up, and stays signed in."""
    open_page()
    press("phone")
    until("the picture", lambda: said("picture")["kind"] == "code")
    picture = said("picture")
    assert picture["qr"].startswith("HTTP") and picture["until"] > 1e9, picture
    press("cancel")
    until("the end of the attempt", lambda: said("result") == {"error": "cancelled", "code": None})
    assert state() == "signedIn", said("state")


def a_passkey_signs_in():
    """A passkey is added and signs in, by the helpers of the browser and without them."""
    options = VirtualAuthenticatorOptions(
        protocol="ctap2", transport="internal", has_resident_key=True, has_user_verification=True, is_user_consenting=True,
        is_user_verified=True)
    for helpers in (False, True):
        driver.add_virtual_authenticator(options)
        answers = run("""const app = new Sojourn(settings, {passkeys: new WebPasskeys(navigator.credentials, values[0])})
            await app.start()
            for (const {id} of await app.passkeys()) await app.removePasskey(id)
            await app.addPasskey('Laptop')
            const again = await app.addPasskey('Laptop').catch((error) => error.refusal?.code)
            await app.signOut()
            return [again, (await app.signIn({passkey: true})).username]""", helpers)
        assert answers == ["passkey_exists", "anna"], answers
        driver.remove_virtual_authenticator()


try:
    rules = rules_of(globals())
    sys.exit(1 if play_rules(rules, failed=lambda rule: f"{driver.current_url} {said('state')} {said('result')}") else 0)
finally:
    app.close()
