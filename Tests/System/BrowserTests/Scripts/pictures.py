"""Makes the pictures of the manual: `pictures.py SOJOURN [MANUAL]`, the program and the folder of the manual. Without a folder the
pictures are made and thrown away, as the test does.

The pages are those of a real server, in Chromium. Each picture has at most 255 colors and 60 KiB."""

import base64
import json
import os
import pathlib
import struct
import sys
import tempfile
import urllib.error
import urllib.parse
import zlib

import mmdb_writer
from netaddr import IPSet
from selenium.webdriver.common.by import By

import served
from chromium import Browser
from served import CHALLENGE, Server

PASSWORD = "correct horse battery"
CALLBACK = "http://127.0.0.1/callback"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
BYTES_MAX = 60 * 1024
# Addresses of documentation (RFC 5737), which the proxy that this script plays has seen.
BERLIN, LISBON, RECIFE = ({"X-Forwarded-For": address} for address in ("192.0.2.17", "198.51.100.4", "203.0.113.9"))
TELEVISION = BERLIN | {"User-Agent": "CornerTV/2.1"}


def pixels(png):
    """Width, height and rows of RGB of a PNG of 8 bits a channel, as Chromium writes it (RFC 2083)."""
    place, data, head = 8, b"", None
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place:place + 8])
        content = png[place + 8:place + 8 + length]
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", content)
        if kind == b"IDAT":
            data += content
        place += length + 12
    width, height, depth, color, _, _, interlaced = head
    assert depth == 8 and color in (2, 6) and not interlaced, head
    size = 3 if color == 2 else 4
    raw, row, rows = zlib.decompress(data), bytearray(width * size), []
    for y in range(height):
        start = y * (width * size + 1)
        rule, line = raw[start], bytearray(raw[start + 1:start + 1 + width * size])
        for x in range(len(line) if rule else 0):
            left = line[x - size] if x >= size else 0
            above, corner = row[x], row[x - size] if x >= size else 0
            if rule == 4:
                guess = left + above - corner
                far = abs(guess - left), abs(guess - above), abs(guess - corner)
                line[x] = (line[x] + (left if far[0] == min(far) else above if far[1] == min(far) else corner)) & 255
            else:
                line[x] = (line[x] + (0, left, above, (left + above) // 2)[rule]) & 255
        row = line
        rows.append(bytes(byte for place, byte in enumerate(line) if place % size < 3))
    return width, height, rows


def small(png):
    """The picture with a palette: the most frequent colors of 5 bits a channel, and for others the nearest of them."""
    width, height, rows = pixels(png)
    lines = [[(r >> 3, g >> 3, b >> 3) for r, g, b in zip(row[::3], row[1::3], row[2::3])] for row in rows]
    exact, counts = {}, {}
    for row, line in zip(rows, lines):
        for place, color in enumerate(line):
            counts[color] = counts.get(color, 0) + 1
            exact.setdefault(color, {}).setdefault(row[3 * place:3 * place + 3], 0)
            exact[color][row[3 * place:3 * place + 3]] += 1
    palette = sorted(counts, key=counts.get, reverse=True)[:255]
    index = {color: place for place, color in enumerate(palette)}
    for color in counts:
        if color not in index:
            index[color] = min(range(len(palette)), key=lambda at: sum((a - b) ** 2 for a, b in zip(palette[at], color)))
    data = b"".join(b"\0" + bytes(index[color] for color in line) for line in lines)

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    colors = b"".join(max(exact[color], key=exact[color].get) for color in palette)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) + chunk(b"PLTE", colors)
            + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


folder = tempfile.TemporaryDirectory()
manual = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else folder.name)


