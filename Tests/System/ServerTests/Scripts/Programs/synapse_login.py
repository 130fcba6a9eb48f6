"""Synapse (PyPI `matrix-synapse[oidc]`): a Matrix homeserver whose users log in on the server's page; localpart, name and
admission come of the ID token, and a logout token ends the device."""

import re

import requests

from program import NAME, USER, Stage, make_client, make_user, sessions
import stage

CONFIGURATION = """
server_name: example.org
public_baseurl: {origin}/
pid_file: synapse.pid
signing_key_path: signing.key
report_stats: false
trusted_key_servers: []
media_store_path: media
suppress_key_server_warning: true
password_config: {{enabled: false}}
listeners:
  - {{port: {port}, bind_addresses: [127.0.0.1], type: http, tls: false, resources: [{{names: [client]}}]}}
database: {{name: sqlite3, args: {{database: synapse.sqlite}}}}
macaroon_secret_key: a-long-random-text
form_secret: another-long-random-text
oidc_providers:
  - idp_id: sojourn
    idp_name: Sojourn
    issuer: {issuer}
    client_id: synapse
    client_secret: {secret}
    scopes: [openid, profile, groups]
    attribute_requirements: [{{attribute: groups, value: staff}}]
    backchannel_logout_enabled: true
    user_mapping_provider:
      config:
        localpart_template: "{{{{ user.preferred_username }}}}"
        display_name_template: "{{{{ user.name }}}}"
"""


def main():
    make_user()
    with Stage("synapse") as on:
        secret = make_client(
            "synapse", on.origin + "/_synapse/client/oidc/callback",
            backchannel_logout_uri=on.origin + "/_synapse/client/oidc/backchannel_logout",
            backchannel_logout_session_required=True)
        file = on.write("homeserver.yaml", CONFIGURATION.format(
            origin=on.origin, port=on.port, issuer=stage.PUBLIC, secret=secret))
        python = on.executable("python")
        on.run(python, "-m", "synapse.app.homeserver", "--config-path", str(file), "--generate-keys")
        on.start(python, "-m", "synapse.app.homeserver", "--config-path", str(file), until=on.origin + "/_matrix/client/versions")

        # What a Matrix client does: it opens this page, and waits for a token at a URL of its own.
        back = on.origin + "/a-client"
        on.driver.get(f"{on.origin}/_matrix/client/v3/login/sso/redirect/oidc-sojourn?redirectUrl={back}")
        on.fill_page()
        # Synapse asks before it gives the token away.
        on.until("the question", lambda: on.has("a.primary-button"))
        on.picture("question")
        token = re.search("loginToken=([^&]+)", on.by("a.primary-button").get_attribute("href")).group(1)
        client = requests.Session()
        answer = client.post(on.origin + "/_matrix/client/v3/login", json={"type": "m.login.token", "token": token})
        assert answer.ok, answer.text
        client.headers["Authorization"] = "Bearer " + answer.json()["access_token"]
        own = client.get(on.origin + "/_matrix/client/v3/account/whoami")
        assert own.ok and own.json()["user_id"] == f"@{USER}:example.org", own.text
        name = client.get(f"{on.origin}/_matrix/client/v3/profile/@{USER}:example.org/displayname")
        assert name.json()["displayname"] == NAME, name.text

        # An admin's call ends the device at Synapse.
        [session] = sessions("synapse")
        stage.admin("DELETE", "/sessions/" + session["session_id"])
        on.until("the end of the device", lambda: client.get(on.origin + "/_matrix/client/v3/account/whoami").status_code == 401)


main()
