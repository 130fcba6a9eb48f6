"""Goes the ways that people go, on the pages of a real server in Chromium: `ways.py SOJOURN [SCREENSHOTS]`.

Each function is a rule; its name and docstring say which. Each begins without cookies."""

import os
import sys
import tempfile
import urllib.parse

from selenium.webdriver.common.by import By

from chromium import Browser
from provider import Listener
from rules import play_rules, rules_of
from served import CHALLENGE, Server, VERIFIER

PASSWORD = "correct horse battery"

folder = tempfile.TemporaryDirectory()
server = Server(os.path.abspath(sys.argv[1]), folder.name, "--test-clock")
pictures = sys.argv[2] if len(sys.argv) > 2 else None
callback = Listener(lambda *_: ("text/html", b"<title>back</title>"))
REDIRECT = f"http://127.0.0.1:{callback.port}/callback"
# Another site, which shows the page of the server in a frame, and sends its form.
frames = Listener(lambda path, _: ("text/html", (
    f"<iframe src='{urllib.parse.unquote(path.split('?')[1])}'></iframe>" if path.startswith("/frame?") else
    f"<form method=post action='{server.public}/login/password'><input name=username value=anna></form>").encode()))
browser = Browser()
driver = browser.driver
by, text = browser.by, browser.text


def has(selector):
    return bool(driver.find_elements(By.CSS_SELECTOR, selector))


def picture(name):
    if pictures:
        driver.save_screenshot(f"{pictures}/ways-{name}.png")


def request(state="s", client="shop", **more):
    return {"response_type": "code", "client_id": client, "redirect_uri": REDIRECT, "code_challenge": CHALLENGE,
            "code_challenge_method": "S256", "state": state, "scope": "openid", **more}


def begin(state="s", client="shop", **more):
    """Opens the authorization endpoint as an app does."""
    driver.get(f"{server.public}/oauth/authorize?{urllib.parse.urlencode(request(state, client, **more))}")


def fill(password=PASSWORD, name="anna"):
    for selector, typed in (("#username", name), ("#password", password)):
        # The browser fills in what stood there when it goes back.
        by(selector).clear()
        by(selector).send_keys(typed)


def press(selector="form[action='/login/password'] button.primary"):
    browser.press(by(selector))


def answer():
    """The parameters with which the browser has come back to the app."""
    browser.until("the app", lambda: driver.current_url.startswith(REDIRECT))
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(driver.current_url).query))
    assert query["iss"] == server.public, query
    return query


def exchange(code, client="shop"):
    return server.call(server.public + "/oauth/token", form={
        "grant_type": "authorization_code", "code": code, "client_id": client, "redirect_uri": REDIRECT,
        "code_verifier": VERIFIER, "device_id": "phone"})


def sessions(client):
    items = server.admin("/users/username:anna/sessions")["items"]
    return [one for one in items if one["client_id"] == client and "ended_at" not in one]


def begin_once_more(**more):
    """Logs in to a client that keeps a session, and opens the authorization endpoint again."""
    begin(client="keeping")
    fill()
    press()
    answer()
    begin(client="keeping", **more)


def two_tabs_log_in():
    """Each tab has its own request, and comes back with its own state."""
    begin("first")
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    begin("second")
    second = driver.current_window_handle
    driver.switch_to.window(first)
    fill()
    press()
    assert answer()["state"] == "first"
    driver.switch_to.window(second)
    fill()
    press()
    query = answer()
    assert query["state"] == "second" and exchange(query["code"])["id_token"]
    driver.close()
    driver.switch_to.window(first)


def back_and_once_more():
    """Back from the app the page works again; so it does back from a wrong password."""
    begin()
    fill("wrong")
    press()
    assert "do not match" in text() and by("#username").get_attribute("value") == "anna", text()
    driver.back()
    browser.until("the form", lambda: has("#password"))
    fill()
    press()
    first = answer()["code"]
    # The app uses it at once. Until then the same form gets the same code.
    assert exchange(first)["id_token"]
    driver.back()
    browser.until("the form", lambda: has("#password"))
    fill()
    press()
    second = answer()["code"]
    assert first != second and exchange(second)["id_token"]


