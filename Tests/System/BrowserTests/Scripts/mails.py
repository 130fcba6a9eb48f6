"""Proves mailboxes on the pages of a real server, in Chromium, with the mails that it sends: `mails.py SOJOURN [SCREENSHOTS]`.

Each function is a rule; its name and docstring say which. Each has browsers of its own. A browser of another profile is the mail
program of another person, or a scanner."""

import email
import email.policy
import os
import re
import socket
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from aiosmtpd.controller import Controller

from chromium import Browser
from rules import play_rules, rules_of
from served import CHALLENGE, Server

PASSWORD = "correct horse battery"
OTHER = "a longer battery staple"
CALLBACK = "http://127.0.0.1/callback"


class Mailboxes(Controller):
    """Receives mails on a free port of the loopback address."""

    def __init__(self):
        self.mails = []
        super().__init__(self, hostname="127.0.0.1", port=0)

    async def handle_DATA(self, server, session, envelope):
        self.mails.append((envelope.rcpt_tos[0], email.message_from_bytes(envelope.content, policy=email.policy.default)))
        return "250 2.0.0 queued"

    @property
    def address(self):
        return "127.0.0.1:%d" % self.server.sockets[0].getsockname()[1]

    # The controller asks for its own greeting, at the port that it was given, which is 0.
    def _trigger_server(self):
        with socket.create_connection(self.server.sockets[0].getsockname(), timeout=20) as connection:
            connection.recv(1000)


class Mail:
    """The next mail to a mailbox."""

    def __init__(self, to):
        found = []
        browser = browsers[0]
        browser.until(f"a mail to {to}", lambda: found.extend(
            one for one in boxes.mails if one[0].lower() == to.lower()) or found)
        boxes.mails.remove(found[0])
        self.message = found[0][1]
        self.text = self.message.get_body(("plain",)).get_content()

    @property
    def code(self):
        return re.search(r"\b(\d{4}) (\d{4})\b", self.text)[0]

    def link(self, path):
        found = re.search(rf"\S+(/{path}#\S+)", self.text)
        assert found, self.text
        return server.public + found[1]


folder = tempfile.TemporaryDirectory()
boxes = Mailboxes()
boxes.start()
server = Server(os.path.abspath(sys.argv[1]), folder.name, "--test-clock", settings={
    "SOJOURN_MAIL_RELAY": f"smtp://{boxes.address}", "SOJOURN_MAIL_FROM": "login@example.com",
    "SOJOURN_ACCOUNTS_SIGN_UP": "open"})
pictures = sys.argv[2] if len(sys.argv) > 2 else None
browsers = []


def profile(language="en", width=1200, script=True):
    """A browser of a profile of its own."""
    browser = Browser(f"--lang={language}", f"--accept-lang={language}")
    browser.look("light", width)
    if not script:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    browsers.append(browser)
    return browser


def authorize(browser, **more):
    try:
        browser.driver.get(server.public + "/oauth/authorize?" + urllib.parse.urlencode({
            "response_type": "code", "client_id": "shop", "redirect_uri": CALLBACK, "code_challenge": CHALLENGE,
            "code_challenge_method": "S256", "state": "s"} | more))
    except Exception:
        pass  # Nothing listens at the callback.


def typed(browser, field, value):
    element = browser.by(f"#{field}")
    element.clear()
    element.send_keys(value)


def press(browser, selector="button.primary"):
    browser.press(browser.by(f"main {selector}"))


def is_back(browser):
    browser.until("the app", lambda: browser.driver.current_url.startswith(CALLBACK))
    return "code=" in browser.driver.current_url


def picture(browser, name):
    if pictures:
        browser.driver.save_screenshot(f"{pictures}/{name}.png")


def ask_for_an_account(browser, mailbox):
    authorize(browser, prompt="create")
    typed(browser, "email", mailbox)
    press(browser)
    return Mail(mailbox)


def a_stranger_becomes_a_user_on_a_phone():
    """Three pages of phone width in German: the mailbox, the code of the mail, a password. Then the app has its code."""
    browser = profile("de", 360)
    mail = ask_for_an_account(browser, "berta@example.com")
    picture(browser, "code-de")
    typed(browser, "code", "0000 0000" if mail.code != "0000 0000" else "1111 1111")
    press(browser)
    assert "Versuche bleiben" in browser.text(), browser.text()
    typed(browser, "code", mail.code)
    press(browser)
    picture(browser, "finish-de")
    typed(browser, "new_password", PASSWORD)
    press(browser)
    assert is_back(browser)
    user = server.admin("/users/username:berta@example.com")
    assert user["email_verified"] and user["email"] == "berta@example.com", user


def the_pages_work_without_script():
    """A stranger becomes a user without script, by the link of the mail, which is pasted."""
    browser = profile(width=360, script=False)
    mail = ask_for_an_account(browser, "carl@example.com")
    browser.driver.get(server.public + "/v")
    typed(browser, "token", mail.link("v"))
    press(browser)
    typed(browser, "new_password", PASSWORD)
    press(browser)
    assert is_back(browser)


