"""PyOTP: an authenticator app. It takes over the address that the server gives out, and its codes log a user in, each once; one of
another time is refused, and says that the clock differs. zbarimg reads the same address from the picture."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

import pyotp
import requests

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "Clients"))

import stage  # noqa: E402


def post(path, body, token=None):
    headers = {"Authorization": "Bearer " + token} if token else {}
    return requests.post(stage.PUBLIC + path, json=body, headers=headers)


def fresh_code(totp):
    """A code that no call has used: that of the step after the last one, as soon as it begins."""
    time.sleep(totp.interval - time.time() % totp.interval + 0.2)
    return totp.now()


def picture(svg):
    """What a scanner reads in the picture."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "code.svg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(svg)
        read = subprocess.run(["zbarimg", "-q", "--raw", path], capture_output=True, text=True)
        return read.stdout.strip() if read.returncode == 0 else None


def main():
    stage.make_user("tora")
    stage.admin("PATCH", "/users/username:tora", {"email_verified": True})
    stage.make_client("otp-app", "none", access_token_lifetime=3600, scope="account")
    tokens = stage.log_in("tora", "otp-app")
    added = post("/v1/me/totp", {"name": "PyOTP"}, tokens["access_token"])
    assert added.status_code == 201, added.text
    totp = pyotp.parse_uri(added.json()["uri"])
    assert totp.secret == added.json()["secret"] and totp.digits == 6 and totp.interval == 30
    read = picture(added.json()["svg"])
    assert read in (None, added.json()["uri"]), read

    confirm = f"/v1/me/totp/{added.json()['id']}/confirm"
    first = totp.now()
    confirmed = post(confirm, {"code": first}, tokens["access_token"])
    assert confirmed.status_code == 200, confirmed.text
    codes = confirmed.json()["recovery_codes"]
    assert len(codes) == 8

    login = {"username": "tora", "password": stage.PASSWORD, "client_id": "otp-app", "device": {"id": "tablet"}}
    asked = post("/v1/login", login)
    assert asked.status_code == 401 and asked.json()["code"] == "second_factor_required", asked.text
    step = {"login_token": asked.json()["login_token"], "client_id": "otp-app", "device": {"id": "tablet"}}
    spent = post("/v1/login", step | {"code": first})
    assert spent.status_code == 401 and spent.json()["code"] == "wrong_second_factor", spent.text
    early = post("/v1/login", step | {"code": totp.at(time.time() - 300)})
    assert early.json().get("clock_differs") is True, early.text

    code = fresh_code(totp)
    right = post("/v1/login", step | {"code": code})
    assert right.status_code == 200, right.text
    again = post("/v1/login", step | {"code": code})
    assert again.status_code == 401, again.text
    assert post("/v1/login", login | {"code": codes[0]}).status_code == 200


main()
