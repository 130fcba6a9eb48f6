"""schemathesis asks every call of both listeners for all that the document allows and much that it does not. No answer may
be a 5xx, have a status that is not in the document for this call, or be other than its schema says: with no member more."""

import json
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile

import requests

import stage

#: How many examples of each call are fuzzed, and from where the random ones begin: another place in every run, which is printed,
#: and which the environment sets to see a run again.
EXAMPLES = os.environ.get("SOJOURN_ATTACK_EXAMPLES", "15")
SEED = os.environ.get("SOJOURN_ATTACK_SEED") or str(secrets.randbits(32))

#: All checks of schemathesis, with what a standard or the nature of a call has otherwise:
#: - a schema cannot say that a password is guessed first, that members go together, that something exists or is not locked, which
#:   is what the statuses beside 2xx and 304 say; 405, 413, 415, 431 and the like stay failures for what the schema allows.
#: - OAuth has unknown parameters ignored, and empty ones are absent (RFC 6749 section 3.2).
#: - a field of a request that nobody reads refuses nothing: but for those in the document, which `missing_required_header` and the
#:   tables of tests are about.
#: - who has ended the session of their own device logs in again on it, or the attack would be over.
#: - pages answer with redirects, and read no more of a query than they know.
#: - a proxy asks `/v1/verify/…` by the method of whoever asks it, whatever that is.
#: - an unknown method gets 501 (RFC 9110 section 9.1), where schemathesis wants 405: see `unknown_methods`.
SETTINGS = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", 304, 400, 401, 403, 404, 409, 410, 412, 429]
[phases.coverage]
unexpected-methods = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "TRACE"]
"""
#: As above, for calls of the public listener.
PUBLIC_SETTINGS = """
[[operations]]
include-path-regex = "^/oauth/"
checks.negative_data_rejection.enabled = false
[[operations]]
include-path-regex = "^/(oauth/(authorize|logout)|login|sign-up|forgot|assets|account|reset|cancel|undo|device|not-me|[lLeE]/|v$|.well-known/change-password)"
checks.negative_data_rejection.enabled = false
checks.positive_data_acceptance.expected-statuses = ["2xx", 302, 303, 400, 403, 404, 422, 429]
[[operations]]
include-path-regex = "^/v1/me/devices"
checks.use_after_free.enabled = false
[[operations]]
include-path = "/v1/verify/{original_path}"
checks.unsupported_method.enabled = false
"""


def closed(value):
    """The same schemas, of which none lets a member pass that it does not name."""
    if isinstance(value, list):
        return [closed(element) for element in value]
    if not isinstance(value, dict):
        return value
    value = {name: closed(member) for name, member in value.items()}
    if value.get("type") == "object" and value.get("properties"):
        value.setdefault("additionalProperties", False)
    return value


def unknown_methods(base, document):
    """RFC 9110 section 9.1: 501 at each path, for methods that are unknown or not implemented anywhere. The method of a call
    of `/v1/verify` is that of the proxied request."""
    for path in document["paths"]:
        if path.startswith("/v1/verify"):
            continue
        for method in ("QUERY", "BREW"):
            answer = requests.request(method, base + path.replace("{", "").replace("}", ""))
            assert answer.status_code == 501, (method, path, answer.status_code)
            assert answer.headers["Content-Type"] == "application/problem+json" and "Allow" not in answer.headers


def attack(folder, listener, phases):
    base = stage.PUBLIC if listener == "public" else stage.ADMIN
    document = closed(requests.get(base + "/openapi.json").json())
    unknown_methods(base, document)
    file = folder / "openapi.json"
    file.write_text(json.dumps(document))
    (folder / "schemathesis.toml").write_text(SETTINGS + (PUBLIC_SETTINGS if listener == "public" else ""))
    command = [
        str(pathlib.Path(sys.executable).parent / "schemathesis"), "run", str(file), "--url", base,
        "--phases", phases, "--max-examples", EXAMPLES, "--seed", SEED, "--request-timeout", "20",
        "--tls-verify", os.environ["SSL_CERT_FILE"], "--no-color", "--max-failures", "20",
    ]
    environment = dict(os.environ, SCHEMATHESIS_HOOKS="document_hooks", PYTHONPATH=str(pathlib.Path(__file__).parent))
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        failures = [line for line in result.stdout.splitlines() if line.startswith(("- ", "____"))]
        sys.exit("\n".join([f"SOJOURN_ATTACK_SEED={SEED} {' '.join(failures)}", result.stdout[-20000:], result.stderr[-4000:]]))
    print(result.stdout)


def refusals():
    """How many requests met a limit, of each that has counted one, by the metrics."""
    lines = requests.get(stage.ADMIN + "/metrics").text.splitlines()
    found = (line.rsplit(" ", 1) for line in lines if line.startswith("sojourn_too_many_requests_total{"))
    return {name: int(count) for name, count in found if int(count) > 0}


def main():
    """`public` or `admin`; `limits`: the server has such low limits that most of the calls that have some are beyond them."""
    listener, *more = sys.argv[1:]
    stage.make_user("anna")
    os.environ["BACKEND_SECRET"] = stage.make_client("backend", "client_secret_basic", grant_types=["client_credentials"])
    with tempfile.TemporaryDirectory() as name:
        attack(pathlib.Path(name), listener, "examples,fuzzing" if more else "examples,coverage,fuzzing,stateful")
    met = refusals()
    assert len(met) > 2 if more else not met, met


main()