def write_places(path):
    """A file of places for the networks of documentation."""
    writer = mmdb_writer.MMDBWriter(ip_version=4, database_type="GeoLite2-City", languages=["en"])
    for networks, code, country, city in [
        (["192.0.2.0/24"], "DE", "Germany", "Berlin"), (["198.51.100.0/24"], "PT", "Portugal", "Lisbon"),
        (["203.0.113.0/24"], "BR", "Brazil", "Recife"),
    ]:
        writer.insert_network(
            IPSet(networks), {"country": {"iso_code": code, "names": {"en": country}}, "city": {"names": {"en": city}}})
    writer.to_db_file(path)


write_places(f"{folder.name}/places.mmdb")
# The clock moves on, so that the sessions have lived for weeks.
server = served.Server(os.path.abspath(sys.argv[1]), folder.name, "--test-clock", settings={
    "SOJOURN_GEO_DATABASE": f"{folder.name}/places.mmdb", "SOJOURN_SERVER_TRUSTED_PROXIES": "127.0.0.1"})
browser = Browser()
driver = browser.driver
by = browser.by


def press(element):
    browser.press(element)
    browser.until("the whole page", lambda: driver.execute_script("return document.readyState") == "complete")


def picture(name, width, height, scheme="light"):
    """A picture of the top of the page."""
    browser.look(scheme, width)
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    png = small(base64.b64decode(driver.get_screenshot_as_base64()))
    assert len(png) <= BYTES_MAX, f"{name} has {len(png)} bytes"
    path = manual / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png)
    print(f"{name}: {len(png)} bytes")
    browser.look("light", width)


def authorize(**more):
    driver.get(server.public + "/oauth/authorize?" + urllib.parse.urlencode({
        "response_type": "code", "client_id": "shop", "redirect_uri": CALLBACK, "code_challenge": CHALLENGE,
        "code_challenge_method": "S256", "state": "s"} | more))


def log_in(device, name, platform, version, place=BERLIN, username="grace"):
    return server.call(server.public + "/v1/login", {
        "username": username, "password": PASSWORD,
        "device": {"id": device, "name": name, "platform": platform, "app_version": version}},
        headers=place)


def refresh(tokens, place=BERLIN):
    """Renews tokens in place. Returns the code of a refusal, or None."""
    try:
        tokens |= server.call(
            server.public + "/v1/refresh", {"refresh_token": tokens["refresh_token"]}, headers=place)
        return None
    except urllib.error.HTTPError as error:
        return json.load(error)["code"]


def advance(seconds):
    server.admin("/test/clock", {"advance_seconds": seconds})


def let_the_television_in(phone):
    """A television shows a code, and the phone lets it in. Returns the id of the login, and its tokens."""
    def act(path, body):
        return server.call(server.public + path, body, "POST", phone["access_token"], headers=BERLIN)

    asked = server.call(
        server.public + "/oauth/device_authorization", form={"client_id": "tv", "scope": "read"},
        headers=TELEVISION)
    login, secret = asked["login_id"], asked["device_code"]
    device = f"{server.public}/v1/logins/{login}"
    act("/v1/me/logins", {"code": server.call(device, bearer=secret)["qr"], "source": "qr"})
    state = act(f"/v1/me/logins/{login}/confirm", {"number": server.call(device, bearer=secret)["number"]})
    if state.get("input") == "WAIT_FOR_SECOND_FACTOR":
        act(f"/v1/me/logins/{login}/second-factor", {"password": PASSWORD})
    return login, server.call(server.public + "/oauth/token", form={
        "grant_type": DEVICE, "client_id": "tv", "device_code": secret, "device_id": "tv", "device_name": "Living room"},
        headers=TELEVISION)


def find(what):
    driver.get(server.private + "/console")
    by("input[name=q]").send_keys(what)
    press(by("main form button"))


