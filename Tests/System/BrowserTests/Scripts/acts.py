"""Uses the pages in Chromium: `acts.py FOLDER`. Each function is a rule; its name and docstring say which."""

import base64
import json
import sys

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from selenium.webdriver.common.by import By
from selenium.webdriver.common.virtual_authenticator import Credential, VirtualAuthenticatorOptions

from chromium import Browser, Site
from rules import play_rules, rules_of

site, browser = Site(sys.argv[1]), Browser()
driver = browser.driver


def visit(page, fragment=""):
    site.posts.clear()
    site.asked.clear()
    driver.get("about:blank")
    driver.get(f"{site.origin}/en/{page}.html{fragment}")


def by(selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def shown(selector):
    return any(element.is_displayed() for element in driver.find_elements(By.CSS_SELECTOR, selector))


def posted(count=1):
    browser.until(f"{count} posts", lambda: len(site.posts) >= count)
    return site.posts[-1]


def a_password_is_typed_and_sent():
    """The form sends username, password, token, sealed request and the ticked box."""
    visit("login-wrong-password")
    assert driver.switch_to.active_element.get_attribute("name") == "username"
    by("#password").send_keys("correct horse")
    by("#password").submit()
    path, fields = posted()
    assert path == "/login/password", path
    assert fields["username"] == "ada" and fields["password"] == "correct horse" and fields["remember"] == "1", fields
    assert fields["csrf"] and fields["r"], fields


def a_password_is_shown_and_hidden():
    """The eye shows the password, and the form hides it again before it is sent."""
    visit("login")
    by("#username").send_keys("ada")
    by("#password").send_keys("secret")
    by("[data-shows]").click()
    assert by("#password").get_attribute("type") == "text"
    assert by("[data-shows]").get_attribute("aria-pressed") == "true"
    driver.execute_script("document.forms[0].addEventListener('submit', (event) => event.preventDefault())")
    by("button.primary").click()
    assert by("#password").get_attribute("type") == "password"


def a_form_is_sent_once():
    """A double click sends one form."""
    visit("login-wrong-password")
    by("#password").send_keys("secret")
    driver.execute_script("const button = document.querySelector('button.primary'); button.click(); button.click()")
    posted()
    driver.get("about:blank")
    assert len(site.posts) == 1, site.posts


def a_form_works_again_after_going_back():
    """Back from the answer, the form can be sent again."""
    visit("login-wrong-password")
    for count in (1, 2):
        by("#password").send_keys("secret")
        by("button.primary").click()
        posted(count)
        driver.back()
        browser.until("the page", lambda: shown("#password"))


def a_reset_token_comes_from_the_fragment():
    """The token moves from the fragment into its field, which is hidden, and leaves the address bar."""
    visit("reset", "#sjr_abc")
    browser.until("no fragment", lambda: "#" not in driver.current_url)
    assert not shown("#token")
    by("#new_password").send_keys("a long new password")
    by("#new_password").submit()
    path, fields = posted()
    assert path == "/reset" and fields["token"] == "sjr_abc", fields
    visit("reset")
    assert shown("#token")


def the_link_of_a_mail_waits_for_a_press():
    """The token leaves the address bar, and nothing is sent before the button is pressed."""
    visit("mail-proof-opened", "#sjv_abc")
    browser.until("no fragment", lambda: "#" not in driver.current_url)
    assert not shown("#token") and not site.posts, site.posts
    by("button.primary").click()
    path, fields = posted()
    assert path == "/v" and fields["token"] == "sjv_abc", fields


def what_a_link_undoes_is_shown_at_once_and_undone_with_its_box_alone():
    """The page asks by itself what the link is about; the button of a question does nothing before its box is ticked."""
    for page, token in (("mail-cancel-opened", "sjc_abc"), ("mail-undo-opened", "sju_abc")):
        visit(page, "#" + token)
        assert posted()[1]["token"] == token
    for page, path in (("mail-cancel-sign_up", "/cancel"), ("mail-take-back", "/undo"), ("mail-keep-account", "/undo")):
        visit(page)
        driver.execute_script("for (const button of document.querySelectorAll('main button')) button.click()")
        assert not site.posts, site.posts
        by("[name=confirmed]").click()
        by("main button").click()
        sent = posted()
        assert sent[0] == path and sent[1]["confirmed"] == "1", sent


def a_new_account_takes_a_password_or_a_passkey():
    """The passkey needs no password, and the password no passkey."""
    visit("sign-up-finish")
    by("#new_password").send_keys("a long new password")
    by("button.primary").click()
    path, fields = posted()
    assert path == "/sign-up/finish" and fields["new_password"] and not fields["credential"], fields
    options = VirtualAuthenticatorOptions(
        protocol=VirtualAuthenticatorOptions.Protocol.CTAP2, transport=VirtualAuthenticatorOptions.Transport.INTERNAL,
        has_resident_key=True, has_user_verification=True, is_user_verified=True)
    driver.add_virtual_authenticator(options)
    try:
        visit("sign-up-finish-passkey")
        browser.until("the button", lambda: shown("[data-options]") and not shown("#no-passkeys"))
        visit("sign-up-finish")
        browser.until("the button", lambda: shown("[data-options]"))
        by("[data-options]").click()
        path, fields = posted()
        assert json.loads(fields["credential"])["response"]["attestationObject"] and not fields["new_password"], fields
    finally:
        driver.remove_virtual_authenticator()


def a_page_of_the_account_begins_anew_when_the_browser_comes_back():
    """A page that the browser has kept shows nothing until the server has answered; one without an account stays."""
    back = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
    visit("account-devices")
    site.asked.clear()
    driver.execute_script(back)
    browser.until("the page is asked for", lambda: any(url.endswith("/account") for url in site.asked))
    visit("account-devices")
    site.asked.clear()
    driver.execute_script("history.replaceState(null, '', document.body.dataset.account + '#x');" + back)
    browser.until("a page with a fragment is asked for", lambda: any(url.endswith("/account") for url in site.asked))
    visit("reset-refused")
    site.asked.clear()
    by("#new_password").send_keys("typed")
    driver.execute_script(back)
    assert not site.asked and by("#new_password").get_attribute("value") == "typed", site.asked


def times_are_local():
    """Times are in the zone of the browser; the one of the server stays as a title."""
    driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "America/New_York"})
    visit("account-devices")
    time = by("time:not(.day)")
    assert "6:06" in time.text and time.get_attribute("title") == "18 November 2026, 11:06 UTC", time.text
    driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})


