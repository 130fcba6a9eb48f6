"""Logs in at a server by the ID tokens of glewlwyd, and says what came of it, one line each. Usage: logins.py FOLDER SOJOURN"""
import json, os, subprocess, sys, urllib.parse

from glewlwyd import Glewlwyd, ask, wait

folder, sojourn = sys.argv[1:]
os.chdir(folder)
KEY = "an-admin-key-for-a-real-identity-provider"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"


def log_in(public, token, nonce):
    return ask(public + "/v1/login", {
        "provider": "glewlwyd", "id_token": token, "nonce": nonce, "device": {"id": "phone"}})


def exchange(public, token, nonce):
    """RFC 8693 section 2.1."""
    return ask(public + "/oauth/token", urllib.parse.urlencode({
        "grant_type": EXCHANGE, "client_id": "exchanger", "subject_token": token, "nonce": nonce,
        "subject_token_type": "urn:ietf:params:oauth:token-type:id_token"}))


def play(provider, public, admin):
    def id_token(nonce):
        return provider.tokens(nonce)["id_token"]

    token = id_token("n1")
    print("wrong nonce", log_in(public, token, "other")[0])
    status, first = log_in(public, token, "n1")
    print("login", status, first["user"]["display_name"])
    status, refused = log_in(public, token, "n1")
    print("again", status, refused["code"])
    status, second = log_in(public, id_token("n2"), "n2")
    print("next login", status, second["user"]["user_id"] == first["user"]["user_id"])

    client = {"client_id": "exchanger", "token_endpoint_auth_method": "none", "grant_types": ["refresh_token", EXCHANGE]}
    assert ask(admin + "/admin/v1/clients", client, KEY)[0] == 201
    token = id_token("n3")
    print("wrong nonce", exchange(public, token, "other")[1]["error"])
    status, exchanged = exchange(public, token, "n3")
    mine = ask(public + "/v1/me", bearer=exchanged["access_token"])[1]
    print("exchange", status, mine["user_id"] == first["user"]["user_id"])
    print("again", exchange(public, token, "n3")[1]["error"])
    form = "grant_type=refresh_token&client_id=exchanger&refresh_token=" + exchanged["refresh_token"]
    print("refresh", ask(public + "/oauth/token", form)[0])

    last = [id_token("n4"), id_token("n5")]
    provider.stop()
    print("provider gone", log_in(public, last[0], "n4")[0], exchange(public, last[1], "n5")[0])


with Glewlwyd() as provider:
    entry = {
        "name": "glewlwyd", "issuer": provider.url,
        "discovery_uri": provider.url + "/api/oidc/.well-known/openid-configuration",
        "allow_http_on_loopback": True, "audiences": ["app"], "algorithms": ["RS256"], "nonce": "required"}
    with open("sojourn.json5", "w") as file:
        json.dump({"identity_providers": [entry]}, file)
    server = subprocess.Popen([
        sojourn, "serve", "--config", "sojourn.json5", "--database", "sqlite:sojourn.sqlite", "--public",
        "127.0.0.1:0", "--admin", "127.0.0.1:0", "--ready-file", "ready.json"], stderr=open("sojourn.log", "w"),
        stdout=subprocess.DEVNULL, env={name: value for name, value in os.environ.items() if not name.startswith("SOJOURN_")}
        | {"SOJOURN_ADMIN_KEY": KEY})
    try:
        wait(lambda: os.path.exists("ready.json"), lambda: f"sojourn: {server.poll()} {open('sojourn.log').read()}")
        addresses = json.load(open("ready.json"))
        play(provider, addresses["public"], addresses["admin"])
    finally:
        server.terminate()
        server.wait()
