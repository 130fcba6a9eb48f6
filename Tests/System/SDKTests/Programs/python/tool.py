import sys

from sojourn_parts import FileStore, SessionError
from sojourn_session import Session

folder, server, *login = sys.argv[1:]
session = Session(server, "mobile", FileStore(folder))
session.start()
try:
    if login:
        session.sign_in(*login)
    status, _, _ = session.call(server + "/v1/me")
    print(f"{session.state.get('user')}: {status}")
except SessionError as error:
    sys.exit(f"log in: {error}" if error.code in ("not-signed-in", "ended") else f"later: {error}")