def a_phone_logs_in():
    """Each event shows its part; the last one submits the form that leads to the app."""
    site.events = [(0.5, "waiting", "7"), (0.5, "scanned", ""), (0.5, "number", "42"), (0.7, "approved", "")]
    visit("phone-waiting")
    assert shown("#code") and not shown("#again") and not shown("#number")
    browser.until("a new picture", lambda: any(url.endswith("code.svg?7") for url in site.asked))
    browser.until("the scan", lambda: shown("[data-for=scanned]") and not shown("#code"))
    browser.until("the number", lambda: shown("#number") and by("#number").text == "42")
    path, fields = posted()
    assert path.endswith("/finish") and fields["csrf"], path


def a_phone_logs_in_without_a_stream():
    """Where the stream of events is refused, the page asks again and again, and says what it has seen."""
    site.polls = [("waiting", "7"), ("scanned", ""), ("number", "42"), ("approved", "")]
    try:
        visit("phone-waiting")
        path, fields = posted()
        assert path.endswith("/finish") and fields["csrf"], path
        asked = [url.split("seen=")[1] for url in site.asked if "seen=" in url]
        assert asked == ["", "waiting.7", "scanned.", "number.42"], asked
    finally:
        site.polls = None


def a_phone_declines():
    """After the end there is a button for a new code, and the stream is closed."""
    site.events = [(0.2, "cancelled", "")]
    visit("phone-waiting")
    browser.until("the button", lambda: shown("#over button"))
    assert shown("[data-for=cancelled]") and not shown("#code") and not shown("[data-for=waiting]")
    by("#over button").click()
    assert posted()[0] == "/login/phone"


def a_passkey_signs_in():
    """The button appears, and the form sends the assertion of the authenticator as JSON."""
    options = VirtualAuthenticatorOptions(
        protocol=VirtualAuthenticatorOptions.Protocol.CTAP2, transport=VirtualAuthenticatorOptions.Transport.INTERNAL,
        has_resident_key=True, has_user_verification=True, is_user_verified=True)
    driver.add_virtual_authenticator(options)
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    driver.add_credential(Credential.create_resident_credential(b"credential", "localhost", b"user", key, 0))
    # The browser offers the passkey by itself, in the field of the username.
    visit("login-passkey")
    posted()
    # Where it cannot, there is the button.
    script = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
        "source": "delete PublicKeyCredential.isConditionalMediationAvailable"})
    visit("login-passkey")
    browser.until("the button", lambda: shown("[data-options]"))
    by("[data-options]").click()
    driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    path, fields = posted()
    credential = json.loads(fields["credential"])
    assert path == "/login/passkey" and fields["r"], path
    assert credential["id"] == base64.urlsafe_b64encode(b"credential").decode().rstrip("="), credential
    assert credential["response"]["signature"] and credential["response"]["userHandle"], credential
    driver.remove_virtual_authenticator()


