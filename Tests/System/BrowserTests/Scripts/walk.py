"""Walks through the pages of a real server in Chromium: `walk.py SOJOURN [SCREENSHOTS]`, the program and a folder for pictures.

Each function is a rule; its name and docstring say which. They run in this order in one profile of the browser."""

import os
import sys
import tempfile
import urllib.parse

from selenium.webdriver.common.by import By

from chromium import Browser
from rules import play_rules, rules_of
from served import CHALLENGE, Server, VERIFIER

PASSWORD = "correct horse battery"
CALLBACK = "http://127.0.0.1/callback"


folder = tempfile.TemporaryDirectory()
server = Server(os.path.abspath(sys.argv[1]), folder.name)
pictures = sys.argv[2] if len(sys.argv) > 2 else None
browser = Browser()
driver = browser.driver
by, text = browser.by, browser.text
tokens = {}


def open_page(path):
    driver.get(server.public + path)


def picture(name):
    if pictures:
        height = driver.execute_script("return document.documentElement.scrollHeight")
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": 1000, "height": max(700, height), "deviceScaleFactor": 1, "mobile": False})
        driver.save_screenshot(f"{pictures}/{name}.png")
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def press(selector):
    browser.press(by(selector))


def log_in(password=PASSWORD):
    field = by("#username")
    field.clear()
    field.send_keys("anna")
    by("#password").send_keys(password)
    press("form[action='/login/password'] button.primary")


def authorize():
    """Opens the authorization endpoint as the app does. The answer to a password, or to none, is the callback."""
    query = urllib.parse.urlencode({
        "response_type": "code", "client_id": "shop", "redirect_uri": CALLBACK, "code_challenge": CHALLENGE,
        "code_challenge_method": "S256", "state": "s"})
    try:
        driver.get(f"{server.public}/oauth/authorize?{query}")
    except Exception:
        pass  # Nobody listens at the callback.
    return driver.current_url.startswith(CALLBACK)


def code():
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(driver.current_url).query)
    return query["code"][0]


def the_app_logs_in_on_the_page():
    """The password is asked, and the code becomes the session of the app."""
    assert not authorize()
    assert "Sign in to Shop" in text(), text()
    log_in()
    browser.until("the callback", lambda: driver.current_url.startswith(CALLBACK))
    tokens.update(server.call(server.public + "/oauth/token", form={
        "grant_type": "authorization_code", "code": code(), "client_id": "shop", "redirect_uri": CALLBACK,
        "code_verifier": VERIFIER, "device_id": "phone-1"}))


def the_browser_remembers_the_login():
    """The next authorization request is answered without a page."""
    assert authorize(), text()


def after_a_logout_by_the_api_the_password_is_asked():
    """Nothing but POST /v1/logout: the same profile of the browser, with its cookies, asks (seed 003)."""
    names = {cookie["name"] for cookie in all_cookies()}
    assert "sojourn-session" in names, names
    server.call(server.public + "/v1/logout", body={}, bearer=tokens["access_token"])
    assert {cookie["name"] for cookie in all_cookies()} == names
    assert not authorize()
    assert driver.find_elements(By.CSS_SELECTOR, "#password"), text()
    picture("asked-again")


def all_cookies():
    return driver.execute_cdp_cmd("Network.getAllCookies", {})["cookies"]


def the_account_asks_first():
    """Without a session the login page comes first, and leads back."""
    open_page("/account")
    assert "/login?r=" in driver.current_url, driver.current_url
    picture("account-login")
    log_in()
    assert driver.current_url == server.public + "/account", driver.current_url
    assert "Chrome · Linux" in text() and "This device" in text(), text()


def devices_are_ended():
    """The buttons end one device, and all others after a question."""
    for number, name in enumerate(("Anna’s iPhone", "<script>alert(1)</script> \u202egnp.exe", "Pixel 10", "Tablet")):
        server.call(server.public + "/v1/login", {
            "username": "anna", "password": PASSWORD, "client_id": "shop-app",
            "device": {"id": f"d{number}", "name": name, "platform": "ios"}})
    open_page("/account")
    assert "<script>alert(1)</script>" in text()
    picture("account-devices")
    press("button[aria-label='Sign out Pixel 10']")
    assert "One device was signed out." in text() and "Pixel 10" not in text(), text()
    driver.find_elements(By.CSS_SELECTOR, "details.ask summary")[0].click()
    press("details.ask[open] button")
    assert "3 devices were signed out." in text(), text()
    picture("account-ended")


def activity_is_told():
    """The history says it in sentences."""
    open_page("/account/activity")
    assert "Signed in with the password" in text() and "Signed out from another of your devices" in text(), text()
    picture("account-activity")


def a_wrong_password_is_told():
    """The form is shown again with its error, and nothing has changed."""
    open_page("/account/security")
    picture("account-security")
    by("#password").send_keys("wrong")
    by("#new_password").send_keys("a longer battery staple")
    press("form[action='/account/password'] button.primary")
    assert "The current password is wrong." in text(), text()
    picture("account-wrong-password")


def logins_are_paused_and_resumed():
    """While logins are paused the page is the switch alone."""
    open_page("/account/security")
    press("form[action='/account/logins'] button.danger")
    assert "nobody can sign in now" in text() and "Resume sign-ins" in text(), text()
    picture("account-paused")
    open_page("/account")
    assert driver.current_url == server.public + "/account/security", driver.current_url
    press("form[action='/account/logins'] button")
    assert "Sign-ins are possible again." in text(), text()


def a_password_is_reset_by_a_link():
    """The token comes in the fragment, leaves the address bar, and every session ends."""
    token = server.admin("/users/username:anna/password-reset", {})["reset_token"]
    open_page(f"/reset#{token}")
    browser.until("no fragment", lambda: "#" not in driver.current_url)
    assert not by("#token").is_displayed()
    picture("reset")
    by("#new_password").send_keys("a longer battery staple")
    press("form[action='/reset'] button.primary")
    assert "Your password is changed" in text() and token not in driver.current_url, text()
    asked = [url for url in browser.requests() if token in url.split("#")[0]]
    assert asked == [], asked
    open_page("/account")
    assert "/login?r=" in driver.current_url, driver.current_url


def the_user_signs_out():
    """The button in the header ends the stay of the browser."""
    log_in("a longer battery staple")
    assert driver.current_url == server.public + "/account", driver.current_url
    open_page("/account/activity")
    press("header form button")
    assert "You are signed out" in text(), text()
    # Back shows nothing of the account.
    driver.back()
    browser.until("the login page", lambda: "/login?r=" in driver.current_url and driver.find_elements(By.ID, "password"))
    assert "Signed in with the password" not in text(), text()
    open_page("/account/security")
    assert "/login?r=" in driver.current_url


def no_page_broke_its_policy():
    """Neither the console nor the policy had anything to complain about."""
    said = [line for line in browser.complaints()
            if "status of 422" not in line and "ERR_CONNECTION_REFUSED" not in line]
    assert said == [], said


def main():
    server.admin("/users", {"username": "anna", "password": PASSWORD})
    server.admin("/clients", {
        "client_id": "shop", "client_name": "Shop", "grant_types": ["authorization_code", "refresh_token"],
        "redirect_uris": [CALLBACK], "browser_session": "client"})
    server.admin("/clients", {
        "client_id": "shop-app", "client_name": "Shop for phones", "grant_types": ["login", "refresh_token"]})
    return play_rules(rules_of(globals()), failed=lambda rule: driver.current_url)


try:
    sys.exit(1 if main() else 0)
finally:
    driver.quit()
    server.process.terminate()
    server.process.wait()
    folder.cleanup()
