"""schemathesis asks every call of both listeners for all that the document allows and much that it does not. No answer may
be a 5xx, have a status that is not in the document for this call, or be other than its schema says: with no member more."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import requests

import stage

#: What each check of schemathesis looks for is in its documentation. Those that are not here, and why:
#: - positive_data_acceptance: a schema cannot say that members go together (refresh_after < access_token_lifetime), that a
#:   password is guessed first, or that something exists.
#: - negative_data_rejection: OAuth has unknown parameters ignored (RFC 6749 section 3.2), and an empty one is an absent one;
#:   fields of a request that are no proof and no key are nobody's business.
#: - unsupported_method: TRACE and others get 405 with `Allow`, and HEAD and OPTIONS are there; it wants each in the document.
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "response_headers_conformance", "ignored_auth", "use_after_free", "ensure_resource_availability",
]
#: QUERY is unknown here, and RFC 9110 section 9.1 demands 501 for what is unknown: a 5xx that is right.
SETTINGS = '[phases.coverage]\nunexpected-methods = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "TRACE"]\n'


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


def attack(folder, base):
    document = closed(requests.get(base + "/openapi.json").json())
    file = folder / "openapi.json"
    file.write_text(json.dumps(document))
    (folder / "schemathesis.toml").write_text(SETTINGS)
    command = [
        str(pathlib.Path(sys.executable).parent / "schemathesis"), "run", str(file), "--url", base, "--checks", ",".join(CHECKS),
        "--phases", "examples,coverage,fuzzing", "--max-examples", "3", "--generation-deterministic",
        "--request-timeout", "20", "--tls-verify", os.environ["SSL_CERT_FILE"], "--no-color", "--max-failures", "20",
    ]
    environment = dict(os.environ, SCHEMATHESIS_HOOKS="document_hooks", PYTHONPATH=str(pathlib.Path(__file__).parent))
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(result.stdout[-20000:] + result.stderr[-4000:])
    print(result.stdout)


def main():
    stage.make_user("anna")
    os.environ["BACKEND_SECRET"] = stage.make_client("backend", "client_secret_basic", grant_types=["client_credentials"])
    with tempfile.TemporaryDirectory() as name:
        attack(pathlib.Path(name), stage.PUBLIC if sys.argv[1] == "public" else stage.ADMIN)


main()