def a_form_works_again_after_an_app_was_opened():
    """Where the answer opens an app the page stays: its button works again."""
    site.use("headers-app")
    site.redirect = "com.example.harbor:/callback?code=1"
    try:
        visit("login-wrong-password")
        by("#password").send_keys("secret")
        by("button.primary").click()
        posted()
        assert shown("[aria-busy]")
        browser.until("a button", lambda: not shown("[aria-busy]"))
        # Chromium's question whether to open the app takes the clicks of the mouse.
        driver.execute_script("document.querySelector('button.primary').click()")
        posted(2)
    finally:
        site.use("headers")
        site.redirect = None


def a_redirect_to_the_app_is_allowed():
    """After the form, 303 leads to the registered address and to no other: the policy covers the whole chain."""
    def refusal(headers, target):
        """What the console says once the navigation has ended."""
        site.use(headers)
        site.redirect = target
        visit("login-wrong-password")
        driver.get_log("browser"), browser.messages()
        by("#password").send_keys("secret")
        by("#password").submit()
        posted()
        ends = {"Page.frameStoppedLoading", "Page.loadEventFired"}
        browser.until("an end", lambda: ends & {message["method"] for message in browser.messages()})
        return " ".join(entry["message"] for entry in driver.get_log("browser"))

    loopback = f"http://127.0.0.1:{site.port}/callback"
    app = "com.example.harbor:/callback?code=1"
    try:
        assert "form-action" not in refusal("headers-loopback", loopback)
        assert f"127.0.0.1:{site.port}/callback" in site.asked
        assert "form-action" in refusal("headers", loopback)
        assert "form-action" not in refusal("headers-app", app)
        assert "form-action" in refusal("headers", app)
        assert "form-action" in refusal("headers-app", "com.example.other:/callback")
        assert "form-action" in refusal("headers-https", "https://evil.example/callback")
    finally:
        site.use("headers")
        site.redirect = None


def pages_work_without_script():
    """Without script the forms, the field for the token and the link that asks again are there; dead buttons are not."""
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        visit("login-everything")
        assert not shown("[data-options]") and not shown("[data-shows]")
        by("#password").send_keys("secret\n")
        assert posted()[1]["username"] == "ada@example.com"
        visit("reset", "#sjr_abc")
        assert shown("#token")
        visit("mail-proof-opened", "#sjv_abc")
        assert shown("#token")
        visit("sign-up-finish")
        assert not shown("[data-options]")
        by("#new_password").send_keys("a long new password\n")
        assert posted()[0] == "/sign-up/finish"
        visit("phone-waiting")
        assert shown("#again a") and shown("#code")
        assert "content=\"9\"" in by("noscript").get_attribute("innerHTML") + driver.page_source
        visit("account-devices")
        assert not shown(".ask button")
        by(".ask summary").click()
        by(".ask[open] button").click()
        assert posted()[1]["which"] == "others"
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def one_device_is_ended():
    """The button of a device sends the id of its session."""
    visit("account-devices")
    by("button[value=s3]").click()
    path, fields = posted()
    assert path == "/account/end" and "which" not in fields and fields["session"] == "s3", fields


def the_keyboard_suffices():
    """Tab reaches each control in its order, and the focus is seen."""
    visit("login")
    names = []
    for _ in range(8):
        driver.switch_to.active_element.send_keys("\ue004")
        element = driver.switch_to.active_element
        names.append(element.get_attribute("name") or element.get_attribute("aria-label") or element.text)
        style = driver.execute_script("return getComputedStyle(arguments[0]).outlineWidth", element)
        assert style == "3px", (names, style)
    assert names == [
        "username", "password", "Show password", "remember", "Forgot password?", "Sign in", "Back to Harbor Bank",
        "Privacy policy",
    ], names


def keeps_the_policy(rule):
    violations = driver.execute_script("return window.violations ?? []")
    assert not violations or "redirect" in rule.__name__, violations


failures = play_rules(rules_of(globals()), after=keeps_the_policy)
driver.quit()
sys.exit(1 if failures else 0)