def the_link_goes_on_where_it_began_and_nowhere_else():
    """In another profile the link says where to type the code; a scanner that presses every button ends nothing; then one press
    in the browser that asked goes on to the app."""
    browser, other = profile(), profile()
    mail = ask_for_an_account(browser, "dora@example.com")
    link = mail.link("v")
    for method in ("GET", "HEAD"):
        with urllib.request.urlopen(urllib.request.Request(link.split("#")[0], method=method)) as answer:
            assert answer.status == 200
    other.driver.get(link)
    press(other)
    assert "Go back to where you began" in other.text(), other.text()
    picture(other, "elsewhere")
    other.driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    for _ in range(3):
        other.driver.execute_script("for (const button of document.querySelectorAll('button')) button.click()")
    assert "Go back to where you began" in other.text(), other.text()
    browser.driver.get(link)
    picture(browser, "link")
    press(browser)
    typed(browser, "new_password", PASSWORD)
    press(browser)
    assert is_back(browser)


def a_forgotten_password_is_replaced_and_the_login_goes_on():
    """The link on the login page, the code of the mail, a new password, and the login for the app that waited."""
    browser = profile()
    authorize(browser, prompt="login")
    browser.press(browser.by("a[href^='/forgot']"))
    typed(browser, "email", "berta@example.com")
    press(browser)
    typed(browser, "code", Mail("berta@example.com").code)
    press(browser)
    typed(browser, "new_password", OTHER)
    press(browser)
    assert "Your password is changed" in browser.text(), browser.text()
    browser.press(browser.by("main a.primary"))
    typed(browser, "username", "berta@example.com")
    typed(browser, "password", OTHER)
    press(browser)
    assert is_back(browser)


def the_link_of_a_reset_works_in_any_browser_and_signs_in_nowhere():
    """The other browser takes the new password, and has no session."""
    browser, other = profile(), profile()
    browser.driver.get(server.public + "/forgot")
    typed(browser, "email", "carl@example.com")
    press(browser)
    other.driver.get(Mail("carl@example.com").link("reset"))
    typed(other, "new_password", OTHER)
    press(other)
    other.driver.get(server.public + "/account")
    assert "/login" in other.driver.current_url, other.driver.current_url


def an_unknown_mailbox_gets_the_same_page_and_no_mail():
    """A stranger's mailbox is asked for a code as well, and nothing is sent to it."""
    browser = profile()
    browser.driver.get(server.public + "/forgot")
    typed(browser, "email", "nobody@example.com")
    press(browser)
    assert "If nobody@example.com belongs to an account" in browser.text(), browser.text()
    browser.driver.get(server.public + "/forgot")
    typed(browser, "email", "dora@example.com")
    press(browser)
    Mail("dora@example.com")
    assert not [to for to, _ in boxes.mails if to.startswith("nobody")], boxes.mails


def a_mailbox_changes_and_its_former_owner_takes_it_back():
    """The page of the account asks for the code of the new mailbox. The former one gets a link that undoes the change."""
    browser, owner = profile(), profile()
    browser.driver.get(server.public + "/account/email")
    typed(browser, "username", "dora@example.com")
    typed(browser, "password", PASSWORD)
    press(browser)
    typed(browser, "email", "eve@example.com")
    press(browser)
    Mail("dora@example.com").link("cancel")
    typed(browser, "code", Mail("eve@example.com").code)
    press(browser)
    assert "Your e‑mail address is changed." in browser.text(), browser.text()
    picture(browser, "profile")
    owner.driver.get(Mail("dora@example.com").link("undo"))
    owner.until("the question", lambda: "Take back your" in owner.text())
    picture(owner, "take-back")
    owner.by("[name=confirmed]").click()
    press(owner, "button.danger")
    assert "The former address is back" in owner.text(), owner.text()
    assert server.admin("/users/username:dora@example.com")["email"] == "dora@example.com"
    browser.driver.get(server.public + "/account")
    assert "/login" in browser.driver.current_url, browser.driver.current_url


def an_account_is_deleted_and_kept():
    """The account is switched off, and the link of the mail keeps it."""
    browser = profile()
    browser.driver.get(server.public + "/account/delete")
    typed(browser, "username", "berta@example.com")
    typed(browser, "password", OTHER)
    press(browser)
    browser.by("[name=confirmed]").click()
    press(browser, "button.danger")
    assert "Your account will be deleted" in browser.text(), browser.text()
    browser.driver.get(Mail("berta@example.com").link("undo"))
    browser.until("the question", lambda: "Keep your account?" in browser.text())
    browser.by("[name=confirmed]").click()
    press(browser)
    assert "Your account stays" in browser.text(), browser.text()


def after(rule):
    for browser in browsers:
        # The callback of the app has no server here, and a wrong code is answered by 422.
        complaints = [each for each in browser.complaints() if "http://127.0.0.1/" not in str(each) and "status of 422" not in str(each)]
        assert not complaints, (rule.__name__, complaints)


def done(rule):
    said = [browser.driver.current_url + "\n" + browser.text()[:600] for browser in browsers]
    return "\n".join(said)


def before(rule):
    # A mailbox gets one code a minute.
    server.admin("/test/clock", {"advance_seconds": 61})
    boxes.mails.clear()
    while browsers:
        browsers.pop().driver.quit()


server.admin("/clients", {
    "client_id": "shop", "client_name": "Corner Shop", "redirect_uris": [CALLBACK], "browser_session": "client",
    "grant_types": ["authorization_code", "refresh_token"], "sign_up": True})
failures = play_rules(rules_of(globals()), before, after, done)
for browser in browsers:
    browser.driver.quit()
boxes.stop()
server.process.terminate()
sys.exit(1 if failures else 0)
