"""Has a server that is already there ask glewlwyd again about a session, and says what came of it, one line each.
Usage: rechecks.py FOLDER PORT PUBLIC ADMIN KEY CLOCK INTERVAL BUDGET; CLOCK?SECONDS moves the server's clock on."""
import os, sys

from glewlwyd import Glewlwyd, ask, wait

folder, port, public, admin, key, clock = sys.argv[1:7]
interval, budget = map(int, sys.argv[7:])
os.chdir(folder)


def log_in(provider):
    tokens = provider.tokens("n")
    status, answer = ask(public + "/v1/login", {
        "provider": "glewlwyd", "id_token": tokens["id_token"], "nonce": "n", "device": {"id": "phone"},
        "provider_refresh_token": tokens["refresh_token"]})
    print("login", status)
    return answer["session_id"], answer["refresh_token"]


def session(name):
    return ask(f"{admin}/admin/v1/sessions/{name}", bearer=key)[1]


def refresh(token):
    return ask(public + "/v1/refresh", {"refresh_token": token})


def advance(seconds):
    assert ask(f"{clock}?{seconds}")[0] == 200


def play(provider):
    name, token = log_in(provider)
    for _ in range(2):
        before = session(name)["provider_confirmed_at"]
        advance(interval)
        wait(lambda: session(name).get("provider_confirmed_at", 0) >= before + interval)
        status, answer = refresh(token)
        token = answer["refresh_token"]
        print("confirmed", status)
    print("revoked", provider.revoke_all())
    advance(interval)
    wait(lambda: session(name).get("provider_failing_since"))
    status, answer = refresh(token)
    print("no word", status)
    advance(budget)
    status, refused = refresh(answer["refresh_token"])
    print("too long ago", status, refused["code"], "ended_at" in session(name))


with Glewlwyd(int(port)) as provider:
    play(provider)
