"""Makes the pictures of the manual: `pictures.py SOJOURN [MANUAL]`, the program and the folder of the manual. Without a folder the
pictures are made and thrown away, as the test does.

The pages are those of a real server, in Chromium. Each picture has at most 255 colors and 60 KiB."""

import base64
import hashlib
import os
import pathlib
import struct
import sys
import tempfile
import urllib.parse
import zlib

from selenium.webdriver.common.by import By

import served
from chromium import Browser

PASSWORD = "correct horse battery"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
CALLBACK = "http://127.0.0.1/callback"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
BYTES_MAX = 60 * 1024


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
server = served.Server(os.path.abspath(sys.argv[1]), folder.name)
browser = Browser()
driver = browser.driver


def by(selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def gone(element):
    try:
        return element.is_enabled() is None
    except Exception:
        return True


def press(element):
    old = by("html")
    element.click()
    browser.until("the next page", lambda: gone(old))
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


def log_in(device, name, platform, version):
    return server.call(server.public + "/v1/login", {
        "username": "grace", "password": PASSWORD,
        "device": {"id": device, "name": name, "platform": platform, "app_version": version}})


def let_the_television_in(phone):
    """A television shows a code, and the phone lets it in. Returns the id of the login."""
    def act(path, body):
        return server.call(server.public + path, body, "POST", phone["access_token"])

    asked = server.call(server.public + "/oauth/device_authorization", form={"client_id": "tv", "scope": "read"})
    login, secret = asked["login_id"], asked["device_code"]
    device = f"{server.public}/v1/logins/{login}"
    act("/v1/me/logins", {"code": server.call(device, bearer=secret)["qr"], "source": "qr"})
    state = act(f"/v1/me/logins/{login}/confirm", {"number": server.call(device, bearer=secret)["number"]})
    if state.get("input") == "WAIT_FOR_SECOND_FACTOR":
        act(f"/v1/me/logins/{login}/second-factor", {"password": PASSWORD})
    server.call(server.public + "/oauth/token", form={
        "grant_type": DEVICE, "client_id": "tv", "device_code": secret, "device_id": "tv", "device_name": "Living room"})
    return login


def find(what):
    driver.get(server.private + "/console")
    by("input[name=q]").send_keys(what)
    press(by("main form button"))


def main():
    server.admin("/users", {"username": "grace", "password": PASSWORD, "display_name": "Grace Hopper", "email": "grace@example.com",
                            "email_verified": True, "country": "US"})
    server.admin("/clients", {
        "client_id": "shop", "client_name": "Corner Shop", "redirect_uris": [CALLBACK], "browser_session": "shared", "scope": "openid",
        "grant_types": ["authorization_code", "refresh_token"], "login_methods": ["password", "passkey", "phone"]})
    server.admin("/clients", {"client_id": "tv", "client_name": "TV", "grant_types": [DEVICE, "refresh_token"], "scope": "read"})
    phone = log_in("pixel", "Pixel 9", "android", "4.2")
    ended = log_in("ipad", "iPad", "ios", "4.3")
    login = let_the_television_in(phone)
    # An old refresh token that comes back is taken for a stolen copy.
    server.admin("/settings/sessions", {"offline_session_idle": 86400, "refresh_after": 1, "rotation_interval": 1}, "PUT")

    authorize()
    picture("login-page", 760, 640)
    press(by("form[action='/login/phone'] button"))
    browser.until("the code", lambda: by("#code").is_displayed())
    picture("Apps/Logins/login-phone", 760, 700)

    authorize()
    by("#username").send_keys("grace")
    by("#password").send_keys(PASSWORD)
    press(by("form[action='/login/password'] button.primary"))
    driver.get(server.public + "/account")
    picture("account-devices", 760, 640)

    server.admin(f"/sessions/{ended['session_id']}", method="DELETE")
    server.admin("/settings/sessions", {"offline_session_idle": 1209600, "refresh_after": 3600, "rotation_interval": 120}, "PUT")
    driver.get(server.private + "/console")
    by("input[name=key]").send_keys(served.KEY)
    press(by("main form button"))
    find(phone["refresh_token"])
    picture("Operating/console-token", 1000, 520)
    find("grace")
    picture("Operating/console-user", 1120, 800)
    find(phone["session_id"])
    picture("Operating/console-session", 1000, 780, "dark")
    driver.get(f"{server.private}/console/logins/{login}")
    picture("Operating/console-login", 1000, 760)


try:
    main()
    print("the pictures, 0 failures")
finally:
    driver.quit()
    server.process.terminate()
    server.process.wait()
    folder.cleanup()