def a_stale_form_is_shown_again_filled():
    """The cookies are gone in the middle: nothing is lost, and one more press goes on."""
    begin()
    fill()
    driver.delete_all_cookies()
    press()
    assert "press once more" in text(), text()
    assert by("#username").get_attribute("value") == "anna"
    picture("stale")
    by("#password").send_keys(PASSWORD)
    press()
    assert answer()["code"]


def blocked_cookies_are_told():
    """The cookies never come: the page says so with the second form, and what was typed is still there."""
    begin()
    for sentence in ("press once more", "blocks the cookies", "blocks the cookies"):
        fill()
        driver.delete_all_cookies()
        press()
        assert sentence in text() and by("#username").get_attribute("value") == "anna", text()
    picture("cookies")
    fill()
    press()
    assert answer()["code"]


def an_act_that_needs_a_login_is_done_after_it():
    """The login is too old for the pause: the page asks for the password alone, and then logins are paused."""
    driver.get(server.public + "/account/security")
    fill()
    press()
    server.admin("/test/clock", {"advance_seconds": 301})
    by("input[value=on_expiry]").click()
    press("form[action='/account/logins'] button.danger")
    assert "happens right after" in text() and "Not you?" in text() and not has("#username"), text()
    picture("finish")
    by("#password").send_keys(PASSWORD)
    press()
    assert "nobody can sign in now" in text() and "until their access expires" in text(), text()
    # A login of an app says that it is paused, and leads to the page that resumes.
    begin()
    fill()
    press()
    picture("paused")
    driver.find_element(By.LINK_TEXT, "Resume sign-ins").click()
    browser.until("the switch", lambda: has("form[action='/account/logins']"))
    press("form[action='/account/logins'] button.primary")
    assert "Sign-ins are possible again." in text(), text()


def a_login_once_more_knows_the_user():
    """With `prompt=login` the name stands there, and the password is enough."""
    begin_once_more(prompt="login")
    assert "Not you?" in text() and not has("#username"), text()
    picture("known")
    by("#password").send_keys(PASSWORD)
    press()
    assert answer()["code"]


def a_form_that_is_sent_twice_converges():
    """The answer of the first time is lost, and the second one leads to the app, with one session in the end."""
    for client in ("shop", "pushing"):
        if client == "shop":
            begin()
        else:
            pushed = server.call(server.public + "/oauth/par", form=request(client=client))
            driver.get(f"{server.public}/oauth/authorize?" + urllib.parse.urlencode({
                "client_id": client, "request_uri": pushed["request_uri"]}))
        fill()
        lost = driver.execute_async_script("""
            const [done] = arguments;
            const form = document.querySelector("form[action='/login/password']");
            fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), redirect: "manual" })
              .then((answer) => done(answer.type), (error) => done(String(error)));
        """)
        assert lost == "opaqueredirect", lost
        press()
        assert exchange(answer()["code"], client)["id_token"]
        assert len(sessions(client)) == 1, sessions(client)
    # A double click, past the script that prevents it.
    begin()
    fill()
    driver.execute_script("const form = document.querySelector(\"form[action='/login/password']\"); form.submit(); form.submit()")
    assert exchange(answer()["code"])["id_token"]


def every_page_leads_back_to_the_app():
    """The link on the page is an answer to the app: the user has gone back."""
    begin("way")
    driver.find_element(By.LINK_TEXT, "Back to Shop").click()
    query = answer()
    assert query["error"] == "access_denied" and query["state"] == "way", query


def an_account_is_chosen():
    """The account of the browser's session goes on with one press, or another one signs in."""
    begin_once_more(prompt="select_account")
    assert "anna" in text() and not has("#password"), text()
    for scheme, width in (("light", 1000), ("dark", 320)):
        browser.look(scheme, width)
        picture(f"choice-{scheme}-{width}")
    browser.look("light", 1000)
    press("form[action='/login/account'] button.primary")
    assert answer()["code"]
    begin(client="keeping", prompt="select_account")
    driver.find_element(By.LINK_TEXT, "Not you?").click()
    browser.until("the form", lambda: has("#password"))
    fill("another long horse", "bert")
    press()
    assert answer()["code"]
    begin(client="keeping", prompt="select_account")
    assert "bert" in text(), text()