def five_weeks():
    """Five weeks of a user with a phone, a television and a stolen token. Returns the phone's tokens and the television's login."""
    phone = log_in("pixel", "Pixel 9", "android", "4.2")
    tablet = log_in("ipad", "iPad", "ios", "4.3", LISBON)
    stolen = None
    login, television = let_the_television_in(phone)
    for day in range(34):
        advance(86400)
        refresh(phone)
        if day % 3 == 0:
            television |= server.call(server.public + "/oauth/token", form={
                "grant_type": "refresh_token", "client_id": "tv", "refresh_token": television["refresh_token"]},
                headers=TELEVISION)
        if day < 20:
            # Two refreshes later the copy is no longer what a retry would send.
            stolen = dict(tablet) if day == 18 else stolen
            refresh(tablet, LISBON)
        if day == 20:
            # A copy of a token that the tablet has replaced comes from elsewhere.
            code = refresh(stolen, RECIFE)
            assert code == "refresh_token_reused", code
    advance(7200)
    return phone, login


def an_hour(phone):
    """An hour of other users, minute by minute."""
    names = ["ada", "alan", "edsger", "barbara", "donald", "john"]
    for name in names:
        server.admin("/users", {"username": name, "password": PASSWORD})
    others = []
    for minute in range(58):
        if minute % 4 == 1:
            name = names[minute % len(names)]
            others.append(log_in(f"{name}-{minute}", "Phone", "android", "4.3", username=name))
        for tokens in others[-(minute * 7 % 5):]:
            refresh(tokens)
        if minute % 17 == 11:
            server.admin(f"/sessions/{others.pop(0)['session_id']}", method="DELETE")
        if minute == 50:
            refresh(phone)
        advance(60)


def main():
    server.admin("/users", {"username": "grace", "password": PASSWORD, "display_name": "Grace Hopper", "email": "grace@example.com",
                            "email_verified": True, "country": "DE"})
    server.admin("/clients", {
        "client_id": "shop", "client_name": "Corner Shop", "redirect_uris": [CALLBACK], "browser_session": "shared", "scope": "openid",
        "grant_types": ["authorization_code", "refresh_token"], "login_methods": ["password", "passkey", "phone"]})
    server.admin("/clients", {"client_id": "tv", "client_name": "TV", "grant_types": [DEVICE, "refresh_token"], "scope": "read"})
    began = server.admin("/test/clock", {"advance_seconds": 0})["now"]
    phone, login = five_weeks()
    an_hour(phone)
    ahead = server.admin("/test/clock", {"advance_seconds": 0})["now"] - began
    driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument",
        {"source": f"{{ const now = Date.now; Date.now = () => now() + {ahead * 1000}; }}"})

    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": BERLIN})
    authorize()
    picture("login-page", 760, 700)
    press(by("form[action='/login/phone'] button"))
    browser.until("the code", lambda: by("#code").is_displayed())
    picture("Apps/Logins/login-phone", 760, 700)

    authorize()
    by("#username").send_keys("grace")
    by("#password").send_keys(PASSWORD)
    press(by("form[action='/login/password'] button.primary"))
    driver.get(server.public + "/account")
    picture("account-devices", 760, 720)

    driver.get(server.private + "/console")
    by("input[name=key]").send_keys(served.KEY)
    press(by("main form button"))
    find(phone["refresh_token"])
    picture("Operating/console-token", 1000, 540)
    find("grace")
    picture("Operating/console-user", 1240, 860)
    find(phone["session_id"])
    picture("Operating/console-session", 1000, 1070, "dark")
    driver.get(f"{server.private}/console/logins/{login}")
    picture("Operating/console-login", 1000, 760)
    # The upkeep of the server goes by its own hours, which a moved clock does not have.
    server.admin("/keys/rotate", {"immediately": True})
    driver.get(f"{server.private}/console/now")
    picture("Operating/console-now", 1000, 860)
    driver.get(f"{server.private}/console/settings")
    field = by("input[name=offline_session_idle]")
    field.clear()
    field.send_keys("4h")
    press(driver.find_element(By.XPATH, "//button[normalize-space()='What would happen?']"))
    picture("Operating/console-settings", 1000, 1060)


try:
    main()
    print("the pictures, 0 failures")
finally:
    driver.quit()
    server.process.terminate()
    server.process.wait()
    folder.cleanup()
