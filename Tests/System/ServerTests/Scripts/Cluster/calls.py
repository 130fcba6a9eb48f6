"""HTTP calls to nodes, each within a time, over connections that are kept."""

import asyncio
import json


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields = status, fields
        try:
            self.json = json.loads(body) if body else {}
        except ValueError:
            self.json = None

    @property
    def retry_after(self):
        """Seconds that the server asks for, or nothing."""
        value = self.fields.get("retry-after", "")
        return int(value) if value.isdigit() else None

    @property
    def reason(self):
        """The word of a refusal, in the form of either kind of call."""
        return (self.json or {}).get("code") or (self.json or {}).get("reason") or (self.json or {}).get("error")

    @property
    def reauthenticate(self):
        return (self.json or {}).get("reauthenticate")

    def __str__(self):
        return f"{self.status} {json.dumps(self.json)}"


class Caller:
    """Calls to one port."""

    def __init__(self, port):
        self.port, self.idle = port, []

    async def ask(self, method, path, body=None, fields=None, seconds=5):
        """An answer, or nothing: no connection, a connection that broke, or no answer within the time."""
        connection = None
        try:
            async with asyncio.timeout(seconds):
                connection = self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", self.port)
                answer = await self.exchange(*connection, method, path, body, fields or {})
        except (OSError, TimeoutError, EOFError, ValueError):
            if connection:
                connection[1].transport.abort()
            return None
        if answer.fields.get("connection") == "close":
            connection[1].close()
        else:
            self.idle.append(connection)
        return answer

    async def exchange(self, reader, writer, method, path, body, fields):
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(content)}"]
        if body is not None:
            lines.append("Content-Type: application/json")
        lines += [f"{name}: {value}" for name, value in fields.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        status = None
        found = {}
        while True:
            line = (await reader.readuntil(b"\r\n"))[:-2].decode()
            if status is None:
                status = int(line.split(" ")[1])
            elif not line:
                break
            else:
                name, _, value = line.partition(":")
                found[name.lower()] = value.strip()
        length = int(found.get("content-length", "0"))
        return Answer(status, found, await reader.readexactly(length) if length else b"")

    def forget(self):
        for _, writer in self.idle:
            writer.transport.abort()
        self.idle = []