def signed_out_in_another_tab():
    """A form of the account that has become nobody's leads to the login, and back to its page."""
    driver.get(server.public + "/account/security")
    fill()
    press()
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    driver.get(server.public + "/account")
    press("header form button")
    assert "You are signed out" in text(), text()
    driver.close()
    driver.switch_to.window(first)
    by("#password").send_keys(PASSWORD)
    by("#new_password").send_keys("another battery staple")
    press("form[action='/account/password'] button.primary")
    assert "/login?r=" in driver.current_url, driver.current_url
    fill()
    press()
    assert driver.current_url.startswith(server.public + "/account"), driver.current_url
    assert has("header form button")


def the_logout_asks_and_leads_on():
    """Without a hint the page asks; each answer has a way on."""
    driver.get(server.public + "/account")
    fill()
    press()
    driver.get(server.public + "/oauth/logout?client_id=keeping")
    assert "Sign out?" in text(), text()
    picture("logout")
    driver.find_element(By.LINK_TEXT, "Stay signed in").click()
    browser.until("the account", lambda: "/account" in driver.current_url)
    assert has("header form button"), "nothing has ended"
    driver.get(server.public + "/oauth/logout?client_id=keeping")
    press("form[action='/oauth/logout'] button")
    assert "You are signed out" in text()
    driver.find_element(By.LINK_TEXT, "Sign in").click()
    browser.until("the login page", lambda: has("#password"))


def an_error_page_has_a_way_on():
    """What belongs to no app leads to the account."""
    for path in ("/oauth/authorize?client_id=nobody", "/login?r=x", "/account/nothing"):
        driver.get(server.public + path)
        if has("main"):
            driver.find_element(By.LINK_TEXT, "Your account").click()
            browser.until("the login page", lambda: has("#password"))


def hostile_names_stay_texts():
    """What is typed is shown as it was typed, and nothing else comes of it."""
    for name in ("\"><script>alert(1)</script>", "' onfocus=alert(1) autofocus '", "</title><img src=x onerror=alert(1)>",
                 "javascript:alert(1)", "{{7*7}}${7*7}<%=7*7%>", "\u202egnp.exe"):
        begin()
        fill("wrong", name)
        press()
        shown = by("#username").get_attribute("value")
        # Signs that turn the direction of a text are replaced.
        assert shown == name.replace("\u202e", "\ufffd"), (name, shown)
        assert not has("main script") and not has("main img") and "49" not in text(), text()


def no_other_site_frames_or_sends_the_page():
    """A page in a frame is empty (clickjacking), and a form of another site is refused (CSRF)."""
    begin()
    page = driver.current_url
    origin = f"http://localhost:{frames.port}"
    driver.get(f"{origin}/frame?{urllib.parse.quote(page, safe='')}")
    driver.switch_to.frame(0)
    assert not has("#password"), "the page is in a frame"
    driver.switch_to.default_content()
    driver.get(f"{origin}/form")
    press_form = by("form")
    old = by("html")
    press_form.submit()
    browser.until("the refusal", lambda: browser.gone(old) and has("main"))
    assert "another site" in text().lower() or "other site" in text().lower(), text()


def nothing_broke_the_policy():
    """Neither the console nor the policy had anything to complain about."""
    begin()
    said = [line for line in browser.complaints()
            if not any(word in line for word in ("status of 4", "favicon", "frame-ancestors", "ERR_BLOCKED_BY_RESPONSE"))]
    assert said == [], said


def forget(rule):
    driver.get("about:blank")
    driver.execute_cdp_cmd("Network.clearBrowserCookies", {})


def main():
    server.admin("/users", {"username": "anna", "password": PASSWORD})
    server.admin("/users", {"username": "bert", "password": "another long horse"})
    for name, more in (("shop", {}), ("keeping", {"browser_session": "client"}), ("pushing", {})):
        server.admin("/clients", {
            "client_id": name, "client_name": name.capitalize(), "grant_types": ["authorization_code", "refresh_token"],
            "scope": "openid", "redirect_uris": [REDIRECT], **more})
    return play_rules(
        rules_of(globals()), before=forget, failed=lambda rule: f"{driver.current_url[:200]}\n{text()[:300]}")


try:
    sys.exit(1 if main() else 0)
finally:
    driver.quit()
    server.process.terminate()
    server.process.wait()
    folder.cleanup()
